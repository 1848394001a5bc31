#pragma once
#include "base/target.h"
#include "codegen/nvptx/kernel_reports.h"
#include <string>

namespace tessera::codegen {

// Returns true if code of the kernels for this compute capability has instructions that only GPUs
// of exactly it have, such as wgmma of 9.0a. CompileError if it lacks instructions that they need.
bool is_exact(const ir::Module &module, int capability);

// Returns true if kernels wait, when they begin, for those before them on their stream, which the
// target asks for (cuda_dependent_launch) and GPUs from compute capability 9.0 on can.
bool waits_for_kernels(const Target &target, int capability);

// Returns ptxas's name of the GPUs that code is for: sm_80, sm_90a.
std::string gpu_name(int capability, bool is_exact);

// The kernels of a module as PTX, for a compute capability, as in 90 for 9.0.
// Adds what they may report to `reports`. CompileError if one does what kernels cannot do.
std::string to_ptx(const ir::Module &module, const Target &target, int capability,
                   KernelReports &reports);

}  // namespace tessera::codegen
