#pragma once
#include "driver/compile.h"
#include "driver/output_file.h"
#include <functional>
#include <map>

namespace tessera::driver {

// The program for one of several targets; its algorithm may differ from the others', but not its
// arguments.
struct TargetProgram {
    program::Program program;
    Signature signature;  // the names of the arguments and outputs; not that of the function
};
using MakeProgram = std::function<TargetProgram(const Target &)>;

// Code for several targets behind one function, `name`, which runs that of the first target whose
// features the machine has, the richest tried first. It asks tessera_can_use_target_features(), and
// returns tessera_error_code_unsupported_target if there is none.
//
// For object, assembly, bitcode, llvm_assembly, stmt and conceptual_stmt there is one file for each
// target: its suffix goes before the extension (`suffixes` in the order of `targets`; empty: "-"
// and the target as text). An object of the function that chooses is beside the objects:
// _wrapper.o; in Halide's dialect the runtime is there, too (an archive): _runtime.o, unless a
// target has Target::NoRuntime. Other files are there once. Returns the paths of all.
//
// Throws CompileError, also if the targets are of different machines, or one is there twice.
std::vector<std::string> write_multitarget_files(const MakeProgram &make, const std::string &name,
                                                 const std::vector<Target> &targets,
                                                 const std::map<OutputFileType, std::string> &paths,
                                                 const std::vector<std::string> &suffixes = {});

// The function that chooses, and nothing else: `like` is the function of one of the targets,
// `functions` are those of all `targets`, richest first.
ir::Module dispatch_module(const std::string &name, const ir::LoweredFunction &like,
                           const std::vector<Target> &targets,
                           const std::vector<std::string> &functions);

}  // namespace tessera::driver
