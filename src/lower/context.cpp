#include "lower/context.h"
#include "ir/visitor.h"

namespace tessera::lower {

const ir::Argument *Context::argument(Symbol name) const {
    for (const ir::Argument &a : arguments) {
        if (a.name == name) return &a;
    }
    return nullptr;
}

const ir::Argument *Context::output(Symbol f, int k) const {
    for (const ir::Argument &a : arguments) {
        if (a.is_output() && a.func == f && a.value_index == k) return &a;
    }
    return nullptr;
}

std::unordered_map<Symbol, Symbol> Context::functions_by_buffer(const ir::Stmt &pipeline) const {
    std::unordered_map<Symbol, Symbol> functions;
    for (const ir::Argument &a : arguments) {
        if (a.is_output()) functions[a.name] = a.func;
    }
    ir::for_each_node(pipeline, [&](const ir::Realize &r) {
        if (r.storage.buffers.empty()) functions[r.func] = r.func;
        for (Symbol b : r.storage.buffers) functions[b] = r.func;
    });
    return functions;
}

Symbol buffer_of(const ir::Realize &r, int k) {
    if (!r.storage.buffers.empty()) return r.storage.buffers.at(size_t(k));
    if (k == 0) return r.func;
    throw InternalError(str("no buffer is known for value ", k, " of ", r.func));
}

}  // namespace tessera::lower
