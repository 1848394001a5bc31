#include "program/loop_level.h"
#include "base/dialect.h"
#include "base/str.h"
#include "program/changes.h"

namespace tessera::program {

LoopLevel LoopLevel::inlined() {
    LoopLevel level;
    level.state->place.kind = Kind::Inlined;
    return level;
}

LoopLevel LoopLevel::root() {
    LoopLevel level;
    level.state->place.kind = Kind::Root;
    return level;
}

LoopLevel LoopLevel::at(Symbol func, Symbol var, int stage, Location written) {
    LoopLevel level;
    level.state->place = {Kind::At, func, var, stage, written};
    return level;
}

void LoopLevel::set(const LoopLevel &other, Location written) {
    if (state->locked) throw CompileError(written, "a LoopLevel cannot be set after lock()");
    state->place = other.state->place;
    note_change();
}

bool LoopLevel::matches(const LoopLevel &other) const {
    const Place &a = place(), &b = other.place();
    return a.kind == b.kind && a.func == b.func && a.var == b.var && a.stage == b.stage;
}

LoopLevel &LoopLevel::lock(Location written) {
    if (!defined()) throw CompileError(written, "this LoopLevel has not been set: call set()");
    state->locked = true;
    return *this;
}

void LoopLevel::require_locked(const Location &written) const {
    if (state->locked) return;
    throw CompileError(written, "this LoopLevel may still become another: call lock() first");
}

void LoopLevel::require_loop(const Location &written) const {
    if (follows_halide(written)) require_locked(written);
    if (is_at()) return;
    throw CompileError(written, str("this LoopLevel is ", *this, ", and not at a loop of a Func"));
}

bool LoopLevel::is_inlined(Location written) const {
    if (follows_halide(written)) require_locked(written);
    return means_inlined();
}

bool LoopLevel::is_root(Location written) const {
    if (follows_halide(written)) require_locked(written);
    return means_root();
}

std::string LoopLevel::to_string(Location written) const {
    require_locked(written);
    return str(*this);
}

LoopLevel LoopLevel::copy() const {
    LoopLevel level;
    level.state->place = state->place;
    return level;
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
