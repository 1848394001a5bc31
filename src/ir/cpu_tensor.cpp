#include "ir/cpu_tensor.h"
#include "base/error.h"
#include "ir/operators.h"
#include "ir/tensor_operation.h"
#include <algorithm>
#include <array>
#include <optional>

namespace tessera::ir {

namespace {

constexpr const char *step_names[] = {"multiply", "hold", "zero", "configure"};
// Texts, sizes and the flag come before the places.
constexpr size_t first_place = 6, places_before_a = 5;

std::string text_of(const MachineOp &op, size_t operand) {
    const auto *text =
        operand < op.operands.size() ? op.operands[operand].as<StringImm>() : nullptr;
    return text ? text->value : "";
}

bool is_place_of(const Expr &place, Type type) {
    const Expr *element = element_of_place(place);
    return element && element->type().element_of() == type;
}

// Returns nothing if it is no operation of a CPU.
std::optional<CpuTensorOperation> without_places(const MachineOp &op) {
    if (op.op != MachineOpKind::tensor || op.operands.size() < 2) return std::nullopt;
    const auto *step = std::ranges::find(step_names, text_of(op, 0));
    if (step == std::end(step_names)) return std::nullopt;
    CpuTensorOperation t;
    t.step = CpuTensorStep(step - std::begin(step_names));
    t.instruction = text_of(op, 1);
    std::array<int64_t, 4> numbers{};
    for (size_t i = 0; i < numbers.size() && i + 2 < op.operands.size(); i++)
        numbers[i] = as_const_int(op.operands[i + 2]).value_or(-1);
    t.rows = numbers[0];
    t.columns = numbers[1];
    t.k = numbers[2];
    t.starts_at_zero = numbers[3] != 0;
    return t;
}

}  // namespace

bool is_cpu_tensor(const MachineOp &op) { return without_places(op).has_value(); }

std::string fault_of_cpu_tensor(const MachineOp &op) {
    const auto t = without_places(op);
    const CpuInstruction *row = t ? cpu_instruction(t->instruction) : nullptr;
    if (!row) return "a tensor operation of a CPU names one of its instructions";
    if (t->step == CpuTensorStep::Configure) return "";
    const auto divides = [](int64_t step, int64_t all) { return all > 0 && all % step == 0; };
    const bool multiplies = t->step == CpuTensorStep::Multiply;
    if (!divides(row->rows, t->rows) || !divides(row->columns, t->columns) ||
        (multiplies && !divides(row->k, t->k)))
        return str("a tensor operation of ", t->rows, " x ", t->columns, " x ", t->k, ", which ",
                   row->name, " does not divide");
    const size_t of_a = multiplies ? size_t(t->k_steps() * t->row_steps()) : 0,
                 of_b = multiplies ? size_t(t->k_steps() * t->column_steps()) : 0,
                 wanted = first_place + (multiplies ? places_before_a + of_a + of_b : 1);
    if (op.operands.size() != wanted)
        return str("a tensor operation with ", op.operands.size(), " operands of ", wanted);
    for (size_t i = first_place; i < wanted; i++) {
        const size_t place = i - first_place;
        const bool is_of_a = place == 1 || place == 2 ||
                             (place >= places_before_a && place < places_before_a + of_a);
        const Type type = place == 0 ? row->sum : is_of_a ? row->a : row->b;
        if (!is_place_of(op.operands[i], type))
            return str("operand ", i, " of a tensor operation is no place of ", type);
    }
    return "";
}

CpuTensorOperation CpuTensorOperation::of(const MachineOp &op) {
    if (const std::string fault = fault_of_cpu_tensor(op); !fault.empty())
        throw InternalError(fault);
    CpuTensorOperation t = *without_places(op);
    if (t.step == CpuTensorStep::Configure) return t;
    t.sums = op.operands[first_place];
    if (t.step != CpuTensorStep::Multiply) return t;
    t.a_row = op.operands[first_place + 1];
    t.a_next = op.operands[first_place + 2];
    t.b_row = op.operands[first_place + 3];
    t.b_next = op.operands[first_place + 4];
    const auto begin = op.operands.begin() + ptrdiff_t(first_place + places_before_a);
    const auto end_of_a = begin + ptrdiff_t(t.k_steps() * t.row_steps());
    t.a.assign(begin, end_of_a);
    t.b.assign(end_of_a, op.operands.end());
    return t;
}

std::vector<Expr> CpuTensorOperation::operands() const {
    std::vector<Expr> all = {StringImm::make(step_names[size_t(step)]),
                             StringImm::make(instruction)};
    if (step == CpuTensorStep::Configure) return all;
    for (int64_t number : {rows, columns, k, int64_t(starts_at_zero)})
        all.push_back(int32_t(number));
    all.push_back(sums);
    if (step != CpuTensorStep::Multiply) return all;
    for (const Expr &place : {a_row, a_next, b_row, b_next}) all.push_back(place);
    all.insert(all.end(), a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

const CpuInstruction &CpuTensorOperation::row() const {
    const CpuInstruction *found = cpu_instruction(instruction);
    if (!found) throw InternalError(str("no CPU has an instruction ", instruction));
    return *found;
}

Layout CpuTensorOperation::layout() const {
    const std::array<int64_t, 2> tile = {rows, columns};
    return tiled(row().instruction().operand("D").layout, tile, "register");
}

int64_t CpuTensorOperation::first_sum(int64_t row_step, int64_t column_step) const {
    const CpuInstruction &of = row();
    return (row_step * column_steps() + column_step) * of.rows * of.columns;
}

}  // namespace tessera::ir
