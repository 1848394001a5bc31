#include "lower/context.h"
#include <algorithm>

namespace tessera::lower {

const program::FunctionContents *Context::function(Symbol f) const {
    auto found = functions.find(f);
    return found == functions.end() ? nullptr : found->second.get();
}

bool Context::is_output(Symbol f) const {
    return std::find(outputs.begin(), outputs.end(), f) != outputs.end();
}

bool Context::is_read_by_extern(Symbol f) const {
    for (const program::FunctionRef &other : order) {
        if (!other->has_extern_definition()) continue;
        for (const program::ExternFuncArgument &a : other->extern_definition->args) {
            if (a.func && a.func->name == f) return true;
        }
    }
    return false;
}

Symbol Context::buffer_of(Symbol f, int k) const {
    auto found = buffers.find(f);
    if (found != buffers.end()) return found->second.at(size_t(k));
    if (k == 0) return f;
    throw InternalError(str("no buffer is known for value ", k, " of ", f));
}

std::unordered_map<Symbol, Symbol> Context::functions_by_buffer() const {
    std::unordered_map<Symbol, Symbol> functions;
    for (const program::FunctionRef &f : order) {
        for (size_t k = 0; k < f->types.size(); k++)
            functions[buffer_of(f->name, int(k))] = f->name;
    }
    return functions;
}

const ir::Argument *Context::argument(Symbol name) const {
    for (const ir::Argument &a : arguments) {
        if (a.name == name) return &a;
    }
    return nullptr;
}

}  // namespace tessera::lower
