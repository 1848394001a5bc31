#include "program/loop_level.h"
#include "base/str.h"
#include <utility>

namespace tessera::program {

LoopLevel LoopLevel::at(Symbol func, Symbol var, int stage, Location written) {
    LoopLevel level(Kind::At);
    level.of_func = std::move(func);
    level.of_var = std::move(var);
    level.of_stage = stage;
    level.where = written;
    return level;
}

bool LoopLevel::matches(const LoopLevel &other) const {
    return kind == other.kind && of_func == other.of_func && of_var == other.of_var &&
           of_stage == other.of_stage;
}

std::ostream &operator<<(std::ostream &out, const LoopLevel &level) {
    if (!level.defined()) return out << "undefined";
    if (level.means_inlined()) return out << "inlined";
    if (level.means_root()) return out << "root";
    out << level.func();
    if (level.stage() > 0) out << ".update(" << level.stage() - 1 << ")";
    return out << ", " << level.var();
}

}  // namespace tessera::program
