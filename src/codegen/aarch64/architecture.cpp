#include "codegen/aarch64/architecture.h"
#include "codegen/aarch64/patterns.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>

namespace tessera::codegen {
namespace {

// The runtime does not find out which version of the architecture a machine has.
constexpr MachineFeature rows[] = {
    {Target::ARMv81a, "+v8.1a", {}},
    {Target::ARMv82a, "+v8.2a", {}},
    {Target::ARMv83a, "+v8.3a", {}},
    {Target::ARMv84a, "+v8.4a", {}},
    {Target::ARMv85a, "+v8.5a", {}},
    {Target::ARMv86a, "+v8.6a", {}},
    {Target::ARMv87a, "+v8.7a", {}},
    {Target::ARMv88a, "+v8.8a", {}},
    {Target::ARMv89a, "+v8.9a", {}},
    {Target::ARMFp16, "+fullfp16", {tessera_cpu_arm_fp16}},
    {Target::ARMDotProd, "+dotprod", {tessera_cpu_arm_dotprod}},
};

// A store of three bytes that were truncated from 64 bits writes two of them: LLVM 22 takes their
// vector for one of 128 bits. The third is stored for itself.
void store_third_apart(llvm::StoreInst &store) {
    llvm::IRBuilder<> b(&store);
    llvm::Value *bytes = store.getValueOperand(), *at = store.getPointerOperand();
    auto *two = b.CreateAlignedStore(b.CreateShuffleVector(bytes, {0, 1}), at, store.getAlign());
    auto *third = b.CreateAlignedStore(b.CreateExtractElement(bytes, uint64_t(2)),
                                       b.CreateConstGEP1_64(b.getInt8Ty(), at, 2), llvm::Align(1));
    for (llvm::StoreInst *part : {two, third}) part->setAAMetadata(store.getAAMetadata());
    store.eraseFromParent();
}

class AArch64 final : public Architecture {
public:
    llvm::Triple triple() const override { return {"aarch64", "unknown", "linux", "gnu"}; }
    void initialize_llvm() const override {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
        LLVMInitializeAArch64AsmParser();
    }
    const char *cpu() const override { return "generic"; }
    std::string tuning(const Target &) const override { return "generic"; }
    bool computes_half(const Target &target) const override {
        return target.has_feature(Target::ARMFp16);
    }
    bool prefers_gather(const Target &, Type) const override { return false; }
    // The barriers of locks and semaphores order streamed stores like any other.
    void fence_streamed_stores(llvm::IRBuilder<> &) const override {}
    void work_around_llvm(llvm::Module &module, const llvm::TargetMachine &machine) const override;
    std::unique_ptr<Patterns> patterns(Emitter &emitter) const override {
        return aarch64_patterns(emitter);
    }

private:
    const char *plain_features() const override { return "+v8a,+neon"; }
    std::span<const MachineFeature> machine_features() const override { return rows; }
};

void AArch64::work_around_llvm(llvm::Module &module, const llvm::TargetMachine &) const {
    std::vector<llvm::StoreInst *> stores;
    for (llvm::Function &f : module) {
        for (llvm::Instruction &i : llvm::instructions(f)) {
            auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
            auto *type =
                store ? llvm::dyn_cast<llvm::FixedVectorType>(store->getValueOperand()->getType())
                      : nullptr;
            bool three_bytes =
                type && type->getNumElements() == 3 && type->getElementType()->isIntegerTy(8);
            if (three_bytes) stores.push_back(store);
        }
    }
    for (llvm::StoreInst *store : stores) store_third_apart(*store);
}

}  // namespace

const Architecture &aarch64_architecture() {
    static const AArch64 aarch64;
    return aarch64;
}

}  // namespace tessera::codegen
