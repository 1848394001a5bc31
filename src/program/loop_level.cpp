#include "program/loop_level.h"
#include "base/str.h"
#include "program/changes.h"

namespace tessera::program {

LoopLevel LoopLevel::inlined() {
    LoopLevel level;
    level.state->kind = Kind::Inlined;
    return level;
}

LoopLevel LoopLevel::root() {
    LoopLevel level;
    level.state->kind = Kind::Root;
    return level;
}

LoopLevel LoopLevel::at(Symbol func, Symbol var, int stage, Location written) {
    LoopLevel level;
    level.state->kind = Kind::At;
    level.state->func = func;
    level.state->var = var;
    level.state->stage = stage;
    level.state->written = written;
    return level;
}

void LoopLevel::set(const LoopLevel &other) {
    state->kind = other.state->kind;
    state->func = other.state->func;
    state->var = other.state->var;
    state->stage = other.state->stage;
    state->written = other.state->written;
    note_change();
}

bool LoopLevel::matches(const LoopLevel &other) const {
    return state->kind == other.state->kind && state->func == other.state->func &&
           state->var == other.state->var && state->stage == other.state->stage;
}

LoopLevel LoopLevel::copy() const {
    LoopLevel level;
    level.set(*this);
    return level;
}

std::ostream &operator<<(std::ostream &out, const LoopLevel &level) {
    if (!level.defined()) return out << "undefined";
    if (level.is_inlined()) return out << "inlined";
    if (level.is_root()) return out << "root";
    out << level.func();
    if (level.stage() > 0) out << ".update(" << level.stage() - 1 << ")";
    return out << ", " << level.var();
}

}  // namespace tessera::program
