#include "lower/program_context.h"

namespace tessera::lower {

const program::FunctionContents *ProgramContext::function(Symbol f) const {
    auto found = functions.find(f);
    return found == functions.end() ? nullptr : found->second.get();
}

bool ProgramContext::is_read_by_extern(Symbol f) const {
    for (const program::FunctionRef &other : order) {
        if (!other->has_extern_definition()) continue;
        for (const program::ExternFuncArgument &a : other->extern_definition->args) {
            if (a.func && a.func->name == f) return true;
        }
    }
    return false;
}

}  // namespace tessera::lower
