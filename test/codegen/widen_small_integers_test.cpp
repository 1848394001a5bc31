#include "base/target.h"
#include "codegen/machine.h"
#include "codegen/nvptx/widen_small_integers.h"
#include <array>
#include <doctest/doctest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/NoFolder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>
#include <random>

namespace tessera::codegen {
namespace {

using llvm::Value;

constexpr int input_bytes = 64, output_bytes = 1024;
using Output = std::array<uint8_t, output_bytes>;

// A function f(in, out) that computes small numbers from random bytes in a random way, once in a
// loop and once after it, and stores all of them.
class RandomFunction {
public:
    RandomFunction(llvm::Module &module, unsigned seed)
        : random(seed), b(module.getContext()),
          types{b.getInt8Ty(), b.getInt16Ty(), llvm::FixedVectorType::get(b.getInt16Ty(), 2),
                llvm::FixedVectorType::get(b.getInt8Ty(), 4)} {
        auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
        f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
        auto *entry = llvm::BasicBlock::Create(b.getContext(), "entry", f);
        auto *loop = llvm::BasicBlock::Create(b.getContext(), "loop", f);
        auto *after = llvm::BasicBlock::Create(b.getContext(), "after", f);
        b.SetInsertPoint(entry);
        for (llvm::Type *t : types) values.push_back(loaded(t));
        b.CreateBr(loop);
        b.SetInsertPoint(loop);
        llvm::PHINode *turn = b.CreatePHI(b.getInt32Ty(), 2);
        std::vector<std::pair<llvm::PHINode *, size_t>> sums;
        for (size_t i = 0, count = values.size(); i < count; i++) {
            llvm::PHINode *sum = b.CreatePHI(values[i]->getType(), 2);
            sum->addIncoming(values[i], entry);
            sums.emplace_back(sum, i);
            values.push_back(sum);
        }
        for (int i = 0; i < 12; i++) compute();
        for (auto [sum, i] : sums) sum->addIncoming(one_of(sum->getType()), loop);
        Value *next = b.CreateAdd(turn, b.getInt32(1));
        turn->addIncoming(b.getInt32(0), entry);
        turn->addIncoming(next, loop);
        b.CreateCondBr(b.CreateICmpULT(next, b.getInt32(3)), loop, after);
        b.SetInsertPoint(after);
        for (int i = 0; i < 12; i++) compute();
        for (Value *v : values) store(v);
        b.CreateRetVoid();
    }
    llvm::Function &function() const { return *f; }

private:
    int below(int n) { return int(random() % unsigned(n)); }
    static int bits_of(const Value *v) { return int(v->getType()->getScalarSizeInBits()); }

