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

}  // namespace
}  // namespace tessera::codegen
