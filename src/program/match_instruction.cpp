#include "program/match_instruction.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/unify.h"
#include "ir/visitor.h"
#include "program/scatter.h"
#include <algorithm>
#include <functional>
#include <numeric>

namespace tessera::program {
namespace {

using ir::Instruction;
using ir::InstructionOperand;

const ir::Provide &statement_of(const Instruction &instruction) {
    ir::Stmt s = instruction.meaning;
    while (const auto *loop = s.as<ir::For>()) s = loop->body;
    const auto *provide = s.as<ir::Provide>();
    if (!provide) throw InternalError(str(instruction.name, " means more than one statement"));
    return *provide;
}

// Puts expressions in the place of the operands of a meaning: with their casts, if asked.
class PutOperands final : public ir::Mutator {
public:
    using Make = std::function<Expr(Symbol operand, Type type)>;
    PutOperands(Make make, bool with_casts) : make(std::move(make)), with_casts(with_casts) {}

private:
    using Mutator::visit;
    Expr visit(const ir::Call &c) override { return make(c.callee, c.type); }
    Expr visit(const ir::Cast &c) override {
        const auto *call = c.value.as<ir::Call>();
        return with_casts && call ? make(call->callee, c.type) : Mutator::visit(c);
    }
    Make make;
    const bool with_casts;
};

// The element that a definition writes, and if it reads that, or others of its function.
struct OwnElement {
    Expr element;
    bool reads_others = false;
};

OwnElement own_element(const FunctionContents &f, const Definition &d) {
    OwnElement own;
    const auto look_at = [&](const ir::Call &c) {
        if (c.call_kind != CallKind::Func || c.callee != f.name) return;
        bool is_same = true;
        for (size_t i = 0; i < c.args.size(); i++) is_same &= ir::equal(c.args[i], d.args[i]);
        if (is_same)
            own.element = Expr(&c);
        else
            own.reads_others = true;
    };
    ir::for_each_node(d.values[0], look_at);
    const auto reads_itself = [&](const ir::Call &c) { own.reads_others |= c.callee == f.name; };
    for (const Expr &arg : d.args) ir::for_each_node(arg, reads_itself);
    if (!own.element.defined()) own.element = call_of_relative(f, d.args);
    return own;
}

// The meaning of an instruction as a pattern, with a hole for each operand that is read.
class Pattern {
public:
    Pattern(const Instruction &instruction, const Expr &written)
        : instruction(instruction), written(written) {
        for (const InstructionOperand &o : instruction.operands)
            holes.push_back(Symbol::fresh(str(o.name)));
    }

    // `order` says which operand's hole is in the place of which operand.
    std::optional<InstructionMatch> match(const std::vector<size_t> &order,
                                          const Expr &value) const {
        const auto found = ir::unify(with_holes(order, false), value, holes);
        if (!found) return std::nullopt;
        InstructionMatch match{{written}};
        for (size_t i = 1; i < holes.size(); i++) match.operands.push_back(found->at(holes[i]));
        // With the operands exchanged, the meaning may be another: a difference.
        const Expr meant = ir::substitute(*found, with_holes(in_order(), false));
        if (!ir::unify(meant, value, {})) return std::nullopt;
        return match;
    }
    // The same with an operand and its cast as one hole: whatever the types of operands are.
    std::optional<InstructionMatch> match_of_any_types(const Expr &value) const {
        const auto found = ir::unify(with_holes(in_order(), true), value, holes);
        if (!found) return std::nullopt;
        InstructionMatch match{{written}};
        for (size_t i = 1; i < holes.size(); i++) match.operands.push_back(found->at(holes[i]));
        return match;
    }

    std::vector<size_t> in_order() const {
        std::vector<size_t> order(instruction.operands.size());
        std::iota(order.begin(), order.end(), 0);
        return order;
    }

private:
    Expr with_holes(const std::vector<size_t> &order, bool with_casts) const {
        const auto make = [&](Symbol operand, Type type) -> Expr {
            const auto &all = instruction.operands;
            const size_t i =
                size_t(std::ranges::find(all, operand, &InstructionOperand::name) - all.begin());
            return i == 0 ? written : ir::Variable::make(type, holes[order[i]]);
        };
        return PutOperands(make, with_casts)(statement_of(instruction).values[0]);
    }

