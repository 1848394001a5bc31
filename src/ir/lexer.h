#pragma once
#include "ir/type.h"
#include <string>
#include <string_view>
#include <vector>

// The words of IR text. For ir/parse*.cpp only.
namespace tessera::ir::text {

enum class TokenKind : uint8_t {
    Word,        // a name, keyword or number of lanes: `x`, `x.1`, `let`, `x8`
    QuotedName,  // `any text`, between backquotes
    Integer,
    Real,
    String,
    TypeSuffix,  // `:uint8`, with nothing between the colon and the word
    Symbol,      // an operator or bracket
    EndOfLine,
    Indent,
    Dedent,
    EndOfText,
};

struct Token {
    TokenKind kind = TokenKind::EndOfText;
    std::string text;  // without quotes and escapes
    int line = 1, column = 1;
};

// Splits the text. With `layout`, the ends of lines and the changes of indentation outside of
// brackets are tokens too. A comment goes from # to the end of its line.
std::vector<Token> split(std::string_view text, bool layout);

// For messages: `'let'`, `the end of the line`.
std::string describe(const Token &t);

// Throws the CompileError "IR text, line 3, column 5: ..." for a place in the text.
[[noreturn]] void fail_at(const Token &where, const std::string &what);

}  // namespace tessera::ir::text
