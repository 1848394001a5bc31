#include "lower/gpu/tile_nest.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

class ReadNest final : public Visitor {
public:
    ReadNest(const Tiles &tiles, const For &outermost, const LetScope &around,
             const IsZeroUnless &is_zero_unless)
        : tiles(tiles), outermost(outermost), scope(around), is_zero_unless(is_zero_unless) {
        (*this)(Stmt(&outermost));
        if (!nest.stage) refuse("it has to be around one stage, in which there is one definition");
        nest.is_store = !tiles.contains(nest.stage->func);
        find_loops();
        check_instruction();
        check_sizes();
        if (nest.is_store) check_races();
    }
    TileNest nest;

private:
    void visit(const For &loop) override {
        const auto count = as_const_int(simplify(remove_likely(scope.expand(loop.extent))));
        nest.counts[&loop] = std::max<int64_t>(0, count.value_or(0));
        if (is_over_warps(loop)) {
            nest.warps.push_back(&loop);
            nest.instruction = tensor_instruction_of_threads(loop.loop_kind);
        } else {
            loops.push_back(&loop);
        }
        Visitor::visit(loop);
    }
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        scope.push_let(let.name, let.value);
        (*this)(let.body);
    }
    void visit(const IfThenElse &branch) override {
        condition = condition.defined() ? condition && branch.condition : branch.condition;
        Visitor::visit(branch);
    }
    void visit(const Atomic &atomic) override {
        is_atomic = true;
        Visitor::visit(atomic);
    }
    void visit(const Provide &p) override {
        if (nest.stage) refuse("it has to be around one stage, in which there is one definition");
        nest.stage = &p;
        if (p.predicate.defined()) condition = p.predicate;
        see(p.func, p.args);
        Visitor::visit(p);
    }
    void visit(const Call &c) override {
        see(c.callee, c.args);
        Visitor::visit(c);
    }
    void see(Symbol func, const std::vector<Expr> &args) {
        const auto tile = tiles.find(func);
        if (tile == tiles.end()) return;
        std::vector<Expr> at;
        for (const Expr &arg : args) at.push_back(simplify(scope.expand(arg)));
        const auto found = std::ranges::find(nest.elements, tile->second, &TileNest::Element::tile);
        if (found == nest.elements.end()) {
            nest.elements.push_back({tile->second, at});
            return;
        }
        for (size_t d = 0; d < at.size(); d++) {
            if (!equal(at[d], found->at[d]))
                refuse(str("it uses two elements of ", func, " at a time, at ", found->at[d],
                           " and ", at[d]));
        }
    }

    // Returns the place in the nest for a loop: that over rows, over columns, or over what is
    // summed. It is null if the loop is none of these.
    const For **place_of(const For &loop, const TileNest::Element &element) {
        const TileDimensions d = tile_dimensions(*element.tile, scope);
        const auto x = step_of(element.at[d.columns], loop), y = step_of(element.at[d.rows], loop);
        if (x == 1 && y == 0) return &nest.columns;
        if (x == 0 && y == 1) return &nest.rows;
        return x == 0 && y == 0 ? &nest.sum : nullptr;
    }
    void find_loops() {
        std::erase_if(loops, [&](const For *l) { return nest.count(l) == 1; });
        for (const For *loop : loops) {
            const For **place = place_of(*loop, nest.elements[0]);
            for (const TileNest::Element &other : nest.elements) {
                if (place_of(*loop, other) != place)
                    refuse(str("it reads ", nest.elements[0].tile->func, " and ", other.tile->func,
                               ", and the ", loop_name(*loop),
                               " does not run over the same of both: columns, rows, or neither"));
            }
            if (!place || *place)
                refuse(str("one loop runs over neighbouring columns of it, one over rows, and one "
                           "over what is summed at most; the ",
                           loop_name(*loop), " is none of these"));
            *place = loop;
        }
        if (!nest.columns || !nest.rows) refuse("it has no loop over columns or none over rows");
    }
    void check_instruction() {
        const TensorInstructionInfo *instruction = tensor_instruction(*nest.columns);
        nest.is_tensorized = instruction != nullptr;
        for (const For *loop : loops) {
            const bool same = tensor_instruction(*loop) == instruction;
            if (!same) refuse("either all loops within it are tensorized, or none");
        }
        if (nest.is_tensorized && !nest.sum)
            refuse("what is tensorized has a loop over what is summed");
        if (nest.is_tensorized && condition.defined() && !is_zero_without_condition())
            refuse(str("what is tensorized has no conditions but those of a split that does not "
                       "divide the sum, if both operands are staged by async() and ring_buffer(), "
                       "which fills with zeros; here it is done only if ",
                       condition));
        if (nest.is_tensorized && instruction != nest.instruction)
            refuse(str("instructions ", instruction->name, " are run by the iterations of ",
                       traits_of(instruction->threads).directive));
    }
    bool is_zero_without_condition() const {
        bool all = !nest.stage->predicate.defined();
        const Expr expanded = scope.expand(condition);
        for_each_node(nest.stage->values[0], [&](const Call &c) {
            if (tiles.contains(c.callee)) return;
            std::vector<Expr> at;
            for (const Expr &arg : c.args) at.push_back(scope.expand(arg));
            const Expr element = c.with<&Call::args>(at);
            all &= is_zero_unless(expanded, *element.as<Call>());
        });
        return all;
    }
    void check_sizes() const {
        for (const For *loop : nest.warps) {
            if (nest.count(loop) == 0)
                refuse(str("how many iterations the ", loop_name(*loop),
                           " has is not known; it is ", simplify(loop->extent)));
        }
        const TensorInstructionInfo &i = *nest.instruction;
        const int64_t rows = nest.count(nest.rows), columns = nest.count(nest.columns);
        if (rows <= 0 || rows % i.rows != 0)
            refuse(str("the number of rows of each iteration has to be a multiple of ", i.rows,
                       " that is known; it is ", simplify(nest.rows->extent)));
        if (columns <= 0 || columns % i.columns_step != 0 || columns > i.most_columns)
            refuse(str("the number of columns has to be a multiple of ", i.columns_step,
                       " that is known, up to ", i.most_columns, "; it is ",
                       simplify(scope.expand(nest.columns->extent))));
    }

    // Threads share out the iterations of these two loops, whatever the schedule says of them.
    void check_races() const {
        for (const For *loop : {nest.columns, nest.rows}) {
            if (!loop->origin.is_reduction || is_free_of_races(*loop)) continue;
            if (is_atomic && as_accumulation(*nest.stage)) continue;
            refuse(str(
                "its threads share out the ", loop_name(*loop), ", so that several of them may ",
                "update one element of ", nest.stage->func, " at once; ",
                is_atomic
                    ? "atomic() is for one sum, product, minimum or maximum there; reduce what is "
                      "stored elsewhere first, such as h(x, y) = f(x, y)"
                    : "call atomic() before if the update is a sum, a product, a minimum or a "
                      "maximum, or store what is in the Tile elsewhere first, such as h(x, y) = "
                      "f(x, y), and reduce that"));
        }
    }
    // Returns true if some coordinate of what is stored depends on this loop and on no other within
    // the warps, and the update reads the Func at that coordinate only.
    bool is_free_of_races(const For &loop) const {
        const auto is_apart = [&](size_t d) {
            for (const For *other : loops) {
                const auto step = step_of(simplify(scope.expand(nest.stage->args[d])), *other);
                if (!step || (*step != 0) != (other == &loop)) return false;
            }
            bool same = true;
            for_each_node(Stmt(&outermost), [&](const Call &c) {
                same &= c.callee != nest.stage->func ||
                        equal(scope.expand(c.args[d]), scope.expand(nest.stage->args[d]));
            });
            return same;
        };
        for (size_t d = 0; d < nest.stage->args.size(); d++) {
            if (is_apart(d)) return true;
        }
        return false;
    }
    [[noreturn]] void refuse(const std::string &why) const {
        const Realize *tile = nest.elements.empty() ? tiles.begin()->second : nest.elements[0].tile;
        refuse_nest(*tile, outermost, why);
    }

    const Tiles &tiles;
    const For &outermost;
    std::vector<const For *> loops;  // but those over warps
    bool is_atomic = false;
    Expr condition;  // of what is within; undefined: there is none
    LetScope scope;
    const IsZeroUnless &is_zero_unless;
};

}  // namespace

