#pragma once
#include "lower/context.h"
#include <span>

namespace tessera::lower {

struct LowerOptions {
    // Called with the IR after every pass.
    std::function<void(std::string_view pass, const ir::Stmt &after)> trace;
    // Run the verifier after every pass; an InternalError names the pass that broke the IR.
    bool verify = false;
    // Loops that cannot be unrolled are serial, with a warning.
    bool permit_failed_unroll = false;
    // Fill in LoweredFunction::touched.
    bool touched_ranges = false;
};

// Turns a program into a module of flat loops over loads and stores. The module's one function has
// the program's name; its arguments are the scalar parameters and input buffers that the program
// reaches, in the order of program::find_parameters, then the buffers of the outputs, one per
// value. Throws CompileError if the program, as scheduled, makes no sense.
ir::Module lower(const program::Program &program, const Target &target,
                 const LowerOptions &options = {});

// A pass, as it is run by itself: on any IR of its level.
struct Pass {
    std::string_view name;
    ir::Stmt (*run)(const ir::Stmt &, const Context &);
};

// The passes that follow the building of the loop nests, in order.
std::span<const Pass> passes();

}  // namespace tessera::lower
