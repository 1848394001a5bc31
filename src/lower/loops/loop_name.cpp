#include "lower/loops/loop_name.h"

namespace tessera::lower {

std::string loop_name(const Context &context, Symbol loop) {
    auto origin = context.loops.find(loop);
    if (origin == context.loops.end()) return str("loop ", loop);
    const LoopOrigin &o = origin->second;
    if (o.stage == 0) return str("loop ", o.var, " of ", o.func);
    return str("loop ", o.var, " of ", o.func, ".update(", o.stage - 1, ")");
}

Location loop_kind_written(const Context &context, Symbol loop, LoopKind kind) {
    auto origin = context.loops.find(loop);
    if (origin == context.loops.end()) return {};
    const program::FunctionContents *f = context.function(origin->second.func);
    if (!f || size_t(origin->second.stage) >= f->stages.size()) return {};
    Location found;
    for (const auto &d : f->stages[origin->second.stage]->schedule.directives) {
        const auto *set = std::get_if<program::SetLoopKind>(&d.directive);
        if (set && set->var == origin->second.var && set->kind == kind) found = d.at;
    }
    return found;
}

}  // namespace tessera::lower