    Value *loaded(llvm::Type *t) {
        const int bytes = int(t->getPrimitiveSizeInBits() / 8);
        const int place = below(input_bytes / bytes) * bytes;
        auto *address = b.CreateConstGEP1_32(b.getInt8Ty(), f->getArg(0), unsigned(place));
        return b.CreateAlignedLoad(t, address, llvm::Align(uint64_t(bytes)));
    }
    // The last value computed of a type is likely.
    Value *one_of(const llvm::Type *t) {
        std::vector<Value *> those;
        for (Value *v : values) {
            if (v->getType() == t) those.push_back(v);
        }
        return those[those.size() - 1 - size_t(below(std::min(int(those.size()), 4)))];
    }
    Value *operand(llvm::Type *t) {
        const int choice = below(8);
        if (choice == 0) return llvm::ConstantInt::get(t, uint64_t(random()), false, true);
        return choice == 1 ? loaded(t) : one_of(t);
    }
    void compute() {
        llvm::Type *t = types[size_t(below(4))];
        Value *x = operand(t), *y = operand(t);
        if (Value *made = combined(x, y, t)) values.push_back(made);
    }
    Value *combined(Value *x, Value *y, llvm::Type *t) {
        auto amount = [&] { return llvm::ConstantInt::get(t, uint64_t(below(bits_of(x)))); };
        namespace I = llvm::Intrinsic;
        switch (below(24)) {
        case 0: return b.CreateAdd(x, y);
        case 1: return b.CreateSub(x, y);
        case 2:
        case 22:
        case 23: return b.CreateMul(x, y);
        case 3: return b.CreateAnd(x, y);
        case 4: return b.CreateOr(x, y);
        case 5: return b.CreateXor(x, y);
        case 6: return b.CreateShl(x, amount());
        case 7: return b.CreateLShr(x, amount());
        case 8: return b.CreateAShr(x, amount());
        case 9: return b.CreateUDiv(x, llvm::ConstantInt::get(t, uint64_t(1 + below(100))));
        case 10: return b.CreateBinaryIntrinsic(I::umin, x, y);
        case 11: return b.CreateBinaryIntrinsic(I::umax, x, y);
        case 12: return b.CreateBinaryIntrinsic(I::smin, x, y);
        case 13: return b.CreateBinaryIntrinsic(I::smax, x, y);
        case 14: return b.CreateSelect(b.CreateICmpULT(x, operand(t)), x, y);
        case 15: return b.CreateSelect(b.CreateICmpSGE(x, operand(t)), y, x);
        case 16: return b.CreateSelect(b.CreateICmpEQ(x, operand(t)), y, x);
        case 17: return b.CreateUnaryIntrinsic(I::bswap, b.CreateZExt(one_of(types[0]), types[1]));
        case 18: return b.CreateTrunc(one_of(types[1]), types[0]);
        case 19: return b.CreateZExt(one_of(types[0]), types[1]);
        case 20: return b.CreateSExt(one_of(types[0]), types[1]);
        default: return of_elements(x, y, t);
        }
    }
    Value *of_elements(Value *x, Value *y, llvm::Type *t) {
        if (!t->isVectorTy()) return b.CreateTrunc(b.CreateSExt(x, b.getInt32Ty()), t);
        Value *element = b.CreateExtractElement(x, uint64_t(below(2)));
        if (below(2)) return element;
        if (below(2)) return b.CreateInsertElement(y, element, uint64_t(below(2)));
        return t == types[2] ? b.CreateShuffleVector(x, y, llvm::ArrayRef<int>{1, 2})
                             : b.CreateShuffleVector(x, y, llvm::ArrayRef<int>{1, 4, 6, 0});
    }
    // As it is, extended in both ways, and as a number with a fraction.
    void store(Value *v) {
        put(v);
        if (v->getType()->isVectorTy()) return;
        put(b.CreateZExt(v, b.getInt64Ty()));
        put(b.CreateSExt(v, b.getInt32Ty()));
        put(b.CreateUIToFP(v, b.getFloatTy()));
        put(b.CreateSIToFP(v, b.getFloatTy()));
    }
    void put(Value *v) {
        const int bytes = int(v->getType()->getPrimitiveSizeInBits() / 8);
        if (used + bytes > output_bytes) return;
        b.CreateAlignedStore(v, b.CreateConstGEP1_32(b.getInt8Ty(), f->getArg(1), unsigned(used)),
                             llvm::Align(1));
        used += bytes;
    }

    std::minstd_rand random;
    llvm::IRBuilder<llvm::NoFolder> b;
    std::array<llvm::Type *, 4> types;
    llvm::Function *f = nullptr;
    std::vector<Value *> values;
    int used = 0;
};

Output result_of(const llvm::Module &module, const std::array<uint8_t, input_bytes> &input) {
    // A module belongs to its context: as text it gets into another.
    std::string text;
    llvm::raw_string_ostream(text) << module;
    auto context = std::make_unique<llvm::LLVMContext>();
    llvm::SMDiagnostic error;
    auto copy = llvm::parseIR(llvm::MemoryBufferRef(text, "f"), error, *context);
    REQUIRE(copy);
    auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(jit->addIRModule({std::move(copy), std::move(context)}));
    auto f = llvm::cantFail(jit->lookup("f")).toPtr<void (*)(const uint8_t *, uint8_t *)>();
    alignas(16) std::array<uint8_t, input_bytes> in = input;
    Output out = {};
    f(in.data(), out.data());
    return out;
}

int narrow_products(const llvm::Function &f) {
    int count = 0;
    for (const llvm::Instruction &i : llvm::instructions(f)) {
        const bool is_small = i.getType()->getScalarSizeInBits() < 32;
        count += is_small && i.getOpcode() == llvm::Instruction::Mul;
    }
    return count;
}

TEST_CASE("numbers of few bits are the same in registers of many") {
    make_target_machine(get_host_target(), true);  // makes LLVM ready
    std::minstd_rand random(7);
    int widened = 0;  // products
    for (unsigned seed = 1; seed <= 150; seed++) {
        CAPTURE(seed);
        llvm::LLVMContext context;
        llvm::Module module("m", context);
        const RandomFunction made(module, seed * 7919);
        std::array<uint8_t, input_bytes> input;
        for (uint8_t &byte : input) byte = uint8_t(random() >> 8);
        const Output before = result_of(module, input);
        const int products_before = narrow_products(made.function());
        widen_small_integers(made.function());
        CHECK(!llvm::verifyModule(module, &llvm::errs()));
        widened += products_before - narrow_products(made.function());
        CHECK(before == result_of(module, input));
    }
    CHECK(widened > 300);
}

}  // namespace
}  // namespace tessera::codegen
