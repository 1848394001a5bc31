#pragma once
#include "ir/lexer.h"
#include "ir/parser.h"
#include "ir/text.h"

namespace tessera::ir::text {

// The parser of expressions, and all that the parser of statements shares with it. For
// ir/parse*.cpp only.
class ExprParser {
public:
    ExprParser(std::vector<Token> tokens, NamedSymbols &scope)
        : scope(scope), tokens(std::move(tokens)) {}

    // An expression, and nothing after it.
    Expr parse_all();

protected:
    using Use = KnownTypes::Use;

    const Token &peek(size_t ahead = 0) const;
    const Token &previous() const;  // what was taken last
    const Token &take();
    bool at(TokenKind kind) const { return peek().kind == kind; }
    bool at(std::string_view word, size_t ahead = 0) const;
    bool accept(std::string_view word);
    void expect(std::string_view word);
    [[noreturn]] void fail(const std::string &expected) const;
    // An error of `make` is the text's fault, and is reported where the text has been read to.
    template<typename F> auto checked(F &&make) -> decltype(make());

    Symbol name();
    Type type();
    int integer();
    int64_t long_integer();
    template<typename F> void list(std::string_view end, F &&element);

    Expr expr();
    // An expression; a bare number gets this type.
    Expr expr_of(Type wanted);
    std::vector<Expr> exprs(std::string_view end);

    struct Access {
        Symbol buffer;
        Expr index, predicate;
        Alignment alignment;
        bool streaming = false;
    };
    Access access();

    // Refuses text so deeply nested that reading it by recursion would need too much stack.
    class Nested {
    public:
        explicit Nested(ExprParser &parser) : parser(parser) {
            if (++parser.depth > 1'500) fail_at(parser.peek(), "the text is nested too deeply");
        }
        ~Nested() { parser.depth--; }
        Nested(const Nested &) = delete;

    private:
        ExprParser &parser;
    };

    NamedSymbols &scope;
    KnownTypes types;

private:
    struct Operand {
        Expr e;
        bool bare_number = false;
    };
    Operand binary(int level);
    Operand unary();
    Expr operand();
    Expr let_chain();
    Expr number(bool negative);
    Expr real(bool negative, double not_a_digit, const Token &digits);
    Expr word();
    Expr builtin(const std::string &word);
    Expr select();
    Expr shuffle(const std::string &word);
    Expr vector_reduce();
    Expr min_or_max(bool is_min);
    Expr intrinsic(Intrinsic op);
    Expr extern_call(bool pure);
    Expr call(CallKind kind);
    Expr load();
    Expr property();
    Expr variable();
    Operand bare_or_not();
    Type annotated(Use use, Symbol s, int lanes, int value_index = 0);
    void match(Operand &a, Operand &b, const Token &where, const std::string &what);
    Expr with_type(Type wanted, const Expr &number, const Token &where);

    std::vector<Token> tokens;
    size_t position = 0;
    int depth = 0;
};

template<typename F> auto ExprParser::checked(F &&make) -> decltype(make()) {
    try {
        return make();
    } catch (const InternalError &e) {
        fail_at(peek(), e.what());
    }
}

template<typename F> void ExprParser::list(std::string_view end, F &&element) {
    if (accept(end)) return;
    do element();
    while (accept(","));
    expect(end);
}

}  // namespace tessera::ir::text
