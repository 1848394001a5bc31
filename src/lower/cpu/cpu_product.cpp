#include "lower/cpu/cpu_product.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/unify.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include "program/match_instruction.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// The operands of the product D += A * B as the user wrote them.
struct ProductOperands {
    const Call *a, *b;
};

// Says why an instruction does not do it; the more it has in common, the later it is found out.
struct Misfit {
    int found_at = 0;
    std::string why;
};

class ReadProduct final : public Visitor {
public:
    ReadProduct(const For &outermost, const Realize &tile, const Storages &storage,
                const LetScope &around, const Target &target)
        : outermost(outermost), tile(tile), storage(storage), scope(around), target(target),
          asked(outermost.origin.instruction.text()) {
        (*this)(Stmt(&outermost));
        if (!stage) refuse("there is no update within");
    }
    CpuProduct choose();

private:
    void visit(const For &loop) override;
    void visit(const LetStmt &let) override;
    void visit(const IfThenElse &branch) override;
    void visit(const Provide &p) override;
    void visit(const Block &) override { refuse("it has to be around one update alone"); }

    std::optional<ProductOperands> operands_for(const Instruction &row) const;
    void try_instruction(const Instruction &row, const ProductOperands &operands);
    bool find_loops(const Instruction &row, const ProductOperands &operands,
                    CoordinateLoops &found);
    bool divides(const Instruction &row, const CoordinateLoops &loops);
    bool find_dimensions(const CoordinateLoops &loops, CpuProduct &product);
    bool is_whole(size_t dimension, const For &loop);
    void try_layouts(const Instruction &row, const ProductOperands &operands,
                     const CoordinateLoops &loops, CpuProduct product);
    [[noreturn]] void refuse_update() const;
    void explain_layout(const Instruction &row, const OperandRows &a, const Call &of_a,
                        const Call &of_b);
    bool fits_registers(const Instruction &row, const CpuProduct &product);
    bool uses(const std::vector<Expr> &args, const For &loop) const;
    Expr known(const Expr &e) const { return simplify(remove_likely(scope.expand(e))); }
    bool misfit(int found_at, const std::string &why) {
        if (worst.why.empty() || found_at > worst.found_at) worst = {found_at, why};
        return false;
    }
    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(outermost.origin.kind_written,
                           str("tensorize(..., TensorInstruction(\"", asked, "\")) of the ",
                               loop_name(outermost), ": ", why));
    }

    const For &outermost;
    const Realize &tile;
    const Storages &storage;
    LetScope scope;
    const Target &target;
    const std::string asked;
    std::vector<const For *> loops;
    std::unordered_map<const For *, int64_t> counts;
    const Provide *stage = nullptr;
    Substitution within;  // lets
    Misfit worst;
    std::optional<CpuProduct> best;
};

void ReadProduct::visit(const For &loop) {
    if (!is_for_cpu_instruction(loop, target) || loop.origin.instruction.text() != asked)
        refuse(str("the ", loop_name(loop),
                   " within is not tensorized by it; tensorize the "
                   "innermost loops, and reorder() others around them"));
    const auto count = as_const_int(known(loop.extent));
    if (!count)
        refuse(str("the number of iterations of the ", loop_name(loop), " is not known, it is ",
                   known(loop.extent), "; split() it by a multiple of what the instruction does"));
    loops.push_back(&loop);
    counts[&loop] = *count;
    Visitor::visit(loop);
}

void ReadProduct::visit(const LetStmt &let) {
    within[let.name] = substitute(within, let.value);
    scope.push_let(let.name, let.value);
    (*this)(let.body);
}

void ReadProduct::visit(const IfThenElse &branch) {
    refuse(str("the update is done only if ", branch.condition,
               ", as that of a split that does not divide the loop; an instruction does all or "
               "nothing: split by what divides, or sum a Func that is zero elsewhere, such as "
               "padded(k, y) = select(condition, a(k, y), 0)"));
}

void ReadProduct::visit(const Provide &p) {
    if (p.func != tile.func)
        refuse(str("it updates ", p.func,
                   ", and the sums of an instruction are stored in "
                   "MemoryType::Tile, such as ",
                   tile.func));
    if (p.predicate.defined() || p.values.size() != 1)
        refuse("it has to be around an update of one value, without conditions");
    stage = &p;
}

// Returns nothing if the update is no such sum of products of these types.
std::optional<ProductOperands> ReadProduct::operands_for(const Instruction &row) const {
    const Symbol d = Symbol::fresh("d"), a = Symbol::fresh("a"), b = Symbol::fresh("b");
    const Type sum = row.operand("D").type;
    const Expr product = cast(sum, Variable::make(row.operand("A").type, a)) *
                         cast(sum, Variable::make(row.operand("B").type, b));
    const Symbol holes[] = {d, a, b};
    const Expr &value = stage->values[0];
    if (value.type() != sum) return std::nullopt;
    const auto found = unify(Variable::make(sum, d) + product, value, holes);
    if (!found) return std::nullopt;
    const auto *sums = found->at(d).as<Call>();
    const bool is_itself =
        sums && sums->callee == stage->func &&
        std::ranges::equal(sums->args, stage->args,
                           [](const Expr &x, const Expr &y) { return equal(x, y); });
    const auto *of_a = found->at(a).as<Call>(), *of_b = found->at(b).as<Call>();
    if (!is_itself || !of_a || !of_b) return std::nullopt;
    return ProductOperands{of_a, of_b};
}

