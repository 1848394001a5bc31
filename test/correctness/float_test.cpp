#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <tessera.h>

// What the page on semantics promises of floats: each operation is rounded on its own, whatever the
// schedule; and what indices made from floats read is what has been computed.
using namespace tessera;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Target interpreted() { return get_host_target().with_feature(Target::Interpret); }
Target strict() { return get_host_target().with_feature(Target::StrictFloat); }

// A scaled coordinate, and how far the samples of an input go for it.
using Scaled = std::function<Expr(Expr x, Expr scale)>;

const std::vector<std::pair<const char *, Scaled>> formulas = {
    {"(x + 0.5) * scale - 0.5", [](Expr x, Expr s) { return (x + 0.5f) * s - 0.5f; }},
    {"x * scale + scale * 0.5", [](Expr x, Expr s) { return x * s + s * 0.5f; }},
    {"(x + 0.5) / scale - 0.5", [](Expr x, Expr s) { return (x + 0.5f) / (1.0f / s) - 0.5f; }},
    {"x * scale * 0.7 + x * 0.3 - 1",
     [](Expr x, Expr s) { return x * s * 0.7f + x * 0.3f - 1.0f; }},
    {"lerp", [](Expr x, Expr s) { return lerp(x * s, x + 3.0f, 0.4f) + x * 0.1f; }},
};

// A row of samples of a Func that is computed for each tile, and the indices that are sampled.
struct Resize {
    ImageParam in{Int(32), 1};
    Param<int> from{"from"}, to{"to"};
    Func samples{"samples"}, out{"out"};

    Resize(const Scaled &scaled, int tile, int lanes, bool floored) {
        Var x("x"), xo("xo"), xi("xi");
        Expr scale = cast<float>(from) / cast<float>(to);
        samples(x) = in(x) * 3 + 1;
        Expr at = scaled(cast<float>(x), scale);
        Expr i = cast<int>(floored ? floor(at) : at);
        out(x) = Tuple(samples(i), i);
        out.split(x, xo, xi, tile, TailStrategy::GuardWithIf);
        if (lanes > 1) out.vectorize(xi, lanes);
        samples.compute_at(out, xo);
    }

    // How many samples are not what was computed there. The input is as large as it is asked for.
    int count_wrong(int width_from, int width_to) {
        from.set(width_from);
        to.set(width_to);
        in.reset();
        Buffer<int> value(width_to), index(width_to);
        Realization both({value, index});
        out.infer_input_bounds(both);
        Buffer<int> image = in.get();
        const int first = image.min(0), last = image.dim(0).max();
        for (int i = first; i <= last; i++) image(i) = i * 7;
        out.realize(both);
        int wrong = 0;
        for (int k = 0; k < width_to; k++) {
            const bool is_within = index(k) >= first && index(k) <= last;
            wrong += !is_within || value(k) != index(k) * 21 + 1;
        }
        return wrong;
    }
};

std::vector<std::pair<int, int>> usual_widths(int count) {
    const std::vector<int> widths = {240,  256,  320,  360,  400,  480,  512,  540,  600,  640,
                                     720,  750,  768,  800,  854,  900,  960,  1000, 1024, 1050,
                                     1080, 1125, 1200, 1280, 1334, 1366, 1400, 1440, 1536, 1600,
                                     1680, 1792, 1920, 2000, 2048, 2160, 2400, 2436, 2560, 2700,
                                     2880, 3000, 3200, 3456, 3840, 4000, 4096};
    std::vector<std::pair<int, int>> pairs;
    for (int from : widths) {
        for (int to : widths) {
            if (from != to && int(pairs.size()) < count) pairs.emplace_back(from, to);
        }
    }
    return pairs;
}

}  // namespace

