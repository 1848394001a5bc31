#include "ir/lexer.h"
#include "base/error.h"
#include "ir/text.h"
#include <cctype>

namespace tessera::ir::text {
namespace {

class Lexer {
public:
    Lexer(std::string_view text, bool layout) : text(text), layout(layout) {}

    std::vector<Token> run() {
        while (at < text.size()) next();
        if (layout) end_lines();
        add(TokenKind::EndOfText, "");
        return std::move(tokens);
    }

private:
    char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

    Token here() const { return {TokenKind::Symbol, "", line, int(at - line_start) + 1}; }

    void add(TokenKind kind, std::string value) { add(kind, std::move(value), at); }
    void add(TokenKind kind, std::string value, size_t start) {
        tokens.push_back({kind, std::move(value), line, int(start - line_start) + 1});
        if (kind != TokenKind::EndOfLine && kind != TokenKind::Indent) line_has_token = true;
    }

    void next() {
        char c = peek();
        if (c == '\n') {
            end_line();
        } else if (c == ' ' || c == '\t' || c == '\r') {
            at++;
        } else if (c == '#') {
            while (at < text.size() && peek() != '\n') at++;
        } else {
            if (layout && !line_has_token && brackets == 0) indent();
            token();
        }
    }

    void end_line() {
        if (layout && line_has_token && brackets == 0) add(TokenKind::EndOfLine, "");
        if (brackets == 0) line_has_token = false;
        at++;
        line++;
        line_start = at;
    }

    void indent() {
        size_t width = at - line_start;
        if (indents.empty()) indents.push_back(width);  // the text as a whole may be indented
        if (width > indents.back()) {
            indents.push_back(width);
            add(TokenKind::Indent, "");
        }
        while (width < indents.back() && indents.size() > 1) {
            indents.pop_back();
            add(TokenKind::Dedent, "");
        }
        if (width != indents.back()) fail_at(here(), "this line is indented like none above it");
    }

    void end_lines() {
        if (line_has_token) add(TokenKind::EndOfLine, "");
        for (; indents.size() > 1; indents.pop_back()) add(TokenKind::Dedent, "");
    }

    void token() {
        char c = peek();
        if (is_word_start(c)) return add_word(TokenKind::Word, at);
        if (is_digit(c)) return number();
        if (c == '"') return quoted(TokenKind::String, '"');
        if (c == '`') return quoted(TokenKind::QuotedName, '`');
        if (c == ':' && is_word_start(peek(1))) {
            at++;
            return add_word(TokenKind::TypeSuffix, at - 1);
        }
        symbol();
    }

    void add_word(TokenKind kind, size_t start) {
        size_t begin = at;
        while (is_word_start(peek()) || is_digit(peek())) at++;
        while (peek() == '.' && is_digit(peek(1))) {
            for (at++; is_digit(peek());) at++;
        }
        add(kind, std::string(text.substr(begin, at - begin)), start);
    }

    void number() {
        size_t begin = at;
        bool real = false;
        while (is_digit(peek())) at++;
        if (peek() == '.' && is_digit(peek(1))) {
            real = true;
            for (at++; is_digit(peek());) at++;
        }
        bool is_signed = peek(1) == '-' || peek(1) == '+';
        if (peek() == 'e' && is_digit(peek(is_signed ? 2 : 1))) {
            real = true;
            for (at += is_signed ? 2 : 1; is_digit(peek());) at++;
        }
        add(real ? TokenKind::Real : TokenKind::Integer,
            std::string(text.substr(begin, at - begin)), begin);
    }

    void quoted(TokenKind kind, char quote) {
        Token start = here();
        size_t begin = at++;
        std::string value;
        while (peek() != quote) {
            if (at >= text.size()) fail_at(start, str("there is no closing ", quote));
            if (peek() == '\n') fail_at(start, str("there is no closing ", quote, " on this line"));
            value += peek() == '\\' ? escape() : text[at++];
        }
        at++;
        add(kind, std::move(value), begin);
    }

    char escape() {
        char c = peek(1);
        at += 2;
        if (c == 'n') return '\n';
        if (c == 't') return '\t';
        if (c == '"' || c == '`' || c == '\\') return c;
        if (c == 'x' && std::isxdigit(peek()) && std::isxdigit(peek(1))) {
            int value = std::stoi(std::string(text.substr(at, 2)), nullptr, 16);
            at += 2;
            return static_cast<char>(value);
        }
        at -= 2;
        fail_at(here(),
                "expected one of \\n \\t \\\" \\` \\\\ and \\x with two hexadecimal digits");
    }

    void symbol() {
        constexpr std::string_view twins[] = {"&&", "||", "==", "!=", "<=", ">="};
        size_t begin = at;
        for (std::string_view twin : twins) {
            if (text.substr(at, 2) == twin) {
                at += 2;
                return add(TokenKind::Symbol, std::string(twin), begin);
            }
        }
        char c = peek();
        if (std::string_view("+-*/%<>=!()[]{},:;.").find(c) == std::string_view::npos) {
            fail_at(here(), str("the character '", c, "' has no meaning here"));
        }
        if (c == '(' || c == '[' || c == '{') brackets++;
        if ((c == ')' || c == ']' || c == '}') && brackets > 0) brackets--;
        at++;
        add(TokenKind::Symbol, std::string(1, c), begin);
    }

    std::string_view text;
    bool layout;
    std::vector<Token> tokens;
    std::vector<size_t> indents;
    size_t at = 0, line_start = 0;
    int line = 1, brackets = 0;
    bool line_has_token = false;
};

}  // namespace

std::vector<Token> split(std::string_view text, bool layout) { return Lexer(text, layout).run(); }

std::string describe(const Token &t) {
    switch (t.kind) {
    case TokenKind::String: return str('"', t.text, '"');
    case TokenKind::QuotedName: return str('`', t.text, '`');
    case TokenKind::TypeSuffix: return str("':", t.text, "'");
    case TokenKind::EndOfLine: return "the end of the line";
    case TokenKind::Indent: return "a line that is further indented";
    case TokenKind::Dedent: return "the end of the indented lines";
    case TokenKind::EndOfText: return "the end of the text";
    default: return str('\'', t.text, '\'');
    }
}

void fail_at(const Token &where, const std::string &what) {
    throw CompileError(str("IR text, line ", where.line, ", column ", where.column, ": ", what));
}

}  // namespace tessera::ir::text
