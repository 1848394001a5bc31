#include "ir/visitor.h"
#include "lower/program_test.h"
#include <algorithm>
#include <malloc.h>
#include <thread>

using namespace tessera;
using namespace tessera::lower;

namespace {

const Target target("x86-64-linux-avx2");

program::Program blurred() {
    Small f("f", var("x") + var("y"));
    Small g("g", f(var("x"), var("y")) + f(var("x"), var("y") + 1));
    f.compute_at(g, "y").store_root();
    const Symbol x = Symbol::interned("x");
    g.loops(program::Split{x, Symbol::interned("xo"), Symbol::interned("xi"), 8,
                           TailStrategy::GuardWithIf});
    g.loops(program::SetLoopKind{Symbol::interned("xi"), LoopKind::Vectorized});
    program::Program p;
    p.name = "g";
    p.outputs = {g.f};
    return p;
}

size_t bytes_in_use() {
#ifdef __GLIBC__
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

template<typename Node>
int count(const ir::Stmt &s) {
    int found = 0;
    for_each_node(s, [&](const Node &) { found++; });
    return found;
}

int vectorized_loops(const ir::Stmt &s) {
    int found = 0;
    for_each_node(s, [&](const ir::For &f) { found += traits_of(f.loop_kind).is_in_lanes; });
    return found;
}

}  // namespace

TEST_SUITE("stages of lowering") {
    TEST_CASE("nests: Funcs, and which loop is which") {
        std::vector<std::string> passes;
        LowerOptions options;
        options.trace = [&](std::string_view pass, const ir::Stmt &) { passes.emplace_back(pass); };
        const Lowering l = nests(blurred(), target, options);
        CHECK(passes == std::vector<std::string>{"loop nests"});
        CHECK(count<ir::Realize>(l.function.body) == 1);
        CHECK(count<ir::Provide>(l.function.body) == 2);
        CHECK(count<ir::Store>(l.function.body) == 0);
        int loops = 0;
        for_each_node(l.function.body, [&](const ir::For &f) {
            loops++;
            CHECK(f.origin.known());
        });
        CHECK(loops == 7);  // of which each has one around all others
    }
    TEST_CASE("conceptual: the same, and what the schedule says of storage") {
        const Lowering l = conceptual(nests(blurred(), target));
        CHECK(count<ir::Realize>(l.function.body) == 1);
        CHECK(Passes::has(ir::to_string(l.function.body), {"realize f", "% 2"}));
    }
    TEST_CASE("flat: loads and stores, in loops that are as they were scheduled") {
        const Lowering l = flat(conceptual(nests(blurred(), target)));
        CHECK(count<ir::Realize>(l.function.body) + count<ir::Provide>(l.function.body) == 0);
        CHECK(count<ir::Store>(l.function.body) == 2);
        CHECK(vectorized_loops(l.function.body) == 1);
    }
    TEST_CASE("lowered: what lower() gives") {
        const Lowering l = lowered(flat(conceptual(nests(blurred(), target))));
        CHECK(vectorized_loops(l.function.body) == 0);
        const ir::Module module = lower::lower(blurred(), target);
        CHECK(count<ir::Store>(l.function.body) == count<ir::Store>(module.functions[0].body));
        CHECK(l.function.args.size() == module.functions[0].args.size());
    }
    TEST_CASE("on many threads at once") {
        const program::Program p = blurred();
        const size_t loads = size_t(count<ir::Load>(lower::lower(p, target).functions[0].body));
        std::vector<size_t> found(8);
        {
            std::vector<std::jthread> threads;
            for (size_t &n : found) {
                threads.emplace_back([&n, &p] {
                    n = size_t(count<ir::Load>(lower::lower(p, target).functions[0].body));
                });
            }
        }
        CHECK(std::ranges::count(found, loads) == 8);
    }
    TEST_CASE("2,000 of them leave the memory of a process as it was") {
        const program::Program p = blurred();
        auto lower_many = [&](int count) {
            for (int i = 0; i < count; i++) lower::lower(p, target);
            return bytes_in_use();
        };
        const size_t before = lower_many(100), after = lower_many(2000);
        CHECK(after < before + 100'000);  // of 2,000 lowerings, 50 bytes each
    }
    TEST_CASE("names live as long as what they are in") {
        ir::Module module = lower::lower(blurred(), target);
        const std::string text = ir::to_string(module.functions[0].body);
        const ir::LoweredFunction kept = module.functions[0];
        module = {};
        CHECK(ir::to_string(kept.body) == text);
    }
}
