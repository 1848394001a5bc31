#include "base/error.h"
#include "codegen/llvm_errors.h"
#include "codegen/machine.h"
#include <doctest/doctest.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

namespace tessera::codegen {
namespace {

// Makes code for any x86-64 of a function with this in it, as often as that fails.
void compile(const std::string &statement) {
    const std::string text =
        "declare <16 x float> @llvm.x86.avx512.sqrt.ps.512(<16 x float>, i32)\n"
        "define void @f(ptr %p) {\n" +
        statement + "  ret void\n}\n";
    const Target plain("x86-64-linux");
    auto machine = make_target_machine(plain, true);
    llvm::LLVMContext context;
    keep_errors(context);
    llvm::SMDiagnostic wrong;
    auto module = llvm::parseIR(llvm::MemoryBufferRef(text, "f"), wrong, context);
    REQUIRE(module);
    module->setTargetTriple(machine->getTargetTriple());
    module->setDataLayout(machine->createDataLayout());
    object_code(*module, *machine);
}

TEST_CASE("what LLVM cannot make code of is an exception, and it can be asked again") {
    const std::string unknown = "  %v = load <16 x float>, ptr %p\n"
                                "  %r = call <16 x float> @llvm.x86.avx512.sqrt.ps.512("
                                "<16 x float> %v, i32 4)\n"
                                "  store <16 x float> %r, ptr %p\n";
    const std::string misspelt = "  call void asm \"no such instruction\", \"\"()\n";
    for (int i = 0; i < 3; i++) {
        CHECK_THROWS_WITH_AS(compile(unknown), doctest::Contains("LLVM cannot go on: "),
                             InternalError);
        CHECK_THROWS_WITH_AS(compile(misspelt), doctest::Contains("LLVM refuses the code: "),
                             InternalError);
        CHECK_NOTHROW(compile("  store i32 1, ptr %p\n"));
    }
}

}  // namespace
}  // namespace tessera::codegen