TEST_SUITE("floats in coordinates") {
    TEST_CASE("resizing between 2,000 pairs of widths samples what the tiles have computed") {
        const auto pairs = usual_widths(2000);
        for (size_t f = 0; f < 2; f++) {
            for (int tile : {8, 32, 64, 100}) {
                CAPTURE(formulas[f].first);
                CAPTURE(tile);
                Resize resize(formulas[f].second, tile, 1, true);
                int wrong = 0;
                for (auto [from, to] : pairs) wrong += resize.count_wrong(from, to);
                CHECK(wrong == 0);
            }
        }
    }
    TEST_CASE("so do vectors, and other formulas") {
        const auto pairs = usual_widths(60);
        for (const auto &[text, scaled] : formulas) {
            for (int lanes : {1, 8}) {
                for (bool floored : {false, true}) {
                    CAPTURE(text);
                    CAPTURE(lanes);
                    Resize resize(scaled, 24, lanes, floored);
                    int wrong = 0;
                    for (auto [from, to] : pairs) wrong += resize.count_wrong(from, to);
                    CHECK(wrong == 0);
                }
            }
        }
    }
    TEST_CASE("a value is the index that is made of the same expression") {
        ImageParam in(Int(32), 1);
        Param<float> scale;
        Var x("x");
        Func value("value"), read("read");
        Expr i = cast<int>(floor((x + 0.5f) * scale - 0.5f));
        value(x) = i;
        read(x) = in(i);
        read.vectorize(x, 8);
        for (float s : {1.1f, 2.77777f, 0.3333333f, -1.3f}) {
            scale.set(s);
            Buffer<int> values = value.realize({1000});
            in.reset();
            read.infer_input_bounds({1000});
            Buffer<int> image = in.get();
            for (int k = image.min(0); k <= image.dim(0).max(); k++) image(k) = k;
            Buffer<int> reads = read.realize({1000});
            for (int k = 0; k < 1000; k++) REQUIRE(reads(k) == values(k));
        }
    }
    TEST_CASE("strict floats in an index have the bounds of strict floats") {
        ImageParam in(Float(32), 1);
        Var x("x");
        Func f("f"), g("g");
        Expr far = cast<int>(strict_float((cast<float>(x) + 1e8f) - 1e8f));
        f(x) = in(far);
        f.infer_input_bounds({6});
        CHECK(in.get().min(0) == 0);
        CHECK(in.get().dim(0).max() == 8);
        in.set(Buffer<float>(6));
        CHECK_THROWS_AS(f.realize({6}), RuntimeError);
        // They need not be said to be strict.
        in.reset();
        g(x) = in(cast<int>((cast<float>(x) + 1e8f) - 1e8f));
        g.infer_input_bounds({6});
        CHECK(in.get().dim(0).max() == 8);
    }
    TEST_CASE("a cast that overflows under a clamp reads within what is asked for") {
        for (float factor :
             {1e8f, -1e8f, 3e20f, std::numeric_limits<float>::infinity(), not_a_number}) {
            for (int lanes : {1, 8}) {
                CAPTURE(factor);
                CAPTURE(lanes);
                Param<float> p;
                p.set(factor);
                ImageParam in(UInt(8), 1);
                Var x("x");
                Func index("index"), f("f");
                Expr i = clamp(cast<int>(cast<float>(x) * p), 0, 255);
                index(x) = i;
                f(x) = in(i);
                if (lanes > 1) f.vectorize(x, lanes);
                Buffer<uint8_t> out(16);
                Buffer<int> values(16), checked(16);
                for (int min : {-8, 0, 20}) {
                    out.set_min(min), values.set_min(min), checked.set_min(min);
                    in.reset();
                    f.infer_input_bounds(out);
                    const int first = in.get().min(0), last = in.get().dim(0).max();
                    index.realize(values);
                    index.realize(checked, interpreted());
                    for (int k = min; k < min + 16; k++) {
                        CHECK(values(k) >= first);
                        CHECK(values(k) <= last);
                        CHECK(values(k) == checked(k));
                    }
                }
            }
        }
    }
    TEST_CASE("casts to 32 and 64 bits saturate, on one machine as on another") {
        Buffer<float> in(24);
        Buffer<double> wide(24);
        const float values[] = {0,
                                1.9f,
                                -1.9f,
                                2147483520.f,
                                2147483648.f,
                                1e10f,
                                -2147483648.f,
                                -1e10f,
                                9e18f,
                                1e19f,
                                -1e19f,
                                3e38f,
                                INFINITY,
                                -INFINITY,
                                not_a_number,
                                -0.5f,
                                4294967040.f,
                                4294967296.f,
                                1e5f,
                                -1e5f,
                                1,
                                2,
                                3,
                                4};
        for (int i = 0; i < 24; i++) in(i) = values[i], wide(i) = values[i];
        for (int lanes : {1, 4, 8}) {
            Var x("x");
            Func f("f");
            f(x) = Tuple(cast<int32_t>(in(x)), cast<int64_t>(in(x)), cast<uint32_t>(in(x)),
                         cast<uint64_t>(in(x)), cast<int32_t>(wide(x)), cast<int64_t>(wide(x)));
            if (lanes > 1) f.vectorize(x, lanes);
            Realization native = f.realize({24}), checked = f.realize({24}, interpreted());
            Buffer<int32_t> i32 = native[0], d32 = native[4];
            Buffer<int64_t> i64 = native[1];
            Buffer<uint32_t> u32 = native[2];
            CHECK(i32(1) == 1);
            CHECK(i32(2) == -1);
            CHECK(i32(3) == 2147483520);
            CHECK(i32(5) == 2147483520);
            CHECK(i32(7) == INT32_MIN);
            CHECK(i32(14) == 2147483520);
            CHECK(d32(5) == INT32_MAX);
            CHECK(i64(9) == 0x7fffff8000000000);
            CHECK(i64(10) == INT64_MIN);
            CHECK(u32(2) == 0);
            CHECK(u32(5) == 4294967040u);
            for (int k = 0; k < 24; k++) {
                CAPTURE(values[k]);
                CHECK(i32(k) == Buffer<int32_t>(checked[0])(k));
                CHECK(i64(k) == Buffer<int64_t>(checked[1])(k));
                CHECK(u32(k) == Buffer<uint32_t>(checked[2])(k));
                CHECK(Buffer<uint64_t>(native[3])(k) == Buffer<uint64_t>(checked[3])(k));
                CHECK(d32(k) == Buffer<int32_t>(checked[4])(k));
                CHECK(Buffer<int64_t>(native[5])(k) == Buffer<int64_t>(checked[5])(k));
            }
        }
    }
    TEST_CASE("an index may be divided by what has no zero in it") {
        ImageParam in(Float(32), 1);
        Param<float> step("step");
        step.set_range(0.5f, 4.0f);
        Var x("x"), y("y");
        Func f("f"), g("g");
        f(x) = in(cast<int>(x / step));
        step.set(2.5f);
        f.infer_input_bounds({101});
        CHECK(in.get().min(0) == 0);
        CHECK(in.get().dim(0).max() == 40);
        in.reset();
        g(x, y) = in(cast<int>(x / (cast<float>(y) + 2.0f)));
        g.infer_input_bounds({101, 10});
        CHECK(in.get().min(0) == 0);
        CHECK(in.get().dim(0).max() == 50);
        // From -2 on, there is one, and no bound.
        in.reset();
        Buffer<float> around(101, 10);
        around.set_min(0, -5);
        in.set(Buffer<float>(1000));
        CHECK_THROWS_AS(g.realize(around), RuntimeError);
    }
    TEST_CASE("polar coordinates are bounded by their roots and squares") {
        ImageParam in(Int(32), 1);
        Var x("x"), y("y");
        Func radius("radius"), f("f");
        Expr dx = x - 7.5f, dy = y - 4.25f;
        Expr i = cast<int>(sqrt(dx * dx + dy * dy) * 1.3f);
        radius(x, y) = i;
        f(x, y) = in(i);
        f.vectorize(x, 8);
        f.infer_input_bounds({16, 16});
        Buffer<int> image = in.get();
        CHECK(image.min(0) == 0);
        CHECK(image.dim(0).max() < 20);
        for (int k = 0; k <= image.dim(0).max(); k++) image(k) = k;
        Buffer<int> read = f.realize({16, 16}), right = radius.realize({16, 16});
        for (int j = 0; j < 16; j++) {
            for (int k = 0; k < 16; k++) CHECK(read(k, j) == right(k, j));
        }
    }
    TEST_CASE("an index of an exponential is in bounds, in vectors and scalars") {
        ImageParam in(Int(32), 1);
        Var x("x");
        for (int lanes : {1, 8}) {
            Func f("f"), value("value");
            Expr i = cast<int>(exp(x * 0.25f) + log(x + 1.0f) * 5.0f + atan(cast<float>(x)));
            f(x) = in(i);
            value(x) = i;
            if (lanes > 1) f.vectorize(x, lanes), value.vectorize(x, lanes);
            in.reset();
            f.infer_input_bounds({40});
            Buffer<int> image = in.get();
            for (int k = image.min(0); k <= image.dim(0).max(); k++) image(k) = k;
            Buffer<int> read = f.realize({40}), values = value.realize({40});
            for (int k = 0; k < 40; k++) CHECK(read(k) == values(k));
        }
    }
    TEST_CASE("a distance is never the root of what is negative, so that it has a bound") {
        Var x("x"), y("y"), xi("xi"), fo("fo"), fi("fi");
        Func f("f"), g("g");
        f(x, y) = x + y;
        const Expr dx = cast<float>(x);
        const Expr at = cast<int>(floor(sqrt(dx * dx + 1.5f)));
        g(x, y) = f(at - 1, y) + f(at + 1, y);
        g.split(x, x, xi, 3, TailStrategy::ShiftInwards).reorder(x, y, xi);
        f.store_root().compute_at(g, xi).split(x, fo, fi, 8, TailStrategy::ShiftInwards);
        for (int width : {3, 14}) {
            Buffer<int> r({width, 3});
            r.set_min({-6, 0});
            g.realize(r);
            r.for_each_element([&](int i, int j) {
                CHECK(r(i, j) == 2 * int(std::floor(std::sqrt(float(i * i) + 1.5f))) + 2 * j);
            });
        }
    }
    TEST_CASE("what fits into an integer is bounded by floats that do not") {
        Var x("x");
        Buffer<uint32_t> image(18);
        image.for_each_element([&](int i) { image(i) = uint32_t(10 * i); });
        Func f("f"), g("g"), h("h");
        RDom r(0, 3, "r");
        f(x) = cast<float>(image(x));
        g(x) = x + 1;
        h(x) = 0;
        h(x) += g(clamp(cast<int>(f(r)), 0, 20));
        g.compute_root();
        Buffer<int> sum = h.realize({1});
        CHECK(sum(0) == 1 + 11 + 21);
        Param<float> scale("scale");
        Func k("k");
        k(x) = 0;
        k(x) += g(clamp(cast<int>(f(r) * scale), 0, 20));
        scale.set(2);
        Buffer<int> result = k.realize({1});
        CHECK(result(0) == 1 + 21 + 21);
    }
}

