#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), t("t");

Func image(const char *name = "f") {
    Func f(name);
    f(x, y) = x + y;
    return f;
}

// What the directive says, on whose line this is called, of a Func that is computed inline.
template<typename Schedule>
void refused_inline(Schedule schedule, const char *message, Location at = Here::current()) {
    Func f = image(), g("g");
    g(x, y) = f(x, y) + 1;
    schedule(f);
    REFUSED_AT(at.line, g.realize({8, 8}), message);
}
// The same of an output.
template<typename Schedule>
void refused_as_output(Schedule schedule, const char *message, Location at = Here::current()) {
    Func f = image();
    schedule(f);
    REFUSED_AT(at.line, f.realize({8, 8}), message);
}

}  // namespace

TEST_SUITE("refused directives") {
    TEST_CASE("the message has the line, the directive, the stage and its loops") {
        Func f = image();
        int line = __LINE__ + 1;
        std::string message = refusal([&] { f.split(xo, xo, xi, 8); });
        CHECK(message == line_of(__FILE__, line) + ": split: no loop named xo in stage f; its "
                                                   "loops are x, y (did you mean x?)");
        line = __LINE__ + 1;
        message = refusal([&] { f.reorder(y, x, t); });
        CHECK(message.find(line_of(__FILE__, line) + ": reorder: no loop named t") == 0);
    }
    TEST_CASE("a variable without a name is not taken for one that was misspelt") {
        Var without_name;
        Func f("f");
        f(without_name) = without_name;
        CHECK(refusal([&] { f.unroll(Var()); }).find("did you mean") == std::string::npos);
        CHECK(refusal([&] { f.bound_extent(Var(), 8); }).find("did you mean") == std::string::npos);
    }
    TEST_CASE("a refused directive leaves the schedule as it was") {
        Func f = image();
        REFUSED(f.split(x, xo, y, 8), "already has a loop named y");
        CHECK(Stage(f).split_vars().size() == 2);
        CHECK(Stage(f).schedule().directives.empty());
    }
    TEST_CASE("a directive of several steps is done as a whole or not at all") {
        Func f = image();
        auto unchanged = [&] {
            CHECK(Stage(f).split_vars().size() == 2);
            CHECK(Stage(f).schedule().transforms.empty());
            CHECK(Stage(f).schedule().directives.empty());
        };
        REFUSED(f.tile(x, y, xo, yo, xi, x, 8, 8), "had a loop named x before");
        unchanged();
        REFUSED(f.never_partition(x, t), "no loop named t");
        unchanged();
        f.tile(x, y, xo, yo, xi, yi, 8, 8);
        CHECK(Stage(f).split_vars().size() == 4);

        RDom r(0, 8, "r");
        Func g("g");
        g(x) = 0;
        g(x) = g(x) * 3 + r;
        REFUSED(g.update().vectorize(r, 4), "vectorize: iterations of the reduction loop r");
        CHECK(g.update().split_vars().size() == 2);
    }
    TEST_CASE("directives that split say which they are") {
        Func f = image();
        REFUSED(f.vectorize(t, 8), ": vectorize: no loop named t");
        REFUSED(f.unroll(t, 8), ": unroll: no loop named t");
        REFUSED(f.parallel(t, 8), ": parallel: no loop named t");
        REFUSED(f.tile(x, t, xo, yo, xi, yi, 8, 8), ": tile: no loop named t");
        REFUSED(f.vectorize(x, 0), ": vectorize: the factor 0");
        REFUSED(f.tile(x, y, xi, yi, 8, -1), ": tile: the factor -1");
        REFUSED(f.tile(x, x, xi, yi, 8, 8), ": tile: the loop x is there twice");
        REFUSED(f.tile(x, y, xo, yo, xi, xi, 8, 8), ": tile: the loop xi is there twice");
        Func g("g");
        g.define_extern("work", {}, Int(32), {x});
        REFUSED(g.vectorize(x, 8), ": vectorize: g is computed by the extern function work, which");
    }
    TEST_CASE("blended tiles that would be computed at once") {
        Func f = image();
        f.split(x, xo, xi, 4, TailStrategy::ShiftInwardsAndBlend).parallel(xo);
        REFUSED_ABOVE(f.realize({10, 10}), "so the loop xo cannot be parallel; use GuardWithIf");
        Func h = image("h");
        h.split(x, xo, xi, 4, TailStrategy::ShiftInwardsAndBlend).reorder(xo, xi).parallel(xi);
        REFUSED_ABOVE(h.realize({10, 10}), "so the loop xi cannot be parallel; use GuardWithIf");
        Func g = image("g");
        g.split(x, xo, xi, 4, TailStrategy::ShiftInwardsAndBlend);
        g.split(y, yo, yi, 4, TailStrategy::ShiftInwards).parallel(yo);
        REFUSED_ABOVE(g.realize({10, 10}), "the iterations of the parallel loop yo overlap");
    }
    TEST_CASE("blends that run into the next part of an earlier split, which is computed at once") {
        auto update = [](const char *name) {
            Func f = image(name);
            f(x, y) += 1;
            return f;
        };
        constexpr auto guard = TailStrategy::GuardWithIf;
        Func f = update("f");
        f.update().split(x, xo, xi, 8, guard).parallel(xo);
        f.update().vectorize(xi, 16, TailStrategy::RoundUpAndBlend);
        REFUSED_ABOVE(f.realize({40, 8}), "it runs beyond the end of xi, which is a part of an "
                                          "earlier split, into the next part, so the loop xo "
                                          "cannot be parallel");
        Func g = update("g");
        g.update().split(x, xo, xi, 12, guard).parallel(xo);
        g.update().vectorize(xi, 16, TailStrategy::ShiftInwardsAndBlend);
        REFUSED_ABOVE(g.realize({40, 8}), "so the loop xo cannot be parallel; use GuardWithIf, or "
                                          "a factor that divides xi");
        Func h = update("h");
        h.update().split(y, yo, yi, 3, guard).fuse(x, yi, t).parallel(yo);
        h.update().vectorize(t, 8, TailStrategy::RoundUpAndBlend);
        REFUSED_ABOVE(h.realize({40, 8}), "so the loop yo cannot be parallel");
        Func k = update("k");
        k.update().split(x, xo, xi, 6, guard).reorder(xo, y, xi).parallel(xi);
        k.update().split(xi, xi, t, 4, TailStrategy::RoundUpAndBlend);
        REFUSED_ABOVE(k.realize({40, 8}), "so the loop t cannot be parallel");
        Func v = update("v");
        v.update().split(x, xo, xi, 6, guard).vectorize(xo, 4, guard);
        v.update().split(xi, xi, t, 8, TailStrategy::ShiftInwardsAndBlend);
        REFUSED_ABOVE(v.realize({40, 8}), "cannot be vectorized");
    }
    TEST_CASE("vectors of tiles that overlap beside a blend") {
        Func f = image();
        f.split(y, yo, yi, 12, TailStrategy::ShiftInwards).fuse(x, yi, t);
        f.vectorize(yo, 2, TailStrategy::RoundUpAndBlend);
        std::string message = refusal([&] { f.realize({16, 4}); });
        CHECK(message.find("with TailStrategy::ShiftInwards the iterations of the vectorized loop "
                           "yo") != std::string::npos);
    }
    TEST_CASE("what only loops can do, of a function that is computed inline") {
        refused_inline([](Func f) { f.vectorize(x, 8); },
                       "vectorize of f: f is computed inline and has no loops of its own");
        refused_inline([](Func f) { f.parallel(y); }, "parallel of f: f is computed inline");
        refused_inline([](Func f) { f.unroll(x, 2); }, "unroll of f: f is computed inline");
        refused_inline([](Func f) { f.specialize(Expr(1) == 2); },
                       "specialize of f: f is computed inline");
        refused_inline([](Func f) { f.stream_stores(); },
                       "stream_stores of f: f is computed inline");
        refused_inline([](Func f) { f.split(x, xo, xi, 4); }, "split of f: f is computed inline");
        refused_inline([](Func f) { f.reorder(y, x); }, "reorder of f: f is computed inline");
        refused_inline([](Func f) { f.fuse(x, y, t); }, "fuse of f: f is computed inline");
        refused_inline([](Func f) { f.align_storage(x, 8); },
                       "align_storage of f: f is computed inline and has no storage");
        refused_inline([](Func f) { f.reorder_storage(y, x); },
                       "reorder_storage of f: f is computed");
        refused_inline([](Func f) { f.bound_storage(x, 64); },
                       "bound_storage of f: f is computed inline");
        refused_inline([](Func f) { f.store_in(MemoryType::Stack); },
                       "store_in of f: f is computed");
    }
    TEST_CASE("a place and a layout of an output") {
        refused_as_output([](Func f) { f.async(); },
                          "async of f: f is an output of the pipeline, so that no");
        refused_as_output([](Func f) { f.fold_storage(y, 4); },
                          "fold_storage of f: f is an output of the pipeline, whose storage");
        refused_as_output([](Func f) { f.ring_buffer(2); }, "ring_buffer of f: f is an output");
        refused_as_output([](Func f) { f.reorder_storage(y, x); },
                          "say what that buffer is like with");
        refused_as_output([](Func f) { f.align_storage(x, 8); },
                          "align_storage of f: f is an output");
        refused_as_output([](Func f) { f.store_in(MemoryType::Stack); },
                          "store_in of f: f is an output");
        Func f = image();
        f.compute_root().store_root();
        CHECK_NOTHROW(f.realize({8, 8}));
    }
    TEST_CASE("streams and prefetches of what is not read") {
        Func f = image(), other = image("other"), g("g"), h("h");
        f.compute_root();
        g(x, y) = f(x, y);
        h(x, y) = g(x, y);
        h.stream_loads({other});
        REFUSED_ABOVE(h.realize({8, 8}),
                      "stream_loads of h: h reads no other from memory; it reads f");
        Func k("k");
        k(x, y) = f(x, y) + other(x, y);
        k.prefetch(other, y, y, 1);
        REFUSED_ABOVE(
            k.realize({8, 8}),
            "prefetch of k: nothing in its loop y reads other from memory; prefetch what is read "
            "there, or k itself");
    }
    TEST_CASE("a prefetch that only one specialization has use for") {
        ImageParam in(Int(32), 2, "in");
        Param<bool> use("use");
        Func f("f");
        f(x, y) = select(use, in(x, y), 7);
        f.prefetch(in, y, y, 1).specialize(!use);
        in.set(Buffer<int>(8, 8));
        use.set(false);
        Buffer<int> result = f.realize({8, 8});
        result.for_each_element([&](int i, int j) { CHECK(result(i, j) == 7); });
    }
    TEST_CASE("names of loops that are taken") {
        Func f = image();
        REFUSED(f.split(x, xo, xo, 8), "have one name, xo");
        REFUSED(f.fuse(x, x, t), "the loop x with itself");
        REFUSED(f.fuse(x, xo, t), "fuse: no loop named xo");
        REFUSED(f.rename(x, y), "already has a loop named y");
        f.split(x, xo, xi, 8);
        REFUSED(f.split(y, x, yi, 8), "had a loop named x before");
        REFUSED(f.reorder(xo, xo), "the loop xo is there twice");
    }
    TEST_CASE("factors that are no factors") {
        Func f = image();
        REFUSED(f.split(x, xo, xi, 0), "the factor 0 is not between 1 and");
        REFUSED(f.vectorize(x, -4), "the factor -4 is not between 1 and");
        REFUSED(f.split(x, xo, xi, 1.5f), "a factor is an integer, not a float32");
        REFUSED(f.split(x, xo, xi, Expr(y)), "depends on the variable y");
        REFUSED(f.split(x, xo, xi, Expr()), "an undefined Expr");
        REFUSED(f.tile({x, y}, {xo, yo}, {xi, yi}, {8}), "one of each per loop");
    }
    TEST_CASE("tail strategies that would change the result") {
        Func f = image();
        RDom r(0, 10, "r");
        RVar ro("ro"), ri("ri");
        f(x, y) += r;
        REFUSED(f.update().split(r, ro, ri, 4, TailStrategy::RoundUp), "outside of its domain");
        REFUSED(f.update().split(r, ro, ri, 4, TailStrategy::ShiftInwards), "use GuardWithIf");
        REFUSED(f.update().split(x, xo, xi, 4, TailStrategy::ShiftInwards),
                "changes the result of an update");
        f.update().split(x, xo, xi, 4, TailStrategy::RoundUp);
        f.update().split(r, ro, ri, 4, TailStrategy::Predicate);
    }
    TEST_CASE("a Var for a loop made from a reduction variable") {
        Func f = image();
        RDom r(0, 10, "r");
        f(x, y) += r;
        REFUSED(f.update().split(r, xo, xi, 4), "xo is a Var, but it is made from r$x");
        REFUSED(f.split(x, RVar("ro"), xi, 4), "ro is an RVar, but it is made from x");
        REFUSED(f.update().fuse(r, x, t), "declare it as RVar");
    }
    TEST_CASE("reduction loops that race") {
        Func f("f"), histogram("histogram"), scan("scan");
        RDom r(0, 10, "r");
        f(x) = 0;
        f(x) += r;
        REFUSED(f.update().parallel(r), "iterations of the reduction loop r$x of f.update(0)");
        REFUSED(f.update().vectorize(r, 4), "call atomic() first");
        f.update().atomic().parallel(r);
        scan(x) = 0;
        scan(r) = scan(r - 1) + 1;
        REFUSED(scan.update().parallel(r), "may write an element that others read");
        REFUSED(scan.update().atomic(), "is not known to be associative");
        scan.update().allow_race_conditions().parallel(r);
        histogram(x) = 0;
        histogram(clamp(r, 0, 5)) += 1;
        REFUSED(histogram.update().vectorize(r), "race");
        REFUSED(f.atomic(), "is a pure definition, which has no races");
    }
    TEST_CASE("reduction loops that provably do not race may run at once") {
        Func f("f"), g("g");
        RDom r(0, 10, 0, 5, "r");
        f(x, y) = 0;
        f(2 * r.x + 1, r.y) += 1;
        f.update().parallel(r.y).vectorize(r.x, 4);
        g(x) = 0;
        g(r.x + r.y) += 1;
        REFUSED(g.update().parallel(r.x), "call atomic() first");
    }
    TEST_CASE("reduction loops in another order") {
        Func f("f"), s("s");
        RDom r(0, 4, 0, 4, "r");
        f(x) = 0;
        f(x) = f(x) * 2 + r.x - r.y;
        REFUSED(f.update().reorder(r.y, r.x), "may change its result");
        s(x) = 0;
        s(x) += r.x * r.y;
        s.update().reorder(r.y, r.x);
        s.update().reorder(x, r.x);
    }
    TEST_CASE("prefetches, specializations and streams that make no sense") {
        Func f = image("g"), h("h");
        h(x, y) = f(x, y);
        REFUSED(h.prefetch(f, t, t), "prefetch: no loop named t");
        REFUSED(h.prefetch(f, y, x), "is inside of y");
        REFUSED(h.prefetch(f, x, x, 1.5f), "an int32 expression");
        REFUSED(h.specialize(x > 3), "depends on the variable x");
        REFUSED(h.specialize(Param<int>("p")), "not a bool");
        h.specialize_fail("never");
        REFUSED(h.specialize(Param<bool>("q")), "after specialize_fail");
        REFUSED(h.specialize_fail("again"), "after specialize_fail");
    }
    TEST_CASE("dimensions that are none") {
        Func f = image();
        REFUSED(f.bound(t, 0, 10), "bound: t is no dimension of f; its dimensions are x, y");
        REFUSED(f.bound(x, 0, -1), "the extent -1 is negative");
        REFUSED(f.bound(x, 0, Expr(y)), "depends on the variable y");
        REFUSED(f.bound_extent(x, -1), "bound_extent: the extent -1 is negative");
        REFUSED(f.align_bounds(x, 0), "align_bounds: the modulus 0 is not positive");
        REFUSED(f.align_extent(x, -4), "align_extent: the modulus -4 is not positive");
        REFUSED(f.reorder_storage(x, x), "the dimension x is there twice");
        REFUSED(f.reorder_storage(x, t), "t is no dimension of f");
        REFUSED(f.fold_storage(t, 4), "t is no dimension of f");
        REFUSED(f.fold_storage(x, 0), "the factor 0");
        REFUSED(f.align_storage(x, -8), "the factor -8");
        REFUSED(f.bound_storage(t, 8), "no dimension");
        REFUSED(f.ring_buffer(0), "the factor 0");
        REFUSED(f.set_estimates({{0, 5}}), "1 estimates, but f has 2 dimensions");
        REFUSED(f.set_estimate(t, 0, 5), "no dimension");
    }
    TEST_CASE("levels inside of the Func itself") {
        Func f = image();
        REFUSED(f.compute_at(f, x), "f inside of its own loop x");
        REFUSED(f.store_at(f, y), "inside of its own loop");
        REFUSED(f.hoist_storage(f, y), "inside of its own loop");
    }
    TEST_CASE("wrappers that make no sense") {
        Func f = image(), g("g"), h("h"), undefined("undefined");
        g(x, y) = f(x, y);
        h(x, y) = f(x, y);
        REFUSED(f.in(f), "inside of itself");
        REFUSED(undefined.in(), "undefined is not defined yet");
        REFUSED(f.in(std::vector<Func>{}), "the list of consumers is empty");
        f.in(g);
        REFUSED(f.in({g, h}), "each group of consumers has one wrapper");
        REFUSED(f.clone_in(g), "g already uses f_in_g, a wrapper, instead of f");
        f.clone_in(h);
        REFUSED(f.in(h), "h already uses f_clone, a clone, instead of f");
        REFUSED(f.clone_in(std::vector<Func>{}), "name the Funcs that use the clone");
    }
    TEST_CASE("wrappers for what does not call the Func") {
        Func f = image(), g("g"), h("h");
        g(x, y) = f(x, y);
        h(x, y) = g(x, y);
        g.compute_root();  // else h is given a g that reads the wrapper
        int line = __LINE__ + 1;
        f.in(h);
        std::string message = refusal([&] { h.realize({4, 4}); });
        CHECK(message == line_of(__FILE__, line) + ": in: h does not call f, so it cannot use "
                                                   "f_in_h instead; f is called by g");
        Func g2("g2"), h2("h2"), other("other");
        g2(x, y) = image()(x, y);
        other(x, y) = g2(x, y);
        h2(x, y) = other(x, y);
        other.compute_root();
        g2.clone_in(h2);
        REFUSED_ABOVE(h2.realize({4, 4}), "clone_in: h2 does not call g2");
        // Of a pipeline that the consumer is no part of, and through a wrapper, it is fine.
        CHECK_NOTHROW(other.realize({4, 4}));
        Func p = image("p"), c("c");
        c(x, y) = p(x, y) + 1;
        p.in(c).in(c).compute_root();
        CHECK_NOTHROW(c.realize({4, 4}));
    }
    TEST_CASE("rfactor of what cannot be computed in parts") {
        Func f = image(), s("s");
        RDom r(0, 10, 0, 10, "r");
        Var u("u");
        REFUSED(Stage(f).rfactor(r.x, u), "is no update");
        s(x) = 0;
        s(x) = s(x) * 2 + r.x + r.y;
        REFUSED(s.update().rfactor(r.x, u), "not known to be associative");
        Func sum_of("sum_of");
        sum_of(x) += r.x + r.y;
        REFUSED(sum_of.update().rfactor(r.x, x), "is an argument of sum_of already");
        REFUSED(sum_of.update().rfactor(RVar("q"), u), "no loop named q");
        REFUSED(sum_of.update().rfactor(std::vector<std::pair<RVar, Var>>{}),
                "no reduction variable is given");
        sum_of.update().specialize(Param<bool>("p"));
        REFUSED(sum_of.update().rfactor(r.x, u), "say rfactor before specialize");
    }
    TEST_CASE("copy_input of what the stage does not read") {
        Buffer<int> a(8, "a"), b(8, "b"), none;
        ImageParam im(Int(32), 1, "im");
        Func f("f"), g("g");
        f(x) = a(x);
        REFUSED(f.copy_input(b), "f does not read the image b itself; it reads a");
        REFUSED(f.copy_input(none), "a Buffer that is undefined is named");
        g(x) = im(x) + 1;
        REFUSED(g.copy_input(im), "of which in() makes copies");
        CHECK_NOTHROW(f.copy_input(a));
        REFUSED(f.copy_input(a), "f does not read the image a itself; it reads none");
    }
    TEST_CASE("copy_input of a stage with specializations") {
        Buffer<int> a(8, "a");
        Func f("f");
        f(x) = a(x);
        f.specialize(Param<bool>("p"));
        REFUSED(f.copy_input(a), "say copy_input before specialize");
    }
    TEST_CASE("unscheduled of a stage with a schedule") {
        Func f = image();
        f.vectorize(x, 4);
        REFUSED(Stage(f).unscheduled(), "has a schedule");
    }
    TEST_CASE("a schedule for another algorithm") {
        Func f = image(), g("g");
        g(x) = x;
        f.vectorize(x, 4);
        std::string json = Pipeline(f).schedule_as_json();
        REFUSED(Pipeline(g).apply_schedule(json), "for another algorithm");
        REFUSED(Pipeline(g).apply_schedule("{"), "cannot be read");
        REFUSED(Pipeline(g).apply_schedule("{\"tessera_schedule\": 99}"), "version 99");
    }
    TEST_CASE("an update that would run on into the next tile of an earlier split") {
        Func f = image();
        f(x, y) += 1;
        Var i("i"), o("o");
        f.update().split(x, xo, xi, 6);
        REFUSED(f.update().split(xi, o, i, 4, TailStrategy::RoundUp),
                "would run on into the next tile of an earlier split");
        f.update().split(xi, o, i, 3, TailStrategy::RoundUp);
        Buffer<int> result = f.realize({12, 2});
        result.for_each_element([&](int a, int b) { CHECK(result(a, b) == a + b + 1); });
    }
    TEST_CASE("a fold of what a stage of C reads, in each version of a specialized stage") {
        Func f("f"), e("e"), g("g");
        f(x, y) = x;
        e.define_extern("work", {f}, Int(32), {x, y});
        g(x, y) = e(x, y);
        g.specialize(Param<bool>("p"));
        f.compute_at(g, y).store_root();
        f.fold_storage(y, 8);
        REFUSED_ABOVE(g.realize({8, 8}), "fold_storage(y) of f: an extern stage reads f, which is "
                                         "computed in several places");
    }
}