bool is_over_warps(const For &loop) {
    return tensor_instruction_of_threads(loop.loop_kind) != nullptr;
}

void refuse_nest(const Realize &tile, const For &nest, const std::string &why) {
    throw CompileError(nest.origin.kind_written, str("the ", loop_name(nest), ", which works on ",
                                                     tile.func, " in MemoryType::Tile: ", why));
}

TileDimensions tile_dimensions(const Realize &tile, const LetScope &around) {
    std::vector<size_t> found;
    for (size_t d = 0; d < tile.bounds.size(); d++) {
        const Expr extent = simplify(remove_likely(around.expand(tile.bounds[d].extent)));
        if (!is_const(extent, 1)) found.push_back(d);
    }
    if (tile.types.size() != 1 || found.size() != 2 || tile.types[0] != Float(32)) {
        throw CompileError(
            tile.storage.compute_written,
            str("store_in of ", tile.func,
                ": MemoryType::Tile holds one float32 value of two dimensions, columns and rows; "
                "in others that it has there is one element"));
    }
    return {found[0], found[1]};
}

TileNest read_tile_nest(const Tiles &tiles, const For &outermost, const LetScope &around,
                        const IsZeroUnless &is_zero_unless) {
    return ReadNest(tiles, outermost, around, is_zero_unless).nest;
}

}  // namespace tessera::lower
