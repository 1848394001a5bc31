#include "lower/gpu/tensor_operands.h"
#include "algebra/bounds.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include "program/match_instruction.h"
#include <algorithm>
#include <array>
#include <span>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;
using program::InstructionMatch;

namespace {

using Source = TensorOperation::Source;

// Says why an instruction does not compute a stage. Of several instructions the one that came
// furthest is reported.
struct Mismatch {
    enum Stage { Types, Sizes, Operands } stage;
    Location at;
    std::string why;
};

// ---- The meaning of an instruction in the definition ----

// The factors of a product.
struct Factors {
    Expr a, b;
};

bool uses_any(const Expr &e, const IndexLoops &loops) {
    return std::ranges::any_of(
        loops.digits(), [&](const IndexLoops::Digit &d) { return uses_symbol(e, d.loop->name); });
}

// The lets between the loops over warps and the update, and the loops of one iteration.
Substitution lets_within(const TileNest &nest) {
    Substitution lets;
    Stmt s = nest.warps.back()->body;
    while (!s.as<Provide>()) {
        if (const auto *let = s.as<LetStmt>()) {
            lets[let->name] = substitute(lets, let->value);
            s = let->body;
        } else if (const auto *loop = s.as<For>()) {
            if (nest.count(loop) == 1) lets[loop->name] = substitute(lets, loop->min);
            s = loop->body;
        } else if (const auto *branch = s.as<IfThenElse>()) {
            s = branch->then_case;
        } else if (const auto *atomic = s.as<Atomic>()) {
            s = atomic->body;
        } else {
            throw InternalError(
                str("a statement within the tensorized update of ", nest.stage->func));
        }
    }
    return lets;
}

// The update writes a value to an element.
struct UpdateOfStage {
    Expr written, value;
};

UpdateOfStage update_of(const TileNest &nest, const Substitution &lets) {
    const Expr value = substitute(lets, nest.stage->values[0]);
    std::vector<Expr> element;
    for (const Expr &arg : nest.stage->args) element.push_back(substitute(lets, arg));
    return {Call::make(value.type(), nest.stage->func, CallKind::Func, 0, element), value};
}

// Returns the factors of a stage that are the operands of an instruction: A is of the rows, and B
// of the columns.
std::optional<Factors> factors_of(const TileNest &nest, const UpdateOfStage &update,
                                  const Instruction &instruction) {
    constexpr size_t operands = 3;  // D, A and B
    if (instruction.operands.size() != operands) return std::nullopt;
    const auto is_of = [](const Expr &e, const IndexLoops &own, const IndexLoops &other) {
        return uses_any(e, own) && !uses_any(e, other);
    };
    for (const auto &match : program::match_value(instruction, update.written, update.value)) {
        const Factors factors{match.operands[1], match.operands[2]};
        if (is_of(factors.a, nest.rows, nest.columns) && is_of(factors.b, nest.columns, nest.rows))
            return factors;
    }
    return std::nullopt;
}

// ---- The conditions of what is added ----

// These have to hold for an element of A, and of B, to be more than zero; outermost first.
struct ConditionsOfFactors {
    std::vector<Expr> of_a, of_b;
};

// Returns what holds for some iteration of the loops if the condition holds for it; undefined: all
// that is known is that it may.
Expr for_some_of(const Expr &condition, const IndexLoops &loops) {
    algebra::IntervalScope scope;
    for (const IndexLoops::Digit &d : loops.digits()) {
        const Expr &min = d.loop->min;
        scope.bind(d.loop->name, {min, simplify(min + int32_t(d.iterations - 1))});
    }
    const Expr may_hold = algebra::bounds_of_expr(condition, scope).max;
    return may_hold.defined() && !is_one(may_hold) ? may_hold : Expr();
}

// A condition of the rows is one of A, and one of the columns of B: the other operand is read where
// it holds for some row, or column. All others are conditions of both.
ConditionsOfFactors conditions_of_factors(const TileNest &nest, const Substitution &lets) {
    ConditionsOfFactors all;
    const auto note = [](std::vector<Expr> &conditions, const Expr &condition) {
        if (condition.defined()) conditions.push_back(condition);
    };
    for (const Expr &each : nest.conditions) {
        const Expr condition = substitute(lets, each);
        const For &innermost = nest.columns.innermost();
        if (uses_symbol(condition, nest.stage->func))
            throw Mismatch{Mismatch::Operands, innermost.origin.kind_written,
                           str("the update is done only if ", brief(condition),
                               ", which depends on sums so far; instructions add many products at "
                               "a time")};
        const bool is_of_rows = uses_any(condition, nest.rows),
                   is_of_columns = uses_any(condition, nest.columns);
        if (is_of_rows && is_of_columns)
            throw Mismatch{Mismatch::Operands, innermost.origin.kind_written,
                           str("the update is done only if ", brief(condition),
                               ", which is of rows and columns, and an element of an operand is of "
                               "a row, or a column, and of what is summed; if it is the same for "
                               "all that is summed, leave it out and select() where ",
                               nest.stage->func, " is used")};
        note(all.of_a, is_of_columns ? for_some_of(condition, nest.columns) : condition);
        note(all.of_b, is_of_rows ? for_some_of(condition, nest.rows) : condition);
    }
    return all;
}

// ---- Where an operand lies ----

// A or B: what is read of it, for a row (or column) and a k.
class Matrix {
public:
    Matrix(const Expr &value, const IndexLoops &own, const IndexLoops &sum, const Instruction &i,
           const TensorizedStage &stage)
        : value(value), own(own), sum(sum), instruction(i), stage(stage),
          element(value.as<Call>()) {
        find_storage();
    }

