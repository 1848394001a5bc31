#include "lower/gpu/split_grids.h"
#include "algebra/prove.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <ranges>

namespace tessera::lower {

using namespace ir;

namespace {

constexpr int32_t most_rows_of_blocks = 65535;  // along y and z

// A loop over blocks that is launched in parts.
struct LongLoop {
    Symbol loop, part, first;
    Expr extent;  // by what the host knows
};
using LongLoops = std::vector<LongLoop>;

class FindLongLoops final : public Visitor {
public:
    explicit FindLongLoops(const Stmt &kernel) { (*this)(kernel); }
    LongLoops found;

private:
    void visit(const LetStmt &let) override {
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const For &loop) override {
        if (!is_over_blocks(loop)) return;
        if (dimension_of(loop) > 0) look_at(loop);
        (*this)(loop.body);
    }
    void look_at(const For &loop) {
        const Expr extent = lets.expand(loop.extent);
        const auto most = algebra::constant_upper_bound(extent);
        if (most && *most <= most_rows_of_blocks) return;
        found.push_back({loop.name, Symbol::fresh("part"), Symbol::fresh("first"), extent});
    }
    LetScope lets;
};

class OnePart final : public Mutator {
public:
    explicit OnePart(const LongLoops &loops) : loops(loops) {}

private:
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Stmt(&loop);
        const Stmt body = (*this)(loop.body);
        const auto found = std::ranges::find(loops, loop.name, &LongLoop::loop);
        if (found == loops.end()) return loop.with<&For::body>(body);
        const Expr first = int32_variable(found->first);
        return loop.with<&For::min, &For::extent, &For::body>(
            loop.min + first, min(loop.extent - first, most_rows_of_blocks), body);
    }
    const LongLoops &loops;
};

class SplitGrids final : public Mutator {
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Mutator::visit(loop);
        const LongLoops loops = FindLongLoops(Stmt(&loop)).found;
        if (loops.empty()) return Stmt(&loop);
        Stmt s = OnePart(loops)(Stmt(&loop));
        for (const LongLoop &l : std::views::reverse(loops)) {
            s = LetStmt::make(l.first, int32_variable(l.part) * most_rows_of_blocks, s);
            s = For::make(l.part, 0, (l.extent + (most_rows_of_blocks - 1)) / most_rows_of_blocks,
                          LoopKind::Serial, Partition::Never, s);
        }
        return s;
    }
};

}  // namespace

Stmt split_grids(const Stmt &s, const Context &context) {
    return context.target.has_gpu_feature() ? SplitGrids()(s) : s;
}

}  // namespace tessera::lower
