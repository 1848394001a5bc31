#include "program/distinct_places.h"
#include "algebra/linear.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

namespace tessera::program {
namespace {

struct Range {
    int64_t min = 0, extent = 0;
};

// coefficient * variable, of an argument that is linear in it.
struct Term {
    Symbol variable;
    int64_t coefficient = 0;
};

class Places {
public:
    Places(const std::vector<Expr> &args, const std::vector<Symbol> &variables,
           std::span<const ReductionVariable> domain)
        : args(args), unknown(variables), domain(domain) {}

    bool are_apart() {
        bool is_progress = true;
        while (is_progress && !unknown.empty()) {
            is_progress = false;
            for (const Expr &arg : args) is_progress |= tells(arg);
        }
        return unknown.empty() || are_apart_one_by_one();
    }

private:
    bool is_unknown(Symbol s) const { return std::ranges::count(unknown, s) != 0; }
    bool uses_unknown(const Expr &e) const {
        return std::ranges::any_of(unknown, [&](Symbol s) { return ir::uses_symbol(e, s); });
    }

    std::optional<Range> range_of(Symbol variable) const {
        const auto found = std::ranges::find(domain, variable, &ReductionVariable::var);
        if (found == domain.end()) return std::nullopt;
        const auto min = ir::as_const_int(algebra::simplify(found->min));
        const auto extent = ir::as_const_int(algebra::simplify(found->extent));
        if (!min || !extent) return std::nullopt;
        return Range{*min, *extent};
    }

    // Returns the terms of the unknown variables, those of the smallest coefficients first; nothing
    // if the argument may not be linear in these.
    std::optional<std::vector<Term>> terms_of(const Expr &arg) const {
        std::vector<Term> terms;
        for (const algebra::LinearTerm &t : algebra::linear_form(arg).terms) {
            const auto *v = t.atom.as<ir::Variable>();
            if (v && is_unknown(v->name))
                terms.push_back({v->name, t.coefficient});
            else if (uses_unknown(t.atom))
                return std::nullopt;
        }
        std::ranges::sort(terms, {}, [](const Term &t) { return std::abs(t.coefficient); });
        return terms;
    }

    // If the variables are the digits of the argument, of mixed radix, they are known from it.
    bool tells(const Expr &arg) {
        const auto terms = terms_of(arg);
        if (!terms || terms->empty()) return false;
        int64_t below = 0;  // the largest distance that the smaller digits make
        for (const Term &t : *terms) {
            if (std::abs(t.coefficient) <= below) return false;
            const auto range = range_of(t.variable);
            const bool is_last = &t == &terms->back();
            if (!range && !is_last) return false;
            if (!is_last)
                below += std::abs(t.coefficient) * std::max<int64_t>(range->extent - 1, 0);
        }
        for (const Term &t : *terms) std::erase(unknown, t.variable);
        return true;
    }

    // Looks at all points of small domains. Arguments in which other variables are mixed with those
    // tell nothing.
    bool are_apart_one_by_one() const {
        constexpr int64_t most_points = 4096;
        std::vector<Range> ranges;
        int64_t points = 1;
        for (Symbol s : unknown) {
            const auto range = range_of(s);
            if (!range) return false;
            ranges.push_back(*range);
            points *= std::max<int64_t>(range->extent, 0);
            if (points > most_points) return false;
        }
        const std::vector<Expr> own = arguments_of_their_own();
        std::set<std::vector<int64_t>> places;
        for (int64_t point = 0; point < points; point++) {
            ir::Substitution at;
            int64_t rest = point;
            for (size_t i = 0; i < unknown.size(); i++) {
                at[unknown[i]] = int32_t(ranges[i].min + rest % ranges[i].extent);
                rest /= ranges[i].extent;
            }
            std::vector<int64_t> place;
            for (const Expr &arg : own) {
                const Expr value = algebra::simplify(ir::substitute(at, arg));
                const auto number = ir::as_const_int(value);
                if (!number) return false;
                place.push_back(*number);
            }
            if (!places.insert(place).second) return false;
        }
        return true;
    }

    // The parts of the arguments that depend on the unknown variables only.
    std::vector<Expr> arguments_of_their_own() const {
        std::vector<Expr> own;
        for (const Expr &arg : args) {
            Expr sum = 0;
            bool is_own = true;
            for (const algebra::LinearTerm &t : algebra::linear_form(arg).terms) {
                if (!uses_unknown(t.atom)) continue;
                ir::for_each_node(t.atom,
                                  [&](const ir::Variable &v) { is_own &= is_unknown(v.name); });
                ir::for_each_node(t.atom, [&](const ir::Call &) { is_own = false; });
                sum = sum + t.atom * int32_t(t.coefficient);
            }
            if (is_own) own.push_back(sum);
        }
        return own;
    }

    const std::vector<Expr> &args;
    std::vector<Symbol> unknown;
    std::span<const ReductionVariable> domain;
};

}  // namespace

bool are_apart(const std::vector<Expr> &args, const std::vector<Symbol> &variables,
               std::span<const ReductionVariable> domain) {
    return Places(args, variables, domain).are_apart();
}

}  // namespace tessera::program