    // Returns the value at an index of its rows (columns) and one of the sum.
    Expr at(const Expr &own_index, const Expr &k) const {
        return substitute(values_at(own_index, k), value);
    }
    Expr place(const Expr &own_index, const Expr &k) const {
        return call(Handle(), Intrinsic::address_of,
                    {element->with<&Call::args>(coordinates(own_index, k))});
    }
    bool is_along_k() const { return lies_along_k; }
    bool is_shared() const { return ring && traits_of(ring->memory).space == AddressSpace::Shared; }
    // Returns those of the conditions without which elements are not zero already.
    std::vector<Expr> not_seen_to(const std::vector<Expr> &conditions) const {
        std::vector<Expr> left;
        for (const Expr &condition : conditions) {
            if (!element || !stage.is_zero_unless(condition, *element)) left.push_back(condition);
        }
        return left;
    }
    // Returns the distance from one panel of columns to the next, in elements.
    int64_t panel() const { return rows_of_storage() * of_panel(); }
    // Returns the bytes of a row of a panel.
    int64_t swizzle() const { return known_swizzle().value_or(most_swizzle); }

    // The machine loads rows of 16 bytes, each of which begins at a multiple of 16 bytes.
    bool may_be_rows() {
        return is_shared() && (has_rows(sum, own, true) || has_rows(own, sum, false));
    }
    // Says why the machine does not find it in panels; empty if it does.
    std::string fault_as_panels() {
        if (!element) return "is an element of what is staged, and no value that is computed of it";
        if (!is_shared()) return "is staged in MemoryType::GPUShared";
        if (ring->storage.is_async && !is_ring(*ring))
            return "is staged by async() and ring_buffer(), or stored there by the warps";
        const bool fits = has_panels(sum, own, true) || has_panels(own, sum, false);
        if (!fits)
            return "is indexed by rows or columns and by what is summed, one after the other, and "
                   "one of these is innermost in its storage";
        if (!is_along_k() && value.type().bits() != 16)
            return "is stored along what is summed if its elements have no 16 bits";
        const int64_t dense_extent = (is_along_k() ? sum : own).digits().back().iterations,
                      step_of_dense = is_along_k() ? instruction.extent("k") : of_panel();
        if (dense_extent % step_of_dense != 0)
            return str("that is stored along its columns has a multiple of ", step_of_dense,
                       " of them for each instruction, and not ", dense_extent);
        return fault_of_begin();
    }

private:
    static constexpr int64_t rows_together = 8;  // that the machine swizzles

