#include "codegen/nvptx/ptx.h"
#include "base/large_stack.h"
#include "codegen/llvm_errors.h"
#include "codegen/machine.h"
#include "codegen/nvptx/architecture.h"
#include "codegen/nvptx/kernel_emitter.h"
#include "codegen/nvptx/libdevice.h"
#include "codegen/nvptx/widen_small_integers.h"
#include "ir/tensor_operation.h"
#include "ir/tile_copy.h"
#include "ir/visitor.h"
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>
#include <mutex>
#include <regex>

namespace tessera::codegen {
namespace {

std::unique_ptr<llvm::TargetMachine> make_gpu_machine(const Architecture &architecture,
                                                      const Target &target) {
    static std::once_flag once;
    std::call_once(once, [&] { architecture.initialize_llvm(); });
    install_llvm_error_handlers();
    std::string error;
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(architecture.triple(), error);
    if (!found) throw InternalError(str("LLVM does not make code for GPUs: ", error));
    return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
        architecture.triple(), architecture.cpu(), architecture.features(target),
        llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

// LLVM's passes for -O3, as text, but for two things. Instructions at the end of both arms of a
// branch stay in them: blocks at the border of an output take another arm than those within, and
// loads that are sunk to where the arms meet wait for what the others have loaded. And loops are
// unrolled as scheduled, and by ptxas.
std::string passes_for_kernels(llvm::TargetMachine &machine) {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.LoopInterleaving = false;
    tuning.SLPVectorization = true;
    llvm::PassInstrumentationCallbacks names;
    llvm::PassBuilder builder(&machine, tuning, std::nullopt, &names);
    std::string text;
    llvm::raw_string_ostream out(text);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
        .printPipeline(out, [&](llvm::StringRef type) {
            const llvm::StringRef name = names.getPassNameForClassName(type);
            return name.empty() ? type : name;
        });
    static const std::regex sinks("([;<])sink-common-insts"),
        unrolls(",loop-unroll(-full|<[^>]*>)");
    return std::regex_replace(std::regex_replace(text, sinks, "$1no-sink-common-insts"), unrolls,
                              "");
}

void optimize_kernels(llvm::Module &module, llvm::TargetMachine &machine) {
    llvm::PassBuilder builder(&machine);
    llvm::LoopAnalysisManager loop;
    llvm::FunctionAnalysisManager function;
    llvm::CGSCCAnalysisManager graph;
    llvm::ModuleAnalysisManager all;
    builder.registerModuleAnalyses(all);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(function);
    builder.registerLoopAnalyses(loop);
    builder.crossRegisterProxies(loop, function, graph, all);
    llvm::ModulePassManager passes;
    static const std::string text = passes_for_kernels(machine);
    if (llvm::Error error = builder.parsePassPipeline(passes, text))
        throw InternalError(
            str("LLVM does not know its own passes: ", llvm::toString(std::move(error))));
    passes.run(module, all);
}

std::string assembly_of(llvm::Module &module, llvm::TargetMachine &machine) {
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
        throw InternalError("LLVM cannot write PTX");
    passes.run(module);
    throw_kept_errors(module.getContext());
    return {text.begin(), text.end()};
}

// Returns the version of PTX that kernels need at least: 8.4 if they have values of floats of 8
// bits, which begin with one of these nodes, or instructions wgmma of signed and unsigned bytes.
int least_ptx(const ir::Module &module) {
    bool found = false, copies_boxes = false;
    const auto note = [&](const auto &node) { found |= node.type.is_float8(); };
    for (const ir::LoweredFunction &f : module.functions) {
        if (f.kind != ir::FunctionKind::Kernel) continue;
        ir::for_each_node(f.body, [&](const ir::Load &n) { note(n); });
        ir::for_each_node(f.body, [&](const ir::Cast &n) { note(n); });
        ir::for_each_node(f.body, [&](const ir::Reinterpret &n) { note(n); });
        ir::for_each_node(f.body, [&](const ir::Variable &n) { note(n); });
        ir::for_each_node(f.body, [&](const ir::MachineOp &op) {
            copies_boxes |= op.op == MachineOpKind::copy_tile;
            if (op.op != MachineOpKind::tensor) return;
            const ir::Instruction i = ir::TensorOperation::of(op).instruction;
            const bool is_wgmma = i.threads == 128 && i.operands.size() == 3;
            found |= is_wgmma && i.operands[1].type != i.operands[2].type;
        });
    }
    return found ? 84 : copies_boxes ? 80 : 0;
}

}  // namespace

bool is_exact(const ir::Module &module, int capability) {
    bool is_exact = false;
    const auto text = [](int of) { return str(of / 10, ".", of % 10); };
    const auto check = [&](const ir::Instruction &i) {
        is_exact |= i.is_of_one_capability;
        const bool is_there =
            i.is_of_one_capability ? capability == i.capability : capability >= i.capability;
        if (is_there) return;
        throw CompileError(
            str(module.name, " uses instructions ", i.name, ", which GPUs of compute capability ",
                text(capability), " do not have; give the target the feature cuda_capability_",
                i.capability,
                i.is_of_one_capability ? ", and no other capability" : " or a newer one"));
    };
    for (const ir::LoweredFunction &f : module.functions) {
        if (f.kind != ir::FunctionKind::Kernel) continue;
        ir::for_each_node(f.body, [&](const ir::MachineOp &op) {
            if (is_tensor_operation(op.op)) check(ir::TensorOperation::of(op).instruction);
            if (op.op == MachineOpKind::copy_tile)
                check(ir::TileCopy::is_group(op) ? ir::end_of_stores()
                                                 : ir::TileCopy::of(op).copy.instruction());
        });
    }
    return is_exact;
}

bool waits_for_kernels(const Target &target, int capability) {
    constexpr int first_that_can = 90;
    return target.has_feature(Target::CUDADependentLaunch) && capability >= first_that_can;
}

std::string gpu_name(int capability, bool is_exact) {
    return str("sm_", capability, is_exact ? "a" : "");
}

std::string to_ptx(const ir::Module &module, const Target &target, int capability,
                   KernelReports &reports) {
    std::string ptx;
    run_on_large_stack([&] {
        const Architecture &architecture =
            nvptx_architecture({capability, is_exact(module, capability), least_ptx(module)});
        const auto machine = make_gpu_machine(architecture, target);
        llvm::LLVMContext context;
        keep_errors(context);
        llvm::Module kernels(module.name, context);
        kernels.setTargetTriple(machine->getTargetTriple());
        kernels.setDataLayout(machine->createDataLayout());
        KernelEmitter emitter(kernels, target, architecture, capability, reports);
        for (const ir::LoweredFunction &f : module.functions) {
            if (f.kind == ir::FunctionKind::Kernel) emitter.emit_kernel(f);
        }
        link_libdevice(kernels);
        verify(kernels);
        optimize_kernels(kernels, *machine);
        for (llvm::Function &f : kernels) {
            if (!f.isDeclaration()) widen_small_integers(f);
        }
        ptx = assembly_of(kernels, *machine);
    });
    return ptx;
}

}  // namespace tessera::codegen
