#include "ir/tensor_operation.h"
#include "base/error.h"
#include "ir/operators.h"
#include <algorithm>
#include <array>
#include <optional>

namespace tessera::ir {

namespace {

using TensorOperand = TensorOperation::Operand;
using TensorSource = TensorOperation::Source;
using Step = TensorOperation::Step;

// An ldmatrix.x4 loads so many rows of 16 bytes.
constexpr int64_t rows_loaded = 32;

// Returns the type of the element whose place the operand is; none if it is no place.
std::optional<Type> type_at(const Expr &place) {
    const Expr *element = element_of_place(place);
    return element ? std::optional(element->type().element_of()) : std::nullopt;
}

// ---- What is done, as text ----

constexpr const char *step_names[] = {"multiply", "hold", "hold from zero", "zero", "configure"};
// Behind the name of the instruction and the extents: a step other than a product, or where A is.
constexpr size_t after_extents = 4;

std::string word_of(const std::vector<Expr> &operands, size_t number) {
    const auto *s = number < operands.size() ? operands[number].as<StringImm>() : nullptr;
    return s ? s->value : "";
}

Step step_of(const std::vector<Expr> &operands) {
    const auto *found = std::ranges::find(step_names, word_of(operands, after_extents));
    return found == std::end(step_names) ? Step::Multiply : Step(found - std::begin(step_names));
}

// ---- Where an operand is, as text: "registers", "rows along k", "panels across 4096",
// "panels^64 along k" ----

constexpr const char *host_rows = "rows of the host";

std::string text_of(const TensorOperand &o) {
    if (o.source == TensorSource::HostRows) return host_rows;
    if (o.source == TensorSource::Registers)
        return o.is_of_tile ? "registers of a tile" : "registers";
    const bool is_narrow = o.source == TensorSource::Panels && o.swizzle != most_swizzle;
    return str(o.source == TensorSource::Rows ? "rows" : "panels",
               is_narrow ? str("^", o.swizzle) : "", " ", o.is_along_k ? "along k" : "across",
               o.panel > 0 ? str(" ", o.panel) : "");
}

std::optional<TensorOperand> operand_of(std::string_view text) {
    const auto accept = [&](std::string_view word) {
        const bool is_next = text.starts_with(word);
        if (is_next) text.remove_prefix(word.size());
        return is_next;
    };
    TensorOperand o;
    if (text == host_rows) {
        o.source = TensorSource::HostRows;
        return o;
    }
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
    case TensorSource::HostRows: return 2 + size_t(t.steps("k") * t.steps(is_a ? "i" : "j"));
    }
    return 0;
}

// Reads all but the places. Nothing if they are not there.
std::optional<TensorOperation> without_places(const std::vector<Expr> &operands) {
    if (operands.size() <= after_extents) return std::nullopt;
    TensorOperation t;
    t.step = step_of(operands);
    const auto row = find_instruction(word_of(operands, 0));
    const auto rows = as_const_int(operands[1]), columns = as_const_int(operands[2]),
               k = as_const_int(operands[3]);
    if (!row || !rows || !columns || !k) return std::nullopt;
    t.instruction = *row;
    t.rows = *rows;
    t.columns = *columns;
    t.k = *k;
    if (t.step != Step::Multiply) return t;
    const auto a = operand_of(word_of(operands, after_extents)),
               b = operand_of(word_of(operands, after_extents + 1));
    if (!a || !b) return std::nullopt;
    t.a = *a;
    t.b = *b;
    return t;
}

// Returns true if instructions find the operand in such a place.
bool may_be(const TensorOperation &t, const TensorOperand &o, const char *name) {
    const InstructionOperand &operand = t.instruction.operand(name);
    if (o.source == TensorSource::Panels) return operand.place == OperandPlace::Memory;
    if (o.source == TensorSource::HostRows) return t.instruction.is_of_cpu();
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

namespace {

std::string fault_of_size(const TensorOperation &t) {
    if (t.step == Step::Configure) return "";
    const auto divides = [](int64_t step, int64_t all) { return all > 0 && all % step == 0; };
    const Instruction &row = t.instruction;
    if (divides(row.extent("i"), t.rows) && divides(row.extent("j"), t.columns) &&
        (t.step != Step::Multiply || divides(row.extent("k"), t.k)))
        return "";
    return str("a tensor operation of ", t.rows, " x ", t.columns, " x ", t.k,
               ", which its instructions do not divide");
}

std::string fault_of_number(const MachineOp &op, size_t wanted) {
    if (op.operands.size() == wanted) return "";
    return str("a tensor operation with ", op.operands.size(), " operands of ", wanted);
}

std::string fault_of_place(const MachineOp &op, size_t number, Type type) {
    if (type_at(op.operands[number]) == type) return "";
    return str("operand ", number, " of a tensor operation is no place of ", type);
}

std::string fault_of_step(const TensorOperation &t, const MachineOp &op) {
    if (!t.instruction.is_of_cpu())
        return str("a tensor operation ", step_names[size_t(t.step)], " of ", t.instruction.name,
                   ", which is no instruction of a CPU");
    const bool has_place = t.step != Step::Configure;
    const std::string fault = fault_of_number(op, after_extents + 1 + size_t(has_place));
    if (!fault.empty() || !has_place) return fault;
    return fault_of_place(op, after_extents + 1, t.instruction.operand("D").type);
}

std::string fault_of_product(const TensorOperation &t, const MachineOp &op) {
    const Instruction &row = t.instruction;
    if (!may_be(t, t.a, "A") || !may_be(t, t.b, "B"))
        return str("a tensor operation whose instructions ", row.name,
                   " do not find their operands in ", text_of(t.a), " and ", text_of(t.b));
    const size_t of_a = places_of(t, t.a, true), of_b = places_of(t, t.b, false),
                 first_of_a = TensorOperation::first_place + 1, wanted = first_of_a + of_a + of_b;
    if (const std::string fault = fault_of_number(op, wanted); !fault.empty()) return fault;
    for (size_t i = TensorOperation::first_place; i < wanted; i++) {
        const char *of = i < first_of_a ? "D" : i < first_of_a + of_a ? "A" : "B";
        const std::string fault = fault_of_place(op, i, row.operand(of).type);
        if (!fault.empty()) return fault;
    }
    return "";
}

}  // namespace

std::string fault_of(const MachineOp &op) {
    const auto t = without_places(op.operands);
    if (!t)
        return "a tensor operation has the name of an instruction, three extents and where its "
               "operands are before its places";
    if (const std::string fault = fault_of_size(*t); !fault.empty()) return fault;
    return t->step == Step::Multiply ? fault_of_product(*t, op) : fault_of_step(*t, op);
}

TensorOperation TensorOperation::of(const MachineOp &op) {
    if (const std::string fault = fault_of(op); !fault.empty()) throw InternalError(fault);
    TensorOperation t = *without_places(op.operands);
    if (t.step == Step::Configure) return t;
    const bool is_product = t.step == Step::Multiply;
    auto next = op.operands.begin() + ptrdiff_t(is_product ? first_place : after_extents + 1);
    t.accumulators = *next++;
    if (!is_product) return t;
    for (Operand *o : {&t.a, &t.b}) {
        size_t places = places_of(t, *o, o == &t.a);
        if (o->source == Source::HostRows) {
            o->row = *next++;
            o->next_row = *next++;
            places -= 2;
        }
        o->places.assign(next, next + ptrdiff_t(places));
        next += ptrdiff_t(places);
    }
    return t;
}

std::vector<Expr> TensorOperation::Operand::all_places() const {
    std::vector<Expr> all;
    if (source == Source::HostRows) all = {row, next_row};
    all.insert(all.end(), places.begin(), places.end());
    return all;
}

std::vector<Expr> TensorOperation::operands() const {
    std::vector<Expr> all = {StringImm::make(instruction.name), int32_t(rows), int32_t(columns),
                             int32_t(k)};
    if (step != Step::Multiply) {
        all.push_back(StringImm::make(step_names[size_t(step)]));
        if (step != Step::Configure) all.push_back(accumulators);
        return all;
    }
    all.insert(all.end(), {StringImm::make(text_of(a)), StringImm::make(text_of(b)), accumulators});
    for (const Operand *o : {&a, &b}) {
        const std::vector<Expr> places = o->all_places();
        all.insert(all.end(), places.begin(), places.end());
    }
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