    int64_t of_panel() const { return swizzle() / value.type().bytes(); }
    std::optional<int64_t> known_swizzle() const {
        const auto of_row = ring ? as_const_int(simplify(ring->bounds[0].extent)) : std::nullopt;
        return swizzle_of_panels(of_row.value_or(0) * value.type().bytes());
    }
    // Without that of the slots of a ring buffer.
    size_t dimensions() const { return ring->bounds.size() - (is_ring(*ring) ? 1 : 0); }
    Substitution values_at(const Expr &own_index, const Expr &k) const {
        Substitution values;
        own.put_values(own_index, values);
        sum.put_values(k, values);
        return values;
    }
    std::vector<Expr> coordinates(const Expr &own_index, const Expr &k) const {
        const Substitution values = values_at(own_index, k);
        std::vector<Expr> at;
        for (const Expr &arg : element->args) at.push_back(simplify(substitute(values, arg)));
        return at;
    }
    void find_storage() {
        if (!element) return;
        const auto found = stage.storage.find(element->callee);
        ring = found == stage.storage.end() ? nullptr : found->second;
        if (ring && !ring->storage.order.empty()) dense = size_t(ring->storage.order[0].dim);
    }
    std::optional<int64_t> step(size_t d, const For &loop) const {
        return step_of(element->args[d], loop);
    }
    // Neighbours of the innermost of these loops are neighbours in storage.
    bool runs_dense(const IndexLoops &loops) const {
        for (size_t d = 0; d < element->args.size(); d++) {
            if (step(d, loops.innermost()) != (d == dense)) return false;
        }
        return true;
    }
    bool is_multiple(size_t d, const Expr &at, int64_t of) const {
        const Expr from_first = at - ring->bounds[d].min;
        return is_const(simplify(remove_likely(stage.lets.expand(from_first)) % int32_t(of)), 0);
    }
    bool has_rows(const IndexLoops &along, const IndexLoops &across, bool is_along_sum) {
        const int64_t of_row = 16 / value.type().bytes();
        if (!runs_dense(along) || along.digits().back().iterations % of_row != 0) return false;
        if (!is_along_sum && value.type().bits() != 16) return false;
        for (const IndexLoops *loops : {&along, &across}) {
            for (const IndexLoops::Digit &d : loops->digits()) {
                const auto by = step(dense, *d.loop);
                const bool is_innermost = d.loop == &along.innermost();
                if (!is_innermost && (!by || *by % of_row != 0)) return false;
            }
        }
        lies_along_k = is_along_sum;
        return is_multiple(dense, coordinates(0, 0)[dense], of_row);
    }

    // ---- Panels: rows one after the other, in each a panel of the dense dimension ----

    int64_t rows_of_storage() const {
        int64_t rows = 1;
        for (size_t d = 1; d < dimensions(); d++)
            rows *= as_const_int(simplify(ring->bounds[d].extent)).value_or(0);
        return rows;
    }
    // By how many rows of a panel an iteration of the loop moves on.
    std::optional<int64_t> step_of_row(const For &loop) const {
        int64_t rows = 0, stride = 1;
        for (size_t d = 1; d < dimensions(); d++) {
            const auto by = step(d, loop);
            const auto extent = as_const_int(simplify(ring->bounds[d].extent));
            if (!by || !extent) return std::nullopt;
            rows += *by * stride;
            stride *= *extent;
        }
        return rows;
    }
    bool has_panels(const IndexLoops &along, const IndexLoops &across, bool is_along_sum) {
        if (dimensions() < 1 || element->args.size() < dimensions() || dense != 0 ||
            !runs_dense(along))
            return false;
        for (const IndexLoops::Digit &d : across.digits()) {
            if (step(0, *d.loop) != 0 || step_of_row(*d.loop) != d.stride) return false;
        }
        lies_along_k = is_along_sum;
        return true;
    }
    // The machine finds rows of panels, eight at a time, at multiples of their bytes.
    std::string fault_of_begin() const {
        if (!known_swizzle())
            return str("is staged in rows of a multiple of ", most_swizzle,
                       " bytes, or of 64 or 32");
        const std::vector<Expr> first = coordinates(0, 0);
        bool is_aligned = is_multiple(0, first[0], of_panel()) && panel() > 0 &&
                          rows_of_storage() % rows_together == 0;
        Expr row = 0;
        int64_t stride = 1;
        for (size_t d = 1; d < dimensions(); d++) {
            row = row + (first[d] - ring->bounds[d].min) * int32_t(stride);
            stride *= as_const_int(simplify(ring->bounds[d].extent)).value_or(0);
        }
        is_aligned &=
            is_const(simplify(remove_likely(stage.lets.expand(row)) % int32_t(rows_together)), 0);
        if (is_aligned) return "";
        return str("begins at a multiple of ", of_panel(), " columns and ", rows_together,
                   " rows of what is staged, which has a multiple of ", rows_together, " rows");
    }

