#include <doctest/doctest.h>
#include <tessera.h>

// Handles are dropped in any order; whoever holds one may use it. (A sanitizer sees what is used
// after it is gone.)

using namespace tessera;

namespace {

Var x("x"), y("y");

Func squares() {
    Func f("squares");
    f(x) = x * x;
    return f;
}

Func wrapper_of_what_is_gone() { return squares().in(); }

Func wrapper_of_a_wrapper() { return squares().in().in(); }

Func wrapper_for(const Func &consumer, Func f) { return f.in(consumer); }

int at_3(Func f) { return Buffer<int>(f.realize({4}))(3); }

}  // namespace

TEST_SUITE("handles that outlive one another") {
    TEST_CASE("a wrapper of a Func whose handle is gone") {
        Func wrapper = wrapper_of_what_is_gone();
        wrapper.vectorize(x, 4);
        CHECK(at_3(wrapper) == 9);
        Func user;
        user(x) = wrapper(x) + 1;
        wrapper.compute_root();
        CHECK(at_3(user) == 10);
        CHECK(user.schedule_as_cpp().find("squares") != std::string::npos);
    }
    TEST_CASE("a wrapper of a wrapper") {
        Func outer = wrapper_of_a_wrapper();
        CHECK(at_3(outer) == 9);
        Func again = outer.in();
        outer = Func();
        CHECK(at_3(again) == 9);
    }
    TEST_CASE("a wrapper and a clone for a consumer") {
        Func user, wrapper, clone;
        {
            Func f = squares(), g = squares();
            user(x) = f(x) + g(x);
            wrapper = wrapper_for(user, f);
            clone = g.clone_in(user);
        }
        wrapper.compute_root();
        clone.compute_root();
        CHECK(at_3(user) == 18);
        user = Func();
        CHECK(at_3(wrapper) == 9);
        CHECK(at_3(clone) == 9);
    }
    TEST_CASE("a clone of a wrapper reads what the wrapper reads") {
        Func user, clone;
        {
            Func wrapper = wrapper_of_what_is_gone();
            user(x) = wrapper(x);
            clone = wrapper.clone_in(user);
        }
        clone.compute_root();
        CHECK(at_3(user) == 9);
        user = Func();
        CHECK(at_3(clone) == 9);
    }
    TEST_CASE("the stage of a wrapper, and an update of one that reads what it wraps") {
        Param<bool> p;
        Stage stage = squares().in().split(x, y, x, 4).specialize(p);
        stage.vectorize(x);
        Func f = squares(), wrapper = f.in();
        wrapper(x) += f(x);
        f = Func();
        CHECK(at_3(wrapper) == 18);
    }
    TEST_CASE("a wrapper as an argument of an extern stage and as an output") {
        Func user;
        user.define_extern("nobody_calls_this", {wrapper_of_what_is_gone()}, Int(32), {x});
        CHECK(user.pipeline().outputs().size() == 1);
        Pipeline p(std::vector<Func>{wrapper_of_what_is_gone(), squares()});
        CHECK(Buffer<int>(p.realize({4})[0])(3) == 9);
    }
    TEST_CASE("a pipeline and a Callable of what is gone") {
        Callable callable;
        Pipeline pipeline;
        {
            Param<int> p("p");
            ImageParam image(Int(32), 1, "image");
            Func f("f"), in = image.in();
            f(x) = image(x) + p;
            in = Func();
            pipeline = Pipeline(f.in());
            callable = f.compile_to_callable({image, p});
        }
        Buffer<int> given(4), out(4);
        given.fill(5);
        CHECK(callable(given, 2, out) == 0);
        CHECK(out(3) == 7);
        CHECK(pipeline.infer_arguments().size() == 2);
        pipeline = Pipeline();
    }
    TEST_CASE("variables of a domain and levels of loops") {
        RVar r;
        LoopLevel level;
        Func sum("sum"), user("user");
        {
            RDom domain(0, 4);
            domain.where(domain.x < 3);
            sum(x) = 0;
            sum(x) += domain.x * x;
            r = domain.x;
            user(x) = sum(x);
            level = LoopLevel(user, x);
        }
        sum.compute_at(level);
        sum.update().unroll(r, 2);
        CHECK(at_3(user) == 9);
        user = Func();
        CHECK(level.func() == "user");
        CHECK(level.var().name() == "x");
    }
}
