#include "lower/gpu/order_blocks.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/loop_name.h"

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

bool has_loops(const Stmt &s, LoopKind kind) {
    bool any = false;
    for_each_node(s, [&](const For &f) { any |= f.loop_kind == kind; });
    return any;
}

// Loops of one kind directly within one another, outermost first, with the lets between them.
struct LoopsOfKind {
    std::vector<const For *> loops;
    std::vector<const LetStmt *> lets;
    Stmt body;

    LoopsOfKind(Stmt s, LoopKind kind) {
        while (true) {
            if (const auto *loop = s.as<For>(); loop && loop->loop_kind == kind) {
                loops.push_back(loop);
                s = loop->body;
                continue;
            }
            const auto *let = s.as<LetStmt>();
            if (!let || !has_loops(let->body, kind)) break;
            lets.push_back(let);
            s = let->body;
        }
        body = s;
    }
};

// The most rows and columns of a square that a Hilbert curve runs through: 2 to the power of this.
constexpr int levels_of_curve = 5;

Expr least_power_of_curve(const Expr &most) {
    Expr side = 1;
    for (int level = 1; level <= levels_of_curve; level++)
        side = select(most >= (1 << level), 1 << level, side);
    return side;
}

// The loops over blocks of one kernel, or over its clusters, outermost first, with the lets between
// them.
class GridNest {
public:
    explicit GridNest(const For &outermost) : origin(outermost.origin), kind(outermost.loop_kind) {
        LoopsOfKind nest(Stmt(&outermost), kind);
        loops = nest.loops;
        between = nest.lets;
        body = nest.body;
        for (const LetStmt *let : between) lets[let->name] = substitute(lets, let->value);
        check();
        if (kind == LoopKind::GPUCluster && origin.blocks_per_processor > 0) take_blocks();
    }