    const Expr &value;
    const IndexLoops &own, &sum;
    const Instruction &instruction;
    const TensorizedStage &stage;
    const Call *const element;      // null: it is computed
    const Realize *ring = nullptr;  // its storage, if that is within the pipeline
    size_t dense = 0;               // the innermost dimension
    bool lies_along_k = true;
};

// ---- The places of operands ----

// Returns the place of the row that each thread gives to ldmatrix.x4, for the fragment of an
// operand that begins at this row (or column) and k. `fragment`: its layout, in which `own` is that
// row.
Expr place_of_row(const Matrix &matrix, const Instruction &load, const Expr &lane,
                  const Layout &fragment, std::string_view own, int64_t first_own,
                  int64_t first_k) {
    const Layout loaded = compose(inverse(fragment), load.operand("F").layout);
    const std::vector<Expr> first_of_row = {lane / 8, lane % 8, 0};
    const auto coordinate = [&](std::string_view name) {
        return value_of(*loaded.output(name), loaded.coordinates, first_of_row);
    };
    return matrix.place(coordinate(own) + int32_t(first_own), coordinate("k") + int32_t(first_k));
}

class PlaceOperands {
public:
    PlaceOperands(const TensorizedStage &stage, const Instruction &instruction)
        : stage(stage), nest(stage.nest), instruction(instruction) {}

