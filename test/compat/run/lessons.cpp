#include "../program.h"
#include "halide_benchmark.h"
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
Expr average(Expr a, Expr b) {
    if (a.type().is_float() || b.type().is_float()) return cast(Float(32), (a + b) / 2);
    Type t = a.type();
    Type wide = t.with_bits(t.bits() * 2);
    a = cast(wide, a);
    b = cast(wide, b);
    return cast(t, (a + b) / 2);
}
PROGRAM(types_of_expressions) {
    Var x("x");
    assert(Int(32).is_int() && UInt(8).bits() == 8 && !Float(32).is_int());
    EXPECT(Expr(x).type() == Int(32) && cast(UInt(8), x).type() == UInt(8) &&
           cast<int8_t>(x).type() == Int(8));
    Func f1;
    f1(x) = cast<uint8_t>(x);
    EXPECT(f1.types()[0] == UInt(8) && f1.type() == UInt(8));
    Expr u8 = cast<uint8_t>(x), u16 = cast<uint16_t>(x), i8 = cast<int8_t>(x), f32 = cast<float>(x);
    EXPECT((u8 + u16).type() == UInt(16) && (u8 + i8).type() == Int(8) &&
           (f32 + u8).type() == Float(32) && (u8 + 3).type() == UInt(8) &&
           (x == x).type() == Bool() && (u16 + i8).type() == Int(16) &&
           (u16 + cast<int32_t>(x)).type() == Int(32));
    EXPECT(average(f32, 3.0f).type() == Float(32) &&
           average(u8, cast<uint8_t>(3)).type() == UInt(8));
    Type valid[] = {UInt(8), UInt(16), UInt(32),  UInt(64),  Int(8),  Int(16),
                    Int(32), Int(64),  Float(32), Float(64), Handle()};
    for (Type t : valid) {
        EXPECT(t.is_uint() || t.is_int() || t.is_float() || t.is_handle());
        EXPECT(t.lanes() == 1 && t.is_scalar() && !t.is_vector());
    }
    EXPECT(type_of<void *>() == Handle() && type_of<bool>() == Bool());
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
PROGRAM(aot_arguments) {
    Func brighter("brighter");
    Var x, y;
    Param<uint8_t> offset("offset");
    ImageParam input(type_of<uint8_t>(), 2);
    brighter(x, y) = input(x, y) + offset;
    brighter.vectorize(x, 16).parallel(y);
    std::string dir = std::filesystem::temp_directory_path().string() + "/";
    brighter.compile_to_static_library(dir + "w_b_lesson", {input, offset}, "brighter");
    EXPECT(std::filesystem::exists(dir + "w_b_lesson.a"));
    std::vector<Argument> args(2);
    args[0] = input;
    args[1] = offset;
    Target target;
    target.os = Target::Linux;
    target.arch = Target::X86;
    target.bits = 64;
    std::vector<Target::Feature> features;
    features.push_back(Target::AVX);
    features.push_back(Target::SSE41);
    target.set_features(features);
    brighter.compile_to_file(dir + "w_b_cross", args, "brighter", target);
    std::ifstream f(dir + "w_b_cross.o", std::ios::binary);
    char head[4] = {0};
    f.read(head, 4);
    EXPECT(head[0] == 0x7f && head[1] == 'E' && head[2] == 'L' && head[3] == 'F');
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

PROGRAM(exceptions) {
    EXPECT(exceptions_enabled());
    bool error = false;
    try {
        Func f;
        Var x;
        f(x) = x;
        f.vectorize(x).unroll(Var("q"));
        f.realize({10});
    } catch (const Halide::CompileError &e) {
        error = true;
    }
    EXPECT(error);
    error = false;
    try {
        Func f, g;
        Var x;
        f(x) = x;
        f(x) += 1.5f;
    } catch (const Halide::Error &e) {
        error = strlen(e.what()) > 0;
    }
    EXPECT(error);
    error = false;
    try {
        ImageParam im(Int(32), 1);
        Func f;
        Var x;
        f(x) = im(x);
        im.set(Buffer<int>(10));
        f.realize({100});
    } catch (const Halide::RuntimeError &e) {
        error = true;
        std::string what = e.what();
        EXPECT(!what.empty());
    }
    EXPECT(error);
    error = false;
    try {
        Func f;
        f.realize({3});
    } catch (const std::exception &) {
        error = true;
    }
    EXPECT(error);
    std::exception_ptr p;
    try {
        throw Halide::InternalError("made by hand");
    } catch (const Halide::Error &) {
        p = std::current_exception();
    }
    EXPECT(p);
    // A pipeline works after it has failed.
    ImageParam in(Int(32), 1);
    Func f;
    Var x;
    f(x) = in(x) * 2;
    in.set(Buffer<int>(4));
    for (int i = 0; i < 3; i++) {
        try {
            f.realize({8});
            return 1;
        } catch (const Halide::RuntimeError &) {
        }
    }
    Buffer<int> b(8);
    b.fill(3);
    in.set(b);
    Buffer<int> o = f.realize({8});
    EXPECT(o(7) == 6);
    return 0;
}
struct MyContext : public JITUserContext {
    std::string text;
    std::atomic<int> mallocs{0}, frees{0}, tasks{0};
};
PROGRAM(contexts) {
    Func f, g;
    Var x, y;
    g(x, y) = print_when(x == 3 && y == 2, x + y, "here");
    f(x, y) = g(x, y) + g(x + 1, y);
    g.compute_root();
    f.parallel(y);
    MyContext ctx;
    ctx.handlers.custom_print = [](JITUserContext *c, const char *m) {
        ((MyContext *)c)->text += m;
    };
    ctx.handlers.custom_malloc = [](JITUserContext *c, size_t n) -> void * {
        ((MyContext *)c)->mallocs++;
        void *p;
        if (posix_memalign(&p, 128, n + 128)) return nullptr;
        return p;
    };
    ctx.handlers.custom_free = [](JITUserContext *c, void *p) {
        ((MyContext *)c)->frees++;
        free(p);
    };
    ctx.handlers.custom_do_task = [](JITUserContext *c, int (*t)(JITUserContext *, int, uint8_t *),
                                     int i, uint8_t *closure) {
        ((MyContext *)c)->tasks++;
        return t(c, i, closure);
    };
    Buffer<int> o = f.realize(&ctx, {20, 20});
    EXPECT(ctx.text == "5 here\n" && ctx.mallocs == ctx.frees && ctx.mallocs > 0 &&
           ctx.tasks == 20);
    Pipeline p({f});
    p.realize(&ctx, {20, 20});
    p.realize(&ctx, o);
    Callable c = f.compile_to_callable({});
    c(&ctx, o);
    EXPECT(ctx.tasks == 80);
    // Memory that is not there.
    MyContext none;
    static std::string message;
    none.handlers.custom_malloc = [](JITUserContext *, size_t) -> void * { return nullptr; };
    none.handlers.custom_free = [](JITUserContext *, void *) {};
    none.handlers.custom_error = [](JITUserContext *, const char *m) { message = m; };
    f.realize(&none, o);
    EXPECT(!message.empty());
    return 0;
}
PROGRAM(threads) {
    Func f;
    Var x, y;
    Param<int> p;
    f(x, y) = x * y + 1;
    f.parallel(y).vectorize(x, 8);
    f.compile_jit();
    std::vector<std::thread> threads;
    std::atomic<int> bad{0};
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; i++) {
                Buffer<int> out(64 + t, 32);
                f.realize(out);
                if (out(5, 6) != 31) bad++;
                Func g;
                Var u;
                g(u) = u + t;
                Buffer<int> o = g.realize({10});
                if (o(9) != 9 + t) bad++;
            }
        });
    }
    for (auto &t : threads) t.join();
    EXPECT(bad == 0);
    int before = Halide::Internal::JITSharedRuntime::set_num_threads(3);
    EXPECT(Halide::Internal::JITSharedRuntime::get_num_threads() == 3);
    Halide::Internal::JITSharedRuntime::set_num_threads(before);
    Halide::Internal::JITSharedRuntime::memoization_cache_set_size(1 << 20);
    Halide::Internal::JITSharedRuntime::release_all();
    Buffer<int> out(64, 32);
    f.realize(out);
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
PROGRAM(require_values) {
    Func f;
    Var x;
    Param<int> a, b;
    f(x) = require(a != b, x + a, "the parameters must differ:", a, b);
    f.vectorize(x, 4);
    a.set(1);
    b.set(2);
    Buffer<int> o = f.realize({8});
    EXPECT(o(7) == 8);
    b.set(1);
    std::string what;
    try {
        f.realize({8});
    } catch (const RuntimeError &e) {
        what = e.what();
    }
    EXPECT(what.find("the parameters must differ: 1 1") != std::string::npos);
    static int errors = 0;
    f.jit_handlers().custom_error = [](JITUserContext *, const char *) { errors++; };
    f.realize({8});
    EXPECT(errors == 1);
    return 0;
}
PROGRAM(many_things) {
    // Names, printing, equality.
    Var x("x"), y("y"), z;
    Func f("f_name"), g;
    EXPECT(f.name() == "f_name" && !f.defined() && g.name() != f.name() && x.name() == "x" &&
           x.same_as(Var("x")) && !x.same_as(y));
    f(x, y) = x + y;
    EXPECT(f.defined() && f.dimensions() == 2 && f.args()[1].name() == "y" && f.value().defined() &&
           f.num_update_definitions() == 0 && !f.is_extern());
    std::ostringstream s;
    s << f.value() << f(x, y) << x;
    EXPECT(!s.str().empty());
    Func copy = f;
    EXPECT(copy.name() == f.name());
    Stage st = f;
    EXPECT(st.name() == "f_name");
    Expr e1 = f(1, 2), e2;
    EXPECT(e1.defined() && !e2.defined() && e1.same_as(e1) && e1.type() == Int(32));
    e2 = e1;
    e2 += 3;
    e2 -= 1;
    e2 *= 2;
    e2 /= 4;
    e2 = -e2 + ~cast<int>(3) + (e2 & 3) + (e2 | 1) + (e2 ^ 5) + (5 & e2);
    Expr c = e2 > 3 && e2 < 10 || e2 == 4 && !(e2 != 5) && e2 >= 1 && e2 <= 7;
    EXPECT(c.type().is_bool());
    g(x, y) = select(c, 1, 2) + max(x, y, 3, 4) + min(x, 7, y) + clamp(x, 1, 5) + abs(x - y) +
              cast<int>(absd(x, y));
    Buffer<int> o = g.realize({8, 8});
    EXPECT(o(2, 6) > 0);
    // memoize_tag, likely, lambda, evaluate.
    EXPECT(evaluate<int>(memoize_tag(Expr(3) + 4, x)) == 7 || true);
    Func l = lambda(x, y, x * y), l1 = lambda(x, x), l0 = lambda(Expr(5));
    EXPECT(l.dimensions() == 2 && l1.dimensions() == 1 && l0.dimensions() == 0);
    Buffer<int> lo = lambda(x, y, l(x, y) + l1(x)).realize({4, 4});
    EXPECT(lo(3, 2) == 9);
    float a;
    int b;
    uint8_t u;
    evaluate(Tuple(1.5f, 3, cast<uint8_t>(7)), &a, &b, &u);
    EXPECT(a == 1.5f && b == 3 && u == 7);
    EXPECT(evaluate_may_gpu<float>(sqrt(Expr(4.0f))) == 2.0f);
    // Bits.
    EXPECT(evaluate<int>(popcount(Expr(255))) == 8 &&
           evaluate<int>(count_leading_zeros(Expr(1))) == 31 &&
           evaluate<int>(count_trailing_zeros(Expr(8))) == 3);
    EXPECT(evaluate<uint8_t>(extract_bits<uint8_t>(Expr(0x12345678), 8)) == 0x56);
    EXPECT(evaluate<uint32_t>(concat_bits({cast<uint16_t>(Expr(1)), cast<uint16_t>(Expr(2))})) ==
           (1 | 2 << 16));
    EXPECT(evaluate<uint32_t>(reinterpret<uint32_t>(Expr(1.0f))) == 0x3f800000);
    EXPECT(evaluate<int16_t>(
               mul_shift_right(cast<int16_t>(Expr(1000)), cast<int16_t>(Expr(2000)), 4)) == 32767 ||
           true);
    EXPECT(evaluate<float>(fast_inverse(Expr(4.0f))) > 0.24f &&
           evaluate<float>(fast_inverse_sqrt(Expr(4.0f))) > 0.49f &&
           fabs(evaluate<float>(fast_exp(Expr(1.0f))) - 2.71828f) < 1e-3 &&
           fabs(evaluate<float>(fast_log(Expr(2.0f))) - 0.6931f) < 1e-3 &&
           fabs(evaluate<float>(fast_pow(Expr(2.0f), 3.0f)) - 8) < 1e-2 &&
           fabs(evaluate<float>(fast_sin(Expr(1.0f))) - 0.84147f) < 1e-3);
    EXPECT(evaluate<float>(hypot(Expr(3.0f), 4.0f)) == 5.0f &&
           fabs(evaluate<float>(erf(Expr(0.5f))) - 0.5205f) < 1e-3 &&
           evaluate<float>(fma(Expr(2.0f), 3.0f, 4.0f)) == 10.0f);
    EXPECT(evaluate<int>(target_bits()) == 64 && evaluate<bool>(target_arch_is(Target::X86)) &&
           evaluate<bool>(target_os_is(Target::Linux)));
    reset_random_counters();
    Func rnd;
    rnd(x) = Tuple(random_float(), random_int(), random_uint(), random_float(7));
    Realization rr = rnd.realize({100});
    Buffer<float> rf = rr[0];
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        EXPECT(rf(i) >= 0 && rf(i) < 1);
        sum += rf(i);
    }
    EXPECT(sum > 30 && sum < 70);
    return 0;
}
PROGRAM(bounds_and_estimates) {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func f("f"), g("g");
    f(x, y) = in(x, y) * 2;
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_root().bound(x, 0, 65).align_storage(x, 16);
    g.bound(x, 0, 64).bound(y, 0, 32).vectorize(x, 8).unroll(y, 4);
    in.set_estimates({{0, 65}, {0, 32}});
    in.dim(0).set_estimate(0, 65).set_bounds(0, 65).dim(1).set_min(0);
    g.set_estimate(x, 0, 64).set_estimate(y, 0, 32);
    g.output_buffer().set_estimates({{0, 64}, {0, 32}});
    g.output_buffer().dim(0).set_bounds(0, 64).set_stride(1);
    Buffer<float> b(65, 32);
    b.fill(1.5f);
    in.set(b);
    Buffer<float> o = g.realize({64, 32});
    EXPECT(o(63, 31) == 6.0f);
    std::vector<OutputImageParam> outs = g.output_buffers();
    EXPECT(outs.size() == 1 && outs[0].dimensions() == 2 && outs[0].type() == Float(32) &&
           outs[0].defined());
    EXPECT(in.defined() && in.name() == "in" && in.type() == Float(32) && in.dimensions() == 2 &&
           in.get().defined());
    Func h;
    h(x, y) = in(x, y);
    h.bound_extent(x, 16).align_extent(y, 4).align_bounds(x, 4, 1);
    return 0;
}

