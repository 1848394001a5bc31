#include "codegen/machine.h"
#include "base/error.h"
#include "codegen/backend.h"
#include "codegen/host/host_emitter.h"
#include "codegen/llvm_errors.h"
#include "codegen/nvptx/device_image.h"
#include "lower/finish/outline_bodies.h"
#include "lower/finish/select_accesses.h"
#include "lower/gpu/outline_kernels.h"
#include <chrono>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>
#include <mutex>

namespace tessera::codegen {
namespace {

void set_option(const char *name, unsigned value) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find(name);
    if (found == options.end()) return;
    static_cast<llvm::cl::opt<unsigned> *>(found->second)->setValue(value);
}

void limit_what_takes_quadratic_time() {
    // CodeGenPrepare visits a function as a whole until nothing changes, unless it has more blocks
    // than this: then it visits what has changed. The code is the same; of a function of 64
    // unrolled points, that took 14 s, and takes 0.2 s.
    set_option("cgpp-huge-func", 16);
    // The scheduler compares each load and store of a block with all others, unless there are more
    // than this: then with those close to it. 1,000 stores in a row took 2.4 s, and take 0.4 s.
    set_option("dag-maps-huge-region", 256);
}

}  // namespace

void initialize_llvm() {
    static std::once_flag once;
    std::call_once(once, [] {
        limit_what_takes_quadratic_time();
        install_llvm_error_handlers();
        for (const Backend &b : backends()) {
            if (b.architecture) b.architecture().initialize_llvm();
        }
    });
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target, bool jit) {
    initialize_llvm();
    const Architecture &architecture = architecture_of(target);
    llvm::Triple triple = architecture.triple();
    std::string error;
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!found)
        throw InternalError(str("LLVM does not have the target ", triple.str(), ": ", error));
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    Target all = target.with_implied_features();
    auto model = target.has_feature(Target::LLVMLargeCodeModel) ? llvm::CodeModel::Large
                                                                : llvm::CodeModel::Small;
    auto *machine =
        found->createTargetMachine(triple, architecture.cpu(), architecture.features(all), options,
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
    const ir::Module kernels = lower::outline_kernels(module);
    const ir::Module outlined = lower::outline_bodies(kernels);
    HostEmitter(*result, target)
        .emit_module(lower::select_accesses(outlined, target), device_code(kernels, target));
    return result;
}

double PhaseTimer::now() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace tessera::codegen
