#pragma once
#include "ir/module.h"

namespace tessera::lower {

struct OutlineOptions {
    // Make a Part of each of many serial loops in a row.
    bool outline_loops = true;
};

// Makes functions of the module (ir::FunctionKind) of all that runs on other threads. They take all
// that they use of the scope around them as arguments:
//
//     parallel for y in [0, +h):             parallel for y in [0, +h):
//         out[y * w] = in[y] + t       ->        invoke "f.par_for0"(y, address_of(in[0]), ...)
//
// and so do loops of which there are many in a row, as compilers take more than linear time for a
// long function. Arguments have the names that they have outside.
ir::Module outline_bodies(const ir::Module &module, const OutlineOptions &options = {});

}  // namespace tessera::lower
