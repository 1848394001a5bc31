#include "lower/gpu/tensor_operands.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/loops/likely.h"
#include <array>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

constexpr int panel_elements = 64;  // of 16 bits: the 128 bytes that are swizzled together

// A or B: what is read of it, for a row (or column) and a k.
class Matrix {
public:
    // `along`: the loop over its rows (columns), `other`: that over those of the other operand.
    Matrix(const Call &element, const For &along, const For &other, const TensorizedStage &stage,
           const Substitution &lets)
        : element(element), along(along), stage(stage) {
        for (const Expr &arg : element.args) args.push_back(substitute(lets, arg));
        find_storage();
        own_dimension = only_dimension_of(along);
        k_dimension = only_dimension_of(stage.sum);
        for (const Expr &arg : args) fits &= step_of(arg, other) == 0;
        fits &= own_dimension < args.size() && k_dimension < args.size();
        fits &= (own_dimension == dense) != (k_dimension == dense);
        check();
    }
    bool is_along_k() const { return k_dimension == dense; }
    Expr place(const Expr &own, const Expr &k) const {
        return call(Handle(), Intrinsic::address_of,
                    {element.with<&Call::args>(coordinates(own, k))});
    }
    // Returns the distance from one panel of columns to the next, in elements.
    int32_t panel() const {
        const auto rows = as_const_int(simplify(ring->bounds[1].extent));
        return int32_t(rows.value_or(0)) * panel_elements;
    }

private:
    static constexpr int32_t row_of_fragment = 8;  // elements

    // The dimension in which a loop runs over neighbours, if it is in no other.
    size_t only_dimension_of(const For &loop) {
        size_t found = args.size();
        for (size_t d = 0; d < args.size(); d++) {
            const std::optional<int64_t> by = step_of(args[d], loop);
            fits &= by == 0 || (by == 1 && found == args.size());
            if (by == 1) found = d;
        }
        return found;
    }
    std::vector<Expr> coordinates(const Expr &own, const Expr &k) const {
        const Substitution values{{along.name, own + along.min},
                                  {stage.sum.name, k + stage.sum.min}};
        std::vector<Expr> at;
        for (const Expr &arg : args) at.push_back(simplify(substitute(values, arg)));
        return at;
    }
    void find_storage() {
        const auto found = stage.storage.find(element.callee);
        ring = found == stage.storage.end() ? nullptr : found->second;
        if (ring && !ring->storage.order.empty()) dense = size_t(ring->storage.order[0].dim);
    }
    void check() const {
        if (!fits)
            refuse("is indexed by a row or a column and by what is summed, each in one "
                   "dimension, one after the other, and one of these is innermost in its storage");
        const bool is_shared = ring && traits_of(ring->memory).space == AddressSpace::Shared;
        if (!is_shared) refuse("is staged in MemoryType::GPUShared");
        if (stage.instruction.threads != LoopKind::GPUWarpgroup) return check_fragments();
        if (!is_ring(*ring)) refuse("is staged by async() and ring_buffer()");
        check_begin();
    }
    bool is_multiple(size_t d, const Expr &at, int32_t of) const {
        const Expr from_first = at - ring->bounds[d].min;
        return is_const(simplify(remove_likely(stage.lets.expand(from_first)) % of), 0);
    }
    // The machine loads fragments by rows of 16 bytes, which begin at multiples of 16 bytes.
    void check_fragments() const {
        if (!is_multiple(dense, coordinates(0, 0)[dense], row_of_fragment))
            refuse(str("begins at a multiple of ", row_of_fragment,
                       " elements of the innermost dimension of what is staged"));
    }
    // The machine finds rows of 128 bytes, eight at a time, at multiples of 1024 bytes.
    void check_begin() const {
        constexpr int32_t rows_together = 8;
        const std::vector<Expr> first = coordinates(0, 0);
        const bool is_aligned = is_multiple(0, first[0], panel_elements) &&
                                is_multiple(1, first[1], rows_together) && panel() > 0 &&
                                panel() / panel_elements % rows_together == 0;
        if (!is_aligned)
            refuse(str("begins at a multiple of ", panel_elements, " columns and ", rows_together,
                       " rows of what is staged, which has a multiple of ", rows_together,
                       " rows"));
    }
    [[noreturn]] void refuse(const std::string &what) const {
        throw CompileError(along.origin.kind_written,
                           str("tensorize: an operand of ", stage.instruction.name, " ", what, "; ",
                               element.callee, " is not so"));
    }

    const Call &element;
    const For &along;
    const TensorizedStage &stage;
    std::vector<Expr> args;
    const Realize *ring = nullptr;
    size_t k_dimension = 0, own_dimension = 0, dense = 0;  // the innermost one
    bool fits = true;
};

