#pragma once
#include "interpret/foreign_call.h"
#include "ir/module.h"

namespace tessera::interpret {

struct StatementOptions {
    ExternMap externs;
    void *user_context = nullptr;
    // The first contents of outputs count as values that may be read (`undef` pipelines do), and
    // not every element of them has to be written.
    bool outputs_have_values = false;
    // Before storage is flattened: the arguments that hold the values of a function. By default the
    // argument of the function's own symbol.
    std::unordered_map<Symbol, std::vector<Symbol>> buffers;
    // Holds the functions that are invoked, if any are.
    const ir::Module *module = nullptr;
    // After running so many statements, OutOfSteps is thrown.
    uint64_t max_statements = UINT64_MAX;
};

class OutOfSteps final : public RuntimeError {
public:
    using RuntimeError::RuntimeError;
};

// Runs lowered code statement by statement, before or after storage is flattened, and returns what
// the compiled function would return. `args`: for each argument a pointer to the scalar, or the
// tessera_buffer_t. A failed assertion calls the runtime's error functions, as compiled code does.
//
// Throws RuntimeError if the code breaks a rule that compiled code would not notice:
// - a load, store, Call or Provide outside of its allocation, or of a wrong alignment;
// - a value made from memory that was never written is stored to an output, or decides about a
//   branch, a loop, a predicate or where to store;
// - two iterations of a parallel loop touch the same element, one of them writing another value
//   than is there, and not both below Atomic;
// - all of what runs at the same time waits for something;
// - it returns 0 and has not written all elements of its outputs.
// Parallel loops run serially; forks run by turns, always in the same order.
int run_statement(const ir::LoweredFunction &f, std::span<void *const> args,
                  const StatementOptions &options = {});

}  // namespace tessera::interpret