TEST_SUITE("float arithmetic") {
    TEST_CASE("computing a Func elsewhere leaves what is rounded away as it is") {
        for (int root = 0; root < 2; root++) {
            Var x("x");
            Func a("a"), b("b"), lost("lost"), product("product"), same("same");
            a(x) = cast<float>(x) + 1e8f;
            b(x) = a(x) - 1e8f;
            lost(x) = (a(x) - 1e8f) - cast<float>(x);
            product(x) = (a(x) * 3.0f) * 1e-9f;
            same(x) = (a(x) - a(x)) / (a(x) - a(x));
            if (root) a.compute_root();
            for (int lanes : {1, 8}) {
                if (lanes > 1) b.vectorize(x, lanes), lost.vectorize(x, lanes);
                Buffer<float> r = b.realize({8}), k = lost.realize({8});
                CHECK(r(5) == 8);
                CHECK(k(5) == 3);
            }
            CHECK(Buffer<float>(product.realize({8}))(5) == (100000008.f * 3.0f) * 1e-9f);
            CHECK(std::isnan(Buffer<float>(same.realize({8}))(5)));
        }
    }
    TEST_CASE("a compensated sum keeps its correction") {
        Var x("x");
        RDom r(0, 10000);
        Func f("f");
        f(x) = Tuple(0.0f, 0.0f);  // the sum, and what was lost of it
        Expr y = 0.1f - f(x)[1], t = f(x)[0] + y;
        f(x) = Tuple(t + 0.0f * r, (t - f(x)[0]) - y);
        f.vectorize(x, 8).update().vectorize(x, 8).unroll(r, 2);
        Buffer<float> sum = f.realize({8})[0];
        CHECK(std::abs(sum(3) - 1000.0f) < 1e-4f);
    }
    TEST_CASE("min and max leave out what is not a number") {
        Buffer<float> a(64), b(64);
        a.fill(not_a_number), b.fill(3.0f);
        std::vector<Func> others;  // names come in between
        for (int lanes : {1, 4, 8, 16, 32}) {
            CAPTURE(lanes);
            for (int i = 0; i < lanes; i++) others.emplace_back("other");
            Var x("x");
            Func f("f");
            f(x) = Tuple(min(a(x), b(x)), max(a(x), b(x)), min(b(x), a(x)), max(b(x), a(x)),
                         min(max(a(x), 0.0f), 1.0f), clamp(a(x), 0.0f, 1.0f), min(1.0f, a(x)),
                         max(min(a(x), b(x)), a(x)), max(a(x), min(a(x), a(x) * 2)));
            if (lanes > 1) f.vectorize(x, lanes);
            for (const Target &target : {get_host_target(), strict(), interpreted()}) {
                Realization r = f.realize({64}, target);
                for (int k : {0, 63}) {
                    for (int v : {0, 1, 2, 3}) CHECK(Buffer<float>(r[v])(k) == 3);
                    CHECK(Buffer<float>(r[4])(k) == 0);
                    CHECK(Buffer<float>(r[5])(k) == 0);
                    CHECK(Buffer<float>(r[6])(k) == 1);
                    CHECK(Buffer<float>(r[7])(k) == 3);
                    CHECK(std::isnan(Buffer<float>(r[8])(k)));
                }
            }
        }
    }
    TEST_CASE("erf is right relative to its value, near zero too") {
        Var x("x");
        for (int lanes : {1, 8}) {
            Func f("f");
            f(x) = erf(cast<float>(x - 4000) * 1e-3f);
            if (lanes > 1) f.vectorize(x, lanes);
            Buffer<float> r = f.realize({8000});
            double worst = 0;
            for (int k = 0; k < 8000; k++) {
                const double right = std::erf(double(float(k - 4000) * 1e-3f));
                if (right != 0) worst = std::max(worst, std::abs(r(k) / right - 1));
            }
            CHECK(worst < 6e-7);
        }
        Param<float> p;
        Func tiny("tiny");
        tiny() = erf(p);
        for (float v : {3e-9f, -1e-20f, 1e-38f, 7e-5f}) {
            p.set(v);
            const double right = 2 / std::sqrt(M_PI) * v;
            CHECK(std::abs(Buffer<float>(tiny.realize())() / right - 1) < 1e-6);
        }
        p.set(not_a_number);
        CHECK(std::isnan(Buffer<float>(tiny.realize())()));
    }
    TEST_CASE("lerp takes values and weights of 16 bits") {
        Param<bfloat16_t> low, high, weight;
        low.set(bfloat16_t(10.0f)), high.set(bfloat16_t(18.0f)), weight.set(bfloat16_t(0.25f));
        CHECK(float(evaluate<bfloat16_t>(lerp(low, high, weight))) == 12);
        CHECK(float(evaluate<bfloat16_t>(lerp(low, high, 0.5f))) == 14);
        CHECK(evaluate<uint8_t>(lerp(cast<uint8_t>(0), cast<uint8_t>(100), weight)) == 25);
        Param<float16_t> half_low, half_high, half_weight;
        half_low.set(float16_t(10.0f)), half_high.set(float16_t(18.0f));
        half_weight.set(float16_t(0.25f));
        CHECK(float(evaluate<float16_t>(lerp(half_low, half_high, half_weight))) == 12);
    }
    TEST_CASE("Target::StrictFloat is strict of what is simplified") {
        Var x("x");
        Param<float> v("v");
        v.set(-0.0f);
        Func f("f");
        f(x) = 1 / (v + 0.0f);
        Buffer<float> out = f.realize({1}, get_host_target().with_feature(Target::StrictFloat));
        CHECK(out(0) == std::numeric_limits<float>::infinity());
    }
    TEST_CASE("64-bit integers become bfloat16 rounded once") {
        Var x("x");
        const int64_t half = int64_t(1) << 54, one = int64_t(1) << 62, step = int64_t(1) << 55;
        struct {
            int64_t value;
            double expected;
        } cases[] = {{one + half, double(one)},
                     {one + half + 1, double(one + step)},
                     {-one - half - 1, -double(one + step)},
                     {one + half - 1, double(one)},
                     {(int64_t(1) << 40) + (int64_t(1) << 32) + 1, 0x1.02p40},
                     {257, 256},
                     {-259, -260},
                     {-1, -1}};
        const int n = int(std::size(cases));
        Buffer<int64_t> in(n);
        Buffer<uint64_t> in_unsigned(n);
        for (int i = 0; i < n; i++) {
            in(i) = cases[i].value;
            in_unsigned(i) = cases[i].value > 0 ? uint64_t(cases[i].value) * 2 : 1;
        }
        for (bool interpreted : {false, true}) {
            for (int lanes : {1, 8}) {
                CAPTURE(interpreted);
                CAPTURE(lanes);
                Target t = get_host_target();
                if (interpreted) t = t.with_feature(Target::Interpret);
                Func f("f"), g("g");
                f(x) = cast<bfloat16_t>(in(x));
                g(x) = cast<bfloat16_t>(in_unsigned(x));
                Buffer<bfloat16_t> got = f.vectorize(x, lanes).realize({n}, t);
                Buffer<bfloat16_t> got_unsigned = g.vectorize(x, lanes).realize({n}, t);
                for (int i = 0; i < n; i++) {
                    CHECK(float(got(i)) == cases[i].expected);
                    double twice = cases[i].value > 0 ? 2 * cases[i].expected : 1;
                    CHECK(float(got_unsigned(i)) == twice);
                }
            }
        }
        CHECK(float(bfloat16_t((1 << 30) + (1 << 22) + 1)) == 0x1.02p30f);
        CHECK(float(evaluate<bfloat16_t>(cast<bfloat16_t>(Expr(16842753)))) == 16908288);
        CHECK(float(evaluate<bfloat16_t>(cast<bfloat16_t>(Expr(cases[1].value)))) ==
              cases[1].expected);
    }
    TEST_CASE("a saturating cast to bool asks whether there is anything above 0") {
        Var x("x");
        Buffer<float> in(8);
        const float values[] = {-2, -0.5f, -0.0f, 0, 0.25f, 1, 100, NAN};
        for (int i = 0; i < 8; i++) in(i) = values[i];
        for (bool interpreted : {false, true}) {
            CAPTURE(interpreted);
            Target t = get_host_target();
            if (interpreted) t = t.with_feature(Target::Interpret);
            Func f("f");
            f(x) = saturating_cast<bool>(in(x));
            Buffer<bool> got = f.vectorize(x, 8).realize({8}, t);
            for (int i = 0; i < 8; i++) CHECK(bool(got(i)) == (values[i] > 0));
        }
    }
}
