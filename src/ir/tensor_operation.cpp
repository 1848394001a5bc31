#include "ir/tensor_operation.h"
#include "base/error.h"
#include "ir/operators.h"
#include <array>

namespace tessera::ir {

namespace {

int64_t constant(const Expr &e) {
    const auto value = as_const_int(e);
    if (!value) throw InternalError("an operand of a tensor operation is no constant");
    return *value;
}

// Rows and columns that the instructions of a kind do at a time. An ldmatrix.x4 brings B for two
// instructions mma.
struct Step {
    int64_t rows, columns, k;
    bool has_place_for_columns;
};
Step step_of(MachineOpKind op) {
    if (op == MachineOpKind::mma) return {16, 16, 16, true};
    if (op == MachineOpKind::wgmma) return {64, 8, 16, false};
    throw InternalError("no tensor operation");
}

}  // namespace

TensorOperation TensorOperation::of(const MachineOp &node) {
    const Step step = step_of(node.op);
    const std::vector<Expr> &all = node.operands;
    if (all.size() < first_place) throw InternalError("a tensor operation without its operands");
    TensorOperation t;
    t.rows = constant(all[0]);
    t.columns = constant(all[1]);
    t.k = constant(all[2]);
    t.a_is_along_k = constant(all[3]) != 0;
    t.b_is_along_k = constant(all[4]) != 0;
    t.element = constant(all[5]) != 0 ? BFloat(16) : Float(16);
    t.a_panel = constant(all[6]);
    t.b_panel = constant(all[7]);
    t.accumulators = all[8];
    const auto places_of_a = size_t(t.k / step.k * (t.rows / step.rows));
    const auto places_of_b =
        size_t(t.k / step.k * (step.has_place_for_columns ? t.columns / step.columns : 1));
    const bool fits = t.rows > 0 && t.columns > 0 && t.k > 0 && t.rows % step.rows == 0 &&
                      t.columns % step.columns == 0 && t.k % step.k == 0 &&
                      all.size() == first_place + places_of_a + places_of_b;
    if (!fits)
        throw InternalError(str("a tensor operation of ", t.rows, " x ", t.columns, " x ", t.k,
                                " with ", all.size(), " operands"));
    const auto begin = all.begin() + first_place;
    t.a.assign(begin, begin + ptrdiff_t(places_of_a));
    t.b.assign(begin + ptrdiff_t(places_of_a), all.end());
    return t;
}

std::vector<Expr> TensorOperation::operands() const {
    std::vector<Expr> all = {int32_t(rows),     int32_t(columns),  int32_t(k),
                             int(a_is_along_k), int(b_is_along_k), int(element.is_bfloat()),
                             int32_t(a_panel),  int32_t(b_panel),  accumulators};
    all.insert(all.end(), a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

Instruction TensorOperation::instruction(MachineOpKind op) const {
    if (op == MachineOpKind::mma) return mma_m16n8k16(element);
    return wgmma_m64k16(element, columns, {a_is_along_k, a_panel}, {b_is_along_k, b_panel});
}

Layout TensorOperation::accumulator_layout(MachineOpKind op) const {
    const std::array<int64_t, 2> tile = {rows, columns};
    return tiled(instruction(op).operand("D").layout, tile, "register");
}

}  // namespace tessera::ir