bool ReadProduct::uses(const std::vector<Expr> &args, const For &loop) const {
    return std::ranges::any_of(
        args, [&](const Expr &arg) { return symbols_in(scope.expand(arg)).contains(loop.name); });
}

bool ReadProduct::find_loops(const Instruction &row, const ProductOperands &operands,
                             CoordinateLoops &found) {
    found.clear();
    for (const char *coordinate : {"i", "j", "k"})
        found[coordinate] = {nullptr, row.extent(coordinate), 1};
    for (const For *loop : loops) {
        const bool d = uses(stage->args, *loop), a = uses(operands.a->args, *loop),
                   b = uses(operands.b->args, *loop);
        const char *coordinate = d && a && !b ? "i" : d && b && !a ? "j" : !d && a && b ? "k" : "";
        if (!*coordinate)
            return misfit(1, str("the ", loop_name(*loop),
                                 " runs along none of i, j and k in d(i, "
                                 "j) += a(i, k) * b(k, j); a is ",
                                 operands.a->callee, ", b is ", operands.b->callee));
        CoordinateLoop &place = found.find(coordinate)->second;
        if (place.loop)
            return misfit(1, str("both the ", loop_name(*place.loop), " and the ", loop_name(*loop),
                                 " run along ", coordinate, "; fuse() them, or tensorize one"));
        place.loop = loop;
    }
    return true;
}

bool ReadProduct::divides(const Instruction &row, const CoordinateLoops &found) {
    for (const auto &[name, l] : found) {
        const int64_t count = l.loop ? counts.at(l.loop) : 1;
        if (count > 0 && count % l.step == 0) continue;
        if (!l.loop)
            return misfit(2, str("no loop runs along ", name, ", of which ", row.mnemonic, " does ",
                                 l.step, " at a time"));
        return misfit(2, str(row.mnemonic, " does ", l.step, " iterations of the ",
                             loop_name(*l.loop), " at a time, which has ", count,
                             "; split() it by a multiple of ", l.step));
    }
    return true;
}

// Returns true if the loop runs once over a whole dimension of the Tile.
bool ReadProduct::is_whole(size_t dimension, const For &loop) {
    const Expr arg = stage->args[dimension];
    const Expr first = substitute(loop.name, loop.min, scope.expand(arg));
    const Expr next = substitute(loop.name, int32_variable(loop.name) + 1, scope.expand(arg));
    return is_const(simplify(next - scope.expand(arg)), 1) &&
           is_const(known(first - tile.bounds[dimension].min), 0) &&
           as_const_int(known(tile.bounds[dimension].extent)) == counts.at(&loop);
}

bool ReadProduct::find_dimensions(const CoordinateLoops &found, CpuProduct &product) {
    for (size_t d = 0; d < stage->args.size(); d++) {
        const auto along = [&](const char *coordinate) {
            const For *loop = found.find(coordinate)->second.loop;
            return loop && uses({stage->args[d]}, *loop);
        };
        const bool i = along("i"), j = along("j");
        const For *loop = i   ? found.find("i")->second.loop
                          : j ? found.find("j")->second.loop
                              : nullptr;
        const bool fits =
            loop ? !(i && j) && is_whole(d, *loop) : is_const(known(tile.bounds[d].extent), 1);
        if (!fits)
            return misfit(
                3, str("MemoryType::Tile holds what these loops compute, and nothing else; in "
                       "dimension ",
                       d, " ", tile.func, " has ", known(tile.bounds[d].extent),
                       " elements, of which the loops compute ",
                       loop ? str(counts.at(loop)) : std::string("one"), "; compute ", tile.func,
                       " in tiles of that size, by compute_at"));
        if (i) product.row_dimension = d;
        if (j) product.column_dimension = d;
    }
    return true;
}

bool ReadProduct::fits_registers(const Instruction &row, const CpuProduct &product) {
    constexpr int64_t most = 6;
    const TensorOperation &t = product.operation;
    const int64_t registers = t.steps("i") * t.steps("j");
    if (!row.is_of_tiles || registers <= most) return true;
    return misfit(4,
                  str("the ", t.rows, " x ", t.columns, " sums of ", tile.func, " take ", registers,
                      " tile registers of 16 x 16, of which there are "
                      "eight, two for the operands; compute 32 x 32 or 48 x 32 at a time"));
}

