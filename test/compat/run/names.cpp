#include "../program.h"

// Which names a program need not qualify, and which it may define.

namespace own {

// What is declared here hides Halide's: a call finds those only by its arguments.
[[maybe_unused]] static float lerp(float a, float b, float t) { return a + (b - a) * t; }
#define HIDDEN(f)                                                                                  \
    struct f##_is_hidden {};                                                                       \
    [[maybe_unused]] static void f(f##_is_hidden) {}
HIDDEN(abs)
HIDDEN(absd)
HIDDEN(argmax)
HIDDEN(atan2)
HIDDEN(cast)
HIDDEN(clamp)
HIDDEN(count_leading_zeros)
HIDDEN(exp)
HIDDEN(floor)
HIDDEN(lambda)
HIDDEN(likely)
HIDDEN(max)
HIDDEN(maximum)
HIDDEN(memoize_tag)
HIDDEN(min)
HIDDEN(mux)
HIDDEN(pow)
HIDDEN(print_when)
HIDDEN(reinterpret)
HIDDEN(require)
HIDDEN(rounding_shift_right)
HIDDEN(saturating_cast)
HIDDEN(select)
HIDDEN(sqrt)
HIDDEN(sum)
HIDDEN(tuple_select)
HIDDEN(unsafe_promise_clamped)
HIDDEN(widening_mul)
#undef HIDDEN

static int floats() {
    Var x;
    Func f;
    Expr e = cast<float>(Expr(x));
    f(x) = clamp(lerp(e, e * 3.0f, 0.5f), 1.0f, 9.0f) + sqrt(abs(e)) +
           select(x < 2, min(e, 1.0f), floor(e)) + pow(e, 2) + exp(e * 0.0f) +
           atan2(e * 0.0f, 1.0f);
    Buffer<float> b = f.realize({8});
    EXPECT(b(4) == 8 + 2 + 4 + 16 + 1);
    EXPECT(lerp(1.f, 3.f, 0.5f) == 2.f);
    return 0;
}

static int integers() {
    Var x;
    RDom r(0, 5);
    Expr e = x, of_r = r;
    Func f;
    f(x) = cast<int>(absd(e, 10)) + mux(e, {e, e + 1}) + max(3, e, 2) + maximum(of_r + x) +
           sum(of_r) + argmax(of_r)[0] + likely(e) + memoize_tag(e) + saturating_cast<int>(e) +
           reinterpret<int>(e) + count_leading_zeros(e) + require(e >= 0, e, "negative") +
           print_when(e > 100, e) + unsafe_promise_clamped(e, 0, 8) +
           widening_mul(cast<int16_t>(e), cast<int16_t>(Expr(2))) + rounding_shift_right(e, 1);
    Buffer<int> b = f.realize({8});
    EXPECT(b(4) == 6 + 5 + 4 + 8 + 10 + 4 + 4 + 4 + 4 + 4 + 29 + 4 + 4 + 4 + 8 + 2);
    Tuple t = tuple_select(e > 3, Tuple(e, e), Tuple(e, e));
    EXPECT(t.size() == 2);
    Func three = lambda(Expr(3));
    Buffer<int> c = three.realize();
    EXPECT(c() == 3);
    return 0;
}

}  // namespace own

PROGRAM(functions_of_floats_found_by_their_arguments) { return own::floats(); }
PROGRAM(functions_of_integers_found_by_their_arguments) { return own::integers(); }

PROGRAM(macros_have_values) {
#if HALIDE_WITH_EXCEPTIONS && HALIDE_VERSION_MAJOR >= 21 && !HALIDE_RUNTIME_BUFFER_CHECK_INDICES
    try {
        Func f("f");
        f.realize({4});
    } catch (const CompileError &e) {
        return HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT >= 16 ? 0 : 1;
    }
#endif
    return 1;
}

// A program's own templates of the names of functions of expressions: with Exprs these are meant,
// as they are no templates, and with the program's own types its templates.
namespace own_templates {
struct Fixed {
    int sixteenths;
};
template<typename T>
T absd(T a, T b) {
    return a > b ? a - b : b - a;
}
template<typename T>
T clamp(T v, T low, T high) {
    return v < low ? low : v > high ? high : v;
}
template<typename T>
T lerp(const T &a, const T &b, const T &w) {
    return a + (b - a) * w;
}
template<typename T, typename U>
T halving_add(T a, U b) {
    return (a + b) / 2;
}
template<typename T>
T select(bool c, T a, T b) {
    return c ? a : b;
}
template<typename T>
T sqrt(T a) {
    return T{a.sixteenths + 1};
}
template<typename T>
T max(T a, T b) {
    return a.sixteenths > b.sixteenths ? a : b;
}
int with_expressions() {
    Buffer<float> in(9);
    for (int i = 0; i < 9; i++) in(i) = float(i * i % 7);
    Var x;
    Expr a = in(x), b = in(x + 1), i = x, j = 7 - x;
    Func f;
    f(x) = Tuple(absd(a, b), clamp(a, b, b + 1), lerp(a, b, Expr(0.5f)), halving_add(i, j),
                 select(a < b, a, b), sqrt(a), max(i, j));
    Realization r = f.realize({8});
    Buffer<float> distance = r[0], clamped = r[1], between = r[2], least = r[4], root = r[5];
    Buffer<int> half = r[3], largest = r[6];
    for (int k = 0; k < 8; k++) {
        const float u = in(k), v = in(k + 1);
        EXPECT(distance(k) == absd(u, v) && clamped(k) == clamp(u, v, v + 1));
        EXPECT(between(k) == lerp(u, v, 0.5f) && half(k) == 3 && largest(k) == std::max(k, 7 - k));
        EXPECT(least(k) == select(u < v, u, v) && std::abs(root(k) - std::sqrt(u)) < 1e-6f);
    }
    return 0;
}
int with_own_types() {
    EXPECT(absd(3, 5) == 2 && clamp(9, 0, 4) == 4 && halving_add(3, 4.0f) == 3);
    EXPECT(sqrt(Fixed{3}).sixteenths == 4 && max(Fixed{3}, Fixed{8}).sixteenths == 8);
    return 0;
}
}  // namespace own_templates
PROGRAM(own_templates_beside_functions_of_expressions) { return own_templates::with_expressions(); }
PROGRAM(own_templates_of_own_types) { return own_templates::with_own_types(); }
