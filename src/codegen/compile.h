#pragma once
#include "base/target.h"
#include "ir/module.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// From lowered, flat IR to machine code.
//
// A LoweredFunction `f` becomes C functions:
//     int f(args...)                    scalars by value, buffers as tessera_buffer_t *
//     int f_argv(void *const *argv)     per argument the tessera_buffer_t *, or a pointer to the
//                                       scalar
//     const tessera_filter_metadata_t *f_metadata(void)      in files only
// The first two return 0 or a tessera_error_code_t. With Target::UserContext, and in this process,
// the user context (`__user_context`, a handle) goes before the other arguments. A Buffer of the
// program itself is an argument in this process; files contain it.
//
// In files with Target::CPlusPlusMangling they are functions of C++, in the namespaces that f's
// name has ("ns::f").
namespace tessera::codegen {

// The arguments of the C function, in its order.
std::vector<ir::Argument> passed_arguments(const ir::LoweredFunction &f, const Target &target);

// The names of the three functions for linkers.
struct LinkNames {
    std::string function, argv, metadata;
};
LinkNames link_names(const ir::LoweredFunction &f, const Target &target);

struct Options {
    bool verify = false;   // check the LLVM IR: InternalError if it is broken
    bool optimize = true;  // run LLVM's optimiser before making machine code
    int threads = 2;       // how many may work on one module at the same time
    // Called for each phase as it ends: its name and the milliseconds it took.
    std::function<void(std::string_view phase, double milliseconds)> report_time;
    // The lines where the user named functions that the code calls, for errors.
    std::map<std::string, Location> written;
};

// All four throw CompileError if this compiler makes no code for the target.
std::string to_llvm_ir(const ir::Module &module, const Target &target, const Options &options = {});
std::string to_assembly(const ir::Module &module, const Target &target,
                        const Options &options = {});
std::vector<char> to_object(const ir::Module &module, const Target &target,
                            const Options &options = {});
std::vector<char> to_bitcode(const ir::Module &module, const Target &target,
                             const Options &options = {});

// Functions that compiled code may call besides the runtime's and the C library's.
using ExternSymbols = std::map<std::string, void *>;

// The machine code of a module for this process, before it is linked: ELF files, which may be kept
// on disk.
struct JitObjects {
    std::vector<std::string> files;
    std::vector<std::string> functions;  // of the module
    bool have_kernels = false;
};
// Throws CompileError if the target is another machine's.
JitObjects to_jit_objects(const ir::Module &module, const Target &target,
                          const Options &options = {});
// Tells apart what beside the module and the target decides the code: what is installed on this
// machine and is taken for it.
std::string code_environment(const Target &target);

// A module in memory, ready to run. Copies share the code; the last one to go frees it.
// Everything may be called from several threads.
class JitModule {
public:
    using ArgvFunction = int (*)(void *const *argv);

    // Throws CompileError if the target is another machine's, or if a function that the module
    // calls is found nowhere.
    JitModule(const ir::Module &module, const Target &target, const ExternSymbols &symbols = {},
              const Options &options = {});
    JitModule(const JitObjects &objects, const Target &target, const ExternSymbols &symbols = {},
              const Options &options = {});

    // InternalError if there is no function of this name in the module.
    ArgvFunction argv_function(const std::string &name) const;
    void *address(const std::string &name) const;  // of the C function
    size_t bytes() const;                          // returns how many its code and constants take

private:
    struct Code;
    std::shared_ptr<const Code> code;
};

}  // namespace tessera::codegen
