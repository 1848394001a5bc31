#include "ir/instruction.h"
#include "base/error.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::ir {

namespace {

Symbol symbol(std::string_view name) { return Symbol::interned(name); }

Stmt loops_over(const std::vector<LayoutCoordinate> &loops, Stmt body) {
    for (size_t i = loops.size(); i-- > 0;)
        body = For::make(symbol(loops[i].name), 0, int32_t(loops[i].extent), LoopKind::Serial,
                         Partition::Never, body);
    return body;
}

Expr element(const InstructionOperand &operand) {
    std::vector<Expr> at;
    for (const LayoutCoordinate &c : operand.layout.coordinates)
        at.push_back(int32_variable(symbol(c.name)));
    return Call::make(operand.type, operand.name, CallKind::Func, 0, at);
}

Stmt assign(const InstructionOperand &operand, const Expr &value) {
    return Provide::make(operand.name, {value}, element(operand).as<Call>()->args);
}

// D(i, j) += A(i, k) * B(k, j), over these extents.
Stmt product(const std::vector<InstructionOperand> &operands, int64_t i, int64_t j, int64_t k) {
    const Type sum = operands[0].type;
    const Expr products = cast(sum, element(operands[1])) * cast(sum, element(operands[2]));
    return loops_over({{"i", i}, {"j", j}, {"k", k}},
                      assign(operands[0], element(operands[0]) + products));
}

InstructionOperand in_registers(const char *name, Type type, const std::string &layout) {
    return {symbol(name), type, OperandPlace::Registers, parse_layout(layout)};
}

InstructionOperand in_panels(const char *name, Type type, const char *own, int64_t extent,
                             const WgmmaOperand &lies) {
    constexpr int64_t of_panel = 64, k_extent = 16;
    Layout layout = parse_layout(
        str(own, ":", extent, " k:", k_extent, " -> element(",
            lies.is_along_k ? str(own, "*", of_panel, " + k)") : str("k*", of_panel, ")")));
    if (!lies.is_along_k) {
        const int64_t within = std::min(extent, of_panel);
        std::vector<LayoutDigit> &digits = layout.outputs[0].digits;
        digits.push_back({0, 1, within, 1});
        if (extent > within) digits.push_back({0, of_panel, extent / of_panel, lies.panel});
    }
    return {symbol(name), type, OperandPlace::Memory, layout};
}

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

void verify(const Instruction &instruction) {
    const Meaning meaning(instruction.meaning);
    for (const InstructionOperand &o : instruction.operands) {
        const auto refuse = [&](const std::string &why) {
            throw InternalError(
                str("the instruction ", instruction.name, ": ", o.name, " ", why, ": ", o.layout));
        };
        const auto used = meaning.uses.find(o.name);
        if (used == meaning.uses.end()) refuse("is not in its meaning");
        std::vector<std::string> names;
        for (const LayoutCoordinate &c : o.layout.coordinates) {
            names.push_back(c.name);
            if (!meaning.fits(c)) refuse(str("has another extent of ", c.name));
        }
        if (names != used->second) refuse("has other coordinates in its meaning");
        const std::vector<std::string> wanted =
            o.place == OperandPlace::Registers ? std::vector<std::string>{"thread", "register"}
            : o.place == OperandPlace::Memory  ? std::vector<std::string>{"element"}
                                               : std::vector<std::string>{"row", "element"};
        std::vector<std::string> outputs;
        for (const LayoutOutput &output : o.layout.outputs) outputs.push_back(output.name);
        if (outputs != wanted) refuse("has another kind of place");
        const bool is_by_threads =
            o.place == OperandPlace::Registers ||
            (o.place == OperandPlace::MemoryOfRows && instruction.threads > 1);
        if (is_by_threads && o.layout.outputs[0].extent() > instruction.threads)
            refuse(str("is of more than ", instruction.threads, " threads"));
        if (!is_injective(o.layout)) refuse("has two elements in one place");
    }
}

Instruction mma_m16n8k16(Type element) {
    Instruction made{
        .name = str("mma.m16n8k16.float32.", element),
        .threads = 32,
        .operands = {
            in_registers("D", Float(32), "i:16 j:8 -> thread(i%8*4 + j/2) register(i/8*2 + j%2)"),
            in_registers("A", element,
                         "i:16 k:16 -> thread(i%8*4 + k/2%4) register(k/8*4 + i/8*2 + k%2)"),
            in_registers("B", element, "k:16 j:8 -> thread(j*4 + k/2%4) register(k/8*2 + k%2)")}};
    made.meaning = product(made.operands, 16, 8, 16);
    return made;
}

Instruction ldmatrix_x4(Type element, bool transposed) {
    const char *const lies = transposed ? "m:4 r:8 c:8 -> thread(c*4 + r/2) register(m*2 + r%2)"
                                        : "m:4 r:8 c:8 -> thread(r*4 + c/2) register(m*2 + c%2)";
    Instruction made{.name = str("ldmatrix.x4", transposed ? ".trans." : ".", element),
                     .threads = 32,
                     .operands = {in_registers("F", element, lies),
                                  {symbol("M"), element, OperandPlace::MemoryOfRows,
                                   parse_layout("m:4 r:8 c:8 -> row(m*8 + r) element(c)")}}};
    made.meaning = loops_over({{"m", 4}, {"r", 8}, {"c", 8}},
                              assign(made.operands[0], ir::element(made.operands[1])));
    return made;
}

Instruction wgmma_m64k16(Type element, int64_t columns, WgmmaOperand a, WgmmaOperand b) {
    InstructionOperand of_b = in_panels("B", element, "j", columns, b);
    // B is read as B(k, j).
    of_b.layout = compose(of_b.layout, parse_layout(str("k:16 j:", columns, " -> j(j) k(k)")));
    Instruction made{
        .name = str("wgmma.m64n", columns, "k16.float32.", element),
        .threads = 128,
        .operands = {in_registers("D", Float(32),
                                  str("i:64 j:", columns,
                                      " -> thread(i/16*32 + i%8*4 + j/2%4) register(j/8*4 + "
                                      "i/8%2*2 + j%2)")),
                     in_panels("A", element, "i", 64, a), of_b}};
    made.meaning = product(made.operands, 64, columns, 16);
    return made;
}

}  // namespace tessera::ir
