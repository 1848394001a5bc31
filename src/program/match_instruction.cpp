#include "program/match_instruction.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/unify.h"
#include "ir/visitor.h"
#include "program/scatter.h"
#include "program/terms_of_sum.h"
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

// ---- Why instructions do not compute a value ----

void add_factors(const Expr &e, std::vector<Expr> &factors) {
    if (const auto *product = e.as<ir::Mul>()) {
        add_factors(product->a, factors);
        add_factors(product->b, factors);
    } else {
        factors.push_back(e);
    }
}

Expr product_of(std::span<const Expr> factors) {
    Expr product = factors[0];
    for (const Expr &factor : factors.subspan(1)) product = ir::Mul::make(product, factor);
    return product;
}

// "float32 += float16 * float16 or ..."
std::string types_of_products(std::span<const Instruction> instructions) {
    std::vector<std::string> all;
    for (const Instruction &i : instructions) {
        if (i.operands.size() != 3) continue;
        const std::string types =
            str(i.operands[0].type, " += ", i.operands[1].type, " * ", i.operands[2].type);
        if (std::ranges::find(all, types) == all.end()) all.push_back(types);
    }
    std::string text;
    for (size_t i = 0; i < all.size(); i++)
        text += str(i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", all[i]);
    return text;
}

class ExplainTerm {
public:
    ExplainTerm(std::span<const Instruction> instructions, const Expr &written)
        : instructions(instructions), written(written) {}

    std::string operator()(const SumTerm &term) const {
        std::vector<Expr> factors;
        add_factors(term.value, factors);
        if (factors.size() == 1) return of_one_factor(term.value);
        if (term.is_negative && fits(ir::Add::make(written, term.value)))
            return of_difference(term);
        const std::string scale = of_scale(factors);
        if (!scale.empty()) return scale;
        for (const Expr &factor : factors) {
            const std::string fault = of_factor(factor);
            if (!fault.empty()) return fault;
        }
        return str("its term ", ir::brief(term.value),
                   " is no product of two factors that they multiply");
    }
    bool fits(const Expr &value) const {
        return std::ranges::any_of(instructions, [&](const Instruction &i) {
            return !match_value(i, written, value).empty();
        });
    }

private:
    std::string of_one_factor(const Expr &e) const {
        const auto *cast = e.as<ir::Cast>();
        const auto *product = cast ? cast->value.as<ir::Mul>() : nullptr;
        if (product) {
            const Type type = e.type();
            return str("its term ", ir::brief(e), " is multiplied in ", product->a.type(),
                       ", and the product is cast; cast the factors: ",
                       ir::cast(type, product->a) * ir::cast(type, product->b));
        }
        return str("its term ", ir::brief(e), " is no product; make it part of the first value of ",
                   name(), ", or of what is computed of ", name());
    }
    std::string of_difference(const SumTerm &term) const {
        return str("it takes away ", ir::brief(term.value),
                   ", and they add only; multiply a Func of the negative of one factor, n(...) = "
                   "-a(...)",
                   term.value.type().is_float() ? "" : " (of signed numbers, max(a, -127) of int8)",
                   ", or sum the products in a Func of their own, and take that away from ",
                   name());
    }
    // The term is a product that an instruction computes, times something.
    std::string of_scale(const std::vector<Expr> &factors) const {
        if (factors.size() < 3) return "";
        for (size_t i = 0; i < factors.size(); i++) {
            std::vector<Expr> others = factors;
            others.erase(others.begin() + std::ptrdiff_t(i));
            if (!fits(ir::Add::make(written, product_of(others)))) continue;
            const auto *operand = others[0].as<ir::Cast>();
            const std::string of_factor =
                operand
                    ? str(", or one factor, as ",
                          ir::cast(factors[i].type(),
                                   ir::cast(operand->value.type(), factors[i]) * operand->value),
                          " in the place of ", others[0], ", which is of ", operand->value.type(),
                          " first")
                    : std::string();
            return str("its products are multiplied by ", factors[i],
                       " as well, and they have two factors; multiply the sum instead, where ",
                       name(), " is used", of_factor);
        }
        return "";
    }
    // Says what is wrong with the type of a factor, or with that of what is cast to it.
    std::string of_factor(const Expr &factor) const {
        const auto *cast = factor.as<ir::Cast>();
        const Type type = cast ? cast->value.type() : factor.type();
        std::vector<std::string> wanted;
        for (const Instruction &i : instructions) {
            if (i.operands[0].type != written.type()) continue;
            for (size_t n = 1; n < i.operands.size(); n++) {
                if (i.operands[n].type == type) return "";
                const std::string one = str(i.operands[n].type);
                if (std::ranges::count(wanted, one) == 0) wanted.push_back(one);
            }
        }
        if (wanted.empty()) return "";
        return str("its factor ", ir::brief(factor), " is of ", type, ", and they multiply ",
                   join(wanted, " or "),
                   "; cast it to one of these in a Func of its own, and then to ", written.type());
    }
    std::string name() const {
        const auto *c = written.as<ir::Call>();
        return c ? c->callee.text() : str(written);
    }

    std::span<const Instruction> instructions;
    const Expr &written;
};

}  // namespace

