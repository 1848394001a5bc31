#include "base/places_in_messages.h"
#include "driver/lower_program.h"
#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y");

// The warnings of this scope.
struct Heard {
    Heard() : before(set_warning_handler([this](const std::string &m) { all.push_back(m); })) {}
    ~Heard() { set_warning_handler(before); }
    std::vector<std::string> all;
    WarningHandler before;
};

}  // namespace

TEST_SUITE("places of errors") {
    TEST_CASE("an error knows the place that its message begins with") {
        Func f("f");
        f(x) = x;
        try {
            f.vectorize(y, 4);
            FAIL("nothing is thrown");
        } catch (const CompileError &e) {
            CHECK(std::string_view(e.where().file) == __FILE__);
            CHECK(e.where().line == uint32_t(__LINE__ - 4));
        }
        CHECK_FALSE(CompileError("no place").where().known());
        CHECK_FALSE(RuntimeError("file.cpp:12: of another process").where().known());
    }
    TEST_CASE("what compiled code refuses has the file of the place that it names") {
        ImageParam im(UInt(8), 1, "im");
        Func f("f");
        const uint32_t line = __LINE__ + 1;
        f(x) = require(im(x) > 3, im(x), "too small");
        Buffer<uint8_t> in(4);
        in.fill(1);
        im.set(in);
        try {
            f.realize({4});
            FAIL("nothing is thrown");
        } catch (const RuntimeError &e) {
            CHECK(std::string_view(e.where().file) == __FILE__);
            CHECK(e.where().line == line);
        }
    }
    TEST_CASE("two files of one name leave it open which is meant") {
        const Location first("/a/same.cpp", 3), second("/b/same.cpp", 3), other("/b/same.cpp", 4);
        remembered_place(first);
        CHECK(place_in("same.cpp:3: text").file == std::string("/a/same.cpp"));
        remembered_place(first);
        CHECK(place_in("same.cpp:3: text").known());
        remembered_place(second);
        remembered_place(other);
        CHECK_FALSE(place_in("same.cpp:3: text").known());
        CHECK(place_in("same.cpp:4: text").file == std::string("/b/same.cpp"));
        CHECK_FALSE(place_in("text").known());
    }
}

TEST_SUITE("warnings") {
    TEST_CASE("an update without a schedule beside a definition that has one") {
        Heard heard;
        Func f("f");
        RDom r(0, 3);
        f(x) = x;
        f(x) += r;
        int line = __LINE__ + 1;
        f(x) *= 2;
        SUBCASE("the first definition's") {
            f.vectorize(x, 4);
            f.update().unscheduled();
        }
        SUBCASE("another update's") { f.update(0).unroll(r); }
        f.realize({8});
        REQUIRE(heard.all.size() == 1);
        CHECK(heard.all[0] == line_of(__FILE__, line) +
                                  ": this update of f has no schedule, but another definition of "
                                  "f has; if that is meant, say f.update(1).unscheduled()");
        f.update(1).unscheduled();
        driver::lower_program({.name = "f", .outputs = {f.function()}}, get_host_target());
        CHECK(heard.all.size() == 1);
    }
    TEST_CASE("no loops have a schedule, or only those of the first definition lack one") {
        Heard heard;
        Func f("f"), g("g");
        f(x) = x;
        f(x) += 1;
        g(x) = f(x);
        g(x) *= 2;
        f.compute_root();
        g.update().vectorize(x, 4);
        Buffer<int> b = g.realize({8});
        CHECK(b(3) == 8);
        CHECK(heard.all.empty());
    }
    TEST_CASE("updates of which one is said to be meant as it is") {
        Heard heard;
        Func f("f");
        f(x) = x;
        f(x) += 1;
        f(x) *= 2;
        f.update(1).unscheduled();
        Buffer<int> b = f.realize({8});
        CHECK(b(3) == 8);
        CHECK(heard.all.empty());
    }
    TEST_CASE("a handler's exception leaves the call that compiles") {
        Heard heard;
        set_warning_handler([](const std::string &m) { throw RuntimeError(m); });
        Func f("f");
        f(x) = x;
        f(x) += 1;
        f.vectorize(x, 4);
        FAILS(f.realize({8}), "say f.update().unscheduled()");
        f.update().unscheduled();
        Buffer<int> b = f.realize({8});
        CHECK(b(5) == 6);
    }
    TEST_CASE("what takes long to compile is named before it does") {
        const WarningHandler before =
            set_warning_handler([](const std::string &m) { throw RuntimeError(m); });
        Func unrolled("unrolled"), small("small");
        unrolled(x, y) = x * y + x / (y + 1) - y % 7 * x;
        small(x) = x;
        int line = __LINE__ + 1;
        unrolled.unroll(x, 1 << 15);
        FAILS(unrolled.realize({9, 9}),
              line_of(__FILE__, line) + ": unrolling loop x_i of unrolled makes 32768 copies");
        FAILS(unrolled.realize({9, 9}), "takes long to compile; split it by a smaller factor");
        small.unroll(x, 100);
        Buffer<int> b = small.realize({3});
        CHECK(b(2) == 2);
        std::vector<Func> chain(60);
        chain[0](x) = x;
        for (size_t i = 1; i < chain.size(); i++) {
            chain[i](x) = chain[i - 1](x * 2) + chain[i - 1](x * 3);
        }
        FAILS(chain.back().realize({9}), "operations, which take long to compile, where");
        FAILS(chain.back().realize({9}), "computed inline at each of the 2 points that it reads");
        set_warning_handler(before);
    }
}
