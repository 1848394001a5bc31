#include "codegen/x86/masked_stores.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
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

}  // namespace

void split_single_lane_stores(llvm::Module &module) {
    std::vector<std::pair<llvm::IntrinsicInst *, unsigned>> stores;
    for (llvm::Function &f : module) {
        for (llvm::Instruction &i : llvm::instructions(f)) {
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
            if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
            if (auto lane = only_lane(call->getArgOperand(2))) stores.emplace_back(call, *lane);
        }
    }
    for (auto [call, lane] : stores) {
        llvm::IRBuilder<> b(call);
        llvm::Value *element = b.CreateExtractElement(call->getArgOperand(0), lane);
        uint64_t bytes = module.getDataLayout().getTypeStoreSize(element->getType());
        llvm::Value *pointer =
            b.CreateConstGEP1_64(element->getType(), call->getArgOperand(1), lane);
        llvm::Align align = call->getParamAlign(1).valueOrOne();
        auto *store =
            b.CreateAlignedStore(element, pointer, llvm::commonAlignment(align, lane * bytes));
        store->setAAMetadata(call->getAAMetadata());
        call->eraseFromParent();
    }
}

}  // namespace tessera::codegen
