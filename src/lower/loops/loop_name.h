#pragma once
#include "ir/nodes.h"

namespace tessera::lower {

// The loop as the user knows it, for messages: "loop x of f", "loop r of f.update(0)".
std::string loop_name(const ir::For &loop);

}  // namespace tessera::lower
