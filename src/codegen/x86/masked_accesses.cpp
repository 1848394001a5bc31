#include "codegen/x86/masked_accesses.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <numeric>
#include <optional>

namespace tessera::codegen {
namespace {

// The lane that a constant mask lets through; none if it is more than one, or not known.
std::optional<unsigned> only_lane(const llvm::Value *mask) {
    const auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
    if (!constant || !type) return {};
    std::optional<unsigned> found;
    for (unsigned lane = 0; lane < type->getNumElements(); lane++) {
        const llvm::Constant *bit = constant->getAggregateElement(lane);
        if (!bit) return {};
        if (bit->isNullValue() || llvm::isa<llvm::UndefValue>(bit)) continue;
        if (found || !bit->isOneValue()) return {};
        found = lane;
    }
    return found;
}

void store_lane(llvm::IntrinsicInst &call, unsigned lane) {
    llvm::IRBuilder<> b(&call);
    llvm::Value *element = b.CreateExtractElement(call.getArgOperand(0), lane);
    uint64_t bytes = call.getDataLayout().getTypeStoreSize(element->getType());
    llvm::Value *pointer = b.CreateConstGEP1_64(element->getType(), call.getArgOperand(1), lane);
    llvm::Align align = call.getParamAlign(1).valueOrOne();
    auto *store =
        b.CreateAlignedStore(element, pointer, llvm::commonAlignment(align, lane * bytes));
    store->setAAMetadata(call.getAAMetadata());
    call.eraseFromParent();
}

bool is_eight_bytes(const llvm::Value *v) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return type && type->getNumElements() == 8 && type->getElementType()->isIntegerTy(8);
}

// The first eight lanes are v's; the others zero, or anything.
llvm::Value *sixteen_lanes(llvm::IRBuilder<> &b, llvm::Value *v, bool zeros) {
    std::vector<int> lanes(16);
    std::iota(lanes.begin(), lanes.end(), 0);
    llvm::Type *type = v->getType();
    llvm::Value *rest = zeros ? llvm::Constant::getNullValue(type) : llvm::PoisonValue::get(type);
    return b.CreateShuffleVector(v, rest, lanes);
}

llvm::Value *sixteen_lanes_of_mask(llvm::IRBuilder<> &b, llvm::Value *mask) {
    llvm::Value *bytes = b.CreateSExt(mask, llvm::FixedVectorType::get(b.getInt8Ty(), 8));
    bytes = sixteen_lanes(b, bytes, true);
    // Not to be seen through: else the mask is made longer all the same.
    auto *type = llvm::FunctionType::get(bytes->getType(), {bytes->getType()}, false);
    bytes = b.CreateCall(llvm::InlineAsm::get(type, "", "=v,0", false), {bytes});
    return b.CreateICmpNE(bytes, llvm::Constant::getNullValue(bytes->getType()));
}

void widen_load(llvm::IntrinsicInst &call) {
    llvm::IRBuilder<> b(&call);
    llvm::Value *otherwise = sixteen_lanes(b, call.getArgOperand(2), false);
    auto *wide = b.CreateMaskedLoad(otherwise->getType(), call.getArgOperand(0),
                                    call.getParamAlign(0).valueOrOne(),
                                    sixteen_lanes_of_mask(b, call.getArgOperand(1)), otherwise);
    wide->setAAMetadata(call.getAAMetadata());
    call.replaceAllUsesWith(b.CreateShuffleVector(wide, {0, 1, 2, 3, 4, 5, 6, 7}));
    call.eraseFromParent();
}

void widen_store(llvm::IntrinsicInst &call) {
    llvm::IRBuilder<> b(&call);
    auto *wide = b.CreateMaskedStore(sixteen_lanes(b, call.getArgOperand(0), false),
                                     call.getArgOperand(1), call.getParamAlign(1).valueOrOne(),
                                     sixteen_lanes_of_mask(b, call.getArgOperand(2)));
    wide->setAAMetadata(call.getAAMetadata());
    call.eraseFromParent();
}

}  // namespace

void mend_masked_accesses(llvm::Module &module, const llvm::TargetMachine &machine) {
    const llvm::MCSubtargetInfo &features = *machine.getMCSubtargetInfo();
    if (!features.checkFeatures("+avx512bw")) return;
    std::vector<llvm::IntrinsicInst *> calls;
    for (llvm::Function &f : module) {
        for (llvm::Instruction &i : llvm::instructions(f)) {
            if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) calls.push_back(call);
        }
    }
    for (llvm::IntrinsicInst *call : calls) {
        bool is_load = call->getIntrinsicID() == llvm::Intrinsic::masked_load;
        if (!is_load && call->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
        const llvm::Value *mask = call->getArgOperand(is_load ? 1 : 2);
        std::optional<unsigned> lane = only_lane(mask);
        if (is_load) {
            if (is_eight_bytes(call) && !llvm::isa<llvm::Constant>(mask)) widen_load(*call);
        } else if (lane) {
            store_lane(*call, *lane);
        } else if (is_eight_bytes(call->getArgOperand(0)) && !llvm::isa<llvm::Constant>(mask)) {
            widen_store(*call);
        }
    }
}

}  // namespace tessera::codegen
