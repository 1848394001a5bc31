#include "lower/context.h"
#include "ir/visitor.h"

namespace tessera::lower {

Symbol buffer_of(const ir::Realize &r, int k) {
    if (!r.storage.buffers.empty()) return r.storage.buffers.at(size_t(k));
    if (k == 0) return r.func;
    throw InternalError(str("no buffer is known for value ", k, " of ", r.func));
}

std::unordered_map<Symbol, Symbol> functions_by_buffer(const ir::LoweredFunction &pipeline) {
    std::unordered_map<Symbol, Symbol> functions;
    for (const ir::Argument &a : pipeline.args) {
        if (a.is_output()) functions[a.name] = a.func;
    }
    ir::for_each_node(pipeline.body, [&](const ir::Realize &r) {
        if (r.storage.buffers.empty()) functions[r.func] = r.func;
        for (Symbol b : r.storage.buffers) functions[b] = r.func;
    });
    return functions;
}

}  // namespace tessera::lower