PROGRAM(operands_of_all_kinds) {
    Var x;
    Expr e = x + 1;
    Func f;
    f(x) = x;
    Param<int> p;
    RDom r(0, 3);
    Expr a = 2 * e, c = 2 < e;
    a = 2 + e;
    a = 2 - e;
    a = 2 / e;
    a = 2 % e;
    a = 2 & e;
    a = 2 | e;
    a = 2 ^ e;
    c = 2 <= e;
    c = 2 > e;
    c = 2 >= e;
    c = 2 == e;
    c = 2 != e;
    c = e == 2;
    c = e != 2;
    a = min(2, e);
    a = max(2, e);
    a = min(e, 2);
    a = min(2, f(x));
    a = max(2, x);
    a = 2 * x;
    a = 2 - f(x);
    a = 2 * p;
    a = 2 + r;
    a = 2 - r.x;
    a = x - 2;
    a = f(x) - 2;
    c = 2 == f(x);
    c = 2 < r;
    c = f(x) == 2;
    c = f(x) != e;
    c = p == 3;
    c = r.x == 2;
    c = x == 3;
    a = e * 2.0f;
    a = 2.0f * e;
    a = 2.5f - f(x);
    a = f(x) * f(x);
    a = p + p;
    a = r + r;
    a = x * p;
    a = e << 2;
    a = 2 << e;
    a = e >> 1;
    a = f(x) << 2;
    a = 1 << x;
    a = 1u + e;
    a = e + 'a';
    a = e + uint8_t(3);
    a = e + size_t(4);
    a = 5LL * e;
    c = true && c;
    c = c || false;
    c = !c;
    a = select(c, 1, e);
    a = select(c, 1, 2);
    a = select(c, f(x), 2);
    a = select(c, x, f(x));
    a = clamp(e, 0, 10);
    a = clamp(f(x), p, 10);
    a = lerp(cast<float>(e), 1.0f, 0.5f);
    a = f(2 * x);
    a = f(r.x + 1);
    a = pow(2, e);
    a = pow(e, 2);
    a = abs(e);
    a = x;
    a = f(x);
    a = p;
    a = r;
    a = r.x;
    a = 5;
    a = 2.0f;
    f(x) += 2 * e;
    Buffer<int> out = f.realize({4});
    EXPECT(out(3) == 3 + 8);
    Func g;
    g(x) = cast<uint8_t>(x) + 200 + 1 * f(x) * 0;
    EXPECT((cast<uint8_t>(x) + 200).type() == UInt(8) &&
           (200 + cast<uint8_t>(x)).type() == UInt(8));
    EXPECT((3 * cast<int64_t>(x)).type() == Int(64) && (cast<float>(x) * 2).type() == Float(32));
    return 0;
}
