#pragma once
#include "base/target.h"
#include "ir/module.h"
#include "program/program.h"
#include <functional>
#include <string_view>
#include <unordered_map>

namespace tessera::lower {

// All that a pass may look at besides the IR it rewrites. Read-only for passes.
struct Context {
    Target target;
    Dialect dialect = Dialect::Tessera;  // whose rules hold
    // Every function that is realized, in an order in which producers come before consumers: copies
    // of the user's, after wrappers and inlining. Their schedules say what to do.
    std::vector<program::FunctionRef> order;
    std::unordered_map<Symbol, program::FunctionRef> functions;
    std::vector<Symbol> outputs;
    // The flat buffer that holds value k of a function: the argument, for an output.
    std::unordered_map<Symbol, std::vector<Symbol>> buffers;
    std::vector<ir::Argument> arguments;
    // The trace directives of images: the functions that stand for them are computed inline.
    std::unordered_map<Symbol, program::Trace> traced_images;
    std::function<void(std::string_view pass, const ir::Stmt &after)> trace;
    bool verify = false;  // run the verifier after every pass
    bool permit_failed_unroll = false;

    // Null if there is no such function (a test's, say).
    const program::FunctionContents *function(Symbol f) const;
    bool is_output(Symbol f) const;
    bool is_read_by_extern(Symbol f) const;
    // The buffer of value k of f: by default the function's own symbol, for its only value.
    Symbol buffer_of(Symbol f, int k) const;
    // The function whose values each buffer holds, by buffer.
    std::unordered_map<Symbol, Symbol> functions_by_buffer() const;
    const ir::Argument *argument(Symbol name) const;
    // The type of indices into flat storage.
    Type index_type() const { return target.has_feature(Target::LargeBuffers) ? Int(64) : Int(32); }
};

}  // namespace tessera::lower
