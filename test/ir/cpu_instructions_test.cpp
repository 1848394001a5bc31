#include "ir/cpu_instructions.h"
#include "ir/cpu_tensor.h"
#include <doctest/doctest.h>
#include <set>

using namespace tessera;
using namespace tessera::ir;

TEST_SUITE("instructions of CPUs") {
    TEST_CASE("rows do not contradict themselves, and names are different") {
        std::set<std::string> names;
        for (const CpuInstruction &row : cpu_instructions()) {
            CAPTURE(row.name);
            verify(row.instruction());
            CHECK(is_bijective(row.instruction().operand("D").layout));
            CHECK(names.insert(row.name).second);
            CHECK(cpu_instruction(row.name) == &row);
        }
    }
    TEST_CASE("a family has all of its instructions, those of more columns first") {
        CHECK(cpu_instructions_called("amx").size() == 5);
        CHECK(cpu_instructions_called("vpdpwssd").front()->columns == 16);
        CHECK(cpu_instructions_called("vpdpwssd").back()->columns == 8);
        CHECK(cpu_instructions_called("wgmma").empty());
    }
    TEST_CASE("features decide which machine has it") {
        const CpuInstruction *tiles = cpu_instruction("tdpbssd");
        CHECK(tiles->is_on(Target("x86-64-linux-avx512_sapphirerapids")));
        CHECK(!tiles->is_on(Target("x86-64-linux-avx512_zen4")));
        CHECK(cpu_instruction("vpdpbusd")->is_on(Target("x86-64-linux-avx512_zen4")));
        CHECK(!cpu_instruction("sdot")->is_on(Target("x86-64-linux-avx512_zen4")));
        CHECK(cpu_instruction("sdot")->is_on(Target("arm-64-linux-arm_dot_prod")));
    }
    TEST_CASE("sums of each instruction lie one behind the other in a Tile") {
        CpuTensorOperation t;
        t.instruction = "usmmla";
        t.rows = 4;
        t.columns = 8;
        const Layout layout = t.layout();
        for (int64_t i = 0; i < t.row_steps(); i++) {
            for (int64_t j = 0; j < t.column_steps(); j++) {
                const int64_t element[] = {2 * i, 2 * j};
                CHECK(place_of(layout, element)[1] == t.first_sum(i, j));
            }
        }
        CHECK(is_bijective(layout));
    }
}
