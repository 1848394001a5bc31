// A program with the compiler in it.
#include <cstdio>
#include <tessera_tune.h>
using namespace tessera;

int main() {
    Var x;
    Func squares;
    squares(x) = x * x;
    squares.set_estimate(x, 0, 10);
    const auto by_rows = [&](Knobs &k) { squares.vectorize(x, k.choose("vector", {4, 8})); };
    tune_template(squares, by_rows, get_host_target(), {.trials = 2});
    Buffer<int> result = squares.realize({10});
    std::printf("%d\n", result(9));
}
