#include "ir/instruction.h"
#include "base/error.h"
#include "ir/cpu_instructions.h"
#include "ir/gpu_instructions.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include "ir/visitor.h"
#include <algorithm>
#include <map>
#include <mutex>

namespace tessera::ir {

namespace {

// Notes the extents of the loops of a meaning, and the coordinates of its operands.
class Meaning final : public Visitor {
public:
    explicit Meaning(const Stmt &meaning) { (*this)(meaning); }
    std::unordered_map<Symbol, std::vector<std::string>> uses;  // names of loops, by operand

    bool fits(const LayoutCoordinate &c) const {
        const auto loop = extents.find(c.name);
        return loop != extents.end() && loop->second == c.extent;
    }

private:
    void visit(const For &loop) override {
        extents[loop.name.text()] = as_const_int(loop.extent).value_or(0);
        Visitor::visit(loop);
    }
    void visit(const Provide &p) override {
        note(p.func, p.args);
        Visitor::visit(p);
    }
    void visit(const Call &c) override {
        note(c.callee, c.args);
        Visitor::visit(c);
    }
    void note(Symbol func, const std::vector<Expr> &args) {
        std::vector<std::string> names;
        for (const Expr &arg : args) {
            const auto *v = arg.as<Variable>();
            names.push_back(v ? v->name.text() : "");
        }
        uses[func] = names;
    }
    std::unordered_map<std::string, int64_t> extents;
};

}  // namespace

const InstructionOperand &Instruction::operand(std::string_view wanted) const {
    const auto found = std::ranges::find_if(
        operands, [&](const InstructionOperand &o) { return o.name.text() == wanted; });
    if (found == operands.end()) throw InternalError(str(name, " has no operand ", wanted));
    return *found;
}

int64_t Instruction::extent(std::string_view loop) const {
    for (const InstructionOperand &o : operands) {
        if (const LayoutCoordinate *c = o.layout.coordinate(loop)) return c->extent;
    }
    throw InternalError(str(name, " has no loop ", loop));
}

bool Instruction::is_on(const Target &target) const {
    if (arch)
        return target.arch == *arch && target.bits == 64 &&
               target.with_implied_features().features_any_of(features);
    return std::ranges::all_of(target.cuda_capabilities(), [&](int gpu) {
        return is_of_one_capability ? gpu == capability : gpu >= capability;
    });
}

namespace {

// Says how a row contradicts itself; empty if it does not.
std::string fault_of_row(const Instruction &instruction) {
    const Meaning meaning(instruction.meaning);
    for (const InstructionOperand &o : instruction.operands) {
        const auto fault = [&](const std::string &why) {
            return str("the instruction ", instruction.name, ": ", o.name, " ", why, ": ",
                       o.layout);
        };
        const auto used = meaning.uses.find(o.name);
        if (used == meaning.uses.end()) return fault("is not in its meaning");
        std::vector<std::string> names;
        for (const LayoutCoordinate &c : o.layout.coordinates) {
            names.push_back(c.name);
            if (!meaning.fits(c)) return fault(str("has another extent of ", c.name));
        }
        if (names != used->second) return fault("has other coordinates in its meaning");
        const std::vector<std::string> wanted =
            o.place == OperandPlace::Registers ? std::vector<std::string>{"thread", "register"}
            : o.place == OperandPlace::Memory  ? std::vector<std::string>{"element"}
                                               : std::vector<std::string>{"row", "element"};
        std::vector<std::string> outputs;
        for (const LayoutOutput &output : o.layout.outputs) outputs.push_back(output.name);
        if (outputs != wanted) return fault("has another kind of place");
        const bool is_by_threads =
            o.place == OperandPlace::Registers ||
            (o.place == OperandPlace::MemoryOfRows && instruction.threads > 1);
        if (is_by_threads && o.layout.outputs[0].extent() > instruction.threads)
            return fault(str("is of more than ", instruction.threads, " threads"));
        if (!is_injective(o.layout)) return fault("has two elements in one place");
    }
    return "";
}

}  // namespace

void verify(const Instruction &instruction) {
    const std::string fault = fault_of_row(instruction);
    if (!fault.empty()) throw InternalError(fault);
}

// ---- The table ----

namespace {

// The instructions that users add, by their names.
struct Added {
    std::mutex mutex;
    std::map<std::string, Instruction, std::less<>> rows;
    std::map<std::string, Instruction, std::less<>> found;  // by their names, of all
};
Added &added() {
    static Added all;
    return all;
}

std::vector<Instruction> rows_for(int64_t columns) {
    std::vector<Instruction> all;
    {
        Added &own = added();
        const std::lock_guard lock(own.mutex);
        for (const auto &[name, row] : own.rows) all.push_back(row);
    }
    for (Instruction &row : gpu_instructions(columns)) all.push_back(std::move(row));
    for (const Instruction &row : cpu_instructions()) all.push_back(row);
    return all;
}

// Returns the number behind `n` in the shape of a name such as wgmma.m64n128k16.f32.f16; 0 if there
// is none.
int64_t columns_in(std::string_view name) {
    const size_t at = name.find('n', name.find(".m"));
    int64_t columns = 0;
    for (size_t i = at + 1; at != name.npos && i < name.size() && isdigit(name[i]); i++)
        columns = columns * 10 + (name[i] - '0');
    return columns;
}

}  // namespace

std::optional<Instruction> find_instruction(std::string_view name) {
    Added &own = added();
    {
        const std::lock_guard lock(own.mutex);
        if (const auto known = own.found.find(name); known != own.found.end()) return known->second;
    }
    if (auto copy = find_copy(name)) return copy;
    for (Instruction &row : rows_for(columns_in(name))) {
        if (row.name != name) continue;
        const std::lock_guard lock(own.mutex);
        return own.found.insert_or_assign(row.name, std::move(row)).first->second;
    }
    return std::nullopt;
}

std::vector<Instruction> instructions_named(std::string_view name, int64_t columns) {
    std::vector<Instruction> found;
    const int64_t named = columns_in(name);
    for (Instruction &row : rows_for(named > 0 ? named : columns)) {
        if ((name == "any" && !row.rounds_operands) || row.is_called(name))
            found.push_back(std::move(row));
    }
    return found;
}

bool is_name_of_cpu(std::string_view name, const Target &target) {
    if (name == "any") return !target.has_gpu_feature();
    const auto is_one = [&](const Instruction &row) {
        return row.is_of_cpu() && row.is_called(name);
    };
    if (std::ranges::any_of(cpu_instructions(), is_one)) return true;
    Added &own = added();
    const std::lock_guard lock(own.mutex);
    return std::ranges::any_of(own.rows, [&](const auto &row) { return is_one(row.second); });
}

namespace {

// Sums of a user's instruction of a CPU are in one vector register.
void check_own_of_cpu(const Instruction &row) {
    const InstructionOperand &sums = row.operand("D");
    const int64_t bytes = sums.layout.size() * sums.type.bytes();
    if (!row.assembly.empty() && !row.is_of_tiles && (bytes == 16 || bytes == 32 || bytes == 64))
        return;
    throw CompileError(str("the instruction ", row.name,
                           " of a CPU has to have a line of assembly, and sums that fill a vector "
                           "register of 16, 32 or 64 bytes; it has ",
                           bytes));
}

}  // namespace

void register_instruction(const Instruction &instruction) {
    if (instruction.is_of_cpu()) check_own_of_cpu(instruction);
    const std::string fault = fault_of_row(instruction);
    if (!fault.empty()) throw CompileError(fault);
    Added &own = added();
    const std::lock_guard lock(own.mutex);
    own.rows.insert_or_assign(instruction.name, instruction);
    own.found.erase(instruction.name);
}

std::vector<std::string> instruction_names() {
    std::vector<std::string> names;
    for (const Instruction &row : rows_for(8)) {
        const std::string &name = row.family.empty() ? row.name : row.family;
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace tessera::ir
