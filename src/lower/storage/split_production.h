#pragma once
#include "lower/context.h"
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

// A statement that computes a function and reads it, as two: one computes it, the other reads it.
// Whoever splits it may run the first ahead of the second: on a thread of its own, or some
// iterations earlier in the same thread.
namespace tessera::lower {

// Holds what a statement, as a part of a pipeline, does not tell by itself.
struct SplitScope {
    // The functions with storage in the pipeline. All others are wanted outside.
    std::set<Symbol> stored;
    // The function whose values each buffer holds.
    std::unordered_map<Symbol, Symbol> functions;

    // Finds it for all of a pipeline.
    explicit SplitScope(const ir::LoweredFunction &pipeline);
};

// Names what one part tells the other of a slot for the values of one production.
enum class Signal : uint8_t { Ready, Free };

struct ProductionPart {
    // The loops around, and what this part needs.
    ir::Stmt stmt;
    // Say what is acquired before each `produce` of the function in the producer part and each
    // `consume` in the consumer part, and what is released after it; none: nothing.
    std::optional<Signal> acquired, released;
};

struct SplitProduction {
    ProductionPart producer, consumer;
    // So many slots are free at first, and none ready: the producer may be so many productions
    // ahead of the consumer. Undefined: it never overwrites what is still to be read, and may be
    // ahead by any number.
    ir::Expr slots;
    // The functions that both parts compute, each into storage of its own in either.
    std::set<Symbol> in_both;
};

// Names who wants it, for messages: the directive, and where the user wrote it.
struct SplitReason {
    std::string_view directive;
    Location written;
};

// Splits `body`, which is in the storage of the function: all of it, or the body of a loop in it.
//
//     for y:                       producer                          consumer
//       produce h: h(y) = ...        for y:                            for y:
//       consume h:                     produce h                         no_op
//         produce f: f(y) = h(y) ->    consume h:
//         consume f: g(y) = f(y)         produce f; released Ready       acquired Ready; consume f
//
// The consumer computes everything but f and what only f is computed from; the producer only what f
// is computed from. The indices of f are the same in both.
//
// Slots are limited where later values overwrite earlier ones: to the number of copies of a ring
// buffer, or to 1 if the storage is folded, or computed in stages or by a function in C, or if some
// iterations produce nothing, so that two productions in a row might use one copy: then producer
// and consumer take turns. Throws CompileError if both would compute another function into the same
// storage.
SplitProduction split_production(const ir::Stmt &body, const ir::Realize &storage,
                                 const SplitScope &scope, const SplitReason &reason);

// Returns true if values of the function are computed in the statement.
bool computes(const ir::Stmt &s, Symbol func, const SplitScope &scope);

}  // namespace tessera::lower