    TensorProduct operator()(const Factors &factors, const ConditionsOfFactors &conditions) {
        TensorProduct product;
        TensorOperation &t = product.operation;
        t.instruction = instruction;
        t.rows = nest.rows.extent();
        t.columns = nest.columns.extent();
        const int64_t k_step = instruction.extent("k");
        t.k = (nest.sum.extent() + k_step - 1) / k_step * k_step;
        t.accumulators = first_of(nest.stage->func, instruction.operand("D").type);
        Matrix a(factors.a, nest.rows, nest.sum, instruction, stage),
            b(factors.b, nest.columns, nest.sum, instruction, stage);
        const std::vector<Expr> of_a = a.not_seen_to(conditions.of_a),
                                of_b = b.not_seen_to(conditions.of_b);
        place(t, "A", a, factors.a, left_of(a, of_a, conditions.of_b, of_b), product.a);
        place(t, "B", b, factors.b, left_of(b, of_b, conditions.of_a, of_a), product.b);
        if (!product.a.conditions.empty() || !product.b.conditions.empty())
            product.conditions = nest.conditions;
        return product;
    }

private:
    static Expr first_of(Symbol array, Type type) {
        return call(Handle(), Intrinsic::address_of,
                    {Call::make(type, array, CallKind::Func, 0, {0})});
    }
    // An integer times a zero of the other operand is zero, if it can be read.
    std::vector<Expr> left_of(const Matrix &matrix, std::vector<Expr> left,
                              const std::vector<Expr> &of_other,
                              const std::vector<Expr> &left_of_other) const {
        if (instruction.operands[0].type.is_float() || !matrix.is_shared()) return left;
        const auto is_in = [](const std::vector<Expr> &all, const Expr &e) {
            return std::ranges::any_of(all, [&](const Expr &other) { return equal(other, e); });
        };
        std::erase_if(
            left, [&](const Expr &e) { return is_in(of_other, e) && !is_in(left_of_other, e); });
        return left;
    }
    void place(TensorOperation &t, std::string_view name, Matrix &matrix, const Expr &value,
               const std::vector<Expr> &left, FilledOperand &in_registers) {
        const bool is_a = name == "A";
        const IndexLoops &own = is_a ? nest.rows : nest.columns;
        TensorOperation::Operand &operand = is_a ? t.a : t.b;
        const bool is_filled = !left.empty() || t.k > nest.sum.extent();
        if (instruction.operand(name).place == OperandPlace::Memory) {
            if (is_filled) refuse_to_fill(t, own, value, left);
            return place_panels(t, operand, is_a, matrix, value);
        }
        const int64_t of_load = TensorOperation::rows_of_load(instruction, name);
        const bool is_whole = of_load > 0 && own.extent() % of_load == 0 && !is_filled &&
                              instruction.threads == 32 && !stage.is_in_registers;
        if (is_whole && matrix.may_be_rows()) return place_rows(t, operand, name, matrix, value);
        operand.source = Source::Registers;
        in_registers = {value, left};
    }
    [[noreturn]] void refuse_to_fill(const TensorOperation &t, const IndexLoops &own,
                                     const Expr &value, const std::vector<Expr> &left) const {
        if (t.k > nest.sum.extent())
            throw Mismatch{Mismatch::Sizes, nest.sum.innermost().origin.kind_written,
                           str(instruction.name, " sums a multiple of ", instruction.extent("k"),
                               " products; the ", loop_name(nest.sum.innermost()), " has ",
                               nest.sum.extent())};
        throw Mismatch{Mismatch::Operands, own.innermost().origin.kind_written,
                       str("the update is done only if ", brief(left[0]), ", and ", text_of(value),
                           ", which ", instruction.name,
                           " reads in memory, is not known to be zero "
                           "elsewhere; have it staged by async() and ring_buffer(), which fills "
                           "with zeros what is left over of a split, or stage a Func that is "
                           "select(condition, value, 0), or take instructions mma")};
    }
    void place_panels(TensorOperation &t, TensorOperation::Operand &operand, bool is_a,
                      Matrix &matrix, const Expr &value) {
        const std::string fault = matrix.fault_as_panels();
        if (!fault.empty()) {
            const IndexLoops &own = is_a ? nest.rows : nest.columns;
            throw Mismatch{Mismatch::Operands, own.innermost().origin.kind_written,
                           str("an operand of ", instruction.name, " ", fault, "; ", text_of(value),
                               " is not so")};
        }
        operand.source = Source::Panels;
        operand.is_along_k = matrix.is_along_k();
        operand.panel = operand.is_along_k ? 0 : matrix.panel();
        operand.swizzle = matrix.swizzle();
        const int64_t step = instruction.extent(is_a ? "i" : "j"), k_step = instruction.extent("k");
        for (int64_t k = 0; k < t.k; k += k_step) {
            for (int64_t own = 0; own < (is_a ? t.rows : t.columns); own += step)
                operand.places.push_back(matrix.place(int32_t(own), int32_t(k)));
        }
    }
    void place_rows(TensorOperation &t, TensorOperation::Operand &operand, std::string_view name,
                    const Matrix &matrix, const Expr &value) {
        const bool is_a = name == "A";
        operand.source = Source::Rows;
        operand.is_along_k = matrix.is_along_k();
        const Instruction load = TensorOperation::load_of(operand, value.type());
        const int64_t k_step = instruction.extent("k"),
                      of_load = TensorOperation::rows_of_load(instruction, name);
        const std::array<int64_t, 2> of_a = {of_load, k_step}, of_b = {k_step, of_load};
        const Layout fragment =
            tiled(instruction.operand(name).layout, is_a ? of_a : of_b, "register");
        for (int64_t k = 0; k < t.k; k += k_step) {
            for (int64_t own = 0; own < (is_a ? t.rows : t.columns); own += of_load)
                operand.places.push_back(
                    place_of_row(matrix, load, stage.lane, fragment, is_a ? "i" : "j", own, k));
        }
    }
    static std::string text_of(const Expr &value) {
        const auto *c = value.as<Call>();
        return c ? c->callee.text() : brief(value);
    }

