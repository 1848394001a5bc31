#include "codegen/nvptx/widen_small_integers.h"
#include "base/error.h"
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <utility>
#include <vector>

namespace tessera::codegen {

namespace {

using llvm::Instruction;
using llvm::Value;

// Numbers, or vectors of them.
bool is_small(const Value *v) {
    const llvm::Type *element = v->getType()->getScalarType();
    return (element->isIntegerTy(8) || element->isIntegerTy(16)) && !v->getType()->isScalableTy();
}

// Small numbers that are computed of one another, in groups.
class Groups {
public:
    explicit Groups(const std::vector<Instruction *> &all) {
        for (Instruction *i : all) {
            if (!can_be_widened(*i)) continue;
            groups.insert(i);
            for (Value *operand : i->operands()) {
                auto *from = llvm::dyn_cast<Instruction>(operand);
                if (from && can_be_widened(*from)) groups.unionSets(i, from);
            }
        }
        for (Instruction *i : all) {
            if (!can_be_widened(*i)) continue;
            Count &count = counts[groups.getLeaderValue(i)];
            count.all++;
            count.products += i->getOpcode() == Instruction::Mul;
        }
    }
    // Returns true if it is of a group with products enough. The machine has no narrow ones. Logic
    // on bits, though, is done on all the numbers of a word at once, and would be done on each.
    bool are_widened(Instruction &i) const {
        constexpr int others = 8;  // for a product
        if (!can_be_widened(i)) return false;
        const Count count = counts.lookup(groups.getLeaderValue(&i));
        return count.products * others >= count.all;
    }

private:
    static bool can_be_widened(const Instruction &i) {
        if (!is_small(&i)) return false;
        switch (i.getOpcode()) {
        case Instruction::Add:
        case Instruction::Sub:
        case Instruction::Mul:
        case Instruction::And:
        case Instruction::Or:
        case Instruction::Xor:
        case Instruction::Shl:
        case Instruction::LShr:
        case Instruction::Select:
        case Instruction::PHI:
        case Instruction::Trunc:
        case Instruction::ZExt:
        case Instruction::ExtractElement:
        case Instruction::InsertElement:
        case Instruction::ShuffleVector: return true;
        case Instruction::Call: return llvm::isa<llvm::MinMaxIntrinsic>(i);
        default: return false;
        }
    }

    struct Count {
        int all = 0, products = 0;
    };
    llvm::EquivalenceClasses<Instruction *> groups;
    llvm::DenseMap<Instruction *, Count> counts;  // by the leader of a group
};

class Widen {
public:
    explicit Widen(llvm::Function &f) : f(f), b(f.getContext()) {}

    void run() {
        llvm::ReversePostOrderTraversal<llvm::Function *> blocks(&f);
        // Operands come before what uses them, but for those of phis.
        std::vector<Instruction *> all;
        for (llvm::BasicBlock *block : blocks) {
            for (Instruction &i : *block) all.push_back(&i);
        }
        const Groups groups(all);
        for (Instruction *i : all) {
            if (groups.are_widened(*i)) compute(*i);
        }
        for (auto [phi, wide] : phis) {
            for (unsigned n = 0; n < phi->getNumIncomingValues(); n++)
                wide->addIncoming(low_bits(phi->getIncomingValue(n)), phi->getIncomingBlock(n));
        }
        for (Instruction *i : all) {
            if (!replaced.contains(i)) use(*i);
        }
        for (Instruction *i : replaced) i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
        for (Instruction *i : replaced) i->eraseFromParent();
    }

private:
    // Numbers in 32 bits.
    struct Wide {
        Value *value = nullptr;
        bool is_exact = false;  // the bits above are 0; else they may be anything
    };

    llvm::Type *wide_type(const Value *v) { return v->getType()->getWithNewBitWidth(32); }

    void compute(Instruction &i) {
        b.SetInsertPoint(&i);
        const Wide made = computed(i);
        widened[&i] = made;
        replaced.insert(&i);
    }

