#include "ir/tensor_operation.h"
#include "base/error.h"
#include "ir/cpu_tensor.h"
#include "ir/operators.h"
#include <algorithm>
#include <array>
#include <optional>

namespace tessera::ir {

namespace {

using TensorOperand = TensorOperation::Operand;
using TensorSource = TensorOperation::Source;

// An ldmatrix.x4 loads so many rows of 16 bytes.
constexpr int64_t rows_loaded = 32;

// Returns the type of the element whose place the operand is; none if it is no place.
std::optional<Type> type_at(const Expr &place) {
    const Expr *element = element_of_place(place);
    return element ? std::optional(element->type().element_of()) : std::nullopt;
}

// ---- Where an operand is, as text: "registers", "rows along k", "panels across 4096",
// "panels^64 along k" ----

std::string text_of(const TensorOperand &o) {
    if (o.source == TensorSource::Registers)
        return o.is_of_tile ? "registers of a tile" : "registers";
    const bool is_narrow = o.source == TensorSource::Panels && o.swizzle != most_swizzle;
    return str(o.source == TensorSource::Rows ? "rows" : "panels",
               is_narrow ? str("^", o.swizzle) : "", " ", o.is_along_k ? "along k" : "across",
               o.panel > 0 ? str(" ", o.panel) : "");
}

std::optional<TensorOperand> operand_of(const Expr &e) {
    const auto *s = e.as<StringImm>();
    if (!s) return std::nullopt;
    std::string_view text = s->value;
    const auto accept = [&](std::string_view word) {
        const bool is_next = text.starts_with(word);
        if (is_next) text.remove_prefix(word.size());
        return is_next;
    };
    TensorOperand o;
    if (accept("registers")) {
        o.is_of_tile = accept(" of a tile");
        return text.empty() ? std::optional(o) : std::nullopt;
    }
    if (!accept("rows ")) {
        if (!accept("panels")) return std::nullopt;
        for (const int64_t narrow : {64, 32})
            if (accept(str("^", narrow))) o.swizzle = narrow;
        if (!accept(" ")) return std::nullopt;
        o.source = TensorSource::Panels;
    } else {
        o.source = TensorSource::Rows;
    }
    o.is_along_k = accept("along k");
    if (!o.is_along_k && !accept("across")) return std::nullopt;
    if (accept(" ")) {
        for (const char c : text) o.panel = o.panel * 10 + (c - '0');
    } else if (!text.empty()) {
        return std::nullopt;
    }
    return o;
}

size_t places_of(const TensorOperation &t, const TensorOperand &o, bool is_a) {
    const int64_t own = is_a ? t.rows : t.columns;
    const std::string_view name = is_a ? "A" : "B";
    switch (o.source) {
    case TensorSource::Registers: return 1;
    case TensorSource::Rows:
        return size_t(t.steps("k") * (own / TensorOperation::rows_of_load(t.instruction, name)));
    case TensorSource::Panels: return size_t(t.steps("k") * t.steps(is_a ? "i" : "j"));
    }
    return 0;
}

// Reads all but the places. Nothing if they are not there.
std::optional<TensorOperation> without_places(const std::vector<Expr> &operands) {
    if (operands.size() <= TensorOperation::first_place) return std::nullopt;
    const auto *name = operands[0].as<StringImm>();
    const auto row = name ? find_instruction(name->value) : std::nullopt;
    const auto rows = as_const_int(operands[1]), columns = as_const_int(operands[2]),
               k = as_const_int(operands[3]);
    const auto a = operand_of(operands[4]), b = operand_of(operands[5]);
    if (!row || !rows || !columns || !k || !a || !b) return std::nullopt;
    TensorOperation t;
    t.instruction = *row;
    t.rows = *rows;
    t.columns = *columns;
    t.k = *k;
    t.a = *a;
    t.b = *b;
    return t;
}

// Says if instructions find the operand in such a place.
bool may_be(const TensorOperation &t, const TensorOperand &o, const char *name) {
    const InstructionOperand &operand = t.instruction.operand(name);
    if (o.source == TensorSource::Panels) return operand.place == OperandPlace::Memory;
    if (operand.place != OperandPlace::Registers) return false;
    if (o.source == TensorSource::Registers) return true;
    const int64_t own = operand.name.text() == "A" ? t.rows : t.columns,
                  of_load = TensorOperation::rows_of_load(t.instruction, name);
    return of_load > 0 && own % of_load == 0 && (o.is_along_k || operand.type.bits() == 16);
}

}  // namespace

const Expr *element_of_place(const Expr &place) {
    const Expr *e = &place;
    while (const Let *let = e->as<Let>()) e = &let->body;
    const auto *c = e->as<IntrinsicCall>();
    return c && c->op == Intrinsic::address_of && c->args.size() == 1 ? &c->args[0] : nullptr;
}

std::string fault_of(const MachineOp &op) {
    if (is_cpu_tensor(op)) return fault_of_cpu_tensor(op);
    const auto t = without_places(op.operands);
    if (!t)
        return "a tensor operation has the name of an instruction, three extents and where its "
               "operands are before its places";
    const auto divides = [](int64_t step, int64_t all) { return all > 0 && all % step == 0; };
    const Instruction &row = t->instruction;
    if (!divides(row.extent("i"), t->rows) || !divides(row.extent("j"), t->columns) ||
        !divides(row.extent("k"), t->k))
        return str("a tensor operation of ", t->rows, " x ", t->columns, " x ", t->k,
                   ", which its instructions do not divide");
    if (!may_be(*t, t->a, "A") || !may_be(*t, t->b, "B"))
        return str("a tensor operation whose instructions ", row.name,
                   " do not find their operands in ", text_of(t->a), " and ", text_of(t->b));
    const size_t of_a = places_of(*t, t->a, true), of_b = places_of(*t, t->b, false),
                 first_of_a = TensorOperation::first_place + 1, wanted = first_of_a + of_a + of_b;
    if (op.operands.size() != wanted)
        return str("a tensor operation with ", op.operands.size(), " operands of ", wanted);
    for (size_t i = TensorOperation::first_place; i < wanted; i++) {
        const char *of = i < first_of_a ? "D" : i < first_of_a + of_a ? "A" : "B";
        const Type type = row.operand(of).type;
        if (type_at(op.operands[i]) != type)
            return str("operand ", i, " of a tensor operation is no place of ", type);
    }
    return "";
}

TensorOperation TensorOperation::of(const MachineOp &op) {
    if (const std::string fault = fault_of(op); !fault.empty()) throw InternalError(fault);
    TensorOperation t = *without_places(op.operands);
    t.accumulators = op.operands[first_place];
    const auto begin = op.operands.begin() + first_place + 1;
    const auto end_of_a = begin + ptrdiff_t(places_of(t, t.a, true));
    t.a.places.assign(begin, end_of_a);
    t.b.places.assign(end_of_a, op.operands.end());
    return t;
}

std::vector<Expr> TensorOperation::operands() const {
    std::vector<Expr> all = {StringImm::make(instruction.name),
                             int32_t(rows),
                             int32_t(columns),
                             int32_t(k),
                             StringImm::make(text_of(a)),
                             StringImm::make(text_of(b)),
                             accumulators};
    all.insert(all.end(), a.places.begin(), a.places.end());
    all.insert(all.end(), b.places.begin(), b.places.end());
    return all;
}

int64_t TensorOperation::steps(std::string_view loop) const {
    return (loop == "i" ? rows : loop == "j" ? columns : k) / instruction.extent(loop);
}

Layout TensorOperation::registers_of(std::string_view operand) const {
    const Layout &one = instruction.operand(operand).layout;
    std::vector<int64_t> extents;
    for (const LayoutCoordinate &c : one.coordinates)
        extents.push_back(c.name == "i" ? rows : c.name == "j" ? columns : k);
    return tiled(one, extents, "register");
}

int64_t TensorOperation::rows_of_load(const Instruction &instruction, std::string_view operand) {
    const int64_t bytes = instruction.extent("k") * instruction.operand(operand).type.bytes();
    if (bytes != slot_bytes && bytes != 2 * slot_bytes) return 0;
    const int64_t rows = rows_loaded * slot_bytes / bytes;
    return rows % instruction.extent(operand == "A" ? "i" : "j") == 0 ? rows : 0;
}

Instruction TensorOperation::load_of(const TensorOperand &operand, Type element) {
    return ldmatrix_x4(element, !operand.is_along_k);
}

}  // namespace tessera::ir
