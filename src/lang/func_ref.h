#pragma once
#include "lang/operators.h"
#include "lang/var.h"
#include "program/function.h"

namespace tessera {

class FuncTupleElementRef;
class Stage;

// f(x, y): a value of a Func where an expression is wanted; the left of a definition otherwise.
class FuncRef {
public:
    FuncRef(program::FunctionRef f, std::vector<Expr> args, Location at);

    // The first definition (arguments that are Vars), or else an update.
    Stage operator=(const Expr &e);
    Stage operator=(const Tuple &values);
    Stage operator=(const FuncRef &e);
    FuncRef(const FuncRef &) = default;
    // Updates with the old value; a Func without a definition begins with 0 or 1.
    Stage operator+=(const Expr &e);
    Stage operator+=(const Tuple &values);
    Stage operator+=(const FuncRef &e);
    Stage operator-=(const Expr &e);
    Stage operator-=(const Tuple &values);
    Stage operator-=(const FuncRef &e);
    Stage operator*=(const Expr &e);
    Stage operator*=(const Tuple &values);
    Stage operator*=(const FuncRef &e);
    Stage operator/=(const Expr &e);
    Stage operator/=(const Tuple &values);
    Stage operator/=(const FuncRef &e);

    operator Expr() const;
    // One of several values.
    FuncTupleElementRef operator[](int i) const;
    size_t size() const;
    // Returns true if it is the same value of the same Func.
    bool equivalent_to(const FuncRef &other) const;

    const program::FunctionRef &function() const { return f; }
    const Location &where() const { return at; }

private:
    friend class FuncTupleElementRef;
    using Operator = Expr (*)(WrittenExpr, Expr);
    Stage define(const std::vector<Expr> &values) const;
    Stage define_here(const std::vector<Expr> &values) const;
    Stage update(const std::vector<Expr> &values, int initial, Operator op) const;
    Stage update_here(const std::vector<Expr> &values, int initial, Operator op) const;
    std::vector<Expr> args_and(const std::vector<Expr> &values) const;
    void define_base(const std::vector<Expr> &values, int initial) const;
    std::vector<Expr> expanded_args(const std::vector<Expr> &values) const;
    void require_implicit(const std::vector<Expr> &values,
                          const std::vector<Expr> &coordinates) const;
    std::vector<Expr> call_args() const;
    Expr value(int i) const;

    program::FunctionRef f;
    std::vector<Expr> args;
    Location at;
};

// f(x, y)[i]: one of the values of a Func.
class FuncTupleElementRef {
public:
    FuncTupleElementRef(const FuncRef &ref, int i) : ref(ref), index(i) {}
    FuncTupleElementRef(const FuncTupleElementRef &) = default;

    // An update of this value; the others stay.
    Stage operator=(const Expr &e);
    Stage operator=(const FuncRef &e);
    Stage operator=(const FuncTupleElementRef &e);
    Stage operator+=(const Expr &e);
    Stage operator-=(const Expr &e);
    Stage operator*=(const Expr &e);
    Stage operator/=(const Expr &e);
    operator Expr() const;
    int element() const { return index; }

private:
    Stage set(const Expr &e) const;
    Stage update(const Expr &e, FuncRef::Operator op) const;
    FuncRef ref;
    int index;
};

// Chooses between FuncRefs as an expression; for Funcs of several values, choose between Tuples.
// choose between Tuples.
inline Expr select(const Expr &condition, const FuncRef &true_value, const FuncRef &false_value,
                   Location at = Here::current()) {
    return ir::select(condition, Expr(true_value), Expr(false_value), at);
}
template<typename... Rest>
Expr select(const WrittenExpr &c0, const FuncRef &v0, const Expr &c1, const FuncRef &v1,
            const Rest &...rest) {
    if constexpr (sizeof...(rest) == 1) {
        return ir::select(c0, Expr(v0), ir::select(c1, Expr(v1), Expr(rest)..., c0.at), c0.at);
    } else {
        return ir::select(c0, Expr(v0), select(WrittenExpr(c1, c0.at), v1, rest...), c0.at);
    }
}
inline Expr mux(const Expr &id, const std::initializer_list<FuncRef> &values,
                Location at = Here::current()) {
    return mux(id, std::vector<Expr>(values.begin(), values.end()), at);
}

}  // namespace tessera
