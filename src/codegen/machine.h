#pragma once
#include "base/target.h"
#include "codegen/compile.h"
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>

namespace tessera::codegen {

// Makes LLVM ready to compile and to link; done once.
void initialize_llvm();

// LLVM's description of the target. Throws CompileError if there is no code generator for it.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target, bool jit);

// Runs the optimiser: passes that clean up after lowering. Loops are as the schedule wants them:
// they are neither vectorized nor unrolled, unless the target has EnableLLVMLoopOpt.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, const Target &target);

// Throws InternalError if the IR breaks LLVM's rules.
void verify(const llvm::Module &module);

// IR as it comes from the emitter, in a context that throws no names away if these are wanted.
std::unique_ptr<llvm::Module> emit_llvm(llvm::LLVMContext &context, const ir::Module &module,
                                        const Target &target, const llvm::TargetMachine &machine);

// Returns true if loop strength reduction is run: no function is too long for it, nor its loops too
// deep.
bool reduces_strength(llvm::Module &module);

// An ELF file.
llvm::SmallVector<char, 0> object_code(llvm::Module &module, llvm::TargetMachine &machine);

// Measures the phases of one compilation.
class PhaseTimer {
public:
    explicit PhaseTimer(const Options &options) : options(options) {}
    template<typename F> void run(std::string_view phase, F f) {
        double begin = now();
        f();
        if (options.report_time) options.report_time(phase, now() - begin);
    }

private:
    static double now();  // in milliseconds
    const Options &options;
};

}  // namespace tessera::codegen
