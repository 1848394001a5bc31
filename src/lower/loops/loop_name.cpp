#include "lower/loops/loop_name.h"

namespace tessera::lower {

std::string loop_name(const ir::For &loop) {
    const ir::LoopOrigin &o = loop.origin;
    if (!o.known()) return str("loop ", loop.name);
    if (o.stage == 0) return str("loop ", o.var, " of ", o.func);
    return str("loop ", o.var, " of ", o.func, ".update(", o.stage - 1, ")");
}

}  // namespace tessera::lower
