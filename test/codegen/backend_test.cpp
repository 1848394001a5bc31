#include "codegen/backend.h"
#include "codegen/harness.h"
#include <doctest/doctest.h>
#include <set>

namespace tessera::codegen {
namespace {

constexpr const char *text = "module \"m\"\nfunc \"f\"(n: int32): assert n > 0, -1\n";

std::string made(CodeKind kind, const char *target) {
    std::vector<char> code = make_code(kind, test::parse_module(text), Target(target));
    return {code.begin(), code.end()};
}

TEST_SUITE("backend") {
    TEST_CASE("names are different, and so are the kinds that a back end makes") {
        std::set<std::string> names;
        for (const Backend &b : backends()) {
            CHECK(names.insert(b.name).second);
            std::set<CodeKind> kinds;
            for (const CodeMaker &m : b.makers) CHECK(kinds.insert(m.kind).second);
        }
    }
    TEST_CASE("the machine's back end makes its code") {
        CHECK(made(CodeKind::LLVMAssembly, "x86-64-linux").find("triple = \"x86_64") !=
              std::string::npos);
        CHECK(made(CodeKind::LLVMAssembly, "arm-64-linux").find("triple = \"aarch64") !=
              std::string::npos);
        CHECK(made(CodeKind::Assembly, "arm-64-linux").find("\tret\n") != std::string::npos);
        CHECK(made(CodeKind::Bitcode, "x86-64-linux").substr(0, 2) == "BC");
        CHECK(made(CodeKind::Object, "x86-64-linux").substr(1, 3) == "ELF");
    }
    TEST_CASE("C source is made for every target") {
        for (const char *target : {"x86-64-linux", "arm-64-linux", "arm-32-linux"}) {
            CHECK(made(CodeKind::CSource, target).find("int f(int32_t") != std::string::npos);
        }
    }
    TEST_CASE("a target that no back end serves is refused, and those that are served are named") {
        CHECK_THROWS_WITH_AS(made(CodeKind::Object, "arm-32-linux"),
                             doctest::Contains("what can be made is for x86-64-linux and "
                                               "arm-64-linux"),
                             CompileError);
    }
}

}  // namespace
}  // namespace tessera::codegen
