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
}
