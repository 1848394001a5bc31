#pragma once
#include "program/environment.h"
#include <map>
#include <set>

namespace tessera::program {

// Finds what a call leads to once wrappers (in, clone_in) are in place: where a function has one
// for a consumer, the consumer calls that. A consumer that reads what is wrapped only through
// functions that are computed inline has copies of these, which call the wrapper:
//
//     g(x) = f(x) + 1; h(x) = g(x); f.clone_in(h)      ->      h reads a g that reads the clone
class Wrapping {
public:
    explicit Wrapping(std::vector<FunctionRef> outputs) : outputs(std::move(outputs)) {}

    // Returns the function that calls of `callee` in `caller` are to be calls of.
    FunctionRef target(const FunctionRef &callee, const FunctionRef &caller);
    // Returns the functions that `f` calls then, each once.
    std::vector<FunctionRef> callees_of(const FunctionRef &f);

    // Begins a round: call it before all functions are asked for their callees.
    void begin() { used.clear(); }
    // Returns true if some wrappers of these functions were not used in this round; in the next one
    // they are looked for in what their consumers compute inline. Throws CompileError if one was
    // looked for there already.
    bool looks_further(const Environment &env);

private:
    // A function and its consumer.
    using Use = std::pair<Symbol, Symbol>;
    // A function as it is inline in a consumer.
    struct InlineCopy {
        FunctionRef copy, original;
        Symbol consumer;
    };

    FunctionRef wrapper_for(const FunctionRef &f, const FunctionRef &caller);
    Symbol consumer_around(const FunctionRef &caller) const;
    const FunctionRef &original_of(const FunctionRef &f) const;
    bool is_inline(const FunctionRef &f) const;
    FunctionRef inline_copy(const FunctionRef &f, Symbol consumer);
    bool calls(const FunctionRef &caller, const FunctionRef &f);
    [[noreturn]] void refuse(const FunctionRef &f, Symbol consumer, const Environment &env);

    const std::vector<FunctionRef> outputs;
    std::set<Use> used;
    std::set<Use> further;         // which are looked for in what the consumer computes inline
    std::set<Symbol> with_copies;  // the consumers among these
    std::map<Use, Symbol> copies;  // their names
    std::map<Symbol, InlineCopy> by_name;
};

}  // namespace tessera::program