    Wide computed(Instruction &i) {
        switch (i.getOpcode()) {
        case Instruction::Add:
        case Instruction::Sub:
        case Instruction::Mul:
            return {binary(i, low_bits(i.getOperand(0)), low_bits(i.getOperand(1)))};
        case Instruction::And:
        case Instruction::Or:
        case Instruction::Xor: return bitwise(i);
        case Instruction::Shl:
            return {binary(i, low_bits(i.getOperand(0)), exact(i.getOperand(1)))};
        case Instruction::LShr:
            return {binary(i, exact(i.getOperand(0)), exact(i.getOperand(1))), true};
        case Instruction::Select: return selected(llvm::cast<llvm::SelectInst>(i));
        case Instruction::PHI: {
            auto &phi = llvm::cast<llvm::PHINode>(i);
            llvm::PHINode *wide = b.CreatePHI(wide_type(&i), phi.getNumIncomingValues());
            phis.emplace_back(&phi, wide);
            return {wide};
        }
        case Instruction::Trunc: {
            Value *from = i.getOperand(0);
            return {is_small(from) ? low_bits(from) : b.CreateZExtOrTrunc(from, wide_type(&i))};
        }
        case Instruction::ZExt: {
            Value *from = i.getOperand(0);
            return {is_small(from) ? exact(from) : b.CreateZExt(from, wide_type(&i)), true};
        }
        case Instruction::ExtractElement: {
            const Wide all = wide(i.getOperand(0));
            return {b.CreateExtractElement(all.value, i.getOperand(1)), all.is_exact};
        }
        case Instruction::InsertElement: {
            const Wide all = wide(i.getOperand(0)), one = wide(i.getOperand(1));
            return {b.CreateInsertElement(all.value, one.value, i.getOperand(2)),
                    all.is_exact && one.is_exact};
        }
        case Instruction::ShuffleVector: {
            const Wide x = wide(i.getOperand(0)), y = wide(i.getOperand(1));
            const auto mask = llvm::cast<llvm::ShuffleVectorInst>(i).getShuffleMask();
            return {b.CreateShuffleVector(x.value, y.value, mask), x.is_exact && y.is_exact};
        }
        default: return called(llvm::cast<llvm::MinMaxIntrinsic>(i));
        }
    }
    Value *binary(const Instruction &i, Value *x, Value *y) {
        return b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(i).getOpcode(), x, y);
    }
    Wide bitwise(const Instruction &i) {
        const Wide x = wide(i.getOperand(0)), y = wide(i.getOperand(1));
        const bool any = i.getOpcode() == Instruction::And;
        return {binary(i, x.value, y.value),
                any ? x.is_exact || y.is_exact : x.is_exact && y.is_exact};
    }
    Wide selected(llvm::SelectInst &i) {
        const Wide x = wide(i.getTrueValue()), y = wide(i.getFalseValue());
        return {b.CreateSelect(i.getCondition(), x.value, y.value), x.is_exact && y.is_exact};
    }
    Wide called(llvm::MinMaxIntrinsic &i) {
        Value *x = i.getLHS(), *y = i.getRHS();
        const auto id = i.getIntrinsicID();
        if (i.isSigned()) return {b.CreateBinaryIntrinsic(id, with_sign(x), with_sign(y))};
        return {b.CreateBinaryIntrinsic(id, exact(x), exact(y)), true};
    }

    // ---- Operands ----

