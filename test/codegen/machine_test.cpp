#include "codegen/harness.h"
#include "codegen/machine.h"
#include <doctest/doctest.h>
#include <llvm/Support/CommandLine.h>

namespace tessera::codegen {
namespace {

// A golden test of code cannot tell, as the code is the same: only the time to compile differs.
TEST_CASE("LLVM visits of large functions only what has changed") {
    make_target_machine(get_host_target(), true);
    auto found = llvm::cl::getRegisteredOptions().find("cgpp-huge-func");
    REQUIRE(found != llvm::cl::getRegisteredOptions().end());
    CHECK(static_cast<llvm::cl::opt<unsigned> *>(found->second)->getValue() == 16);
}

// Whether it is run on a nest of so many loops around so many stores.
bool reduces_strength_of(int loops, int stores) {
    std::string text = "module \"m\"\nfunc \"f\"(out: output int32[1], n: int32):\n    ";
    for (int i = 0; i < loops; i++) text += str("for x", i, " in [0, +n): ");
    text += "for x in [0, +n):\n";
    for (int i = 0; i < stores; i++) text += str("        out[x + ", i, "] = n\n");
    llvm::LLVMContext context;
    auto machine = make_target_machine(get_host_target(), true);
    auto module = emit_llvm(context, test::parse_module(text), get_host_target(), *machine);
    return reduces_strength(*module);
}

TEST_CASE("functions that loop strength reduction would take long for are left alone") {
    CHECK(reduces_strength_of(1, 200));
    CHECK(reduces_strength_of(7, 500));
    CHECK(reduces_strength_of(30, 10));
    CHECK_FALSE(reduces_strength_of(30, 200));
    CHECK_FALSE(reduces_strength_of(1, 4000));
}

}  // namespace
}  // namespace tessera::codegen
