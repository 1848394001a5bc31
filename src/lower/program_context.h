#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Holds what loop nests are built from, and what checks of the program look at. Later passes find
// in the IR what they have to know of it.
struct ProgramContext : Context {
    std::vector<ir::Argument> arguments;
    // Every function that is realized, in an order in which producers come before consumers: copies
    // of the user's, after wrappers and inlining. Their schedules say what to do.
    std::vector<program::FunctionRef> order;
    std::unordered_map<Symbol, program::FunctionRef> functions;
    std::vector<Symbol> outputs;
    // The flat buffer that holds value k of a function: the argument, for an output.
    std::unordered_map<Symbol, std::vector<Symbol>> buffers;

    // Null if there is no such argument; if the function is no output.
    const ir::Argument *argument(Symbol name) const { return find_argument(arguments, name); }
    const ir::Argument *output(Symbol f, int k = 0) const { return find_output(arguments, f, k); }
    bool is_output(Symbol f) const { return output(f) != nullptr; }
    // Null if there is no such function (an image, say).
    const program::FunctionContents *function(Symbol f) const;
    bool is_read_by_extern(Symbol f) const;
    Symbol buffer_of(Symbol f, int k) const { return buffers.at(f).at(size_t(k)); }
};

}  // namespace tessera::lower