Expr value_of_match(const Instruction &instruction, const InstructionMatch &match) {
    const auto make = [&](Symbol operand, Type) {
        const auto &all = instruction.operands;
        const auto found = std::ranges::find(all, operand, &InstructionOperand::name);
        return match.operands[size_t(found - all.begin())];
    };
    return PutOperands(make, false)(statement_of(instruction).values[0]);
}

std::string fault_of_value(std::span<const Instruction> instructions, const Expr &written,
                           const Expr &value) {
    const std::string types = str("they compute ", types_of_products(instructions));
    const bool has_sum = std::ranges::any_of(
        instructions, [&](const Instruction &i) { return i.operands[0].type == written.type(); });
    const auto *c = written.as<ir::Call>();
    const std::string name = c ? c->callee.text() : str(written);
    if (!has_sum) return str(name, " is of ", written.type(), "; ", types);
    const auto terms = terms_of_sum(written, value);
    if (!terms)
        return str("it is not ", name, " and what is added to it, as ", name, " += a * b is; ",
                   types);
    const ExplainTerm explain(instructions, written);
    for (const SumTerm &term : *terms) {
        for (const Expr &part : {term.condition, term.value}) {
            if (part.defined() && c && ir::uses_symbol(part, c->callee))
                return str(part.same_as(term.value) ? "its term " : "its condition ",
                           ir::brief(part), " depends on ", name,
                           " so far, and they add many products at a time");
        }
        if (!explain.fits(sum_of(written, term))) return str(explain(term), "; ", types);
    }
    return types;
}

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

std::vector<TermMatches> match_terms(const FunctionContents &f, const Definition &d,
                                     const Instruction &instruction) {
    auto whole = match_instruction(f, d, instruction);
    if (!whole.empty()) return {{Expr(), std::move(whole)}};
    if (!obstacle(f, d).empty()) return {};
    const Expr written = own_element(f, d).element;
    auto terms = terms_of_sum(written, d.values[0]);
    if (!terms) return {};
    std::vector<TermMatches> all;
    for (SumTerm &term : *terms) {
        auto matches = match_value(instruction, written, sum_of(written, term));
        if (matches.empty() && term.is_negative && written.type().is_float()) {
            term.is_negative = false;
            matches = match_value(instruction, written, sum_of(written, term));
        }
        if (matches.empty()) return {};
        all.push_back({term.condition, std::move(matches)});
    }
    return all;
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
               ", and the definition of ", f.name, " is ", ir::to_string(d.values[0]), ": ",
               fault_of_value({&instruction, 1}, own_element(f, d).element, d.values[0]));
}

}  // namespace tessera::program