    Wide wide(Value *v) {
        if (auto found = widened.find(v); found != widened.end()) return found->second;
        if (llvm::isa<llvm::Constant>(v)) return {b.CreateZExt(v, wide_type(v)), true};
        llvm::IRBuilder<>::InsertPointGuard keep(b);
        if (auto *i = llvm::dyn_cast<Instruction>(v)) {
            const auto after = i->getInsertionPointAfterDef();
            if (!after) throw InternalError("nothing can stand behind a small number");
            b.SetInsertPoint(*after);
        } else {
            b.SetInsertPoint(&*f.getEntryBlock().getFirstInsertionPt());
        }
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(v); load && is_of_words(*load))
            return widened[v] = {elements_of_words(*load)};
        return widened[v] = {b.CreateZExt(v, wide_type(v)), true};  // as loads of one number do
    }
    // A vector that is loaded as words.
    static bool is_of_words(const llvm::LoadInst &load) {
        return load.getType()->isVectorTy() && load.getType()->getPrimitiveSizeInBits() % 32 == 0 &&
               load.getAlign() >= llvm::Align(4);
    }
    // The lowest element of a word is the word.
    Value *elements_of_words(llvm::LoadInst &load) {
        const auto *type = llvm::cast<llvm::FixedVectorType>(load.getType());
        const unsigned bits = type->getScalarSizeInBits(), in_word = 32 / bits;
        const unsigned count = type->getNumElements();
        Value *words =
            b.CreateBitCast(&load, llvm::FixedVectorType::get(b.getInt32Ty(), count / in_word));
        Value *all = llvm::PoisonValue::get(wide_type(&load));
        for (unsigned n = 0; n < count; n++) {
            Value *word = b.CreateExtractElement(words, n / in_word);
            const uint64_t below = uint64_t(n % in_word) * bits;
            all = b.CreateInsertElement(all, b.CreateLShr(word, below), n);
        }
        return all;
    }
    Value *low_bits(Value *v) { return wide(v).value; }
    Value *exact(Value *v) {
        const Wide w = wide(v);
        if (w.is_exact) return w.value;
        const uint32_t mask = (uint32_t(1) << v->getType()->getScalarSizeInBits()) - 1;
        return b.CreateAnd(w.value, llvm::ConstantInt::get(w.value->getType(), mask));
    }
    Value *with_sign(Value *v) {
        if (!is_replaced(v)) return b.CreateSExt(v, wide_type(v));
        return b.CreateSExt(b.CreateTrunc(low_bits(v), v->getType()), wide_type(v));
    }

    // ---- What uses the narrow numbers ----

    bool is_replaced(Value *v) const {
        const auto *i = llvm::dyn_cast<Instruction>(v);
        return i && replaced.contains(i);
    }
    // Narrow operands that are computed in 32 bits are cut; what takes 32 bits as well gets them.
    void use(Instruction &i) {
        b.SetInsertPoint(&i);
        if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&i)) return use_in(*compare);
        const bool extends = llvm::isa<llvm::ZExtInst>(i) || llvm::isa<llvm::UIToFPInst>(i);
        if (extends && is_replaced(i.getOperand(0))) return use_extended(i);
        for (llvm::Use &operand : i.operands()) {
            if (is_replaced(operand) && is_small(operand))
                operand = b.CreateTrunc(low_bits(operand), operand->getType());
        }
    }
    void use_in(llvm::ICmpInst &compare) {
        Value *x = compare.getOperand(0), *y = compare.getOperand(1);
        if (!is_replaced(x) && !is_replaced(y)) return;
        const bool with_signs = compare.isSigned();
        Value *wide_x = with_signs ? with_sign(x) : exact(x);
        Value *wide_y = with_signs ? with_sign(y) : exact(y);
        replace(compare, b.CreateICmp(compare.getPredicate(), wide_x, wide_y));
    }
    void use_extended(Instruction &i) {
        Value *v = exact(i.getOperand(0));
        replace(i, llvm::isa<llvm::ZExtInst>(i) ? b.CreateZExt(v, i.getType())
                                                : b.CreateUIToFP(v, i.getType()));
    }
    void replace(Instruction &i, Value *by) {
        i.replaceAllUsesWith(by);
        replaced.insert(&i);
    }

    llvm::Function &f;
    llvm::IRBuilder<> b;
    llvm::DenseMap<Value *, Wide> widened;
    llvm::SmallSetVector<Instruction *, 32> replaced;
    std::vector<std::pair<llvm::PHINode *, llvm::PHINode *>> phis;
};

}  // namespace

void widen_small_integers(llvm::Function &f) { Widen(f).run(); }

}  // namespace tessera::codegen
