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

// The loops over blocks of one kernel, outermost first, with the lets between them.
class GridNest {
public:
    explicit GridNest(const For &outermost) : origin(outermost.origin) {
        Stmt s(&outermost);
        while (true) {
            if (const auto *loop = s.as<For>(); loop && loop->loop_kind == LoopKind::GPUBlock) {
                loops.push_back(loop);
                s = loop->body;
                continue;
            }
            const auto *let = s.as<LetStmt>();
            if (!let || !has_blocks(let->body)) break;
            lets[let->name] = substitute(lets, let->value);
            between.push_back(let);
            s = let->body;
        }
        body = s;
        check();
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
    static bool has_blocks(const Stmt &s) {
        bool any = false;
        for_each_node(s, [&](const For &f) { any |= f.loop_kind == LoopKind::GPUBlock; });
        return any;
    }
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
        if (origin.block_group > 0 && loops.size() < 2)
            refuse("rows of blocks are grouped where there are two loops over blocks");
    }
    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(origin.kind_written,
                           str(origin.block_group > 0 ? "gpu_order" : "persistent", " of ",
                               origin.func, ": ", why));
    }
    Expr extent(const For &loop) const { return substitute(lets, loop.extent); }

    // The body, for the block of a number.
    Stmt within(const Expr &number) const {
        Stmt s = body;
        for (auto let = between.rbegin(); let != between.rend(); ++let)
            s = (*let)->with<&LetStmt::body>(s);
        if (origin.block_group > 0) return in_groups(number, s);
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
        const int32_t group_rows = origin.block_group;
        const Symbol within = Symbol::fresh("block_of_group"), first = Symbol::fresh("first_row"),
                     height = Symbol::fresh("rows_of_group"), plane = Symbol::fresh("of_plane");
        const Expr of_plane = extent(rows) * extent(columns),
                   of_group = extent(columns) * group_rows;
        Stmt in = with_index(columns, int32_variable(within) / int32_variable(height), s);
        in = with_index(
            rows, int32_variable(first) + int32_variable(within) % int32_variable(height), in);
        in = LetStmt::make(height, min(extent(rows) - int32_variable(first), group_rows), in);
        in = LetStmt::make(within, int32_variable(plane) % of_group, in);
        in = LetStmt::make(first, int32_variable(plane) / of_group * group_rows, in);
        if (loops.size() == 2) return LetStmt::make(plane, number, in);
        in = one_by_one(number / of_plane, loops.size() - 2, in);
        return LetStmt::make(plane, number % of_plane, in);
    }

    Stmt over_blocks(Symbol number, const Expr &count, const Stmt &s) const {
        return For::make(number, 0, count, LoopKind::GPUBlock, Partition::Never, s, origin);
    }
    Stmt in_turns(Symbol number, const Expr &count, const Stmt &s) const {
        const Symbol processors = Symbol::fresh("processors"), blocks = Symbol::fresh("blocks"),
                     block = Symbol::fresh("block"), turn = Symbol::fresh("turn");
        const Expr at_once = int32_variable(blocks);
        const Expr turns = (count - int32_variable(block) + at_once - 1) / at_once;
        const Stmt one =
            LetStmt::make(number, int32_variable(block) + int32_variable(turn) * at_once, s);
        const Stmt all = For::make(turn, 0, turns, LoopKind::Serial, Partition::Never, one);
        const Expr most =
            min(int32_variable(processors) * int32_t(origin.blocks_per_processor), count);
        return LetStmt::make(processors, call(Int(32), Intrinsic::gpu_processors, {}),
                             LetStmt::make(blocks, most, over_blocks(block, at_once, all)));
    }

    const LoopOrigin origin;
    std::vector<const For *> loops;
    std::vector<const LetStmt *> between;
    Substitution lets;
    Stmt body;
};

class OrderBlocks final : public Mutator {
    Stmt visit(const For &loop) override {
        if (loop.loop_kind != LoopKind::GPUBlock) return Mutator::visit(loop);
        const LoopOrigin &o = loop.origin;
        if (o.block_group == 0 && o.blocks_per_processor == 0) return Stmt(&loop);
        return GridNest(loop).ordered();
    }
};

}  // namespace

Stmt order_blocks(const Stmt &s, const lower::Context &) { return OrderBlocks()(s); }

}  // namespace tessera::lower
