#pragma once
#include "ir/written_expr.h"
#include "lang/location.h"
#include <utility>
#include <vector>

namespace tessera {

using ir::Expr;
using ir::WrittenExpr;

// The name of a dimension of a Func, or of a loop. Vars of one name are the same Var.
class Var {
public:
    Var();  // a name that nobody else has
    explicit Var(const std::string &name);
    explicit Var(const char *name) : Var(std::string(name)) {}
    explicit Var(Symbol symbol) : name_symbol(std::move(symbol)) {}

    const std::string &name() const { return name_symbol.text(); }
    Symbol symbol() const { return name_symbol; }
    bool same_as(const Var &other) const { return name_symbol == other.name_symbol; }
    operator Expr() const;

    // The n-th dimension that the placeholder `_` stands for.
    static Var implicit(int n);
    static bool is_implicit(const std::string &name) { return implicit_index(name) >= 0; }
    static bool is_implicit(const Var &v) { return implicit_index(v) >= 0; }
    bool is_implicit() const { return implicit_index(*this) >= 0; }
    static int implicit_index(const std::string &name);  // -1: none of these
    static int implicit_index(const Var &v);
    static bool is_placeholder(const Var &v);
    bool is_placeholder() const { return is_placeholder(*this); }
    static bool is_placeholder(const std::string &name) { return is_placeholder(Var(name)); }
    // Around all loops of a stage.
    static Var outermost();

private:
    Symbol name_symbol;
};

// The placeholder for zero or more dimensions: f(x, _) = g(_).
extern const Var _;
extern const Var _0, _1, _2, _3, _4, _5, _6, _7, _8, _9;

namespace detail {
// A text that no one has had so far: "f0", "f1", ...
std::string unique_name(const char *prefix);
}  // namespace detail

}  // namespace tessera
