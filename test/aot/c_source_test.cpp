#include "c_source_harness.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

// Each feature of the language, as C source, beside the interpreter.
namespace {

Var x("x"), y("y");

// Numbers at the ends of the type, around zero, and others.
template<typename T> Buffer<T> samples(int n, int step) {
    Buffer<T> b(n);
    using L = std::numeric_limits<T>;
    const T special[] = {
        T(0),  T(1),   T(2), T(3), T(7), L::max(), L::lowest(), T(L::max() - 1), T(L::lowest() + 1),
        T(-1), T(100), T(-5)};
    for (int i = 0; i < n; i++) {
        uint64_t h = uint64_t(i * step + 1) * 0x9E3779B97F4A7C15ull;
        b(i) = i % 3 == 2 ? T(h >> 13) : special[size_t(i * step) % std::size(special)];
    }
    return b;
}

// Each value as a Func of its own: scalars, vectors of 8 and of 5.
class Values {
public:
    void add(const Expr &e) {
        for (int lanes : {1, 8, 5}) {
            Func f(str("value", all.size()));
            f(x) = e;
            if (lanes > 1) f.vectorize(x, lanes, TailStrategy::GuardWithIf);
            all.push_back(f);
        }
    }
    // In pipelines of a few values each: compilers take much longer for one of a hundred loops.
    void compare(int n, const CLibrary::Options &options = {}, double tolerance = 0) const {
        constexpr size_t in_one = 18;
        for (size_t i = 0; i < all.size(); i += in_one) {
            const size_t end = std::min(all.size(), i + in_one);
            compare_with_c({all.begin() + long(i), all.begin() + long(end)}, {n}, options,
                           tolerance);
        }
    }

private:
    std::vector<Func> all;
};

template<typename T> void check_integers() {
    CAPTURE(type_of<T>());
    constexpr int n = 72;
    Buffer<T> first = samples<T>(n, 1), second = samples<T>(n, 5);
    Buffer<int8_t> small(n);
    small.fill([](int i) { return int8_t(i * 7 % 150 - 70); });
    Expr a = first(x), b = second(x), n8 = small(x);
    Type t = type_of<T>();
    Expr count = cast(t, n8), unsigned_count = cast(t.with_code(TypeCode::UInt), n8);
    Values v;
    // 32 bits and more may not overflow.
    Expr as = t.bits() >= 32 ? a / 4 : a, bs = t.bits() >= 32 ? b / 4 : b;
    v.add(as + bs);
    v.add(as - bs);
    v.add(t.bits() >= 32 ? (a / 65536 % 30000) * (b / 65536 % 30000) : a * b);
    v.add(a / b);
    v.add(a % b);
    v.add(a / 7 + b % 5);
    v.add(a / -3 + b % 16);
    v.add(div_round_to_zero(a, b));
    v.add(mod_round_to_zero(a, b));
    v.add(min(a, b));
    v.add(max(a, b));
    v.add(select(a < b || a == 7, a, b));
    v.add(cast<uint8_t>(a <= b && !(b > 3)));
    v.add(a & b);
    v.add((a | b) ^ ~a);
    v.add(a << count);
    v.add(a >> count);
    v.add(a << unsigned_count);
    v.add(a >> unsigned_count);
    v.add(rounding_shift_left(a, count));
    v.add(rounding_shift_right(a, count));
    v.add(popcount(a) + count_leading_zeros(b));
    v.add(count_trailing_zeros(a));
    v.add(abs(a));
    v.add(absd(a, b));
    v.add(saturating_add(a, b));
    v.add(saturating_sub(a, b));
    v.add(halving_add(a, b));
    v.add(halving_sub(a, b));
    v.add(rounding_halving_add(a, b));
    v.add(mul_shift_right(a, b, cast(t.with_code(TypeCode::UInt), n8 & 7)));
    v.add(rounding_mul_shift_right(a, b, cast(t.with_code(TypeCode::UInt), n8 & 7)));
    if (t.bits() < 64) {
        v.add(widening_add(a, b));
        v.add(widening_sub(a, b));
        v.add(widening_mul(a, b));
        v.add(widen_right_add(cast(t.widen(), 3), a));
        v.add(widening_shift_left(a, unsigned_count));
        v.add(concat_bits({a, b}));
    }
    if (t.bits() > 8) v.add(extract_bits(UInt(8), a, 4));
    v.compare(n);
}

template<typename From> void check_casts() {
    CAPTURE(type_of<From>());
    constexpr int n = 64;
    Buffer<From> in(n);
    for (int i = 0; i < n; i++) {
        if constexpr (std::is_integral_v<From>) {
            in(i) = samples<From>(n, 3)(i);
        } else {
            const float special[] = {0.0f,   -0.0f,  0.5f,     0.3f,  -0.7f, 1.0f,     2.5f,
                                     126.6f, 254.5f, 60000.0f, 1e-7f, 6e-8f, 65519.0f, 1.0009765f};
            in(i) = From(special[i % 14] * (1.0f + float(i / 14) / 1024));
        }
    }
    Values v;
    Expr e = in(x);
    for (Type to :
         {Bool(), Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64),
          Float(16), BFloat(16), Float8E4M3(), Float8E5M2(), Float(32), Float(64)}) {
        Type stored = to.is_bool() ? UInt(8) : to;
        // What does not fit has no meaning where a float is cast.
        Expr fits = !std::is_integral_v<From> && !to.is_float() && !to.is_bool()
                        ? clamp(e, cast<From>(to.is_uint() ? 0 : -100), cast<From>(100))
                        : e;
        v.add(cast(stored, cast(to, fits)));
        v.add(cast(stored, saturating_cast(to, e)));
    }
    v.compare(n);
}

}  // namespace

