#pragma once
#include "ir/nodes.h"
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

// IR as text that `ir/parser.h` reads back to an equal tree (but for the choice of symbols, and
// without referents); the grammar stands there. The text is the same for equal trees, whatever
// their symbols' ids. Symbols spelled alike are distinguished by a number: `x`, `x.1`.
//
// Expressions that share much would be exponentially long: after `max_nodes` expression nodes, and
// below `max_depth` of them inside each other, `...` stands for what is left out. Such text does
// not parse.
namespace tessera::ir {

struct Module;

struct PrintOptions {
    size_t max_nodes = 1'000'000;
    int max_depth = 1'000;
};

std::string to_string(const Expr &e, const PrintOptions &options = {});
std::string to_string(const Stmt &s, const PrintOptions &options = {});  // lines, each ended
std::string to_string(const Module &m, const PrintOptions &options = {});

// A line of such a text: where it begins, how far it is indented, and the statement that begins
// there; none where a function, another branch or another task does.
struct PrintedLine {
    size_t begin = 0;
    int indentation = 0;
    Stmt stmt;
};
struct PrintedText {
    std::string text;
    std::vector<PrintedLine> lines;

    // Returns the line without its indentation and its end.
    std::string_view operator[](size_t line) const;
};
PrintedText to_lines(const Stmt &s, const PrintOptions &options = {});
PrintedText to_lines(const Module &m, const PrintOptions &options = {});

std::ostream &operator<<(std::ostream &out, const Expr &e);
std::ostream &operator<<(std::ostream &out, const Stmt &s);
std::ostream &operator<<(std::ostream &out, const Module &m);

// The node in at most `length` characters of one line: for messages.
std::string brief(const Expr &e, size_t length = 200);
std::string brief(const Stmt &s, size_t length = 200);

}  // namespace tessera::ir
