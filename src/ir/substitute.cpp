#include "ir/substitute.h"
#include "ir/mutator.h"

namespace tessera::ir {
namespace {

class Substitute final : public Mutator {
public:
    explicit Substitute(const Substitution &values) : values(values) {}

private:
    Expr visit(const Variable &v) override {
        auto found = values.find(v.name);
        return found == values.end() ? Expr(&v) : found->second;
    }
    const Substitution &values;
};

}  // namespace

Expr substitute(const Substitution &values, const Expr &e) {
    return values.empty() ? e : Substitute(values)(e);
}
Stmt substitute(const Substitution &values, const Stmt &s) {
    return values.empty() ? s : Substitute(values)(s);
}
Expr substitute(Symbol name, const Expr &value, const Expr &e) {
    return substitute({{name, value}}, e);
}
Stmt substitute(Symbol name, const Expr &value, const Stmt &s) {
    return substitute({{name, value}}, s);
}

}  // namespace tessera::ir
