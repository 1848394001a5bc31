#pragma once
#include "ir/nodes.h"
#include <span>
#include <string_view>
#include <unordered_map>

// The conventions shared by the printer and the parser of IR text. For these two only.
namespace tessera::ir::text {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Returns true if an identifier may begin with it.
bool is_word_start(char c);

// Words that mean something wherever they stand; a symbol of that text is quoted.
bool is_keyword(std::string_view word);
// Words that mean something before an opening parenthesis only: types, `min`, `x8`, intrinsics.
bool is_builtin(std::string_view word);
// Returns true if a symbol of that text can be written without quotes.
bool is_identifier(std::string_view word);

// Reads a type as it is printed.
bool read_type(std::string_view word, Type &type);
// Reads "x8", the name of a broadcast, as 8.
bool read_lanes(std::string_view word, int &lanes);

// The type of an intrinsic call where its text does not say another.
Type usual_type(Intrinsic op, const std::vector<Expr> &args);

// The types of names that are known at a point of the text. Printer and parser pass the same points
// in the same order, so the one leaves out exactly the types that the other knows.
class KnownTypes {
public:
    enum class Use : uint8_t { Variable, Buffer, Value };

    // The type a name has where none is written; int32 if nothing was said before.
    Type expected(Use use, Symbol name, int value_index = 0) const;
    bool known(Use use, Symbol name, int value_index = 0) const;
    // Returns what was known before, for restoring it at the end of the name's scope.
    Type set(Use use, Symbol name, Type type, int value_index = 0);
    // The name is used with this type: from now on that is known.
    void learn(Use use, Symbol name, Type type, int value_index = 0);

private:
    using Map = std::unordered_map<Symbol, std::vector<Type>>;
    Map maps[3];
};

}  // namespace tessera::ir::text
