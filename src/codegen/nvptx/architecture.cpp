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
    DevicePatterns(Emitter &emitter, int capability) : Patterns(emitter), capability(capability) {}
    Value *reduce(const VectorReduce &node, const Expr &accumulator) override {
        return node.op == ReduceOp::Add ? dot(node, accumulator) : nullptr;
    }
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

    // Two at a time, by way of float16, which has all values.
    Value *float32_from_float8(Value *v, Type from) override {
        if (capability < 89) return nullptr;
        const auto id = from.code() == TypeCode::Float8E4M3 ? I::nvvm_e4m3x2_to_f16x2_rn
                                                            : I::nvvm_e5m2x2_to_f16x2_rn;
        return by_pairs(v, register_type(Float(32, from.lanes())), [&](Value *first, Value *next) {
            Value *pair = b.CreateInsertElement(pair_of(b.getInt8Ty()), first, uint64_t(0));
            pair = b.CreateInsertElement(pair, next, 1);
            Value *halves = machine_call(id, {b.CreateBitCast(pair, b.getInt16Ty())});
            return b.CreateFPExt(halves, llvm::FixedVectorType::get(b.getFloatTy(), 2));
        });
    }
    Value *float8_from_float32(Value *v, Type to) override {
        if (capability < 89) return nullptr;
        const auto id =
            to.code() == TypeCode::Float8E4M3 ? I::nvvm_ff_to_e4m3x2_rn : I::nvvm_ff_to_e5m2x2_rn;
        return by_pairs(v, register_type(to), [&](Value *first, Value *next) {
            // The first operand becomes the upper byte.
            return b.CreateBitCast(machine_call(id, {next, first}),
                                   llvm::FixedVectorType::get(b.getInt8Ty(), 2));
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
    // dp4a and dp2a: the products of four bytes, or of two int16s and two bytes, are added to 32
    // bits.
    Value *dot(const VectorReduce &node, const Expr &accumulator) {
        Product product;
        if (!find_product(node.value, product)) return nullptr;
        Expr wide = product.a, bytes = product.b;
        if (wide.type().bits() < bytes.type().bits()) std::swap(wide, bytes);
        const int factor = node.value.type().lanes() / node.lanes, bits = wide.type().bits(),
                  together = 32 / bits;
        const bool fits = node.type.bits() == 32 && node.type.is_int_or_uint() &&
                          bytes.type().bits() == 8 && (bits == 8 || bits == 16) &&
                          factor % together == 0;
        if (!fits) return nullptr;
        Value *x = value(wide), *y = value(bytes);
        Value *sums = accumulator.defined() ? value(accumulator) : int_constant(node.type, 0);
        Value *all = llvm::PoisonValue::get(register_type(node.type));
        for (int lane = 0; lane < node.lanes; lane++) {
            Value *sum = slice(sums, lane, 1, 1);
            for (int i = lane * factor; i < (lane + 1) * factor; i += together)
                sum = add_products(sum, word(slice(x, i, 1, together)),
                                   word(slice(y, i, 1, together)), wide.type(), bytes.type());
            if (node.lanes == 1) return sum;
            all = b.CreateInsertElement(all, sum, uint64_t(lane));
        }
        return all;
    }
    // Elements of 16 or 32 bits as one word.
    Value *word(Value *elements) {
        const uint64_t bits = elements->getType()->getPrimitiveSizeInBits().getFixedValue();
        return b.CreateZExt(b.CreateBitCast(elements, b.getIntNTy(unsigned(bits))), b.getInt32Ty());
    }
    Value *add_products(Value *sum, Value *x, Value *y, Type wide, Type bytes) {
        constexpr I::ID four[] = {I::nvvm_idp4a_u_u, I::nvvm_idp4a_u_s, I::nvvm_idp4a_s_u,
                                  I::nvvm_idp4a_s_s},
                        two[] = {I::nvvm_idp2a_u_u, I::nvvm_idp2a_u_s, I::nvvm_idp2a_s_u,
                                 I::nvvm_idp2a_s_s};
        const size_t form = size_t(wide.is_int() ? 2 : 0) + (bytes.is_int() ? 1 : 0);
        if (wide.bits() == 8) return b.CreateIntrinsic(four[form], {x, y, sum});
        return b.CreateIntrinsic(two[form], {x, y, b.getFalse(), sum});
    }
    template<typename F> Value *for_each_element(Value *x, F f) {
        const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
        if (!type) return f(x);
        Value *all = llvm::PoisonValue::get(x->getType());
        for (unsigned i = 0; i < type->getNumElements(); i++)
            all = b.CreateInsertElement(all, f(b.CreateExtractElement(x, i)), i);
        return all;
    }
    static Value *pair_of(llvm::Type *element) {
        return llvm::PoisonValue::get(llvm::FixedVectorType::get(element, 2));
    }
    // Results of the type, of which f makes two of two elements; the last may stand alone.
    template<typename F> Value *by_pairs(Value *x, llvm::Type *result, F f) {
        const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
        if (!type) return b.CreateExtractElement(f(x, x), uint64_t(0));
        Value *all = llvm::PoisonValue::get(result);
        const unsigned count = type->getNumElements();
        for (unsigned i = 0; i < count; i += 2) {
            Value *first = b.CreateExtractElement(x, i);
            Value *pair = f(first, i + 1 < count ? b.CreateExtractElement(x, i + 1) : first);
            for (unsigned k = 0; k < 2 && i + k < count; k++)
                all = b.CreateInsertElement(all, b.CreateExtractElement(pair, k), i + k);
        }
        return all;
    }

    const int capability;
};

class NVPTX final : public Architecture {
public:
    explicit NVPTX(const NvptxKind &kind)
        : kind(kind), name(str("sm_", kind.capability, kind.is_exact ? "a" : "")) {}

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
        return std::make_unique<DevicePatterns>(emitter, kind.capability);
    }

private:
    // The version of PTX: that of the oldest driver that knows the capability, and what is used.
    const char *plain_features() const override {
        const int capability = kind.capability, least = capability >= 89 ? kind.least_ptx : 0;
        return capability >= 120              ? "+ptx87"
               : capability >= 100            ? "+ptx86"
               : least >= 84                  ? "+ptx84"
               : kind.is_exact || least >= 80 ? "+ptx80"
               : capability >= 89             ? "+ptx78"
               : capability >= 86             ? "+ptx71"
               : capability >= 80             ? "+ptx70"
                                              : "+ptx65";
    }
    std::span<const MachineFeature> machine_features() const override { return {}; }

    const NvptxKind kind;
    const std::string name;
};

}  // namespace

const Architecture &nvptx_architecture(const NvptxKind &kind) {
    static std::mutex mutex;
    static auto *known = new std::map<NvptxKind, NVPTX>;
    const std::lock_guard lock(mutex);
    auto found = known->find(kind);
    if (found == known->end()) found = known->try_emplace(kind, kind).first;
    return found->second;
}

}  // namespace tessera::codegen