void ReadProduct::explain_layout(const Instruction &row, const OperandRows &a, const Call &of_a,
                                 const Call &of_b) {
    const int64_t interleaved = interleaved_along_k(row.operand("B"));
    if (!a.fits()) {
        misfit(4, str(row.mnemonic, " reads ", of_a.callee,
                      " in rows, whose neighbours in memory "
                      "are neighbours along k, the loop over the sum; stage it by ",
                      of_a.callee, ".in(), which is then stored so"));
        return;
    }
    misfit(4, str(row.mnemonic, " reads ", of_b.callee,
                  interleaved ? str(" with ", interleaved,
                                    " neighbours along k together "
                                    "for each j: b(k%",
                                    interleaved, ", j, k/", interleaved, ")")
                              : std::string(" in rows along k"),
                  "; stage it by ", of_b.callee,
                  ".in(), which is then stored so, over a range of "
                  "k that begins with the loops"));
}

void ReadProduct::try_layouts(const Instruction &row, const ProductOperands &operands,
                              const CoordinateLoops &found, CpuProduct product) {
    const OperandRows a(*operands.a, row.operand("A"), found, within, storage, scope),
        b(*operands.b, row.operand("B"), found, within, storage, scope);
    const auto note = [&](const OperandRows &rows, const Call &of) {
        if (rows.fits()) return true;
        const auto packing = rows.packing();
        if (packing) product.packings[of.callee] = *packing;
        return packing.has_value();
    };
    if (!note(a, *operands.a) || !note(b, *operands.b))
        return explain_layout(row, a, *operands.a, *operands.b);
    TensorOperation &t = product.operation;
    for (int64_t k = 0; k < t.steps("k"); k++) {
        for (int64_t i = 0; i < t.steps("i"); i++) t.a.places.push_back(a.place(i, k, 0));
        for (int64_t j = 0; j < t.steps("j"); j++) t.b.places.push_back(b.place(k, j, 0));
    }
    t.a.source = t.b.source = TensorOperation::Source::HostRows;
    t.a.row = a.place(0, 0, 0);
    t.a.next_row = a.place(0, 0, 1);
    t.b.row = b.place(0, 0, 0);
    t.b.next_row = b.place(0, 0, 1);
    if (!best || product.packings.size() < best->packings.size()) best = std::move(product);
}

void ReadProduct::try_instruction(const Instruction &row, const ProductOperands &operands) {
    CoordinateLoops found;
    CpuProduct product;
    if (!find_loops(row, operands, found) || !divides(row, found) ||
        !find_dimensions(found, product))
        return;
    for (auto &[name, l] : found) l.steps = l.loop ? counts.at(l.loop) / l.step : 1;
    const auto extent = [&](const char *name) {
        const CoordinateLoop &l = found.find(name)->second;
        return l.step * l.steps;
    };
    TensorOperation &t = product.operation;
    t.instruction = row;
    t.rows = extent("i");
    t.columns = extent("j");
    t.k = extent("k");
    if (fits_registers(row, product)) try_layouts(row, operands, found, std::move(product));
}

void ReadProduct::refuse_update() const {
    std::vector<Instruction> instructions;
    for (const Instruction &row : instructions_named(asked, 0))
        if (row.is_of_cpu()) instructions.push_back(row);
    const Expr written =
        Call::make(stage->values[0].type(), stage->func, CallKind::Func, 0, stage->args);
    const bool is_computed = std::ranges::any_of(instructions, [&](const Instruction &i) {
        return !program::match_value(i, written, stage->values[0]).empty();
    });
    refuse(str("the update of ", stage->func, ", ", brief(stage->values[0]),
               ", is nothing that it computes: ",
               is_computed
                   ? "its factors are elements in memory; store what is computed of them in "
                     "a Func of its own"
                   : program::fault_of_value(instructions, written, stage->values[0])));
}

CpuProduct ReadProduct::choose() {
    bool any_of_type = false;
    std::optional<Instruction> missing;
    for (const Instruction &row : instructions_named(asked, 0)) {
        if (!row.is_of_cpu()) continue;
        const bool is_there = row.is_on(target) || target.has_feature(Target::Interpret);
        if (asked == "any" && !is_there) continue;
        const Type of_a = row.operand("A").type, of_b = row.operand("B").type;
        const auto operands = operands_for(row);
        if (!operands) continue;
        any_of_type = true;
        if (!is_there) {
            if (!missing) missing = row;
            continue;
        }
        try_instruction(row, *operands);
        if (of_a == of_b) try_instruction(row, {operands->b, operands->a});
        if (best) return *best;
    }
    if (!any_of_type) refuse_update();
    if (worst.why.empty() && missing)
        refuse(str(missing->mnemonic, " needs the feature ",
                   Target::feature_to_name(missing->features[0]), " of ",
                   missing->arch == Target::X86 ? "x86" : "arm", " of 64 bits; the target is ",
                   target));
    refuse(worst.why);
}

}  // namespace

bool is_for_cpu_instruction(const For &loop, const Target &target) {
    return loop.loop_kind == LoopKind::Tensorized &&
           is_name_of_cpu(loop.origin.instruction.text(), target);
}

CpuProduct read_cpu_product(const For &outermost, const Realize &tile, const Storages &storage,
                            const LetScope &around, const Target &target) {
    return ReadProduct(outermost, tile, storage, around, target).choose();
}

}  // namespace tessera::lower