TEST_SUITE("C source") {
    TEST_CASE("integers of every type, as scalars and as vectors") {
        check_integers<int8_t>();
        check_integers<int16_t>();
        check_integers<int32_t>();
        check_integers<int64_t>();
        check_integers<uint8_t>();
        check_integers<uint16_t>();
        check_integers<uint32_t>();
        check_integers<uint64_t>();
    }
    TEST_CASE("casts, saturating ones too, from every type to every type") {
        check_casts<int8_t>();
        check_casts<int16_t>();
        check_casts<int32_t>();
        check_casts<int64_t>();
        check_casts<uint8_t>();
        check_casts<uint16_t>();
        check_casts<uint32_t>();
        check_casts<uint64_t>();
        check_casts<float>();
        check_casts<double>();
        check_casts<float16_t>();
        check_casts<bfloat16_t>();
        check_casts<float8_e4m3_t>();
        check_casts<float8_e5m2_t>();
    }
    TEST_CASE("floats of every type, and the functions of the C library") {
        for (Type t : {Float(32), Float(64), Float(16), BFloat(16)}) {
            CAPTURE(t);
            Buffer<float> in(60);
            in.fill([](int i) { return float(i * 37 % 61 - 30) / 8 + 0.05f; });
            in(3) = NAN, in(4) = INFINITY, in(5) = -INFINITY, in(6) = -0.0f;
            Expr a = cast(t, in(x)), b = cast(t, in(59 - x)), c = cast(t, 0.75f),
                 one = cast(t, 1.0f);
            Expr small = clamp(a, cast(t, -0.9f), cast(t, 0.9f));
            Values exact, close;
            for (const Expr &e : {a + b,
                                  a - b,
                                  a * b,
                                  a / b,
                                  a % c,
                                  min(a, c),
                                  max(c, a),
                                  min(a, b),
                                  max(a, b),
                                  abs(a),
                                  absd(a, b),
                                  floor(a),
                                  ceil(a),
                                  trunc(a),
                                  round(a),
                                  sqrt(abs(a)),
                                  select(a < b, a, select(a == b, c, b)),
                                  -a,
                                  fma(a, b, c),
                                  strict_float(a * b + c)}) {
                exact.add(e);
            }
            for (const Expr &e :
                 {cast<uint8_t>(is_nan(a)), cast<uint8_t>(is_inf(a)), cast<uint8_t>(is_finite(a)),
                  cast<uint8_t>(a >= b), cast<uint8_t>(a != b)}) {
                exact.add(e);
            }
            for (const Expr &e : {sin(small), cos(small), tan(small), asin(small), acos(small),
                                  atan(a), atan2(small, c), sinh(small), cosh(small), tanh(a),
                                  asinh(small), acosh(one + abs(small)), atanh(small), exp(small),
                                  log(abs(small) + c), pow(abs(small) + c, b / 4)}) {
                close.add(e);
            }
            if (t == Float(32)) close.add(fast_inverse(one + abs(small)));
            if (t == Float(32)) close.add(fast_inverse_sqrt(one + abs(small)));
            exact.compare(60, {}, t.bits() == 16 ? 0 : 1e-6);
            close.compare(60, {}, t.bits() == 16 ? 0.02 : 2e-5);
        }
    }
    TEST_CASE("strictly computed floats, with a compiler that may contract") {
        Buffer<float> in(64);
        in.fill([](int i) { return 1.0f + float(i) / 7; });
        Func f("f");
        f(x) = strict_float(in(x)*in(x)-in(63 - x) * 1.1f);
        f.vectorize(x, 8);
        bool has_fma = get_host_target().has_feature(Target::FMA);
        CLibrary::Options options;
        options.flags = str("-std=gnu11 -O2", has_fma ? " -mfma" : "");
        compare_with_c({f}, {64}, options);
        options.compiler = "clang";
        if (std::system("command -v clang > /dev/null") == 0) compare_with_c({f}, {64}, options);
    }
    TEST_CASE("loads and stores: strided, gathered, scattered, guarded, of bools") {
        Buffer<float> in(200);
        in.fill([](int i) { return float(i * i % 91); });
        Buffer<uint8_t> flags(100);
        flags.fill([](int i) { return uint8_t(i % 3); });
        Func strided("strided"), reversed("reversed"), gathered("gathered"), guarded("guarded"),
            scattered("scattered"), is_set("is_set"), bools("bools"), nested("nested");
        RDom r(0, 50);
        strided(x) = in(2 * x) + in(2 * x + 1);
        reversed(x) = in(150 - x);
        gathered(x) = in(cast<int>(min(flags(x), cast<uint8_t>(3))) * 40 + x % 7);
        guarded(x) = select(flags(x) > 1, in(x), 0.0f);
        scattered(x) = 0.0f;
        scattered((r * 7) % 100) = in(r) + 1;
        is_set(x) = flags(x) == 1;
        bools(x) = is_set(x) || is_set(99 - x);
        nested(x, y) = in(x + 2 * y);
        is_set.compute_root().vectorize(x, 8);
        for (Func f : {strided, reversed, gathered, guarded, scattered, bools}) {
            f.vectorize(x, 8, TailStrategy::GuardWithIf);
        }
        Func sum("sum");
        sum(x) = nested(x, 0) + nested(x, 3);
        nested.compute_root()
            .vectorize(x, 4, TailStrategy::GuardWithIf)
            .unroll(y, 2, TailStrategy::GuardWithIf);
        sum.vectorize(x, 5, TailStrategy::GuardWithIf);
        compare_with_c({strided, reversed, gathered, guarded, scattered, bools, sum}, {100});
    }
    TEST_CASE("nested vectors, interleaved values and transposed blocks") {
        Buffer<uint16_t> in(32, 32);
        in.fill([](int i, int j) { return uint16_t(i * 31 + j * 7); });
        Func t("transposed"), rgb("interleaved"), tile("tile");
        Var xi("xi"), yi("yi");
        t(x, y) = in(y, x);
        t.tile(x, y, xi, yi, 8, 8).vectorize(xi).unroll(yi);
        rgb(x, y) = select(x % 2 == 0, in(x / 2, y), in(x / 2 + 1, y) + cast<uint16_t>(1));
        rgb.vectorize(x, 16).unroll(x, 2, TailStrategy::GuardWithIf);
        tile(x, y) = in(x, y) + cast<uint16_t>(x + 3 * y);
        tile.tile(x, y, xi, yi, 4, 4).vectorize(xi).vectorize(yi);
        compare_with_c({t, rgb, tile}, {32, 32});
    }
    TEST_CASE("reductions of lanes, of every operation") {
        Buffer<uint8_t> a(64, 32), b(64, 32);
        a.fill([](int i, int j) { return uint8_t(i * 5 + j * 11); });
        b.fill([](int i, int j) { return uint8_t(i * 3 + j * 7 + 1); });
        RDom r(0, 64);
        std::vector<Func> all;
        auto add = [&](const Expr &start, const std::function<Expr(Expr)> &update) {
            Func f(str("reduced", all.size()));
            f(x) = start;
            f(x) = update(f(x));
            f.update().atomic().vectorize(r, 8);
            all.push_back(f);
        };
        Expr i8 = cast<int8_t>(a(r, x)), f16 = cast<float16_t>(a(r, x) & 7);
        add(0, [&](const Expr &s) { return s + cast<int>(a(r, x)) * b(r, x); });
        add(cast<uint8_t>(1), [&](const Expr &s) { return s * (a(r, x) | 1); });
        add(i8.type().max(), [&](const Expr &s) { return min(s, i8); });
        add(i8.type().min(), [&](const Expr &s) { return max(s, i8); });
        add(cast<uint8_t>(0), [&](const Expr &s) { return saturating_add(s, a(r, x) / 16); });
        add(0.0f, [&](const Expr &s) { return s + cast<float>(a(r, x)); });
        add(cast<float16_t>(0), [&](const Expr &s) { return s + f16; });
        add(cast<bool>(true), [&](const Expr &s) { return s && a(r, x) != 3; });
        add(cast<bool>(false), [&](const Expr &s) { return s || a(r, x) == 3; });
        compare_with_c(all, {32});
    }
    TEST_CASE("parallel loops, storage on the stack and on the heap, sliding windows, tasks") {
        Buffer<int> in(70, 70);
        in.fill([](int i, int j) { return i * 3 + j * j; });
        auto stencil = [&](const std::function<void(Func &, Func &)> &schedule) {
            Func f("f"), out("out");
            f(x, y) = in(x, y) * 2 + y;
            out(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 2);
            schedule(f, out);
            compare_with_c({out}, {60, 50});
        };
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
        stencil([&](Func &f, Func &out) {
            out.tile(x, y, xo, yo, xi, yi, 16, 8, TailStrategy::GuardWithIf)
                .vectorize(xi, 8)
                .parallel(yo);
            f.compute_at(out, xo).vectorize(x, 8);
        });
        stencil([&](Func &f, Func &out) {
            out.parallel(y).parallel(x);
            f.compute_root().parallel(y);
        });
        stencil([&](Func &f, Func &out) {
            out.split(y, yo, yi, 10).parallel(yo);
            f.store_at(out, yo).compute_at(out, yi).vectorize(x, 4);
        });
        stencil([&](Func &f, Func &out) {
            f.store_root().compute_at(out, y).async();
            out.prefetch(f, y, y, 2);
        });
        stencil([&](Func &f, Func &out) {
            out.split(y, yo, yi, 5).parallel(x);
            f.compute_at(out, yo).hoist_storage_root().ring_buffer(2).async();
        });
        stencil([&](Func &f, Func &out) {
            out.split(y, yo, yi, 20).parallel(yo);
            f.compute_at(out, yi).store_in(MemoryType::Stack);
        });
    }
    TEST_CASE("storage on the stack of a size that is not known: places that grow") {
        Func a("a"), b("b"), out("out");
        a(x, y) = x + y;
        b(x, y) = a(x, y) + a(x + 1, y);
        out(x, y) = b(x, y) * b(x + 1, y);
        for (Func f : {a, b}) f.compute_at(out, y).store_in(MemoryType::Stack);
        CLibrary library(Pipeline(out), {});
        static int requests, live;
        requests = live = 0;
        library.function<tessera_malloc_t(tessera_malloc_t)>("tessera_set_custom_malloc")(
            [](void *, size_t bytes) -> void * {
                if (bytes > 1000000) return nullptr;
                requests++;
                live++;
                return std::malloc(bytes);
            });
        library.function<tessera_free_t(tessera_free_t)>("tessera_set_custom_free")(
            [](void *, void *p) {
                live -= p != nullptr;
                std::free(p);
            });
        library.function<tessera_error_handler_t(tessera_error_handler_t)>(
            "tessera_set_error_handler")([](void *, const char *) {});
        Buffer<int> result(5000, 20), too_large(300000, 2);
        CHECK(library.call({result}) == 0);
        CHECK(result(7, 2) == 19 * 21);
        CHECK(requests == 2);
        CHECK(library.call({too_large}) == tessera_error_code_out_of_memory);
        CHECK(live == 0);
    }
    TEST_CASE("atomic updates, by exchange and under a lock") {
        Buffer<uint8_t> in(1000);
        in.fill([](int i) { return uint8_t(i * 37 % 251 / 4); });
        RDom r(0, 1000);
        std::vector<Func> all;
        for (Type t : {UInt(8), Int(16), UInt(32), Int(64), Float(32), Float(64), Float(16)}) {
            Func count(str("count", all.size()));
            count(x) = cast(t, 0);
            count(clamp(cast<int>(in(r)), 0, 63)) += cast(t, 1);
            count.update().atomic().parallel(r, 100);
            all.push_back(count);
        }
        Func set("set"), two("two");
        set(x) = cast<bool>(false);
        set(clamp(cast<int>(in(r)), 0, 63)) = set(clamp(cast<int>(in(r)), 0, 63)) || r % 5 == 0;
        set.update().atomic().parallel(r, 100);
        all.push_back(set);
        two(x) = Tuple(0, 0.0f);
        Expr at = clamp(cast<int>(in(r)), 0, 63);
        two(at) = Tuple(two(at)[0] + r, two(at)[1] + cast<float>(r));
        two.update().atomic().parallel(r, 100);
        all.push_back(two);
        std::string text = compare_with_c(all, {64});
        CHECK(text.find("atomic_compare_exchange_weak_explicit") != std::string::npos);
        CHECK(text.find("tessera_mutex_array_lock") != std::string::npos);
    }
    TEST_CASE("C functions and extern stages") {
        Func f("f"), e("e"), out("out");
        f(x) = x * 3;
        e.define_extern("c_add_right", {f}, Int(32), {x});
        Expr called = ir::ExternCall::make(Float(32), "c_scale", {cast<float>(x), e(x)}, true);
        out(x) = called;
        f.compute_root();
        e.compute_root();
        out.vectorize(x, 4);
        CLibrary::Options options;
        options.more = R"(
float c_scale(float a, int n);
int c_add_right(tessera_buffer_t *in, tessera_buffer_t *out);
float c_scale(float a, int n) { return a * 2 + (float)n; }
int c_add_right(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host) {
        in->dim[0].min = out->dim[0].min;
        in->dim[0].extent = out->dim[0].extent + 1;
        return 0;
    }
    for (int i = 0; i < out->dim[0].extent; i++) {
        int32_t *from = (int32_t *)(void *)in->host;
        ((int32_t *)(void *)out->host)[i] = from[i] + from[i + 1];
    }
    return 0;
}
)";
        CLibrary library(Pipeline(out), options);
        Buffer<float> result(20);
        CHECK(library.call({result}) == 0);
        for (int i = 0; i < 20; i++) CHECK(result(i) == float(2 * i + 6 * i + 3));
        Func two("two_ways");
        two(x) = ir::ExternCall::make(Float(32), "g", {cast<float>(x)}, true) +
                 ir::ExternCall::make(Float(32), "g", {x}, true);
        CHECK_THROWS_WITH_AS(two.compile_to_c("two.c", {}), doctest::Contains("g in two ways"),
                             CompileError);
    }
    TEST_CASE("errors are those of machine code, and what was allocated is freed") {
        Param<int> n("n");
        ImageParam in(Int(32), 1, "in");
        Func f("f"), g("g");
        f(x) = in(x) + n;
        g(x) = require(n < 50, f(x) * 2 + f(x + 1), "too many:", n);
        f.compute_root();
        Pipeline p(g);
        p.add_requirement(n > 0, "n is", n, "and", 2.5f);
        n.set(1);
        Buffer<int> input(100);
        input.fill(3);
        in.set(input);
        CLibrary::Options options;
        options.target.set_feature(Target::UserContext);
        CLibrary library(p, options);
        static std::string message;
        static void *context;
        static int live;
        library.function<tessera_error_handler_t(tessera_error_handler_t)>(
            "tessera_set_error_handler")([](void *c, const char *text) {
            context = c;
            message = text;
        });
        library.function<tessera_malloc_t(tessera_malloc_t)>("tessera_set_custom_malloc")(
            [](void *, size_t bytes) -> void * {
                live++;
                return bytes > 100000 ? nullptr : std::malloc(bytes);
            });
        library.function<tessera_free_t(tessera_free_t)>("tessera_set_custom_free")(
            [](void *, void *p) {
                live -= p != nullptr;
                std::free(p);
            });
        Buffer<int> out(90), beyond(100);
        int mine = 0;
        CHECK(library.call({out}, &mine) == 0);
        CHECK(out(89) == 12);
        CHECK(live == 0);
        CHECK(library.call({beyond}, &mine) == tessera_error_code_access_out_of_bounds);
        CHECK(message.find("in") != std::string::npos);
        CHECK(context == &mine);
        n.set(0);
        CHECK(library.call({out}, &mine) == tessera_error_code_requirement_failed);
        CHECK(message.find("n is 0 and 2.5") != std::string::npos);
        n.set(50);
        CHECK(library.call({out}, &mine) == tessera_error_code_requirement_failed);
        CHECK(message.find("c_source_test.cpp:") != std::string::npos);
        CHECK(message.find("Requirement failed: too many: 50") != std::string::npos);
        n.set(1);
        Buffer<int> large(50000), larger(60000);
        in.set(larger);
        CHECK(library.call({large}, &mine) == tessera_error_code_out_of_memory);
        // A bounds query.
        Buffer<int> query(nullptr, {0});
        in.set(query);
        CHECK(library.call({out}, &mine) == 0);
        CHECK(query.width() == 91);
    }
    TEST_CASE("buffers of the program, scalars of every type, names that C does not have") {
        Buffer<float> big(10, 40);
        big.fill([](int i, int j) { return float(i + 100 * j) + 0.5f; });
        Buffer<float> table = big.cropped(0, 2, 5).cropped(1, 1, 30);
        Buffer<bool> bits(3);
        bits(0) = true, bits(1) = false, bits(2) = true;
        Param<int8_t> a("int");
        Param<uint16_t> b("while");
        Param<int64_t> c("INT64_MAX");
        Param<double> d("sin");
        Param<float16_t> h("__FILE_");
        Param<bfloat16_t> s("linux");
        Param<bool> flag("user_context");
        Param<float> single("t1");
        a.set(-100), b.set(60000), c.set(-5000000000), d.set(0.25), flag.set(true),
            single.set(1.5f);
        h.set(float16_t(1.5f)), s.set(bfloat16_t(4.0f));
        Func f("void"), g("memcpy");
        g(x) = cast<double>(table(clamp(x, 2, 6), 1 + x % 30)) + select(bits(x % 3), 1, 0);
        f(x) = g(x) + cast<double>(a) + cast<double>(b) + cast<double>(c) + d + cast<double>(h) +
               cast<double>(s) + cast<double>(single) + select(flag, Expr(0.125), Expr(0.0));
        g.compute_root();
        compare_with_c({f}, {50});
        Func h1("main");
        h1(x) = x;
        for (const char *name : {"exp", "tessera_malloc", "main"}) {
            CHECK_THROWS_WITH_AS(h1.compile_to_c("f.c", {}, name),
                                 doctest::Contains("C's headers or the runtime have"),
                                 CompileError);
        }
        CHECK_THROWS_WITH_AS(h1.compile_to_c("f.c", {}, "while"), doctest::Contains("no name in C"),
                             CompileError);
        Buffer<float> bare(nullptr, {10}, "bare");
        Func h2("h2");
        h2(x) = bare(x);
        CHECK_THROWS_WITH_AS(h2.compile_to_c("f.c", {}), doctest::Contains("bare cannot be put"),
                             CompileError);
    }
    TEST_CASE("what a program learns of the function is what the object tells") {
        ImageParam in(UInt(8), 2, "in");
        Param<float> strength("strength", 2.0f, 0.0f, 8.0f);
        Param<int8_t> low("low", int8_t(-3), int8_t(-5), int8_t(5));
        in.dim(0).set_estimate(0, 640);
        Func f("f");
        f(x, y) = cast<uint8_t>(in(x, y) * strength) + cast<uint8_t>(low);
        CLibrary library(Pipeline(f), {});
        const auto &m =
            *library.function<const tessera_filter_metadata_t *()>("compiled_metadata")();
        REQUIRE(m.num_arguments == 4);
        CHECK(m.version == TESSERA_FILTER_METADATA_VERSION);
        CHECK(std::string(m.name) == "compiled");
        CHECK(std::string(m.target) == get_host_target().to_string());
        CHECK(m.arguments[0].kind == tessera_argument_kind_input_buffer);
        CHECK(m.arguments[0].dimensions == 2);
        CHECK(*m.arguments[0].buffer_estimates[1] == 640);
        CHECK(m.arguments[0].buffer_estimates[2] == nullptr);
        CHECK(m.arguments[1].scalar_def->f32 == 2);
        CHECK(m.arguments[1].scalar_max->f32 == 8);
        CHECK(m.arguments[2].scalar_min->i8 == -5);
        CHECK(m.arguments[2].scalar_estimate == nullptr);
        CHECK(m.arguments[3].kind == tessera_argument_kind_output_buffer);
    }
    TEST_CASE("traced as machine code is, vectors too") {
        auto build = [] {
            Func f("f"), g("g");
            f(x, y) = x * 10 + y;
            g(x, y) = f(x, y) + f(x + 1, y);
            f.compute_at(g, y).vectorize(x, 4).trace_loads().trace_stores().trace_realizations();
            g.vectorize(x, 4).trace_stores().add_trace_tag("a \"tag\"??");
            return g;
        };
        static std::vector<std::string> *events;
        auto record = [](void *, const tessera_trace_event_t *e) -> int32_t {
            std::string line = str(e->func, ' ', e->event, ' ', e->parent_id, " [");
            for (int i = 0; i < e->dimensions; i++) line += str(e->coordinates[i], ' ');
            line += str("] ", int(e->type.bits), 'x', e->type.lanes);
            for (int i = 0; e->value && i < e->type.lanes; i++) {
                line += str(' ', static_cast<const int32_t *>(e->value)[i]);
            }
            events->push_back(line + (e->trace_tag ? e->trace_tag : ""));
            return int32_t(events->size());
        };
        std::vector<std::string> native, in_c;
        events = &native;
        Target t = get_host_target().with_feature(Target::TracePipeline);
        JITUserContext user;
        user.handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            std::string line = str(e->func, ' ', e->event, ' ', e->parent_id, " [");
            for (int i = 0; i < e->dimensions; i++) line += str(e->coordinates[i], ' ');
            line += str("] ", int(e->type.bits), 'x', e->type.lanes);
            for (int i = 0; e->value && i < e->type.lanes; i++) {
                line += str(' ', static_cast<const int32_t *>(e->value)[i]);
            }
            events->push_back(line + (e->trace_tag ? e->trace_tag : ""));
            return int32_t(events->size());
        };
        build().realize(&user, {8, 3}, t);
        events = &in_c;
        CLibrary::Options options;
        options.target = t;
        CLibrary library(Pipeline(build()), options);
        library.function<tessera_trace_t(tessera_trace_t)>("tessera_set_custom_trace")(record);
        Buffer<int> out(8, 3);
        CHECK(library.call({out}) == 0);
        CHECK(native.size() > 20);
        CHECK(native == in_c);
    }
    TEST_CASE("profiled as machine code is, with a report") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x + 1, y);
        f.compute_at(g, y);
        CLibrary::Options options;
        options.target.set_feature(Target::Profile);
        CLibrary library(Pipeline(g), options);
        static std::string report;
        library.function<tessera_print_t(tessera_print_t)>("tessera_set_custom_print")(
            [](void *, const char *text) { report += text; });
        Buffer<int> out(40, 30);
        CHECK(library.call({out}) == 0);
        CHECK(library.call({out}) == 0);
        tessera_profiler_func_stats_t stats;
        auto get = library.function<bool(const char *, int, tessera_profiler_func_stats_t *)>(
            "tessera_profiler_get_func");
        REQUIRE(get("g", 1, &stats));
        CHECK(std::string(stats.name) == "f");
        CHECK(stats.calls == 60);
        library.function<void(void *)>("tessera_profiler_report")(nullptr);
        CHECK(report.find("g\n  total time: ") != std::string::npos);
    }
    TEST_CASE("features of the target: large buffers, no checks, floats that differ") {
        Buffer<float> in(64);
        in.fill([](int i) { return float(i) / 3; });
        Func f("f"), g("g");
        f(x) = in(x) * 3;
        g(x) = f(x) + 1;
        f.compute_root().vectorize(x, 8);
        g.vectorize(x, 8).parallel(x);
        for (auto feature : {Target::LargeBuffers, Target::NoAsserts, Target::FuzzFloatStores}) {
            CLibrary::Options options;
            options.target.set_feature(feature);
            compare_with_c({g}, {64}, options);
        }
    }
    TEST_CASE("printed values, random numbers, specializations and several values") {
        Param<int> n("n");
        n.set(4);
        Func f("f"), g("g");
        f(x) = Tuple(random_uint(3) / 2, random_float(5), x / n);
        g(x) = Tuple(cast<int>(f(x)[0] % 100) + f(x)[2], f(x)[1] * 2);
        f.compute_root();
        g.specialize(n == 4).vectorize(x, 8);
        g.specialize_fail("n is not 4");
        compare_with_c({g}, {64});
        Func h("h");
        h(x) = print_when(x == 2, x * 2, "is", 2.5f, cast<uint8_t>(7));
        CLibrary library(Pipeline(h), {});
        static std::string text;
        library.function<tessera_print_t(tessera_print_t)>("tessera_set_custom_print")(
            [](void *, const char *s) { text += s; });
        Buffer<int> out(4);
        CHECK(library.call({out}) == 0);
        CHECK(text == "4 is 2.500000 7\n");
    }
    TEST_CASE("other compilers, and what optimizes more") {
        Buffer<uint8_t> in(64, 64);
        in.fill([](int i, int j) { return uint8_t(i * j); });
        Func f("f"), g("g");
        RDom r(-1, 3);
        f(x, y) = cast<uint16_t>(in(clamp(x, 0, 63), clamp(y, 0, 63)));
        g(x, y) =
            cast<uint8_t>((sum(f(x + r, y)) + 1) / 3) + cast<uint8_t>(sin(cast<float>(x)) > 0);
        f.compute_at(g, y).vectorize(x, 16);
        g.vectorize(x, 16).parallel(y);
        CLibrary::Options options;
        options.flags = "-std=gnu11 -O3";
        compare_with_c({g}, {64, 64}, options);
        options.flags = "-std=c17 -O2 -fsanitize=undefined -fno-sanitize-recover=all "
                        "-fsanitize-undefined-trap-on-error";
        compare_with_c({g}, {64, 64}, options);
        options.compiler = "clang";
        options.flags = "-std=c11 -O2";
        if (std::system("command -v clang > /dev/null") == 0)
            compare_with_c({g}, {64, 64}, options);
    }
}
