#pragma once
#include "ir/nodes.h"
#include <random>

// Random trees that use every kind of node and every field, for tests. They keep the rules that
// `make` checks, and no others: names are bound or not, and of any type.
class RandomIR {
public:
    explicit RandomIR(uint32_t seed);

    tessera::Type type();
    tessera::ir::Expr expr(tessera::Type t, int depth);
    tessera::ir::Stmt stmt(int depth);

private:
    using Expr = tessera::ir::Expr;
    using Stmt = tessera::ir::Stmt;
    using Type = tessera::Type;

    int below(int n);
    template<typename T, size_t count>
    T one_of(const T (&all)[count]) {
        return all[below(int(count))];
    }
    bool chance(int one_in) { return below(one_in) == 0; }
    tessera::Symbol symbol();
    tessera::ir::Alignment alignment();
    tessera::MemoryType memory();
    Expr index(int lanes, int depth);
    Expr maybe_condition(int lanes, int depth);
    std::vector<Expr> exprs(int count, int depth);
    std::vector<Type> types();
    tessera::ir::Region region(int depth);

    Expr leaf(Type t);
    Expr constant(Type t);
    Expr named(Type t, int depth);
    Expr any_call(Type t, int depth);
    Expr logic(Type t, int depth);
    Expr arithmetic(Type t, int depth);
    Expr lanes(Type t, int depth);
    Expr conversion(Type t, int depth);
    Stmt simple(int depth);
    Stmt around(int depth);
    Stmt storage(int depth);
    Expr maybe_index(int depth);
    std::vector<tessera::Symbol> some_symbols();
    Stmt realize(int depth);
    Stmt loop(int depth);
    Stmt produce_or_consume(int depth);

    std::mt19937 random;
    std::vector<tessera::Symbol> symbols;
};
