#pragma once
#include "base/error.h"
#include "ir/nodes.h"

namespace tessera::program {
class FunctionContents;
}

// Checks that several directives share; they throw CompileError.
namespace tessera::program {

// An integer, and positive if it is constant; in terms of parameters alone.
void require_factor(const ir::Expr &factor, const char *directive, const Location &at);
// Constants, parameters and properties of buffers: what is known before the pipeline runs.
void require_parameters_only(const ir::Expr &e, const char *directive, const Location &at);

// An integer as an int32; `what` it is, for the message. A constant that does not fit is refused.
// A number that is known only in a run becomes the nearest int32, and is checked then
// (`number_before_int32`).
ir::Expr to_int32(const ir::Expr &e, const std::string &what, const Location &at);
// Returns the operand of to_int32, if that may not have fitted; else undefined.
ir::Expr number_before_int32(const ir::Expr &e);

// Returns when `e`, a choice between a value and undef, is the value; undefined if it is no such
// choice.
ir::Expr condition_of_choice(const ir::Expr &e);

// Says why a function is something else than a copy of another one or of an image; empty: it is a
// copy.
std::string why_no_copy(const FunctionContents &f);
// The only value of a function that is nothing but a copy of another one or of an image: a call
// with the function's own arguments, in their order. Any other function is refused.
const ir::Call &require_copied_call(const FunctionContents &f, const char *directive,
                                    const Location &at);

}  // namespace tessera::program
