#include "base/error.h"
#include "ir/cpu_instructions.h"
#include "ir/tensor_operation.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace tessera;
using namespace tessera::ir;

TEST_SUITE("instructions of CPUs") {
    TEST_CASE("rows do not contradict themselves, and names are different") {
        std::set<std::string> names;
        for (const Instruction &row : cpu_instructions()) {
            CAPTURE(row.name);
            verify(row);
            CHECK(is_bijective(row.operand("D").layout));
            CHECK(names.insert(row.name).second);
            CHECK(find_instruction(row.name)->meaning.same_as(row.meaning));
        }
    }
    TEST_CASE("a family has all of its instructions, those of more columns first") {
        CHECK(instructions_named("amx", 0).size() == 5);
        CHECK(instructions_named("vpdpwssd", 0).front().extent("j") == 16);
        CHECK(instructions_named("vpdpwssd", 0).back().extent("j") == 8);
        for (const Instruction &row : instructions_named("wgmma", 8)) CHECK(!row.is_of_cpu());
        const auto families = instruction_names();
        for (const char *family : {"amx", "vnni", "dot", "mmla", "mma", "wgmma"})
            CHECK(std::ranges::count(families, family) == 1);
    }
    TEST_CASE("users add their own, with a line of assembly") {
        Instruction own = *find_instruction("sdot");
        own.name = own.mnemonic = own.family = "own_sdot";
        CHECK_THROWS_WITH_AS(register_instruction(own),
                             doctest::Contains("has to have a line of assembly"), CompileError);
        own.assembly = "sdot $D.4s, $A.16b, $B.16b";
        register_instruction(own);
        CHECK(instructions_named("own_sdot", 0).size() == 1);
        CHECK(instructions_named("any", 0).front().name == "own_sdot");
        CHECK(is_name_of_cpu("own_sdot", Target("x86-64-linux-cuda")));
        CHECK(!is_name_of_cpu("mma", Target("arm-64-linux")));
        CHECK(is_name_of_cpu("any", Target("arm-64-linux")));
        CHECK(!is_name_of_cpu("any", Target("x86-64-linux-cuda")));
    }
    TEST_CASE("features decide which machine has it") {
        const auto tiles = find_instruction("tdpbssd");
        CHECK(tiles->is_on(Target("x86-64-linux-avx512_sapphirerapids")));
        CHECK(!tiles->is_on(Target("x86-64-linux-avx512_zen4")));
        CHECK(find_instruction("vpdpbusd")->is_on(Target("x86-64-linux-avx512_zen4")));
        CHECK(!find_instruction("sdot")->is_on(Target("x86-64-linux-avx512_zen4")));
        CHECK(find_instruction("sdot")->is_on(Target("arm-64-linux-arm_dot_prod")));
    }
    TEST_CASE("sums of each instruction lie one behind the other in a Tile") {
        TensorOperation t;
        t.instruction = *find_instruction("usmmla");
        t.rows = 4;
        t.columns = 8;
        const Layout layout = t.registers_of("D");
        for (int64_t i = 0; i < t.steps("i"); i++) {
            for (int64_t j = 0; j < t.steps("j"); j++) {
                const int64_t element[] = {2 * i, 2 * j};
                CHECK(place_of(layout, element)[1] == (i * t.steps("j") + j) * 4);
            }
        }
        CHECK(is_bijective(layout));
    }
}
