#include "codegen/nvptx/architecture.h"
#include "codegen/llvm/patterns.h"
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <map>
#include <mutex>

namespace tessera::codegen {

namespace I = llvm::Intrinsic;

namespace {

// The machine's approximations of functions, one element at a time; the rest LLVM finds by itself.
// They are as good as what a CPU takes: within 1e-6, and subnormal numbers are 0.
class DevicePatterns final : public Patterns {
public:
    using Patterns::Patterns;
    Value *reduce(const VectorReduce &, const Expr &) override { return nullptr; }
    Value *intrinsic(const IntrinsicCall &) override { return nullptr; }
    Value *shift(Value *, Value *, Type, const Shift &) override { return nullptr; }
    Value *fast_inverse(Value *x, int, bool of_root) override {
        return for_each_element(x, [&](Value *e) {
            return machine_call(of_root ? I::nvvm_rsqrt_approx_ftz_f : I::nvvm_rcp_approx_ftz_f,
                                {e});
        });
    }

    // A division is eight instructions and a branch.
    bool divides_by_reciprocals() const override { return true; }

    Value *fast_exp(Value *x) override {
        return for_each_element(x, [&](Value *e) {
            return machine_call(I::nvvm_ex2_approx_ftz, {multiple(e, 1.4426950408889634)},
                                {e->getType()});
        });
    }
    Value *fast_log(Value *x) override {
        return for_each_element(x, [&](Value *e) {
            Value *power = machine_call(I::nvvm_lg2_approx_ftz_f, {e});
            return b.CreateFMul(power, llvm::ConstantFP::get(e->getType(), 0.6931471805599453));
        });
    }

private:
    // A factor of a product by a constant, if it is one.
    static const llvm::ConstantFP *factor_of(const llvm::BinaryOperator *op) {
        if (!op || op->getOpcode() != llvm::Instruction::FMul) return nullptr;
        return llvm::dyn_cast<llvm::ConstantFP>(op->getOperand(1));
    }
    // Multiplies by a constant: the constants in x, a product or a difference of two, if they are
    // there.
    Value *multiple(Value *x, double by) {
        const auto *op = llvm::dyn_cast<llvm::BinaryOperator>(x);
        const auto constant = [&](double c) { return llvm::ConstantFP::get(x->getType(), c); };
        if (const llvm::ConstantFP *factor = factor_of(op))
            return b.CreateFMul(op->getOperand(0),
                                constant(double(factor->getValueAPF().convertToFloat()) * by));
        const auto is_product = [](Value *v) {
            return factor_of(llvm::dyn_cast<llvm::BinaryOperator>(v)) != nullptr;
        };
        const bool is_difference = op && op->getOpcode() == llvm::Instruction::FSub &&
                                   is_product(op->getOperand(0)) && is_product(op->getOperand(1));
        if (!is_difference) return b.CreateFMul(x, constant(by));
        return b.CreateFSub(multiple(op->getOperand(0), by), multiple(op->getOperand(1), by));
    }
    template<typename F> Value *for_each_element(Value *x, F f) {
        const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
        if (!type) return f(x);
        Value *all = llvm::PoisonValue::get(x->getType());
        for (unsigned i = 0; i < type->getNumElements(); i++)
            all = b.CreateInsertElement(all, f(b.CreateExtractElement(x, i)), i);
        return all;
    }
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
        return std::make_unique<DevicePatterns>(emitter);
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
                                   : "+ptx65";
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
