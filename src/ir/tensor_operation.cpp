#include "ir/tensor_operation.h"
#include "base/error.h"
#include "ir/cpu_tensor.h"
#include "ir/operators.h"
#include <array>
#include <optional>

namespace tessera::ir {

namespace {

// Rows and columns that the instructions of a kind do at a time. An ldmatrix.x4 brings B for two
// instructions mma.
struct Step {
    int64_t rows, columns, k;
    bool has_place_for_columns;
};
Step step_of(bool is_wgmma) { return is_wgmma ? Step{64, 8, 16, false} : Step{16, 16, 16, true}; }

// Returns the type of the element whose place the operand is; none if it is no place.
std::optional<Type> type_at(const Expr &place) {
    const Expr *e = &place;
    while (const Let *let = e->as<Let>()) e = &let->body;
    const auto *c = e->as<IntrinsicCall>();
    if (!c || c->op != Intrinsic::address_of || c->args.size() != 1) return std::nullopt;
    return c->args[0].type().element_of();
}

// Operands that say how many or which, and no places.
using Numbers = std::array<int64_t, TensorOperation::first_place - 1>;
std::optional<Numbers> numbers_of(const std::vector<Expr> &operands) {
    if (operands.size() < TensorOperation::first_place) return std::nullopt;
    Numbers all;
    for (size_t i = 0; i < all.size(); i++) {
        const auto value = as_const_int(operands[i]);
        if (!value) return std::nullopt;
        all[i] = *value;
    }
    return all;
}

size_t places_of_a(const TensorOperation &t, const Step &step) {
    return size_t(t.k / step.k * (t.rows / step.rows));
}
size_t places_of_b(const TensorOperation &t, const Step &step) {
    return size_t(t.k / step.k * (step.has_place_for_columns ? t.columns / step.columns : 1));
}

TensorOperation with_numbers(const Numbers &n) {
    TensorOperation t;
    t.is_wgmma = n[0] != 0;
    t.rows = n[1];
    t.columns = n[2];
    t.k = n[3];
    t.a_is_along_k = n[4] != 0;
    t.b_is_along_k = n[5] != 0;
    t.element = n[6] != 0 ? BFloat(16) : Float(16);
    t.a_panel = n[7];
    t.b_panel = n[8];
    return t;
}

}  // namespace

std::string fault_of(const MachineOp &op) {
    if (is_cpu_tensor(op)) return fault_of_cpu_tensor(op);
    const auto numbers = numbers_of(op.operands);
    if (!numbers) return "a tensor operation has nine constants before its places";
    const TensorOperation t = with_numbers(*numbers);
    const Step step = step_of(t.is_wgmma);
    const auto divides = [](int64_t step, int64_t all) { return all > 0 && all % step == 0; };
    if (!divides(step.rows, t.rows) || !divides(step.columns, t.columns) || !divides(step.k, t.k))
        return str("a tensor operation of ", t.rows, " x ", t.columns, " x ", t.k,
                   ", which its instructions do not divide");
    const size_t wanted =
        TensorOperation::first_place + places_of_a(t, step) + places_of_b(t, step);
    if (op.operands.size() != wanted)
        return str("a tensor operation with ", op.operands.size(), " operands of ", wanted);
    for (size_t i = TensorOperation::first_place - 1; i < wanted; i++) {
        const bool is_sum = i < TensorOperation::first_place;
        const Type type = is_sum ? Float(32) : t.element;
        if (type_at(op.operands[i]) != type)
            return str("operand ", i, " of a tensor operation is no place of ", type);
    }
    return "";
}

TensorOperation TensorOperation::of(const MachineOp &op) {
    if (const std::string fault = fault_of(op); !fault.empty()) throw InternalError(fault);
    TensorOperation t = with_numbers(*numbers_of(op.operands));
    t.accumulators = op.operands[first_place - 1];
    const auto begin = op.operands.begin() + first_place;
    const auto end_of_a = begin + ptrdiff_t(places_of_a(t, step_of(t.is_wgmma)));
    t.a.assign(begin, end_of_a);
    t.b.assign(end_of_a, op.operands.end());
    return t;
}

std::vector<Expr> TensorOperation::operands() const {
    std::vector<Expr> all = {
        int(is_wgmma),     int32_t(rows),     int32_t(columns),         int32_t(k),
        int(a_is_along_k), int(b_is_along_k), int(element.is_bfloat()), int32_t(a_panel),
        int32_t(b_panel),  accumulators};
    all.insert(all.end(), a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

Instruction TensorOperation::instruction() const {
    if (!is_wgmma) return mma_m16n8k16(element);
    return wgmma_m64k16(element, columns, {a_is_along_k, a_panel}, {b_is_along_k, b_panel});
}

Layout TensorOperation::accumulator_layout() const {
    const std::array<int64_t, 2> tile = {rows, columns};
    return tiled(instruction().operand("D").layout, tile, "register");
}

}  // namespace tessera::ir
