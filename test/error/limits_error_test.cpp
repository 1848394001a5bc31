#include "deep_recursion.h"
#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

// The message of the RuntimeError that f() throws.
template<typename F> std::string failure(F f) {
    try {
        f();
    } catch (const RuntimeError &e) {
        return e.what();
    }
    return "nothing failed";
}

void check_says(const std::string &message, std::initializer_list<std::string> parts) {
    CAPTURE(message);
    for (const std::string &part : parts) {
        CAPTURE(part);
        CHECK(message.find(part) != message.npos);
    }
}

// That compiling and running still work.
void goes_on() {
    Func f("f");
    f(x) = x * 2;
    Buffer<int> b = f.realize({4});
    CHECK(b(3) == 6);
}

}  // namespace

TEST_SUITE("more than there can be") {
    TEST_CASE("lanes of a vector, copies of an unrolled body") {
        Func wide("wide"), unrolled("unrolled");
        wide(x) = x;
        int line = __LINE__ + 1;
        wide.vectorize(x, 1 << 20);
        check_says(refusal([&] { wide.realize({9}); }),
                   {line_of(__FILE__, line), "of wide", "1048576 lanes", "4096 at most"});
        unrolled(x) = x;
        line = __LINE__ + 1;
        unrolled.unroll(x, 1 << 22);
        check_says(refusal([&] { unrolled.realize({9}); }),
                   {line_of(__FILE__, line), "of unrolled", "4194304 copies", "65536 at most"});
        goes_on();
    }
    TEST_CASE("values in registers") {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        int line = __LINE__ + 1;
        f.compute_root().store_in(MemoryType::Register);
        check_says(refusal([&] { g.realize({9}); }),
                   {line_of(__FILE__, line), "f cannot be stored in registers", "bound_extent()"});
        goes_on();
    }
    TEST_CASE("operations that inlining makes") {
        std::vector<Func> chain(60);
        chain[0](x) = x;
        int line = 0;
        for (size_t i = 1; i < chain.size(); i++) {
            line = __LINE__ + 1;
            chain[i](x) = chain[i - 1](x - 1) + chain[i - 1](x + 1);
        }
        check_says(refusal([&] { chain.back().realize({9}); }),
                   {line_of(__FILE__, line), "operations, more than 1000000",
                    "computed inline at each of the 2 points", "compute_root()"});
        // As its sentence says.
        for (size_t i = 10; i < 30; i += 10) chain[i].compute_root();
        Buffer<int> b = chain[29].realize({3});
        CHECK(b(1) == 1 << 29);
        goes_on();
    }
    TEST_CASE("a value that is read several times counts once") {
        std::vector<Func> chain(30);
        chain[0](x) = x;
        for (size_t i = 1; i < chain.size(); i++) {
            chain[i](x) = chain[i - 1](x) * chain[i - 1](x) + 1;
        }
        Buffer<int> b = chain.back().realize({3});
        uint32_t expected = 2;
        for (size_t i = 1; i < chain.size(); i++) expected = expected * expected + 1;
        CHECK(b(2) == int32_t(expected));
    }
    TEST_CASE("operations within one another") {
        auto nested = [](int depth) {
            Expr e = x;
            for (int i = 0; i < depth; i++) e = e % (i + 2) + x;
            return e;
        };
        Func deep("deep"), too_deep("too_deep");
        deep(x) = nested(3000);
        if (may_recurse_deeply) {
            Buffer<int> b = deep.realize({3});
            int expected = 2;
            for (int i = 0; i < 3000; i++) expected = expected % (i + 2) + 2;
            CHECK(b(2) == expected);
        }
        REFUSED(too_deep(x) = nested(100000), "too_deep: there are more than 20000 operations");
        Func updated("updated"), scattered("scattered"), summed("summed");
        RDom r(0, 4);
        scattered(x) = 0;
        REFUSED(updated(x) += nested(100000), "update of updated: there are more than 20000");
        REFUSED(scattered(clamp(nested(100000), 0, 9)) = 1, "definition of scattered: there");
        REFUSED(summed(x) = sum(r, nested(100000) + r), "sum: there are more than 20000");
        goes_on();
    }
    TEST_CASE("the message about an index of shared parts without a bound is short") {
        ImageParam image(Int(32), 1, "image");
        Func f("f"), g("g");
        Expr a = image(x), b = image(x + 1);
        for (int i = 0; i < 40; i++) {
            const Expr next = a * b + 1;
            a = b, b = next;
        }
        f(x) = x;
        g(x) = f(b);
        f.compute_root();
        const std::string message = refusal([&] { g.realize({3}); });
        check_says(message, {"g reads f at ", "has no bound", "clamp() the index"});
        CHECK(message.size() < 2000);
        goes_on();
    }
    TEST_CASE("memory that a CPU has not") {
        for (MemoryType memory :
             {MemoryType::GPUShared, MemoryType::GPUTexture, MemoryType::VTCM, MemoryType::AMXTile,
              MemoryType::LockedCache, MemoryType::GPUSharedAsync}) {
            Func f("f"), g("g");
            f(x) = x;
            g(x) = f(x) + f(x + 1);
            int line = __LINE__ + 1;
            f.compute_root().store_in(memory);
            check_says(refusal([&] { g.realize({9}); }),
                       {line_of(__FILE__, line), "store_in of f", "no memory of a CPU", "Heap"});
        }
        goes_on();
    }
    TEST_CASE("iterations of a split that may not leave its loop") {
        Func rounded("rounded"), shifted("shifted");
        rounded(x) = x;
        rounded.split(x, xo, xi, 8, TailStrategy::RoundUp);
        Buffer<int> b(13);
        check_says(failure([&] { rounded.realize(b); }),
                   {"Buffer rounded is too small in dimension 0", "[0, 15]", "[0, 12]",
                    "3 missing beyond its max); x is split by 8 with TailStrategy::RoundUp"});
        Buffer<int> moved(16);
        moved.set_min(1);
        rounded.output_buffer().dim(0).set_min(0);
        CHECK(failure([&] { rounded.realize(moved); }).find("split") == std::string::npos);
        Func updated("updated");
        updated(x) = x;
        updated(x) += 1;
        updated.update().split(x, xo, xi, 8, TailStrategy::RoundUp);
        check_says(failure([&] { updated.realize(b); }), {"x is split by 8"});
        shifted(x) = x;
        shifted.split(x, xo, xi, 8, TailStrategy::ShiftInwards);
        Buffer<int> small(3);
        check_says(failure([&] { shifted.realize(small); }),
                   {"x is split by 8 with TailStrategy::ShiftInwards", "[0, 7]", "[0, 2]"});
        Buffer<int> enough = shifted.realize({8});
        CHECK(enough(7) == 7);
        // Who asks for sizes gets them, of a Buffer that is large enough.
        Buffer<int> part = shifted.realize({3}), whole = rounded.realize({13});
        CHECK(part.width() == 3);
        CHECK(whole.width() == 13);
        CHECK(part(2) + whole(12) == 14);
        goes_on();
    }
    TEST_CASE("a factor that is a parameter, and not positive") {
        Param<int> p("p");
        Func f("f");
        f(x) = x;
        f.split(x, xo, xi, p);
        for (int factor : {0, -3}) {
            p.set(factor);
            check_says(failure([&] { f.realize({8}); }),
                       {"the schedule of f", "x is split by p", str("which is ", factor)});
        }
        p.set(3);
        Buffer<int> b = f.realize({8});
        CHECK(b(7) == 7);
    }
    TEST_CASE("storage by parameters that are not positive") {
        Param<int> p("p");
        auto message = [&](auto schedule) {
            Func f("f"), g("g");
            f(x) = x;
            g(x, y) = f(x + y) + f(x);
            schedule(f, g);
            p.set(0);
            std::string said = failure([&] { g.realize({8, 4}); });
            p.set(2);
            Buffer<int> b = g.realize({8, 4});
            CHECK(b(7, 3) == 17);
            return said;
        };
        check_says(message([&](Func f, Func g) {
                       f.compute_at(g, y).hoist_storage_root().ring_buffer(p);
                   }),
                   {"the number of copies of ring_buffer of f must be positive, not 0"});
        check_says(message([&](Func f, Func) { f.compute_root().align_storage(x, p); }),
                   {"the alignment of align_storage of f must be positive, not 0"});
        check_says(message([&](Func f, Func) { f.compute_root().align_bounds(x, p); }),
                   {"modulus of align_bounds of f must be positive, not 0"});
    }
}

