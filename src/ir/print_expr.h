#pragma once
#include "ir/printer.h"
#include "ir/text.h"
#include <unordered_set>

namespace tessera::ir::text {

// The printer of expressions, and all that the printer of statements shares with it. For
// ir/print*.cpp only.
class ExprPrinter {
public:
    ExprPrinter(std::ostream &out, const PrintOptions &options) : out(out), options(options) {}

    // Parenthesised if it binds weaker than `level`: see `level_of`.
    void print(const Expr &e, int level = 0);

    // At a place where a number without a type would be read as one of the wanted type.
    void print_where(Type wanted, const Expr &e);

protected:
    using Use = KnownTypes::Use;

    void list(const std::vector<Expr> &all);
    void name(Symbol s, bool before_parenthesis = false);
    void access(Symbol buffer, const Expr &index, const Expr &predicate, Alignment alignment,
                bool streaming);
    void string(std::string_view value);

    std::ostream &out;
    KnownTypes types;

private:
    void print_kind(const Expr &e);
    void print_binary_chain(const Expr &e);
    void print_let_chain(const Expr &e);
    void print_float(const FloatImm &f);
    void annotate(Use use, Symbol s, Type type, int lanes, int value_index = 0);
    const std::string &spelling_of(Symbol s);

#define PRINT(T) void print_node(const T &node);
    TESSERA_EXPR_NODES(PRINT)
#undef PRINT
    template<typename T> void builtin(const char *function, const T &binary);

    PrintOptions options;
    size_t printed = 0;
    int depth = 0;
    std::unordered_map<Symbol, std::string> spellings;
    std::unordered_map<std::string, int> next_number;
    std::unordered_set<std::string> taken;
};

}  // namespace tessera::ir::text
