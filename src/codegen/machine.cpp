#include "codegen/machine.h"
#include "base/error.h"
#include "codegen/llvm/emitter.h"
#include "codegen/x86/features.h"
#include <chrono>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>
#include <mutex>

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86AsmParser();
}

namespace tessera::codegen {
namespace {

// CodeGenPrepare visits a function as a whole until nothing changes, unless it has more blocks than
// this: then it visits what has changed. The code is the same; of a function of 64 unrolled points,
// that took 14 s, and takes 0.2 s.
void visit_only_what_changed() {
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find("cgpp-huge-func");
    if (found == options.end()) return;
    static_cast<llvm::cl::opt<unsigned> *>(found->second)->setValue(16);
}

void initialize_llvm() {
    static std::once_flag once;
    std::call_once(once, [] {
        visit_only_what_changed();
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
    });
}

llvm::Triple triple_of(const Target &target) {
    if (target.arch != Target::X86 || target.bits != 64 || target.os != Target::Linux) {
        throw CompileError(str("no code can be made for the target ", target.to_string(),
                               "; what can be made is for x86-64-linux"));
    }
    for (Target::Feature f : Target::unsupported_features()) {
        if (!target.has_feature(f)) continue;
        throw CompileError(str("no code can be made for the target ", target.to_string(),
                               "; leave ", Target::feature_to_name(f), " out"));
    }
    return llvm::Triple("x86_64", "unknown", "linux", "gnu");
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target, bool jit) {
    initialize_llvm();
    llvm::Triple triple = triple_of(target);
    std::string error;
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!found) throw InternalError(str("LLVM has no x86: ", error));
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    Target all = target.with_implied_features();
    auto model = target.has_feature(Target::LLVMLargeCodeModel) ? llvm::CodeModel::Large
                                                                : llvm::CodeModel::Small;
    auto *machine =
        found->createTargetMachine(triple, "x86-64", x86_feature_string(all), options,
                                   llvm::Reloc::PIC_, model, llvm::CodeGenOptLevel::Default, jit);
    return std::unique_ptr<llvm::TargetMachine>(machine);
}

void verify(const llvm::Module &module) {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(module, &out)) {
        throw InternalError(str("code generation made broken LLVM IR: ", text));
    }
}

std::unique_ptr<llvm::Module> emit_llvm(llvm::LLVMContext &context, const ir::Module &module,
                                        const Target &target, const llvm::TargetMachine &machine) {
    auto result = std::make_unique<llvm::Module>(module.name, context);
    result->setTargetTriple(machine.getTargetTriple());
    result->setDataLayout(machine.createDataLayout());
    Emitter(*result, target).emit_module(module);
    return result;
}

double PhaseTimer::now() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace tessera::codegen
