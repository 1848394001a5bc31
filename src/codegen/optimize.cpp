#include "codegen/machine.h"
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace tessera::codegen {
namespace {

struct Analyses {
    llvm::LoopAnalysisManager loop;
    llvm::FunctionAnalysisManager function;
    llvm::CGSCCAnalysisManager graph;
    llvm::ModuleAnalysisManager module;

    explicit Analyses(llvm::PassBuilder &builder) {
        builder.registerModuleAnalyses(module);
        builder.registerCGSCCAnalyses(graph);
        builder.registerFunctionAnalyses(function);
        builder.registerLoopAnalyses(loop);
        builder.crossRegisterProxies(loop, function, graph, module);
    }
};

llvm::FunctionPassManager clean_up_passes() {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(true));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    llvm::LoopPassManager loops;
    loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), true));
    passes.addPass(llvm::EarlyCSEPass(true));
    passes.addPass(llvm::DSEPass());  // of sums whose next value is stored at the same place
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::ADCEPass());
    return passes;
}

}  // namespace

void optimize(llvm::Module &module, llvm::TargetMachine &machine, const Target &target) {
    bool loops = target.has_feature(Target::EnableLLVMLoopOpt);
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = loops;
    tuning.SLPVectorization = loops;
    tuning.LoopUnrolling = loops;
    tuning.LoopInterleaving = loops;
    llvm::PassBuilder builder(&machine, tuning);
    Analyses analyses(builder);
    llvm::ModulePassManager passes;
    if (loops) {
        passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
    } else {
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(clean_up_passes()));
    }
    passes.run(module, analyses.module);
}

}  // namespace tessera::codegen