    const Instruction &instruction;
    Expr written;
    std::vector<Symbol> holes;
};

bool keeps_types(const Instruction &instruction, const std::vector<size_t> &order) {
    for (size_t i = 0; i < order.size(); i++) {
        if (instruction.operands[i].type != instruction.operands[order[i]].type) return false;
    }
    return true;
}

bool is_same(const InstructionMatch &a, const InstructionMatch &b) {
    return std::ranges::equal(a.operands, b.operands,
                              [](const Expr &x, const Expr &y) { return ir::equal(x, y); });
}

// Says what keeps a definition from being matched with any instruction; empty if nothing does.
std::string obstacle(const FunctionContents &f, const Definition &d) {
    if (d.values.size() != 1) return str(f.name, " is a Tuple, and an instruction has one result");
    if (count_of_elements(d.args, d.values) > 1)
        return str("the definition of ", f.name, " writes several elements at a time");
    if (own_element(f, d).reads_others)
        return str("the definition of ", f.name, " reads other elements of ", f.name,
                   " than the one that it writes");
    return "";
}

// The name of what is read there, or else the expression.
std::string described(const Expr &e) {
    std::string name;
    ir::for_each_node(e, [&](const ir::Call &c) { name = c.callee.text(); });
    return name.empty() ? ir::to_string(e) : name;
}

std::string fault_of_types(const Instruction &instruction, const InstructionMatch &match) {
    for (size_t i = 1; i < match.operands.size(); i++) {
        const InstructionOperand &wanted = instruction.operands[i];
        const auto *cast = match.operands[i].as<ir::Cast>();
        const Expr &there = cast ? cast->value : match.operands[i];
        if (there.type() == wanted.type) continue;
        return str(wanted.name, " of ", instruction.name, " is of ", wanted.type, ", and ",
                   described(there), " of ", there.type(), "; cast that to ", wanted.type,
                   " in a Func of its own, or take an instruction for ", there.type());
    }
    return "";
}

}  // namespace

std::vector<InstructionLoop> loops_of(const Instruction &instruction) {
    const ir::Provide &p = statement_of(instruction);
    std::vector<InstructionLoop> loops;
    for (ir::Stmt s = instruction.meaning; s.as<ir::For>(); s = s.as<ir::For>()->body) {
        InstructionLoop loop{s.as<ir::For>()->name, {}};
        for (const InstructionOperand &o : instruction.operands) {
            bool is_used = false;
            const auto look_at = [&](const std::vector<Expr> &args) {
                for (const Expr &arg : args) is_used |= ir::uses_symbol(arg, loop.name);
            };
            if (o.name == p.func) look_at(p.args);
            ir::for_each_node(p.values[0], [&](const ir::Call &c) {
                if (c.callee == o.name) look_at(c.args);
            });
            loop.is_of_operand.push_back(is_used);
        }
        loops.push_back(std::move(loop));
    }
    return loops;
}

std::vector<InstructionMatch> match_instruction(const FunctionContents &f, const Definition &d,
                                                const Instruction &instruction) {
    if (!obstacle(f, d).empty()) return {};
    return match_value(instruction, own_element(f, d).element, d.values[0]);
}

std::vector<InstructionMatch> match_value(const Instruction &instruction, const Expr &written,
                                          const Expr &value) {
    if (value.type() != instruction.operands[0].type) return {};
    const Pattern pattern(instruction, written);
    std::vector<InstructionMatch> matches;
    std::vector<size_t> order = pattern.in_order();
    do {
        if (!keeps_types(instruction, order)) continue;
        auto match = pattern.match(order, value);
        if (!match) continue;
        const bool is_new = std::ranges::none_of(
            matches, [&](const InstructionMatch &m) { return is_same(m, *match); });
        if (is_new) matches.push_back(std::move(*match));
    } while (std::next_permutation(order.begin() + 1, order.end()));
    return matches;
}

std::string fault_of_match(const FunctionContents &f, const Definition &d,
                           const Instruction &instruction) {
    std::string fault = obstacle(f, d);
    if (!fault.empty()) return fault;
    const InstructionOperand &written = instruction.operands[0];
    const Type type = d.values[0].type();
    if (type != written.type) {
        return str(written.name, " of ", instruction.name, " is of ", written.type, ", and ",
                   f.name, " of ", type, "; define it with ", written.type,
                   ", or take an instruction for ", type);
    }
    const Pattern pattern(instruction, own_element(f, d).element);
    if (const auto match = pattern.match_of_any_types(d.values[0])) {
        fault = fault_of_types(instruction, *match);
        if (!fault.empty()) return fault;
    }
    return str(instruction.name, " computes ", ir::to_string(statement_of(instruction).values[0]),
               ", and the definition of ", f.name, " is ", ir::to_string(d.values[0]));
}

}  // namespace tessera::program
