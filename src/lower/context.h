#pragma once
#include "base/target.h"
#include "ir/module.h"
#include "program/program.h"
#include <functional>
#include <string_view>
#include <unordered_map>

namespace tessera::lower {

// All that a pass may look at besides the IR it rewrites: how and for what it is lowered, and what
// the pipeline is called with. Read-only for passes.
struct Context {
    Target target;
    Dialect dialect = Dialect::Tessera;  // whose rules hold
    std::vector<ir::Argument> arguments;
    std::function<void(std::string_view pass, const ir::Stmt &after)> trace;
    bool verify = false;  // run the verifier after every pass
    bool permit_failed_unroll = false;

    const ir::Argument *argument(Symbol name) const;
    // The argument that holds value k of a function; null: it is no output.
    const ir::Argument *output(Symbol f, int k = 0) const;
    bool is_output(Symbol f) const { return output(f) != nullptr; }
    // The function whose values each buffer holds: of storage in the pipeline, and of outputs.
    std::unordered_map<Symbol, Symbol> functions_by_buffer(const ir::Stmt &pipeline) const;
    // The type of indices into flat storage.
    Type index_type() const { return target.has_feature(Target::LargeBuffers) ? Int(64) : Int(32); }
};

// The buffer of a value of a function that is realized: by default the function's own symbol, for
// its only value.
Symbol buffer_of(const ir::Realize &r, int k);

}  // namespace tessera::lower
