#include "lang/loop_level.h"
#include "base/dialect.h"
#include "lang/func.h"

namespace tessera {

LoopLevel::LoopLevel(const program::LoopLevel &level)
    : late(make_ref<program::LateLevel>()), locked(std::make_shared<bool>(false)) {
    late->level = level;
}
LoopLevel::LoopLevel(const Func &f, const VarOrRVar &v, int stage, Location at)
    : LoopLevel(program::LoopLevel::at(f.function()->name, v.symbol, stage, at)) {}
LoopLevel::LoopLevel(const Stage &stage, const VarOrRVar &v, Location at)
    : LoopLevel(program::LoopLevel::at(stage.scheduled(at).function->name, v.symbol,
                                       stage.scheduled(at).stage, at)) {}

void LoopLevel::set(const LoopLevel &other, Location at) {
    if (*locked) throw CompileError(at, "a LoopLevel cannot be set after lock()");
    late->level = other.now();
    late->version.note_change();
}

LoopLevel &LoopLevel::lock(Location at) {
    if (!defined()) throw CompileError(at, "this LoopLevel has not been set: call set()");
    *locked = true;
    return *this;
}

Ref<program::LateLevel> LoopLevel::later() const {
    return *locked ? Ref<program::LateLevel>() : late;
}

void LoopLevel::require_locked(const Location &at) const {
    if (*locked) return;
    throw CompileError(at, "this LoopLevel may still become another: call lock() first");
}

void LoopLevel::require_loop(const Location &at) const {
    if (follows_halide(at)) require_locked(at);
    if (now().is_at()) return;
    throw CompileError(at, str("this LoopLevel is ", *this, ", and not at a loop of a Func"));
}

bool LoopLevel::is_inlined(Location at) const {
    if (follows_halide(at)) require_locked(at);
    return now().means_inlined();
}

bool LoopLevel::is_root(Location at) const {
    if (follows_halide(at)) require_locked(at);
    return now().means_root();
}

std::string LoopLevel::func(Location at) const {
    require_loop(at);
    return now().func().text();
}

VarOrRVar LoopLevel::var(Location at) const {
    require_loop(at);
    return Var(now().var());
}

std::string LoopLevel::to_string(Location at) const {
    require_locked(at);
    return str(now());
}

std::ostream &operator<<(std::ostream &out, const LoopLevel &level) { return out << level.now(); }

}  // namespace tessera
