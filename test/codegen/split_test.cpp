#include "codegen/split.h"
#include <doctest/doctest.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>

namespace tessera::codegen {
namespace {

// A function of this many instructions, which returns `result`.
llvm::Function *add_function(llvm::Module &module, const char *name, int instructions,
                             llvm::GlobalValue::LinkageTypes linkage, llvm::Value *result) {
    llvm::LLVMContext &context = module.getContext();
    auto *type = llvm::FunctionType::get(llvm::PointerType::getUnqual(context), {}, false);
    auto *f = llvm::Function::Create(type, linkage, name, module);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", f));
    for (int i = 0; i + 1 < instructions; i++) {
        b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    }
    b.CreateRet(result ? result : f);
    return f;
}

TEST_CASE("parts of a module reach one another's functions wherever they lie in memory") {
    llvm::LLVMContext context;
    llvm::Module whole("whole", context);
    auto *inner = add_function(whole, "inner", 3000, llvm::GlobalValue::InternalLinkage, nullptr);
    add_function(whole, "outer", 2000, llvm::GlobalValue::ExternalLinkage, inner);
    REQUIRE(split_into_bitcode(whole, 1).empty());
    std::vector<std::string> parts = split_into_bitcode(whole, 2);
    REQUIRE(parts.size() == 2);
    int declared = 0, defined = 0;
    for (const std::string &part : parts) {
        llvm::LLVMContext own;
        auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(part, "part"), own);
        REQUIRE(bool(module));
        const llvm::Function *f = (*module)->getFunction("inner");
        REQUIRE(f);
        CHECK_FALSE(f->hasLocalLinkage());
        CHECK_FALSE(f->isDSOLocal());
        f->isDeclaration() ? declared++ : defined++;
    }
    CHECK(declared == 1);
    CHECK(defined == 1);
}

}  // namespace
}  // namespace tessera::codegen
