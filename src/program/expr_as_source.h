#pragma once
#include "ir/nodes.h"
#include <functional>

namespace tessera::program {

// The language that a text is a source of.
enum class Language : uint8_t { Cpp, Python };

// Returns what stands before a name of ours: nothing in C++, "ts." in Python, where the module is
// imported as ts.
std::string_view prefix_in(Language language);

// An expression as source, as far as schedules have them: arithmetic of parameters and of
// dimensions of buffers. `word` says how a parameter or buffer is called. CompileError for what is
// no public function of the language.
std::string expr_as_source(const ir::Expr &e, const std::function<std::string(Symbol)> &word,
                           Language language = Language::Cpp);

// "UInt(8)", which is the same in Python behind a prefix.
std::string type_as_cpp(Type t);

// Returns the text as a literal of both languages.
std::string quoted(const std::string &text);

}  // namespace tessera::program
