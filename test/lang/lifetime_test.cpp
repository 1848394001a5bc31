#include "program/steps.h"
#include <doctest/doctest.h>
#include <functional>
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

// Returns how many definitions of what `build` has made are left when it has ended. They read the
// parameter that it is given.
int left_of(const std::function<void(const Param<int> &)> &build) {
    const Param<int> p("p");
    const int before = p.parameter()->use_count();
    build(p);
    return p.parameter()->use_count() - before;
}

Func reader(const Param<int> &p, const char *name = "reads_p") {
    Func f(name);
    f(x) = x + p;
    return f;
}

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
    TEST_CASE("a function, its wrappers and its clones are freed together") {
        CHECK(left_of([](const Param<int> &p) {
                  Func f = reader(p), user("user"), other("other");
                  user(x) = f(x);
                  other(x) = f(x) + user(x);
                  Func wrapper = f.in(user), clone = f.clone_in(other);
                  wrapper(x) += f(x) + p;
                  clone(x) += p * clone(x);
                  Func of_wrapper = wrapper.in(user), for_all = user.in();
                  CHECK(Pipeline(other).outputs().size() == 1);
              }) == 0);
    }
    TEST_CASE("what directives make of an update is freed with it") {
        CHECK(left_of([](const Param<int> &p) {
                  Buffer<int> b(4);
                  RDom r(0, 4);
                  Var u("u");
                  Func f = reader(p);
                  f(x) += r.x * p;
                  Func intermediate = f.update().rfactor(r.x, u);
                  Func g("g");
                  g(x) = b(x) * p;
                  g.copy_input(b);
                  g(x) += f(x);
              }) == 0);
    }
    TEST_CASE("a domain whose condition reads what is wrapped does not keep it") {
        CHECK(left_of([](const Param<int> &p) {
                  Func f = reader(p), user("user");
                  user(x) = f(x);
                  Func clone = f.clone_in(user);
                  RDom r(0, 4);
                  r.where(f(r.x) > p);
                  clone(x) += r.x;
              }) == 0);
    }
    TEST_CASE("programs that are values are freed, extern stages included") {
        CHECK(left_of([](const Param<int> &p) {
                  Func f = reader(p), stage("stage"), user("user"), copied("copied");
                  stage.define_extern("nobody_calls_this", {f}, Int(32), {x});
                  copied(x) = f(x);
                  user(x) = stage(x) + copied(x) + p;
                  f.in(stage).compute_root();
                  f.clone_in(copied).compute_root();
                  copied.copy_to_host().compute_root();
                  stage.compute_root();
                  const std::vector<program::FunctionRef> outputs{user.function()};
                  const program::Algorithm algorithm(outputs);
                  const program::Schedule schedule = program::schedule_of(outputs);
                  const auto scheduled = program::apply(algorithm, schedule);
                  CHECK(scheduled.outputs().size() == 1);
                  CHECK(user.compile_to_module(user.infer_arguments(), "user").name() == "user");
              }) == 0);
    }
    TEST_CASE("what a former schedule has made is gone with it, but for what has a handle") {
        CHECK(left_of([](const Param<int> &p) {
                  Func f = reader(p), user("user");
                  user(x) = f(x);
                  const int before = p.parameter()->use_count();
                  const std::vector<program::FunctionRef> outputs{user.function()};
                  const program::Schedule none = program::schedule_of(outputs);
                  for (int i = 0; i < 5; i++) {
                      f.clone_in(user).compute_root();
                      program::replace_schedule(outputs, none);
                      CHECK(p.parameter()->use_count() == before);
                  }
                  Func kept = f.in(user);
                  program::replace_schedule(outputs, none);
                  CHECK(user.schedule_as_cpp().find("in(") == std::string::npos);
                  // Its calls of f still are.
                  Param<int> q("q");
                  Func g("g");
                  g(x) = kept(x) + q;
                  CHECK(Pipeline(g).infer_arguments().size() == 2);
              }) == 0);
    }
}
