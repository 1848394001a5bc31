#pragma once
#include "base/target.h"
#include "program/environment.h"

namespace tessera::lower {

// A function that the schedule computes by copying buffers (copy_to_device, copy_to_host) becomes
// an extern stage without a C function, whose only argument is what it copies:
//
//     g(x, y) = f(x, y), g.copy_to_device()      ->      g: f is copied to the device
//
// Images that are wrapped in functions without a schedule are copied themselves.
//
// CompileError if it is no plain copy, or has loops that cannot be around a copy; and if it, or the
// function of an extern stage, is to be on a device that the target does not have.
void make_copy_stages(program::Environment &environment, const Target &target);

}  // namespace tessera::lower
