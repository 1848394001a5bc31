#pragma once
#include "ir/nodes.h"
#include <functional>

namespace tessera::program {

// An expression as C++, as far as schedules have them: arithmetic of parameters and of dimensions
// of buffers. `word` says how a parameter or buffer is called. CompileError for what is no public
// function of the language.
std::string expr_as_cpp(const ir::Expr &e, const std::function<std::string(Symbol)> &word);

// "UInt(8)".
std::string type_as_cpp(Type t);

// Returns the text as a literal of C++.
std::string quoted(const std::string &text);

}  // namespace tessera::program
