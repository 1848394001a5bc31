#include "error/refusal.h"

// Messages that say what would do, at the line that is at fault.

using namespace tessera;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), u("u");

// The warnings of this scope.
struct Heard {
    Heard() : before(set_warning_handler([this](const std::string &m) { all.push_back(m); })) {}
    ~Heard() { set_warning_handler(before); }
    std::vector<std::string> all;
    WarningHandler before;
};

Buffer<int> line_of_numbers(int size) {
    Buffer<int> b(size);
    b.fill([](int i) { return i; });
    return b;
}

}  // namespace

TEST_SUITE("messages that say what would do") {
    TEST_CASE("a loop that is vectorized before it is split") {
        Func f("f");
        f(x) = x;
        int line = __LINE__ + 1;
        f.vectorize(x);
        f.split(x, xo, xi, 8);
        REFUSED_AT(line, f.realize({20}), "cannot vectorize loop xo of f: its extent");
        Func g("g");
        g(x, y) = x;
        line = __LINE__ + 1;
        g.unroll(y);
        g.rename(y, xo);
        REFUSED_AT(line, g.realize({20, 3}), "cannot unroll loop xo of g");
    }
    TEST_CASE("a loop that is vectorized in a specialization") {
        Func f("f");
        Param<int> p("p");
        f(x) = x;
        int line = __LINE__ + 1;
        f.specialize(p > 3).split(x, xo, xi, 8).vectorize(xo);
        REFUSED_AT(line, f.compile_jit(), "cannot vectorize loop xo of f");
    }
    TEST_CASE("an rfactor of what is not seen to be associative") {
        Func f("f");
        RDom r(0, 10, 0, 10, "r");
        f(x) = 0;
        f(x) = f(x) * 2 + r.x + r.y;
        REFUSED(f.update().rfactor(r.x, u), "atomic(true) allows parallel() or vectorize()");
        REFUSED(Stage(f).rfactor(r.x, u), "take one of them, as in f.update(0).rfactor(...)");
    }
    TEST_CASE("an update that is not there") {
        Func f("f");
        f(x) = x;
        REFUSED(f.update_value(0), "each definition after the first is one, as in f(...) += 1");
        REFUSED(f.update(), "each definition after the first is one, as in f(...) += 1");
        f(x) += 1;
        REFUSED(f.update(1), "update(1) of f, which has 1 update definition, counted from 0");
    }
    TEST_CASE("a first definition that reads itself") {
        Func f("f");
        REFUSED(f(x) = f(x - 1) + 1, "if this is its own first definition, give it values "
                                     "that do not read it");
        Func g(Int(32), 1, "g");
        REFUSED(g(x) = g(x - 1) + 1, "and make this an update, over an RDom");
    }
    TEST_CASE("directives of what never runs") {
        Func f("f");
        Param<int> p("p");
        f(x) = x;
        Stage version = f.specialize(p > 3);
        f.specialize_fail("p is too small");
        REFUSED(f.vectorize(x, 4), "a directive of f after specialize_fail has no effect: only its "
                                   "specializations run. Say it before specialize()");
        version.vectorize(x, 4);
        p.set(4);
        CHECK(Buffer<int>(f.realize({8}))(5) == 5);
    }
    TEST_CASE("a bound of what each tile computes") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + 1;
        g.split(x, xo, xi, 4);
        int line = __LINE__ + 1;
        f.compute_at(g, xo).bound(x, 0, 16);
        Heard heard;
        CHECK(Buffer<int>(g.realize({16, 2}))(15, 1) == 17);
        REQUIRE(heard.all.size() == 1);
        CHECK(heard.all[0] ==
              line_of(__FILE__, line) +
                  ": bound of f along x says what is computed at once: each iteration of the loop "
                  "xo of g computes all of it, although it reads less; drop the bound, or compute "
                  "f further out");
    }
    TEST_CASE("a bound of what is the same in each tile") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + 1;
        f.compute_at(g, y).bound(x, 0, 16);
        Heard heard;
        CHECK(Buffer<int>(g.realize({16, 2}))(15, 1) == 17);
        CHECK(heard.all.empty());
    }
    TEST_CASE("an input that an inner stage's vector makes too small") {
        ImageParam in(Int(32), 1, "in");
        Func f("f"), g("g");
        f(x) = in(x) + 1;
        g(x) = f(x) * 2;
        f.compute_root().vectorize(x, 8, TailStrategy::RoundUp);
        in.set(line_of_numbers(10));
        FAILS(g.realize({10}), "is too small in dimension 0: the pipeline touches [0, 15], but the "
                               "buffer has [0, 9] (6 missing beyond its max); x of f is split by 8 "
                               "with TailStrategy::RoundUp, which computes a multiple of 8");
        in.set(line_of_numbers(16));
        CHECK(Buffer<int>(g.realize({10}))(9) == 20);
    }
    TEST_CASE("an input that a condition does not bound") {
        ImageParam in(Int(32), 1, "in");
        Func f("f");
        RDom r(0, 20, "r");
        r.where(in(r) % 2 == 0 && r * r < 60);
        f() = 0;
        f() += in(r);
        in.set(line_of_numbers(10));
        FAILS(f.realize(), "the condition of where() in f.update(0) is not seen to limit what is "
                           "read; clamp() the coordinate");
    }
    TEST_CASE("a buffer that wants LargeBuffers") {
        Func f("f");
        f(x, y) = cast<uint8_t>(x);
        f.output_buffer().dim(1).set_stride(Expr());
        Callable c = f.compile_to_callable({});
        tessera_dimension_t shape[] = {{0, 1, 1}, {0, 3, 1 << 30}};
        uint8_t byte = 0;
        Buffer<uint8_t> far(&byte, 2, shape);
        FAILS(c(far), "compile it for a target with the feature LargeBuffers (large_buffers in its "
                      "text)");
    }
    TEST_CASE("a stride that is asked of every buffer") {
        ImageParam in(UInt(8), 2, "in");
        Func f("f");
        f(x, y) = in(x, y);
        in.set(Buffer<uint8_t>::make_interleaved(8, 4, 3).sliced(2, 0));
        FAILS(f.realize({8, 4}), "in.stride.0 is 3, but must be 1 (in.dim(0).set_stride(Expr()) "
                                 "allows any)");
        in.set(Buffer<uint8_t>(8, 4));
        FAILS(f.realize(Buffer<uint8_t>::make_interleaved(8, 4, 3).sliced(2, 0)),
              "(f.output_buffer().dim(0).set_stride(Expr()) allows any)");
    }
}
