#include "lower/gpu/constants_of_lets.h"
#include "algebra/linear.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/gpu/kernel_loops.h"
#include <unordered_map>

namespace tessera::lower {
namespace {

using namespace ir;

// The names around what is visited.
struct Names {
    bool is_in_kernel = false;
    std::unordered_map<Symbol, Expr> values;  // of names that are gone
    // Holds the rests that have a name in what is around.
    std::unordered_map<Expr, Expr, ExprHash, ExprEqual> rests;
};

// Handles that share an expression get the same one again. That lasts for one scope of names: each
// has a mutator of its own.
class TakeConstants final : public Mutator {
public:
    explicit TakeConstants(Names &names) : names(names) {}

private:
    Stmt visit(const For &loop) override {
        const bool enters = is_over_blocks(loop) && !names.is_in_kernel;
        names.is_in_kernel |= enters;
        const Stmt s = Mutator::visit(loop);
        if (enters) names.is_in_kernel = false;
        return s;
    }
    Expr visit(const Variable &v) override {
        const auto found = names.values.find(v.name);
        return found == names.values.end() ? Expr(&v) : found->second;
    }
    Stmt visit(const LetStmt &let) override { return without_constant(let); }
    Expr visit(const Let &let) override { return without_constant(let); }

    template<typename T>
    auto without_constant(const T &let) -> decltype((*this)(let.body)) {
        const Expr value = (*this)(let.value);
        const Expr rest = without_constant(value);
        if (!rest.defined()) {
            return let.template with<&T::value, &T::body>(value, body_of(let, Expr()));
        }
        const Expr constant = algebra::simplify(value - rest);
        const auto named = names.rests.find(rest);
        if (named != names.rests.end()) return body_of(let, named->second + constant);
        if (rest.template as<Variable>()) return body_of(let, rest + constant);
        const Symbol name = Symbol::fresh(let.name.text());
        const Expr variable = Variable::make(Int(32), name);
        names.rests.emplace(rest, variable);
        const auto body = body_of(let, variable + constant);
        names.rests.erase(rest);
        return let.template with<&T::name, &T::value, &T::body>(name, rest, body);
    }
    // Undefined if it stays as it is.
    Expr without_constant(const Expr &value) const {
        if (!names.is_in_kernel || value.type() != Int(32)) return {};
        algebra::LinearForm form = algebra::linear_form(algebra::simplify(value));
        if (form.is_constant() || form.constant == 0) return {};
        form.constant = 0;
        return algebra::to_expr(form, Int(32));
    }
    // The body of a let, whose name stands for this value if there is one.
    template<typename T>
    auto body_of(const T &let, const Expr &value) -> decltype((*this)(let.body)) {
        const auto around = names.values.find(let.name);
        const Expr outside = around == names.values.end() ? Expr() : around->second;
        names.values.erase(let.name);
        if (value.defined()) names.values[let.name] = value;
        const bool is_new_scope = value.defined() || outside.defined();
        const auto body = is_new_scope ? TakeConstants(names)(let.body) : (*this)(let.body);
        names.values.erase(let.name);
        if (outside.defined()) names.values[let.name] = outside;
        return body;
    }

    Names &names;
};

}  // namespace

Stmt take_constants_out_of_lets(const Stmt &s, const Context &) {
    Names names;
    return TakeConstants(names)(s);
}

}  // namespace tessera::lower