    const TensorizedStage &stage;
    const TileNest &nest;
    const Instruction &instruction;
};

// ---- The choice of an instruction ----

// Says which loop keeps a definition that instructions compute from being done by them.
std::string fault_of_loops(const TileNest &nest, const InstructionMatch &match) {
    std::vector<std::string> faults;
    const auto used_by = [](const Expr &e, const IndexLoops &loops) -> const For * {
        for (const IndexLoops::Digit &d : loops.digits())
            if (uses_symbol(e, d.loop->name)) return d.loop;
        return nullptr;
    };
    for (const Expr &factor : std::span(match.operands).subspan(1)) {
        const For *row = used_by(factor, nest.rows), *column = used_by(factor, nest.columns);
        if (row && column)
            return str("its factor ", brief(factor), " depends on the ", loop_name(*row),
                       " over rows and on the ", loop_name(*column),
                       " over columns; one factor is of the rows and what is summed, and the other "
                       "one of the columns; a loop that both use stays around what is tensorized");
        if (!row && !column)
            faults.push_back(str("its factor ", brief(factor),
                                 " depends on no tensorized loop over rows or columns"));
    }
    return faults.empty() ? "both of its factors are of the same: rows, or columns" : faults[0];
}

}  // namespace

TensorProduct tensor_product(const TensorizedStage &stage) {
    const TileNest &nest = stage.nest;
    const Substitution lets = lets_within(nest);
    const UpdateOfStage update = update_of(nest, lets);
    std::vector<Instruction> tried;
    std::optional<Mismatch> furthest;
    const auto note = [&](Mismatch m) {
        if (!furthest || m.stage > furthest->stage) furthest = std::move(m);
    };
    const Layout &sums = nest.instruction.operand("D").layout;
    const For &sum = nest.sum.innermost();
    struct Candidate {
        Instruction instruction;
        Factors factors;
    };
    std::vector<Candidate> whole, padded;  // those that divide the sum, and others
    for (const Instruction &i :
         instructions_for(stage.target, nest.tensorized, nest.columns.extent())) {
        if (i.threads != nest.instruction.threads) continue;
        tried.push_back(i);
        const std::optional<Factors> factors = factors_of(nest, update, i);
        if (!factors || i.operand("D").layout != sums) continue;
        if (nest.sum.extent() <= 0) {
            note(
                {Mismatch::Sizes, sum.origin.kind_written,
                 str("how many iterations the loops over what is summed have is not known; split() "
                     "the innermost one by a multiple of ",
                     i.extent("k"), ", of which the last iterations are zeros")});
            continue;
        }
        const bool divides = nest.sum.extent() % i.extent("k") == 0;
        (divides ? whole : padded).push_back({i, *factors});
    }
    std::ranges::stable_sort(padded, {},
                             [](const Candidate &c) { return c.instruction.extent("k"); });
    whole.insert(whole.end(), padded.begin(), padded.end());
    for (const Candidate &c : whole) {
        try {
            return PlaceOperands(stage, c.instruction)(c.factors,
                                                       conditions_of_factors(nest, lets));
        } catch (Mismatch &m) {
            note(std::move(m));
        }
    }
    if (furthest) throw CompileError(furthest->at, "tensorize: " + furthest->why);
    std::string why;
    for (const Instruction &i : tried) {
        const auto matches = program::match_value(i, update.written, update.value);
        if (why.empty() && !matches.empty() && i.operands.size() == 3)
            why = fault_of_loops(nest, matches[0]);
    }
    if (why.empty()) why = program::fault_of_value(tried, update.written, update.value);
    throw CompileError(nest.columns.innermost().origin.kind_written,
                       str("tensorize: the update of ", nest.stage->func, ", ",
                           brief(nest.stage->values[0]), ", is no product that ", nest.tensorized,
                           " computes: ", why));
}

}  // namespace tessera::lower