// The parts of the update.
class Product {
public:
    explicit Product(const TensorizedStage &stage) : stage(stage) {
        const auto *sum =
            stage.update.values.size() == 1 ? stage.update.values[0].as<Add>() : nullptr;
        if (!sum) refuse();
        const bool is_first = is_itself(sum->a);
        if (!is_first && !is_itself(sum->b)) refuse();
        factors(is_first ? sum->b : sum->a);
    }
    const Call *a = nullptr, *b = nullptr;

private:
    bool is_itself(const Expr &e) const {
        const auto *c = e.as<Call>();
        if (!c || c->callee != stage.update.func) return false;
        for (size_t d = 0; d < c->args.size(); d++) {
            if (!equal(c->args[d], stage.update.args[d])) return false;
        }
        return true;
    }
    void factors(const Expr &product) {
        const auto *mul = product.as<Mul>();
        if (!mul) refuse();
        a = operand(mul->a);
        b = operand(mul->b);
    }
    const Call *operand(const Expr &e) const {
        const auto *cast = e.as<Cast>();
        const auto *c = cast ? cast->value.as<Call>() : nullptr;
        const bool fits = c && (c->type == Float(16) || c->type == BFloat(16));
        if (!fits) refuse();
        return c;
    }
    [[noreturn]] void refuse() const {
        throw CompileError(stage.columns.origin.kind_written,
                           str("tensorize: the update of ", stage.update.func,
                               " has to have the form f(x, y) += cast<float>(a) * cast<float>(b), "
                               "with a and b of float16 or bfloat16"));
    }
    const TensorizedStage &stage;
};

// The lets between the loops over warps and the update.
Substitution lets_within(const Stmt &body) {
    Substitution lets;
    for_each_node(body, [&](const LetStmt &let) { lets[let.name] = substitute(lets, let.value); });
    return lets;
}

// Returns the place of the row that each thread gives to ldmatrix.x4, for the fragment of an
// operand that begins at this row (or column) and k. `fragment`: its layout, in which `own` is that
// row.
Expr place_of_row(const Matrix &matrix, const TensorizedStage &stage, const Layout &fragment,
                  std::string_view own, int64_t first_own, int64_t first_k) {
    const Instruction load = ldmatrix_x4(Float(16), !matrix.is_along_k());
    const Layout loaded = compose(inverse(fragment), load.operand("F").layout);
    const std::vector<Expr> first_of_row = {stage.lane / 8, stage.lane % 8, 0};
    const auto coordinate = [&](std::string_view name) {
        return value_of(*loaded.output(name), loaded.coordinates, first_of_row);
    };
    return matrix.place(coordinate(own) + int32_t(first_own), coordinate("k") + int32_t(first_k));
}

void add_fragments(TensorOperation &t, const TensorizedStage &stage, const Matrix &a,
                   const Matrix &b) {
    constexpr std::array<int64_t, 2> square = {16, 16};
    const Instruction mma = mma_m16n8k16(t.element);
    const Layout of_a = mma.operand("A").layout,
                 of_b = tiled(mma.operand("B").layout, square, "register");
    for (int64_t k = 0; k < t.k; k += 16) {
        for (int64_t i = 0; i < t.rows; i += 16)
            t.a.push_back(place_of_row(a, stage, of_a, "i", i, k));
        for (int64_t j = 0; j < t.columns; j += 16)
            t.b.push_back(place_of_row(b, stage, of_b, "j", j, k));
    }
}

void add_tiles(TensorOperation &t, const Matrix &a, const Matrix &b) {
    for (int32_t k = 0; k < t.k; k += 16) {
        for (int32_t i = 0; i < t.rows; i += 64) t.a.push_back(a.place(i, k));
        t.b.push_back(b.place(0, k));
    }
}

}  // namespace

TensorOperation tensor_operands(const TensorizedStage &stage, const Stmt &body) {
    const Product product(stage);
    const Substitution lets = lets_within(body);
    const auto uses_row = [&](const Call &c) {
        for (const Expr &arg : c.args) {
            if (symbols_in(substitute(lets, arg)).contains(stage.rows.name)) return true;
        }
        return false;
    };
    const bool swapped = !uses_row(*product.a);
    const Matrix a(swapped ? *product.b : *product.a, stage.rows, stage.columns, stage, lets),
        b(swapped ? *product.a : *product.b, stage.columns, stage.rows, stage, lets);
    if (stage.sum_count % stage.instruction.k != 0 || product.a->type != product.b->type) {
        throw CompileError(stage.sum.origin.kind_written,
                           str("tensorize: ", stage.instruction.name, " sums a multiple of ",
                               stage.instruction.k, " products of operands of one type"));
    }
    const bool is_wgmma = stage.instruction.threads == LoopKind::GPUWarpgroup;
    if (is_wgmma && !b.is_along_k() && stage.column_count % panel_elements != 0) {
        throw CompileError(stage.columns.origin.kind_written,
                           str("tensorize: an operand of ", stage.instruction.name,
                               " that is stored along its columns has a multiple of ",
                               panel_elements, " of them for each instruction, and not ",
                               stage.column_count));
    }
    TensorOperation t{.is_wgmma = is_wgmma,
                      .rows = stage.row_count,
                      .columns = stage.column_count,
                      .k = stage.sum_count,
                      .element = product.a->type,
                      .a_is_along_k = a.is_along_k(),
                      .b_is_along_k = b.is_along_k(),
                      .a_panel = is_wgmma ? a.panel() : 0,
                      .b_panel = is_wgmma ? b.panel() : 0,
                      .accumulators =
                          call(Handle(), Intrinsic::address_of,
                               {Call::make(Float(32), stage.update.func, CallKind::Func, 0, {0})})};
    if (is_wgmma)
        add_tiles(t, a, b);
    else
        add_fragments(t, stage, a, b);
    return t;
}

}  // namespace tessera::lower
