#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/barrier_placer.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::lower;

namespace {

Stmt barrier() { return Evaluate::make(call(Int(32), Intrinsic::gpu_barrier, {})); }

// Runs the statements of a text one after the other, with barriers between them.
class Placed {
public:
    explicit Placed(BarrierPlacer::Statement barrier = ::barrier) : placer(std::move(barrier)) {}
    std::string operator()(std::string_view text, const std::string &private_one = "",
                           const std::string &in_memory_of_f = "") {
        const Stmt s = parse_stmt(text);
        for (Symbol name : symbols_in(s)) {
            if (name.text() == private_one) placer.privates.insert(name);
            if (name.text() == in_memory_of_f) placer.memory_of[name] = named("f", s);
        }
        return to_string(in_order(s));
    }

private:
    static Symbol named(const std::string &name, const Stmt &s) {
        for (Symbol each : symbols_in(s)) {
            if (each.text() == name) return each;
        }
        return {};
    }
    Stmt in_order(const Stmt &s) {
        if (const auto *block = s.as<Block>()) {
            std::vector<Stmt> all;
            for (const Stmt &each : block->stmts) all.push_back(in_order(each));
            return Block::make(all);
        }
        if (const auto *loop = s.as<For>(); loop && loop->loop_kind == LoopKind::Serial) {
            const auto placed = placer.repeated([&] { return in_order(loop->body); });
            return Block::make({placed.before, loop->with<&For::body>(placed.body)});
        }
        if (const auto *branch = s.as<IfThenElse>()) {
            const auto made = placer.either([&] { return in_order(branch->then_case); },
                                            [&] { return in_order(branch->else_case); });
            return IfThenElse::make(branch->condition, made.then_case, made.else_case);
        }
        const Stmt before = placer.before(BlockAccesses(s));
        return Block::make({before, s});
    }
    BarrierPlacer placer;
};

}  // namespace

TEST_SUITE("barrier_placer") {
    TEST_CASE("a barrier stands between a write and an access of the same buffer alone") {
        CHECK(Placed()("f[t] = 1\n"
                       "g[t] = 2\n"
                       "out[t] = f[t + 1] + g[t + 1]\n"
                       "out2[t] = f[t + 2]\n") == printed("f[t] = 1\n"
                                                          "g[t] = 2\n"
                                                          "gpu_barrier()\n"
                                                          "out[t] = f[t + 1] + g[t + 1]\n"
                                                          "out2[t] = f[t + 2]\n"));
    }
    TEST_CASE("a loop that needs what was done before has it before") {
        CHECK(Placed()("f[t] = 1\n"
                       "for i in [0, +n): g[t + i*8] = f[t + i]\n",
                       "g") == printed("f[t] = 1\n"
                                       "gpu_barrier()\n"
                                       "for i in [0, +n): g[t + i*8] = f[t + i]\n"));
    }
    TEST_CASE("the next iteration waits for this one, once") {
        CHECK(Placed()("for i in [0, +n):\n"
                       "    f[t] = i\n"
                       "    g[t] = f[t + 1]\n") == printed("for i in [0, +n):\n"
                                                           "    f[t] = i\n"
                                                           "    gpu_barrier()\n"
                                                           "    g[t] = f[t + 1]\n"
                                                           "    gpu_barrier()\n"));
    }
    TEST_CASE("what one branch alone waits for is waited for after both") {
        CHECK(Placed()("f[t] = 1\n"
                       "if m == 0: out[t] = f[t + 1]\n"
                       "else: g[t] = 2\n"
                       "out2[t] = f[t + 2]\n") == printed("f[t] = 1\n"
                                                          "if m == 0:\n"
                                                          "    gpu_barrier()\n"
                                                          "    out[t] = f[t + 1]\n"
                                                          "else: g[t] = 2\n"
                                                          "gpu_barrier()\n"
                                                          "out2[t] = f[t + 2]\n"));
    }
    TEST_CASE("nobody waits alone, or over what is private") {
        const char *text = "f[t] = 1\nout[t] = f[t + 1]\n";
        CHECK(Placed(nullptr)(text) == printed(text));
        CHECK(Placed()(text, "f") == printed(text));
        CHECK(Placed()("f[t] = 1\ng[t] = 2\n", "", "g") ==
              printed("f[t] = 1\ngpu_barrier()\ng[t] = 2\n"));
    }
}
