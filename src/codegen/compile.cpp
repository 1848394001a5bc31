#include "codegen/compile.h"
#include "base/large_stack.h"
#include "codegen/machine.h"
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/Support/raw_ostream.h>

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

// Loop strength reduction takes time that grows with the square of a loop body's length, and finds
// little in a body this long: two thirds of the time that 10,000 scalar nodes took were its.
constexpr size_t longest_block_for_strength_reduction = 2000;

bool has_huge_block(const llvm::Module &module) {
    for (const llvm::Function &f : module) {
        for (const llvm::BasicBlock &block : f) {
            if (block.size() > longest_block_for_strength_reduction) return true;
        }
    }
    return false;
}

// While it lives, passes over `context` leave loop strength reduction out.
class WithoutStrengthReduction final : public llvm::OptPassGate {
public:
    explicit WithoutStrengthReduction(llvm::LLVMContext &context)
        : context(context), before(context.getOptPassGate()) {
        context.setOptPassGate(*this);
    }
    ~WithoutStrengthReduction() override { context.setOptPassGate(before); }
    WithoutStrengthReduction(const WithoutStrengthReduction &) = delete;
    WithoutStrengthReduction &operator=(const WithoutStrengthReduction &) = delete;

    bool isEnabled() const override { return true; }
    bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override {
        return name != "Loop Strength Reduction";
    }

private:
    llvm::LLVMContext &context;
    llvm::OptPassGate &before;
};

void write_file(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &out,
                llvm::CodeGenFileType type) {
    std::optional<WithoutStrengthReduction> gate;
    if (has_huge_block(module)) gate.emplace(module.getContext());
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, out, nullptr, type)) {
        throw InternalError("LLVM cannot write this kind of file");
    }
    passes.run(module);
}

std::vector<char> bytes_of(const llvm::SmallVectorImpl<char> &data) {
    return {data.begin(), data.end()};
}

}  // namespace

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
