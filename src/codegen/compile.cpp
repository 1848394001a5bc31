#include "codegen/compile.h"
#include "base/large_stack.h"
#include "codegen/llvm/architecture.h"
#include "codegen/llvm_errors.h"
#include "codegen/machine.h"
#include <algorithm>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar.h>

namespace tessera::codegen {
namespace {

// Emits and optimises, then hands the module to `use`.
void with_module(const ir::Module &module, const Target &target, const Options &options,
                 const std::function<void(llvm::Module &, llvm::TargetMachine &)> &use) {
    run_on_large_stack([&] {
        PhaseTimer timer(options);
        llvm::LLVMContext context;
        keep_errors(context);
        auto machine = make_target_machine(target, false);
        std::unique_ptr<llvm::Module> llvm_module;
        timer.run("emit LLVM IR",
                  [&] { llvm_module = emit_llvm(context, module, target, *machine); });
        if (options.verify) timer.run("verify", [&] { verify(*llvm_module); });
        if (options.optimize) {
            timer.run("optimize", [&] { optimize(*llvm_module, *machine, target); });
        }
        timer.run("write", [&] { use(*llvm_module, *machine); });
    });
}

// Loop strength reduction takes time that grows with the square of a function's length and with how
// deep its loops nest, and gains nothing measurable in one this long: of 90 s for 14,600
// instructions, 82 were its, and 2 s for 1,078 of them in loops up to 20 deep.
constexpr size_t longest_for_strength_reduction = 4000;  // instructions
constexpr unsigned ordinary_depth = 8;                   // of loops, in tiled code
constexpr size_t most_in_deeper_loops = 300;             // instructions

size_t instructions_deeper_than(unsigned depth, llvm::Function &f) {
    llvm::DominatorTree dominators(f);
    llvm::LoopInfo loops(dominators);
    size_t instructions = 0;
    for (const llvm::BasicBlock &block : f) {
        if (loops.getLoopDepth(&block) > depth) instructions += block.size();
    }
    return instructions;
}

// The scheduler goes through all uses of a register for each instruction that reads it: of one
// block of 8,192 unrolled points, which all read one base address, that took 18 s of 20.
constexpr size_t longest_for_scheduler = 20'000;  // instructions of a block

bool is_scheduled(const llvm::Module &module) {
    return std::all_of(module.begin(), module.end(), [](const llvm::Function &f) {
        return std::all_of(f.begin(), f.end(), [](const llvm::BasicBlock &block) {
            return block.size() <= longest_for_scheduler;
        });
    });
}

// Leaves passes out, and the analyses that only they want.
class PassesWithout final : public llvm::legacy::PassManager {
public:
    explicit PassesWithout(std::vector<llvm::AnalysisID> left_out)
        : left_out(std::move(left_out)) {}
    void add(llvm::Pass *pass) override {
        if (std::ranges::find(left_out, pass->getPassID()) != left_out.end()) {
            delete pass;
        } else {
            PassManager::add(pass);
        }
    }

private:
    const std::vector<llvm::AnalysisID> left_out;
};

llvm::AnalysisID strength_reduction() {
    const std::unique_ptr<llvm::Pass> pass(llvm::createLoopStrengthReducePass());
    return pass->getPassID();
}

void write_file(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &out,
                llvm::CodeGenFileType type) {
    architecture_of(machine.getTargetTriple()).work_around_llvm(module, machine);
    std::vector<llvm::AnalysisID> left_out;
    if (!reduces_strength(module)) left_out.push_back(strength_reduction());
    if (!is_scheduled(module)) left_out.push_back(&llvm::MachineSchedulerID);
    PassesWithout passes(std::move(left_out));
    if (machine.addPassesToEmitFile(passes, out, nullptr, type)) {
        throw InternalError("LLVM cannot write this kind of file");
    }
    passes.run(module);
    throw_kept_errors(module.getContext());
}

std::vector<char> bytes_of(const llvm::SmallVectorImpl<char> &data) {
    return {data.begin(), data.end()};
}

}  // namespace

bool reduces_strength(llvm::Module &module) {
    return std::all_of(module.begin(), module.end(), [](llvm::Function &f) {
        return f.isDeclaration() ||
               (f.getInstructionCount() <= longest_for_strength_reduction &&
                instructions_deeper_than(ordinary_depth, f) <= most_in_deeper_loops);
    });
}

llvm::SmallVector<char, 0> object_code(llvm::Module &module, llvm::TargetMachine &machine) {
    llvm::SmallVector<char, 0> data;
    llvm::raw_svector_ostream out(data);
    write_file(module, machine, out, llvm::CodeGenFileType::ObjectFile);
    return data;
}

std::string to_llvm_ir(const ir::Module &module, const Target &target, const Options &options) {
    std::string text;
    with_module(module, target, options, [&](llvm::Module &m, llvm::TargetMachine &) {
        llvm::raw_string_ostream out(text);
        m.print(out, nullptr);
    });
    return text;
}

std::string to_assembly(const ir::Module &module, const Target &target, const Options &options) {
    llvm::SmallVector<char, 0> data;
    with_module(module, target, options, [&](llvm::Module &m, llvm::TargetMachine &machine) {
        llvm::raw_svector_ostream out(data);
        write_file(m, machine, out, llvm::CodeGenFileType::AssemblyFile);
    });
    return {data.begin(), data.end()};
}

std::vector<char> to_object(const ir::Module &module, const Target &target,
                            const Options &options) {
    llvm::SmallVector<char, 0> data;
    with_module(module, target, options, [&](llvm::Module &m, llvm::TargetMachine &machine) {
        if (target.has_feature(Target::EmbedBitcode)) {
            llvm::embedBitcodeInModule(m, llvm::MemoryBufferRef(), /*EmbedBitcode=*/true,
                                       /*EmbedCmdline=*/false, {});
        }
        data = object_code(m, machine);
    });
    return bytes_of(data);
}

std::vector<char> to_bitcode(const ir::Module &module, const Target &target,
                             const Options &options) {
    llvm::SmallVector<char, 0> data;
    with_module(module, target, options, [&](llvm::Module &m, llvm::TargetMachine &) {
        llvm::raw_svector_ostream out(data);
        llvm::WriteBitcodeToFile(m, out);
    });
    return bytes_of(data);
}

}  // namespace tessera::codegen