TEST_SUITE("names and promises") {
    TEST_CASE("a Func may be called like anything in C") {
        for (const char *name : {"malloc", "tessera_error", "main", "memcpy", "a b\"c\n", "f.x"}) {
            CAPTURE(name);
            Func f(name), g(name);
            f(x) = x;
            g(x) = f(x) + f(x + 1);
            f.compute_root();
            Buffer<int> b = g.realize({4});
            CHECK(b(3) == 7);
        }
    }
    TEST_CASE("a promise that is not kept, where the target has promises checked") {
        ImageParam im(Int(32), 1, "im");
        Buffer<int> in(3);
        in.fill(2);
        im.set(in);
        Func f("f"), g("g");
        f(x) = x * 10;
        g(x) = f(unsafe_promise_clamped(im(x), 0, 3));
        f.compute_root();
        Target checking = get_host_target().with_feature(Target::CheckUnsafePromises);
        Buffer<int> b = g.realize({3}, checking);
        CHECK(b(1) == 20);
        in(1) = 77;
        check_says(failure([&] { g.realize({3}, checking); }),
                   {"is not between 0 and 3", "unsafe_promise_clamped", "it is 77"});
        goes_on();
    }
    TEST_CASE("buffers without memory") {
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = im(x);
        im.set(Buffer<int>(static_cast<int *>(nullptr), 10));
        check_says(failure([&] { f.realize({3}); }), {"im has no memory", "infer_input_bounds()"});
        Buffer<int> in(10), out(static_cast<int *>(nullptr), 3);
        in.fill(4);
        im.set(in);
        check_says(failure([&] { f.realize(out); }), {"an output has no memory", "allocate()"});
        out.allocate();
        f.realize(out);
        CHECK(out(2) == 4);
    }
}

