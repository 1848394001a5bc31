#include "../program.h"
#include "halide_image_io.h"
using namespace Halide::Tools;

struct Complex {
    Expr real, imag;
    Complex(Tuple t) : real(t[0]), imag(t[1]) {}
    Complex(Expr r, Expr i) : real(r), imag(i) {}
    Complex(FuncRef t) : Complex(Tuple(t)) {}
    operator Tuple() const { return {real, imag}; }
    Complex operator+(const Complex &o) const { return {real + o.real, imag + o.imag}; }
    Complex operator*(const Complex &o) const {
        return {real * o.real - imag * o.imag, real * o.imag + imag * o.real};
    }
    Expr magnitude_squared() const { return real * real + imag * imag; }
};

PROGRAM(fractal) {
    Func mandelbrot;
    Var x, y, t;
    Complex initial(x / 15.0f - 2.5f, y / 6.0f - 2.0f);
    mandelbrot(x, y, t) = Complex(0.0f, 0.0f);
    RDom r(1, 12);
    Complex current = mandelbrot(x, y, r - 1);
    mandelbrot(x, y, r) = current * current + initial;
    Expr escape_condition = Complex(mandelbrot(x, y, r)).magnitude_squared() < 16.0f;
    Tuple first_escape = argmin(escape_condition);
    Func escape;
    escape(x, y) = first_escape[0];
    Buffer<int> result = escape.realize({61, 25});
    EXPECT(result(0, 0) < 3 && result.width() == 61);
    return 0;
}

PROGRAM(blurs) {
    Var x("x"), y("y"), c("c"), xi, yi;
    Buffer<uint8_t> input(40, 30, 3);
    input.fill([](int x, int y, int c) { return (uint8_t)(x + y * 2 + c * 3); });
    Func clamped("clamped");
    clamped(x, y, c) = input(clamp(x, 0, input.width() - 1), clamp(y, 0, input.height() - 1), c);
    Func input_16("input_16"), blur_x("blur_x"), blur_y("blur_y"), output("output");
    input_16(x, y, c) = cast<uint16_t>(clamped(x, y, c));
    blur_x(x, y, c) = (input_16(x - 1, y, c) + 2 * input_16(x, y, c) + input_16(x + 1, y, c)) / 4;
    blur_y(x, y, c) = (blur_x(x, y - 1, c) + 2 * blur_x(x, y, c) + blur_x(x, y + 1, c)) / 4;
    output(x, y, c) = cast<uint8_t>(blur_y(x, y, c));
    output.tile(x, y, xi, yi, 16, 8).vectorize(xi, 8).parallel(y);
    blur_x.compute_at(output, x).vectorize(x, 8);
    Buffer<uint8_t> result = output.realize({input.width(), input.height(), 3});
    EXPECT(result(10, 10, 1) == input(10, 10, 1));
    Buffer<uint8_t> shifted(16, 8, 3);
    shifted.set_min(12, 13, 0);
    output.realize(shifted);
    EXPECT(shifted(12, 13, 2) == input(12, 13, 2));
    Func brighter;
    Expr value = input(x, y, c);
    value = cast<float>(value);
    value = value * 1.5f;
    value = min(value, 255.0f);
    value = cast<uint8_t>(value);
    brighter(x, y, c) = value;
    Buffer<uint8_t> b = brighter.realize({input.width(), input.height(), input.channels()});
    EXPECT(b(0, 0, 0) == 0);
    std::string path = std::filesystem::temp_directory_path().string() + "/w_b.png";
    save_image(b, path);
    Buffer<uint8_t> again = load_image(path);
    EXPECT(again(3, 3, 1) == b(3, 3, 1));
    return 0;
}

PROGRAM(prefix_sums_and_sets) {
    Buffer<int> in(50);
    for (int i = 0; i < 50; i++) in(i) = (i * 7919) % 13;
    Var x;
    RDom r(1, 49);
    Func scan, compact, count;
    scan(x) = in(0);
    scan(r) = scan(r - 1) + in(r);
    Buffer<int> s = scan.realize({50});
    int n = 0;
    for (int i = 0; i < 50; i++) {
        n += in(i);
        EXPECT(s(i) == n);
    }
    RDom q(0, 50);
    compact(x) = Tuple(0, 0);
    Func at;
    at(x) = 0;
    at(q + 1) = at(q) + select(in(q) > 6, 1, 0);
    at.compute_root().bound(x, 0, 51);
    Func out;
    RDom w(0, 50);
    w.where(in(w) > 6);
    out(x) = -1;
    out(clamp(at(w), 0, 49)) = in(w);
    Buffer<int> o = out.realize({50});
    int k = 0;
    for (int i = 0; i < 50; i++)
        if (in(i) > 6) EXPECT(o(k++) == in(i));
    EXPECT(o(k) == -1);
    return 0;
}

PROGRAM(matrix_and_dots) {
    const int n = 32;
    Buffer<float> A(n, n), B(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A(i, j) = i + j * 0.5f;
            B(i, j) = i - j;
        }
    Var x, y, xi, yi, xo, yo;
    RDom k(0, n);
    Func prod("prod"), out("out");
    prod(x, y) += A(k, y) * B(x, k);
    out(x, y) = prod(x, y);
    out.bound(x, 0, n)
        .bound(y, 0, n)
        .tile(x, y, xo, yo, xi, yi, 16, 4)
        .vectorize(xi, 8)
        .unroll(yi)
        .parallel(yo);
    prod.compute_at(out, xo).vectorize(x, 8).unroll(y);
    prod.update().reorder(x, y, k).vectorize(x, 8).unroll(y);
    Buffer<float> c = out.realize({n, n});
    float want = 0;
    for (int i = 0; i < n; i++) want += A(i, 3) * B(5, i);
    EXPECT(fabs(c(5, 3) - want) < 1e-2);
    return 0;
}

PROGRAM(nested_parallel) {
    Func f, g, h;
    Var x, y, z;
    f(x, y, z) = x + y + z;
    g(x, y, z) = f(x, y, z) + f(x + 1, y, z);
    h(x, y, z) = g(x, y, z) + g(x, y + 1, z);
    h.parallel(z).parallel(y);
    g.compute_at(h, z).parallel(y);
    f.compute_at(g, y).parallel(x);
    Buffer<int> o = h.realize({16, 16, 8});
    EXPECT(o(3, 4, 5) == 4 * 12 + 2 + 2);
    return 0;
}
