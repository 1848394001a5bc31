#pragma once
#include "base/error.h"
#include "lower/context.h"

namespace tessera::lower {

// The loop as the user knows it, for messages: "loop x of f", "loop r of f.update(0)".
std::string loop_name(const Context &context, Symbol loop);

// Where the user asked for this kind of loop; unknown if it is not known.
Location loop_kind_written(const Context &context, Symbol loop, LoopKind kind);

}  // namespace tessera::lower
