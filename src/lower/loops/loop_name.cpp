#include "lower/loops/loop_name.h"
#include "program/loop_transforms.h"

namespace tessera::lower {

std::string loop_name(const Context &context, Symbol loop) {
    auto origin = context.loops.find(loop);
    if (origin == context.loops.end()) return str("loop ", loop);
    const LoopOrigin &o = origin->second;
    if (o.stage == 0) return str("loop ", o.var, " of ", o.func);
    return str("loop ", o.var, " of ", o.func, ".update(", o.stage - 1, ")");
}

namespace {

using program::StageSchedule;

// Where the loop got its kind: of itself, or of what it is made from by the first `count`
// transforms.
Location kind_written(const StageSchedule &s, Symbol var, LoopKind kind, size_t count) {
    Location found;
    for (const auto &d : s.directives) {
        const auto *set = std::get_if<program::SetLoopKind>(&d.directive);
        if (set && set->var == var && set->kind == kind) found = d.at;
    }
    for (size_t i = std::min(count, s.transforms.size()); i-- > 0 && !found.known();) {
        for (Symbol old : program::made_from(s.transforms[i].directive, var)) {
            if (!found.known()) found = kind_written(s, old, kind, i);
        }
    }
    return found;
}

Location kind_written(const program::Definition &d, Symbol var, LoopKind kind) {
    Location found = kind_written(d.schedule, var, kind, d.schedule.transforms.size());
    for (const program::Specialization &s : d.specializations) {
        if (!found.known() && s.definition) found = kind_written(*s.definition, var, kind);
    }
    return found;
}

}  // namespace

Location loop_kind_written(const Context &context, Symbol loop, LoopKind kind) {
    auto origin = context.loops.find(loop);
    if (origin == context.loops.end()) return {};
    const program::FunctionContents *f = context.function(origin->second.func);
    if (!f || size_t(origin->second.stage) >= f->stages.size()) return {};
    const program::Definition &d = *f->stages[size_t(origin->second.stage)];
    Location found = kind_written(d, origin->second.var, kind);
    return found.known() ? found : d.written;
}

}  // namespace tessera::lower