    Stmt ordered() const {
        const Symbol number = Symbol::fresh("block"), count = Symbol::fresh("blocks_in_all");
        Stmt s = within(int32_variable(number));
        s = origin.blocks_per_processor > 0 ? in_turns(number, int32_variable(count), s)
                                            : over_blocks(number, int32_variable(count), s);
        Expr all = 1;
        for (const For *loop : loops) all = all * max(loop->extent, 0);
        return LetStmt::make(count, simplify(all), s);
    }

private:
    bool is_ordered() const { return origin.block_group > 0 || origin.is_along_hilbert_curve; }
    void check() const {
        for (const For *loop : loops) {
            for (Symbol used : symbols_in(substitute(lets, loop->min + loop->extent))) {
                for (const For *other : loops) {
                    if (used == other->name)
                        refuse(str("the extent of the ", loop_name(*loop), " depends on the ",
                                   loop_name(*other)));
                }
            }
        }
        if (is_ordered() && loops.size() < 2)
            refuse(kind == LoopKind::GPUBlock
                       ? "rows of blocks are grouped where there are two loops over blocks"
                       : "rows of clusters are grouped where there are two loops over clusters");
    }
    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(origin.kind_written, str(is_ordered() ? "gpu_order" : "persistent",
                                                    " of ", origin.func, ": ", why));
    }
    Expr extent(const For &loop) const { return substitute(lets, loop.extent); }

    // The body, for the block of a number.
    Stmt within(const Expr &number) const {
        Stmt s = body;
        for (auto let = between.rbegin(); let != between.rend(); ++let)
            s = (*let)->with<&LetStmt::body>(s);
        if (is_ordered()) return in_groups(number, s);
        return one_by_one(number, loops.size(), s);
    }
    Stmt with_index(const For &loop, const Expr &index, const Stmt &s) const {
        return LetStmt::make(loop.name, index + substitute(lets, loop.min), s);
    }
    // The outer loops, the innermost of them running fastest.
    Stmt one_by_one(const Expr &number, size_t count, Stmt s) const {
        Expr rest = number;
        for (size_t i = count; i-- > 0;) {
            s = with_index(*loops[i], i == 0 ? rest : rest % extent(*loops[i]), s);
            rest = rest / extent(*loops[i]);
        }
        return s;
    }
    Stmt in_groups(const Expr &number, const Stmt &s) const {
        const For &rows = *loops[loops.size() - 2], &columns = *loops.back();
        const Symbol within = Symbol::fresh("block_of_group"), first = Symbol::fresh("first_row"),
                     height = Symbol::fresh("rows_of_group"), plane = Symbol::fresh("of_plane"),
                     most = Symbol::fresh("most_rows");
        const bool is_curve = origin.is_along_hilbert_curve;
        const Expr group_rows = is_curve ? int32_variable(most) : Expr(origin.block_group);
        const Expr of_plane = extent(rows) * extent(columns),
                   of_group = extent(columns) * group_rows;
        const Place by_columns{int32_variable(within) % int32_variable(height),
                               int32_variable(within) / int32_variable(height)};
        Stmt in;
        if (is_curve) {
            in = along_curve(
                int32_variable(within), group_rows, int32_variable(height), by_columns,
                [&](const Place &p) { return at(p, int32_variable(first), rows, columns, s); });
        } else {
            in = at(by_columns, int32_variable(first), rows, columns, s);
        }
        in = LetStmt::make(height, min(extent(rows) - int32_variable(first), group_rows), in);
        in = LetStmt::make(within, int32_variable(plane) % of_group, in);
        in = LetStmt::make(first, int32_variable(plane) / of_group * group_rows, in);
        if (loops.size() > 2) in = one_by_one(number / of_plane, loops.size() - 2, in);
        in = LetStmt::make(plane, loops.size() > 2 ? number % of_plane : number, in);
        if (!is_curve) return in;
        return LetStmt::make(most, least_power_of_curve(min(extent(rows), extent(columns))), in);
    }

    // A row and a column of blocks, the row one of a group.
    struct Place {
        Expr row, column;
    };
    Stmt at(const Place &p, const Expr &first_row, const For &rows, const For &columns,
            const Stmt &s) const {
        return with_index(rows, first_row + p.row, with_index(columns, p.column, s));
    }
    // In groups of `side` rows, a power of two, squares follow one another, each along a Hilbert
    // curve: the place of block `number` of a group. What is no whole square is in the other order.
    template<typename F>
    Stmt along_curve(const Expr &number, const Expr &side, const Expr &height, const Place &other,
                     const F &body) const {
        const Symbol square = Symbol::fresh("square"), is_whole = Symbol::fresh("is_whole");
        const Expr of_square = side * side, first_column = int32_variable(square) * side;
        std::vector<std::pair<Symbol, Expr>> steps;
        const auto named = [&](const char *name, const Expr &e) {
            steps.emplace_back(Symbol::fresh(name), e);
            return int32_variable(steps.back().first);
        };
        Expr left = named("of_square", number % of_square), row = 0, column = 0;
        for (int level = 0; level < levels_of_curve; level++) {
            const int32_t size = 1 << level;
            const Expr is_right = left / 2 % 2, is_lower = (left + is_right) % 2;
            const Expr turned = is_right * (size - 1);  // 0, or what coordinates are taken from
            const Expr sign = 1 - is_right * 2;
            const Expr next_column = select(is_lower == 0, turned + sign * row, column),
                       next_row = select(is_lower == 0, turned + sign * column, row);
            column = named("column", simplify(next_column + is_right * size));
            row = named("row", simplify(next_row + is_lower * size));
            left = simplify(left / 4);
        }
        const Expr whole = Variable::make(Bool(), is_whole);
        Stmt s = body(
            {select(whole, row, other.row), select(whole, first_column + column, other.column)});
        for (size_t i = steps.size(); i-- > 0;)
            s = LetStmt::make(steps[i].first, steps[i].second, s);
        const Expr fits = height == side && first_column + side <= extent(*loops.back());
        return LetStmt::make(square, number / of_square, LetStmt::make(is_whole, fits, s));
    }

    Stmt over_blocks(Symbol number, const Expr &count, const Stmt &s) const {
        return For::make(number, 0, count, kind, Partition::Never, s, origin);
    }
    // In clusters each block takes turns: the loops over the blocks of a cluster come around.
    void take_blocks() {
        const LoopsOfKind nest(body, LoopKind::GPUBlock);
        if (nest.loops.empty())
            refuse("what is computed at the loop over clusters is there for one turn; compute it "
                   "at a loop over blocks");
        Substitution known = lets;
        for (const LetStmt *let : nest.lets) known[let->name] = substitute(known, let->value);
        for (const For *loop : nest.loops) {
            const Expr min = simplify(substitute(known, loop->min)),
                       extent = simplify(substitute(known, loop->extent));
            for (const For *other : loops) {
                if (uses_symbol(min + extent, other->name))
                    refuse(str("the range of the ", loop_name(*loop), " depends on the ",
                               loop_name(*other)));
            }
            blocks_of_cluster.push_back(loop->with<&For::min, &For::extent>(min, extent));
            blocks_in_cluster = blocks_in_cluster * extent;
        }
        body = nest.body;
        for (auto let = nest.lets.rbegin(); let != nest.lets.rend(); ++let)
            body = (*let)->with<&LetStmt::body>(body);
    }
    Stmt in_blocks_of_cluster(Stmt s) const {
        for (auto loop = blocks_of_cluster.rbegin(); loop != blocks_of_cluster.rend(); ++loop)
            s = loop->as<For>()->with<&For::body>(s);
        return s;
    }
    Stmt in_turns(Symbol number, const Expr &count, const Stmt &s) const {
        const Symbol processors = Symbol::fresh("processors"), blocks = Symbol::fresh("blocks"),
                     block = Symbol::fresh("block"), turn = Symbol::fresh("turn");
        const Expr at_once = int32_variable(blocks);
        const Expr turns = (count - int32_variable(block) + at_once - 1) / at_once;
        const Stmt one =
            LetStmt::make(number, int32_variable(block) + int32_variable(turn) * at_once, s);
        const Stmt all = For::make(turn, 0, turns, LoopKind::Serial, Partition::Never, one);
        const Expr fitting = simplify(int32_variable(processors) *
                                      int32_t(origin.blocks_per_processor) / blocks_in_cluster);
        const Expr most =
            blocks_of_cluster.empty() ? min(fitting, count) : min(max(fitting, 1), count);
        return LetStmt::make(
            processors, call(Int(32), Intrinsic::gpu_processors, {}),
            LetStmt::make(blocks, most, over_blocks(block, at_once, in_blocks_of_cluster(all))));
    }

    const LoopOrigin origin;
    const LoopKind kind;
    std::vector<const For *> loops;
    std::vector<Stmt> blocks_of_cluster;  // loops whose blocks take turns, outermost first
    Expr blocks_in_cluster = 1;
    std::vector<const LetStmt *> between;
    Substitution lets;
    Stmt body;
};

class OrderBlocks final : public Mutator {
    Stmt visit(const For &loop) override {
        const bool is_grid =
            loop.loop_kind == LoopKind::GPUBlock || loop.loop_kind == LoopKind::GPUCluster;
        if (!is_grid) return Mutator::visit(loop);
        const LoopOrigin &o = loop.origin;
        if (o.block_group == 0 && o.blocks_per_processor == 0 && !o.is_along_hilbert_curve)
            return Stmt(&loop);
        return GridNest(loop).ordered();
    }
};

}  // namespace

Stmt order_blocks(const Stmt &s, const lower::Context &) { return OrderBlocks()(s); }

}  // namespace tessera::lower
