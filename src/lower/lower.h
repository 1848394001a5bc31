#pragma once
#include "ir/verifier.h"
#include "lower/context.h"
#include <span>

namespace tessera::lower {

struct LowerOptions {
    // Called with the IR after every pass. Its names live no longer than what lowering returns.
    std::function<void(std::string_view pass, const ir::Stmt &after)> trace;
    // Run the verifier after every pass; an InternalError names the pass that broke the IR.
    bool verify = false;
    // Loops that cannot be unrolled are serial, with a warning.
    bool permit_failed_unroll = false;
    // Fill in LoweredFunction::touched.
    bool touched_ranges = false;
};

// A pipeline on its way down: its IR at some stage, which says what is known of its functions and
// loops.
struct Lowering {
    // The names that lowering has made: they live as long as this, or the module, does.
    SymbolArenaRef symbols;
    program::Program program;
    Context context;
    ir::LoweredFunction function;
    ir::VerifyOptions rules;  // what the IR may still hold

    // The module of the one function that it has become.
    ir::Module module() &&;
};

// The stages of lowering, each made from the one before it. They throw CompileError if the program,
// as scheduled, makes no sense.
//
// Loop nests over Funcs (Realize, ProducerConsumer, Provide, Call), with the checks of what the
// pipeline is called with around them.
Lowering nests(const program::Program &program, const Target &target,
               const LowerOptions &options = {});
// The same, with storage that is folded, windows that slide, stages that are skipped or run on
// other threads, tracing and prefetches.
Lowering conceptual(Lowering nests);
// Loads and stores of flat buffers; loops are as they were scheduled.
Lowering flat(Lowering conceptual);
// Returns the IR that code is generated from.
Lowering lowered(Lowering flat);

// All of them. Turns a program into a module of flat loops over loads and stores. The module's one
// function has the program's name; its arguments are the scalar parameters and input buffers that
// the program reaches, in the order of program::find_parameters, then the buffers of the outputs,
// one per value. Throws CompileError if the program, as scheduled, makes no sense.
ir::Module lower(const program::Program &program, const Target &target,
                 const LowerOptions &options = {});

// The passes that follow the building of the loop nests, in order.
std::span<const Pass> passes();

// A pass over a module, which back ends run on what lowering returns, if it suits their machine.
struct ModulePass {
    std::string_view name;
    ir::Module (*run)(const ir::Module &, const Target &);
};

std::span<const ModulePass> module_passes();

}  // namespace tessera::lower
