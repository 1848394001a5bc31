#include "error/refusal.h"
#include "lang/image_param.h"

using namespace tessera;

namespace {

Var x("x");
const char *const too_large = "4294967300, does not fit int32";
const char *const was_too_large = "does not fit int32: it is 4294967300";

Expr large() { return Expr((int64_t(1) << 32) + 4); }

// What a directive says of a constant that does not fit, and a run of a parameter.
template<typename Schedule> void check_directive(Schedule schedule) {
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x) + 1;
    f.compute_root();
    std::string message = refusal([&] { schedule(f, large()); });
    CHECK(message.find(too_large) != std::string::npos);
    Param<int64_t> n("n", (int64_t(1) << 32) + 4);
    schedule(f, n);
    try {
        g.realize({4});
        FAIL_CHECK("nothing failed");
    } catch (const RuntimeError &e) {
        const std::string told = e.what();
        CAPTURE(told);
        CHECK(told.find(was_too_large) != std::string::npos);
    }
}

}  // namespace

TEST_SUITE("numbers of more than 32 bits") {
    TEST_CASE("that are constants of a reduction domain") {
        REFUSED(RDom(0, large()), "RDom: a bound, 4294967300, does not fit int32");
        REFUSED(RDom(large(), 4), too_large);
        REFUSED(RDom(0, Expr(4000000000u)), "4000000000, does not fit int32");
        REFUSED(RDom(0, 3, Expr(int64_t(-3000000000)), 4), "-3000000000, does not fit int32");
        CHECK(RDom(0, Expr(int64_t(7))).x.extent().type() == Int(32));
    }
    TEST_CASE("that are parameters of a reduction domain") {
        Param<int64_t> n("n");
        Param<uint32_t> u("u");
        Param<uint64_t> v("v");
        auto count = [](const Expr &first, const Expr &extent) {
            RDom r(first, extent, "r");
            Func f("f");
            f() = 0;
            f() += min(r, 0) * 0 + 1;
            f.compile_jit();
            return Buffer<int>(f.realize())();
        };
        n.set(7);
        CHECK(count(0, n) == 7);
        CHECK(count(n, 3) == 3);
        n.set((int64_t(1) << 32) + 4);
        CHECK_THROWS_WITH_AS(count(0, n), doctest::Contains(was_too_large), RuntimeError);
        CHECK_THROWS_WITH_AS(count(n, 3), doctest::Contains(was_too_large), RuntimeError);
        n.set(-(int64_t(1) << 32));
        CHECK_THROWS_WITH_AS(count(n, 3), doctest::Contains("-4294967296"), RuntimeError);
        u.set(4000000000u);
        CHECK_THROWS_WITH_AS(count(0, u), doctest::Contains("4000000000"), RuntimeError);
        v.set(uint64_t(1) << 63);
        CHECK_THROWS_WITH_AS(count(0, v), doctest::Contains("9223372036854775808"), RuntimeError);
        v.set(5);
        CHECK(count(0, v) == 5);
    }
    TEST_CASE("of directives") {
        check_directive([](Func f, const Expr &n) { f.bound(x, 0, n); });
        check_directive([](Func f, const Expr &n) { f.bound(x, n, 4); });
        check_directive([](Func f, const Expr &n) { f.bound_extent(x, n); });
        check_directive([](Func f, const Expr &n) { f.align_bounds(x, n); });
        check_directive([](Func f, const Expr &n) { f.align_extent(x, n); });
    }
    TEST_CASE("a remainder is taken before it is cut") {
        Func f("f"), g("g");
        Param<int64_t> n("n", (int64_t(1) << 32) + 5);
        f(x) = x;
        g(x) = f(x) + 1;
        f.compute_root().align_bounds(x, 4, n);
        CHECK(Buffer<int>(g.realize({4}))(3) == 4);
    }
    TEST_CASE("of factors, which are between 1 and the largest int32") {
        Func f("f"), g("g");
        Var xo("xo"), xi("xi");
        f(x) = x;
        g(x) = f(x);
        f.compute_root();
        REFUSED(f.split(x, xo, xi, large()), "the factor 4294967300 is not between 1 and");
        REFUSED(f.bound_storage(x, large()), "the factor 4294967300 is not between 1 and");
        Param<int64_t> n("n", (int64_t(1) << 32) + 4);
        f.bound_storage(x, n).split(x, xo, xi, n);
        CHECK_THROWS_WITH_AS(g.realize({4}), doctest::Contains("does not fit int32"), RuntimeError);
        n.set(5);
        CHECK(Buffer<int>(g.realize({4}))(3) == 3);
    }
    TEST_CASE("of buffers and estimates") {
        ImageParam in(Int(32), 1, "in");
        Func f("f");
        f(x) = in(x);
        REFUSED(in.dim(0).set_extent(large()), too_large);
        REFUSED(in.dim(0).set_min(large()), too_large);
        REFUSED(in.dim(0).set_estimate(0, large()), too_large);
        REFUSED(f.set_estimate(x, 0, large()), too_large);
        Param<int64_t> n("n", (int64_t(1) << 32) + 4);
        in.dim(0).set_extent(n);
        Buffer<int> four(4);
        four.fill(1);
        in.set(four);
        CHECK_THROWS_WITH_AS(f.realize({4}), doctest::Contains(was_too_large), RuntimeError);
        n.set(4);
        CHECK(Buffer<int>(f.realize({4}))(3) == 1);
    }
}
