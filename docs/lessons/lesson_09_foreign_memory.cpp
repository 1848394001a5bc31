// Lesson 9: arrays of somebody else.
//
// In Python this lesson makes an operator of PyTorch. Here is what is behind it: a compiled
// pipeline that works on memory which it does not own, and another one for its gradient.
#include "check.h"
#include <cmath>
#include <tessera.h>
#include <vector>

using namespace tessera;

namespace {

// What other libraries have: a pointer, sizes, and strides in elements, the outermost first.
struct Tensor {
    std::vector<float> data;
    int rows, columns;

    Tensor(int rows, int columns, float value)
        : data(size_t(rows * columns), value), rows(rows), columns(columns) {}
    float &at(int row, int column) { return data[size_t(row * columns + column)]; }

    // Returns a Buffer over the same memory. Dimension 0 is the innermost: the columns.
    Buffer<float> buffer() { return Buffer<float>(data.data(), columns, rows); }
};

}  // namespace

int main() {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in"), upstream(Float(32), 2, "upstream");
    Param<float> slope("slope");

    // Values below 0 are multiplied by the slope.
    Func forward("forward");
    forward(x, y) = select(in(x, y) > 0, in(x, y), in(x, y) * slope);
    forward.vectorize(x, 8, TailStrategy::GuardWithIf).parallel(y);

    // Its gradient with respect to the input, times what comes from above.
    Func backward("backward");
    backward(x, y) = select(in(x, y) > 0, upstream(x, y), upstream(x, y) * slope);
    backward.vectorize(x, 8, TailStrategy::GuardWithIf).parallel(y);

    // A Callable is compiled once, and takes its arguments in this order, then the outputs. Several
    // threads may call it at once.
    const Callable run = forward.compile_to_callable({in, slope});
    const Callable run_backward = backward.compile_to_callable({in, upstream, slope});

    Tensor input(5, 7, 2), output(5, 7, 0), gradient(5, 7, 0), ones(5, 7, 1);
    input.at(3, 4) = -2;
    check(run(input.buffer(), 0.25f, output.buffer()) == 0);
    check(output.at(0, 0) == 2 && output.at(3, 4) == -0.5f);

    check(run_backward(input.buffer(), ones.buffer(), 0.25f, gradient.buffer()) == 0);
    check(gradient.at(0, 0) == 1 && gradient.at(3, 4) == 0.25f);

    // The gradient is what a small change of the input makes.
    const float before = output.at(3, 4), step = 0.5f;
    input.at(3, 4) += step;
    check(run(input.buffer(), 0.25f, output.buffer()) == 0);
    check(std::fabs((output.at(3, 4) - before) / step - gradient.at(3, 4)) < 1e-6f);

    // Part of somebody's memory, with strides of its own: every other row.
    Tensor half(3, 7, 0);
    Buffer<float> rows = input.buffer();
    tessera_dimension_t dims[] = {{0, 7, 1}, {0, 3, 14}};
    Buffer<float> every_other(input.data.data(), 2, dims);
    check(rows(0, 2) == every_other(0, 1));
    check(run(every_other, 0.25f, half.buffer()) == 0);
    check(half.at(2, 6) == input.at(4, 6));
}
