#include "lower/gpu/kernel_shape.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/loop_name.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

void BlockLoops::push(const For &loop) {
    loops.push_back(&loop);
    const Expr min = lets.expand(loop.min), extent = lets.expand(loop.extent);
    ranges.bind(loop.name, {min, min + extent - 1});
    lets.push_loop(loop.name, loop.min, loop.extent);
}

void BlockLoops::pop() {
    lets.pop_loop(loops.back()->name);
    ranges.unbind(loops.back()->name);
    loops.pop_back();
}

Expr BlockLoops::count() const {
    Expr all = 1;
    for (const For *loop : loops) all = all * max(lets.expand(loop->extent), 0);
    return algebra::simplify(all);
}

Expr BlockLoops::number() const {
    Expr n = 0;
    for (const For *loop : loops)
        n = n * loop->extent + (Variable::make(Int(32), loop->name) - loop->min);
    return algebra::simplify(n);
}

Symbol BlockLoops::of_cluster() const {
    const bool has_clusters = loops.front()->loop_kind == LoopKind::GPUCluster;
    return has_clusters ? loops.back()->name : Symbol();
}

namespace {

class ThreadDepth final : public Visitor {
public:
    size_t deepest = 0;

private:
    void visit(const For &loop) override {
        const size_t here = is_over_threads(loop) ? 1 : 0;
        current += here;
        deepest = std::max(deepest, current);
        (*this)(loop.body);
        current -= here;
    }
    size_t current = 0;
};

class BlockShape final : public Visitor {
public:
    BlockShape(const Stmt &body, const BlockLoops &blocks)
        : scope(blocks.lets), loops(blocks.variables()) {
        (*this)(body);
    }
    std::array<Expr, thread_dimensions> extents;

private:
    void visit(const For &loop) override {
        scope.push_loop(loop.name, loop.min, loop.extent);
        if (is_over_threads(loop)) add(loop, thread_depth(loop.body));
        const Expr min = scope.expand(loop.min), extent = scope.expand(loop.extent);
        loops.bind(loop.name, {min, min + extent - 1});
        (*this)(loop.body);
        loops.unbind(loop.name);
        scope.pop_loop(loop.name);
    }
    void visit(const LetStmt &let) override {
        scope.within(let, [&] { (*this)(let.body); });
    }
    void add(const For &loop, size_t dimension) {
        const Expr extent = scope.expand(loop.extent);
        const std::optional<int64_t> bound = algebra::constant_upper_bound(extent, scope.known());
        const Expr most = bound ? Expr(int32_t(*bound)) : most_of(loop, extent);
        Expr &all = extents[dimension];
        all = all.defined() ? algebra::simplify(max(all, most)) : most;
    }
    // Over all blocks, and iterations of loops around.
    Expr most_of(const For &loop, const Expr &extent) {
        loops.facts = scope.known();
        const algebra::Interval range = algebra::bounds_of_expr(extent, loops);
        if (range.has_upper_bound()) return range.max;
        throw CompileError(loop.origin.kind_written,
                           str("how many threads the ", loop_name(loop),
                               " needs depends on the block, and has no bound that is known before "
                               "the blocks run; give it one with bound_extent"));
    }
    LetScope scope;
    algebra::IntervalScope loops;
};

// 0 if that has no bound.
Expr threads_along_x(const For &kernel) {
    BlockLoops blocks;
    blocks.push(kernel);
    try {
        return block_shape(kernel.body, blocks)[0];
    } catch (const CompileError &) {
        return 0;
    }
}

class RowsOfLanes final : public Visitor {
public:
    const For *first = nullptr;

private:
    void visit(const For &loop) override {
        const For *outer = around;
        if (loop.loop_kind == LoopKind::GPUThread) around = &loop;
        if (loop.loop_kind == LoopKind::GPULane && !first) first = around;
        (*this)(loop.body);
        around = outer;
    }
    const For *around = nullptr;
};

}  // namespace

size_t thread_depth(const Stmt &s) {
    ThreadDepth depth;
    depth(s);
    return depth.deepest;
}

const For *find_rows_of_lanes(const Stmt &s) {
    RowsOfLanes rows;
    rows(s);
    return rows.first;
}

int64_t lanes_of_rows(const For &kernel) {
    int64_t most = 0;
    bool is_known = true, any = false, all_known = true;
    for_each_node(kernel.body, [&](const For &loop) {
        any |= is_over_lanes(loop);
        if (!is_over_threads(loop) || thread_depth(loop.body) > 0) return;
        const auto extent = as_const_int(algebra::simplify(loop.extent));
        is_known &= extent || !is_over_lanes(loop);
        all_known &= extent.has_value();
        most = std::max(most, extent.value_or(0));
    });
    constexpr int64_t of_warp = 32;
    if (!any || !is_known || most < 2 || most > of_warp) return 0;
    if (!all_known && !is_const(threads_along_x(kernel), most)) return 0;
    int64_t lanes = 1;
    while (lanes < most) lanes *= 2;
    return lanes;
}

std::array<Expr, thread_dimensions> block_shape(const Stmt &body, const BlockLoops &blocks) {
    return BlockShape(body, blocks).extents;
}

}  // namespace tessera::lower
