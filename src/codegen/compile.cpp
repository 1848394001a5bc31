#include "codegen/compile.h"
#include "base/large_stack.h"
#include "codegen/llvm/architecture.h"
#include "codegen/machine.h"
#include <algorithm>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
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

// Leaves loop strength reduction out, and the analysis that only it wants.
class PassesWithoutStrengthReduction final : public llvm::legacy::PassManager {
public:
    void add(llvm::Pass *pass) override {
        if (pass->getPassID() == strength_reduction->getPassID()) {
            delete pass;
        } else {
            PassManager::add(pass);
        }
    }

private:
    const std::unique_ptr<llvm::Pass> strength_reduction{llvm::createLoopStrengthReducePass()};
};

void write_file(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &out,
                llvm::CodeGenFileType type) {
    architecture_of(machine.getTargetTriple()).mend(module, machine);
    std::unique_ptr<llvm::legacy::PassManager> passes;
    if (reduces_strength(module)) {
        passes = std::make_unique<llvm::legacy::PassManager>();
    } else {
        passes = std::make_unique<PassesWithoutStrengthReduction>();
    }
    if (machine.addPassesToEmitFile(*passes, out, nullptr, type)) {
        throw InternalError("LLVM cannot write this kind of file");
    }
    passes->run(module);
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
