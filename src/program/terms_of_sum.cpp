#include "program/terms_of_sum.h"
#include "ir/equal.h"
#include "ir/operators.h"

namespace tessera::program {
namespace {

Expr both(const Expr &a, const Expr &b) {
    return !a.defined() ? b : !b.defined() ? a : ir::And::make(a, b);
}

class FindTerms {
public:
    explicit FindTerms(const Expr &written) : written(written) {}

    void add(const Expr &e, bool is_negative, const Expr &condition) {
        if (ir::is_zero(e)) return;
        if (ir::equal(e, written)) return note_written(is_negative, condition);
        if (const auto *sum = e.as<ir::Add>()) {
            add(sum->a, is_negative, condition);
            return add(sum->b, is_negative, condition);
        }
        if (const auto *difference = e.as<ir::Sub>()) {
            add(difference->a, is_negative, condition);
            return add(difference->b, !is_negative, condition);
        }
        if (const auto *choice = e.as<ir::Select>(); choice && choice->condition.type().is_bool()) {
            add(choice->true_value, is_negative, both(condition, choice->condition));
            return add(choice->false_value, is_negative,
                       both(condition, ir::Not::make(choice->condition)));
        }
        if (const auto *product = e.as<ir::Mul>())
            return add_product(*product, is_negative, condition);
        terms.push_back({e, is_negative, condition});
    }
    std::vector<SumTerm> terms;
    int times_written = 0;
    bool is_other = false;

private:
    // The element itself is there once, as it is.
    void note_written(bool is_negative, const Expr &condition) {
        times_written++;
        is_other |= is_negative || condition.defined();
    }
    // A product of a value that is zero under a condition is itself, and one of -1 is negative.
    void add_product(const ir::Mul &product, bool is_negative, const Expr &condition) {
        for (const bool is_first : {true, false}) {
            const Expr &factor = is_first ? product.a : product.b,
                       &other = is_first ? product.b : product.a;
            if (ir::is_const(factor, -1)) return add(other, !is_negative, condition);
            const auto *choice = factor.as<ir::Select>();
            if (!choice || !choice->condition.type().is_bool()) continue;
            const bool is_zero_else = ir::is_zero(choice->false_value);
            if (!is_zero_else && !ir::is_zero(choice->true_value)) continue;
            const Expr when = is_zero_else ? choice->condition : ir::Not::make(choice->condition),
                       value = is_zero_else ? choice->true_value : choice->false_value;
            return add(is_first ? ir::Mul::make(value, other) : ir::Mul::make(other, value),
                       is_negative, both(condition, when));
        }
        terms.push_back({Expr(&product), is_negative, condition});
    }
    const Expr &written;
};

// A value that is the element itself if a condition does not hold.
struct Guarded {
    Expr value, condition;
};
Guarded without_guard(const Expr &written, const Expr &value) {
    const auto *choice = value.as<ir::Select>();
    if (!choice || !choice->condition.type().is_bool()) return {value, Expr()};
    if (ir::equal(choice->false_value, written)) return {choice->true_value, choice->condition};
    if (ir::equal(choice->true_value, written))
        return {choice->false_value, ir::Not::make(choice->condition)};
    return {value, Expr()};
}

}  // namespace

std::optional<std::vector<SumTerm>> terms_of_sum(const Expr &written, const Expr &value) {
    const Guarded guarded = without_guard(written, value);
    FindTerms found(written);
    found.add(guarded.value, false, Expr());
    if (found.times_written != 1 || found.is_other || found.terms.empty()) return std::nullopt;
    for (SumTerm &term : found.terms) term.condition = both(guarded.condition, term.condition);
    return std::move(found.terms);
}

Expr sum_of(const Expr &written, const SumTerm &term) {
    return term.is_negative ? ir::Sub::make(written, term.value)
                            : ir::Add::make(written, term.value);
}

}  // namespace tessera::program
