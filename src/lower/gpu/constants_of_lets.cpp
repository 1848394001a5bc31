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

class TakeConstants final : public Mutator {
public:
    TakeConstants() : Mutator(Mutator::Visits::PerUse) {}

private:
    Stmt visit(const For &loop) override {
        const bool enters = is_over_blocks(loop) && !is_in_kernel;
        is_in_kernel |= enters;
        const Stmt s = Mutator::visit(loop);
        if (enters) is_in_kernel = false;
        return s;
    }
    Expr visit(const Variable &v) override {
        const auto found = values.find(v.name);
        return found == values.end() ? Expr(&v) : found->second;
    }
    Stmt visit(const LetStmt &let) override { return without_constant(let); }
    Expr visit(const Let &let) override { return without_constant(let); }

    template<typename T>
    auto without_constant(const T &let) -> decltype((*this)(let.body)) {
        const Expr value = (*this)(let.value);
        const auto with = [&](const Expr &v) {
            return let.template with<&T::value, &T::body>(v, (*this)(let.body));
        };
        if (!is_in_kernel || value.type() != Int(32)) return with(value);
        algebra::LinearForm form = algebra::linear_form(algebra::simplify(value));
        if (form.is_constant() || form.constant == 0) return with(value);
        const Expr constant = make_const(Int(32), form.constant);
        form.constant = 0;
        const Expr rest = algebra::to_expr(form, Int(32));
        if (!rest.defined()) return with(value);
        // What has a name already gets no other.
        const auto named = names.find(rest);
        const bool is_new = named == names.end() && !rest.template as<Variable>();
        const Symbol name = is_new ? Symbol::fresh(let.name.text()) : Symbol();
        const Expr known = named == names.end() ? rest : named->second;
        const Expr variable = is_new ? Variable::make(Int(32), name) : known;
        const auto around = values.find(let.name);
        const Expr outside = around == values.end() ? Expr() : around->second;
        values[let.name] = variable + constant;
        if (is_new) names.emplace(rest, variable);
        auto body = (*this)(let.body);
        if (is_new) names.erase(rest);
        values.erase(let.name);
        if (outside.defined()) values[let.name] = outside;
        if (!is_new) return body;
        return let.template with<&T::name, &T::value, &T::body>(name, rest, body);
    }

    bool is_in_kernel = false;
    std::unordered_map<Symbol, Expr> values;  // of names that are gone
    // Of what is around: the rests that have a name.
    std::unordered_map<Expr, Expr, ExprHash, ExprEqual> names;
};

}  // namespace

Stmt take_constants_out_of_lets(const Stmt &s, const Context &) { return TakeConstants()(s); }

}  // namespace tessera::lower
