#include "error/refusal.h"
#include "lower/lower.h"

using namespace tessera;

namespace {

void compile(const std::vector<Func> &outputs) {
    Pipeline p(outputs);
    lower::lower(p.program(), get_host_target(), {.trace = {}, .verify = true});
}

std::string refusal(const std::vector<Func> &outputs) {
    return ::refusal([&] { compile(outputs); });
}

// The message begins with the line of the directive, so many above this one, and has these parts.
bool says(const std::string &message, std::initializer_list<const char *> parts, int above = 1,
          Location at = Here::current()) {
    for (const char *part : parts) {
        if (message == Expected{line_of(at.file, int(at.line) - above), part}) continue;
        MESSAGE(message, "   is not   ", Expected{line_of(at.file, int(at.line) - above), part});
        return false;
    }
    return true;
}

struct Chain {
    Var x{"x"}, y{"y"};
    Func f{"f"}, g{"g"}, out{"out"};
    Chain() {
        f(x, y) = x + y;
        g(x, y) = f(x, y) * 2;
        out(x, y) = g(x, y) + g(x, y + 1);
    }
};

}  // namespace

TEST_SUITE("schedules that cannot work") {
    TEST_CASE("compute_at a loop that is not there names those that are") {
        Chain c;
        c.g.compute_at(c.out, Var("z"));
        CHECK(
            says(refusal({c.out}), {"compute_at of g", "out has no loop z", "its loops are x, y"}));
    }
    TEST_CASE("compute_at a loop that a split has replaced") {
        Chain c;
        c.out.split(c.x, Var("xo"), Var("xi"), 4);
        c.g.compute_at(c.out, c.x);
        CHECK(says(refusal({c.out}), {"out has no loop x", "xi, xo, y"}));
    }
    TEST_CASE("compute_at a loop of a Func that is inline") {
        Chain c;
        c.f.compute_at(c.g, c.x);
        CHECK(says(refusal({c.out}), {"compute_at of f", "g has no loops", "inline"}));
    }
    TEST_CASE("compute_at, stored further out, a Func that is computed where nothing is") {
        Var x("x"), y("y");
        Func f("f"), g("g"), h("h"), out("out");
        f(x, y) = x + y;
        g(x, y) = f(x, y);
        h(x, y) = g(x, y);
        out(x, y) = h(x, y);
        f.store_root().compute_at(g, x);
        h.clone_in(out).compute_root();  // nothing reads h itself
        g.compute_at(h, x);
        CHECK(says(refusal({out}), {"compute_at of g", "h has no loops in this pipeline"}));
    }
    TEST_CASE("compute_at a loop that does not enclose all uses") {
        Chain c;
        Func other("other");
        other(c.x, c.y) = c.f(c.x, c.y) + c.out(c.x, c.y);
        c.g.compute_root();
        c.out.compute_root();
        c.f.compute_at(c.g, c.y);
        CHECK(says(refusal({other}),
                   {"compute_at(g, y) of f", "other uses f", "compute_root()", "clone_in()"}));
    }
    TEST_CASE("compute_at a loop that only one definition of its only consumer has") {
        Func f("f"), g("g");
        Var x("x");
        f(x) = x;
        g(x) = f(x);
        g(0) = f(3);
        f.compute_at(g, x);
        std::string message = refusal({g});
        CHECK(says(message, {"g.update(0) uses f too", "compute_root()"}, 2));
        CHECK(message.find("clone_in") == message.npos);
    }
    TEST_CASE("compute_at of an output, at its producer that is computed inline") {
        Chain c;
        c.out.compute_at(c.g, c.x);
        CHECK(says(refusal({c.out}), {"compute_at of out", "remove the directive"}));
    }
    TEST_CASE("compute_at a loop of one's own consumer's consumer that is computed elsewhere") {
        Chain c;
        c.g.compute_root();
        c.f.compute_at(c.out, c.y);
        CHECK(says(refusal({c.out}), {"compute_at(out, y) of f", "g uses f"}));
    }
    TEST_CASE("compute_at of an output") {
        Chain c;
        c.g.compute_at(c.out, c.y);
        CHECK(says(refusal({c.out, c.g}), {"compute_at of g", "output"}));
    }
    TEST_CASE("store_at inside of compute_at") {
        Chain c;
        c.g.compute_at(c.out, c.y).store_at(c.out, c.x);
        CHECK(says(refusal({c.out}),
                   {"store_at(out, x) of g", "compute_at(out, y)", "must enclose"}));
    }
    TEST_CASE("store_at a loop that is not there") {
        Chain c;
        c.g.compute_at(c.out, c.x).store_at(c.out, Var("q"));
        CHECK(says(refusal({c.out}), {"store_at of g", "no loop q"}));
    }
    TEST_CASE("hoist_storage inside of store_at") {
        Chain c;
        c.g.compute_at(c.out, c.x).store_at(c.out, c.y).hoist_storage(c.out, c.x);
        CHECK(says(refusal({c.out}), {"hoist_storage(out, x) of g", "store_at(out, y)"}));
    }
    TEST_CASE("storage outside of a parallel loop, computed inside of it") {
        Chain c;
        c.out.parallel(c.y);
        c.g.store_root().compute_at(c.out, c.x);
        CHECK(says(refusal({c.out}),
                   {"g is stored outside of the parallel loop y of out", "store it inside"}));
    }
    TEST_CASE("a store level without a compute level") {
        Chain c;
        c.g.store_root();
        CHECK(says(refusal({c.out}), {"store_root of g", "inline"}));
    }
    TEST_CASE("a LoopLevel that was never set") {
        Chain c;
        LoopLevel level;
        c.g.compute_at(level);
        CHECK(says(refusal({c.out}), {"compute_at of g", "never set", "set()"}));
    }
    TEST_CASE("a LoopLevel of a Func that the pipeline does not use") {
        Chain c;
        Func unused("unused");
        unused(c.x, c.y) = c.g(c.x, c.y);
        c.g.compute_at(unused, c.y);
        CHECK(says(refusal({c.out}), {"compute_at of g", "unused"}));
    }
    TEST_CASE("fold_storage without a loop that slides") {
        Chain c;
        c.g.compute_root().fold_storage(c.y, 2);
        CHECK(says(refusal({c.out}), {"fold_storage(y) of g", "store_root"}));
    }
    TEST_CASE("fold_storage where it cannot be, and why") {
        Var x("x"), y("y");
        RDom r(1, 5, "r");
        auto refused = [&](Func f, const Expr &read, std::initializer_list<const char *> parts) {
            Func out("out");
            out(x, y) = read;
            f.store_root().compute_at(out, y).fold_storage(y, 4);
            CHECK(says(refusal({out}), parts));
        };
        Func f("f"), g("g"), h("h"), scan("scan");
        f(x, y) = x + y;
        refused(f, f(x, y) + f(x, 20 - y), {"fold_storage(y) of f", "in one direction"});
        g(x, y) = x + y;
        refused(g, g(x, 3) + y, {"fold_storage(y) of g", "no loop between", "moves along y"});
        h(x, y) = x;
        h.vectorize(y);
        refused(h, h(x, y) + h(x, y + 1), {"fold_storage(y) of h", "vectors", "GuardWithIf"});
        scan(x, y) = x;
        scan(x, r) += scan(x, 6 - r);
        refused(scan, scan(x, y), {"fold_storage(y) of scan", "an update of scan"});
    }
    TEST_CASE("ring_buffer without hoisted storage, or whose size is not bounded") {
        Chain c;
        c.g.compute_at(c.out, c.y).ring_buffer(2);
        CHECK(says(refusal({c.out}), {"ring_buffer", "g", "hoist_storage"}));
    }
    TEST_CASE("vectorize and unroll of loops without a constant extent") {
        Chain c;
        c.out.vectorize(c.x);
        CHECK(says(refusal({c.out}), {"vectorize", "x", "out"}));
        Chain d;
        d.out.unroll(d.y);
        CHECK(says(refusal({d.out}), {"unroll", "y", "out"}));
    }
    TEST_CASE("an index without a bound") {
        Var x("x");
        ImageParam in(Int(32), 1, "in");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(in(x));
        f.compute_root();
        CHECK(says(refusal({g}), {"g reads f at", "dimension 0", "clamp()"}, 2));
    }
    TEST_CASE("an index into an image without a bound") {
        Var x("x");
        ImageParam in(Int(32), 1, "in"), table(Int(32), 1, "table");
        Func g("g");
        g(x) = table(in(x));
        CHECK(says(refusal({g}), {"g reads table at", "clamp()"}));
    }
    TEST_CASE("a scatter without a bound") {
        Var x("x");
        ImageParam in(Int(32), 1, "in");
        RDom r(0, 10, "r");
        Func f("f"), g("g");
        f(x) = 0;
        f(in(r)) += 1;
        g(x) = f(x);
        f.compute_root();
        CHECK(says(refusal({g}), {"f is updated at", "clamp()"}, 3));
        CHECK(refusal({g}).find("reads f") == std::string::npos);
    }
    TEST_CASE("a Func with updates, inline in an extern stage's argument") {
        Var x("x"), y("y");
        Func f("f"), e("e"), out("out");
        f(x, y) = x;
        e.define_extern("nobody", {f}, Int(32), {x, y});
        out(x, y) = e(x, y);
        e.compute_root();
        CHECK(says(refusal({out}), {"e reads f", "compute_root"}, 3));
    }
}
