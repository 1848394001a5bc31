#pragma once
#include "base/target.h"
#include "ir/module.h"
#include "program/program.h"
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

// All that a pass may look at besides the IR it rewrites: how and for what it is lowered. Read-only
// for passes.
struct Context {
    Target target;
    Dialect dialect = Dialect::Tessera;  // whose rules hold
    std::function<void(std::string_view pass, const ir::Stmt &after)> trace;
    bool verify = false;  // run the verifier after every pass
    bool permit_failed_unroll = false;
    // Buffers of outputs in which the pipeline leaves some elements as the caller has them
    // (`undef`), so that loads of them may give any value.
    std::unordered_set<Symbol> kept_outputs;

    // The type of indices into flat storage.
    Type index_type() const { return target.has_feature(Target::LargeBuffers) ? Int(64) : Int(32); }
};

// The buffer of a value of a function that is realized: by default the function's own symbol, for
// its only value.
Symbol buffer_of(const ir::Realize &r, int k);
// The function whose values each buffer holds: of storage in the pipeline, and of outputs.
std::unordered_map<Symbol, Symbol> functions_by_buffer(const ir::LoweredFunction &pipeline);

// A rewriting of a pipeline's body, as it is run by itself: on any IR of its level. Some look at
// what the pipeline is called with.
struct Pass {
    using OnBody = ir::Stmt (*)(const ir::Stmt &body, const Context &);
    using OnFunction = ir::Stmt (*)(const ir::LoweredFunction &pipeline, const Context &);

    constexpr Pass(std::string_view name, OnBody run) : name(name), on_body(run) {}
    constexpr Pass(std::string_view name, OnFunction run) : name(name), on_function(run) {}

    // The new body.
    ir::Stmt operator()(const ir::LoweredFunction &pipeline, const Context &context) const {
        return on_body ? on_body(pipeline.body, context) : on_function(pipeline, context);
    }
    constexpr bool runs(OnBody f) const { return on_body == f; }
    constexpr bool runs(OnFunction f) const { return on_function == f; }

    std::string_view name;
    OnBody on_body = nullptr;
    OnFunction on_function = nullptr;
};

}  // namespace tessera::lower