TEST_SUITE("conditions that make no sense") {
    TEST_CASE("requirements are about parameters") {
        Func f("f"), g("g");
        Param<int> p("p");
        f(x) = x;
        int line = __LINE__ + 1;
        std::string message = refusal([&] { f.add_requirement(x > 3); });
        check_says(message, {line_of(__FILE__, line), "depends on the variable x", "parameters"});
        REFUSED(f.add_requirement(p + 1), "is a bool in terms of parameters");
        REFUSED(f.pipeline().add_requirement(p > 1, "but it is", x), "the variable x");
        REFUSED(f.pipeline().add_requirement(p > 1, "but it is", Expr()), "undefined");
        goes_on();
    }
    TEST_CASE("domains whose box depends on what they run over") {
        Func f("f");
        f(x) = x;
        int line = __LINE__ + 1;
        std::string message = refusal([&] { RDom r(0, Expr(x)); });
        check_says(message, {line_of(__FILE__, line), "the variable x", "where()"});
        REFUSED(RDom(0, f(0)), "RDom: the bound f(0) depends on values of f");
        Func g("g");
        g(x) = x;
        RDom r(0, 3);
        r.where(y > 1);
        REFUSED(g(x) += r, "the variable y is bound by nothing");
        goes_on();
    }
    TEST_CASE("a pipeline of a Func without a definition") {
        Func f("f");
        REFUSED(f.realize({3}), "the output f has no definition");
        goes_on();
    }
}

TEST_SUITE("passes of the user's own") {
    TEST_CASE("what they make is checked") {
        struct Broken {
            ir::Stmt operator()(const ir::Stmt &) { return result; }
            ir::Stmt result;
        };
        Func f("f");
        f(x) = x;
        Broken nothing, unbound{ir::Evaluate::make(ir::Variable::make(Int(32), x.symbol()))};
        f.add_custom_lowering_pass(&nothing, nullptr);
        REFUSED(f.realize({3}), "custom lowering pass 0 returned no statement");
        f.clear_custom_lowering_passes();
        f.add_custom_lowering_pass(&unbound, nullptr);
        REFUSED(f.realize({3}), "custom lowering pass 0 made a statement that is not valid");
        f.clear_custom_lowering_passes();
        Broken unflattened{ir::Provide::make(f.function()->name, {Expr(1)}, {Expr(0)})};
        f.add_custom_lowering_pass(&unflattened, nullptr);
        REFUSED(f.realize({3}), "a statement on a Func comes too late");
        f.clear_custom_lowering_passes();
        Buffer<int> b = f.realize({3});
        CHECK(b(2) == 2);
    }
}
