#include "codegen/nvptx/architecture.h"
#include "codegen/llvm/patterns.h"
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <map>
#include <mutex>

namespace tessera::codegen {
namespace {

// What LLVM finds by itself.
class NoPatterns final : public Patterns {
public:
    using Patterns::Patterns;
    Value *reduce(const VectorReduce &, const Expr &) override { return nullptr; }
    Value *intrinsic(const IntrinsicCall &) override { return nullptr; }
    Value *shift(Value *, Value *, Type, const Shift &) override { return nullptr; }
    Value *fast_inverse(Value *, int, bool) override { return nullptr; }
};

class NVPTX final : public Architecture {
public:
    NVPTX(int capability, bool is_exact)
        : capability(capability), is_exact(is_exact),
          name(str("sm_", capability, is_exact ? "a" : "")) {}

    llvm::Triple triple() const override { return llvm::Triple("nvptx64-nvidia-cuda"); }
    void initialize_llvm() const override {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    }
    const char *cpu() const override { return name.c_str(); }
    std::string tuning(const Target &) const override { return name; }
    // Two registers make an address.
    int index_bits() const override { return 32; }
    unsigned address_space(AddressSpace space) const override {
        switch (space) {
        case AddressSpace::Generic: return 0;
        case AddressSpace::Global: return 1;
        case AddressSpace::Shared: return 3;
        case AddressSpace::Private: return 0;  // LLVM finds out what is local
        }
        return 0;
    }
    bool computes_half(const Target &) const override { return true; }
    bool prefers_gather(const Target &, Type) const override { return false; }
    void fence_streamed_stores(llvm::IRBuilder<> &) const override {}
    void work_around_llvm(llvm::Module &, const llvm::TargetMachine &) const override {}
    std::unique_ptr<Patterns> patterns(Emitter &emitter) const override {
        return std::make_unique<NoPatterns>(emitter);
    }

private:
    // The version of PTX: that of the oldest driver that knows the capability.
    const char *plain_features() const override {
        return capability >= 120   ? "+ptx87"
               : capability >= 100 ? "+ptx86"
               : is_exact          ? "+ptx80"
               : capability >= 89  ? "+ptx78"
               : capability >= 86  ? "+ptx71"
               : capability >= 80  ? "+ptx70"
                                   : "+ptx63";
    }
    std::span<const MachineFeature> machine_features() const override { return {}; }

    const int capability;
    const bool is_exact;
    const std::string name;
};

}  // namespace

const Architecture &nvptx_architecture(int capability, bool is_exact) {
    static std::mutex mutex;
    static auto *known = new std::map<std::pair<int, bool>, NVPTX>;
    const std::lock_guard lock(mutex);
    const std::pair key(capability, is_exact);
    auto found = known->find(key);
    if (found == known->end()) found = known->try_emplace(key, capability, is_exact).first;
    return found->second;
}

}  // namespace tessera::codegen
