#include "aot/pipelines.h"
#include "driver/runtime_library.h"
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include <tessera_generator.h>

using namespace tessera;
using namespace tessera::test;

namespace {

// The CPU has the target's instructions and few others.
void check_pipelines(const char *target, const char *cpu, void (Pipelines::*add)()) {
    uint64_t seed = *Seeds(1, 1).next();
    CAPTURE(seed);
    Pipelines pipelines(aarch64_machine(cpu), Target(target), seed);
    (pipelines.*add)();
    pipelines.check();
}

// Which of the targets the generator of_target was compiled for that the CPU runs, behind the last
// input times ten.
int chosen_by(const char *cpu) {
    Program program(aarch64_machine(cpu));
    std::vector<std::string> words = {"-g", "of_target", "-f", "chosen", "-e", "static_library"};
    words.insert(words.end(), {"-o", program.path("."),
                               "target=arm-64-linux,arm-64-linux-arm_dot_prod-arm_fp16"});
    std::ostringstream out, errors;
    int status = run_generator_command(words, out, errors);
    INFO(errors.str());
    REQUIRE(status == 0);
    Buffer<int32_t> in({40}), result({40});
    for (int i = 0; i < 40; i++) in(i) = i;
    size_t call = program.call("chosen", {in.raw_buffer(), result.raw_buffer()});
    program.run();
    CHECK(program.result(call).code == 0);
    return result(39);
}

}  // namespace

TEST_SUITE("AArch64") {
    TEST_CASE("pipelines compute the same") {
        check_pipelines("arm-64-linux", "cortex-a57", &Pipelines::add_all);
    }
    TEST_CASE("pipelines compute the same with dot products and half precision") {
        check_pipelines("arm-64-linux-armv82a-arm_dot_prod-arm_fp16", "neoverse-n1",
                        &Pipelines::add_numbers);
    }
    TEST_CASE("pipelines compute the same with the instructions of Armv8.6") {
        check_pipelines("arm-64-linux-armv86a-arm_fp16-strict_float", "max",
                        &Pipelines::add_numbers);
    }
    TEST_CASE("pipelines compute the same as C source, by that machine's compiler") {
        uint64_t seed = *Seeds(1, 1).next();
        CAPTURE(seed);
        Pipelines pipelines(aarch64_machine("cortex-a57"), Target("arm-64-linux"), seed);
        pipelines.as(OutputFileType::c_source);
        pipelines.add_few();
        pipelines.check();
    }
    TEST_CASE("of several targets, the best that the CPU has is chosen") {
        CHECK(chosen_by("cortex-a57") == 391);
        CHECK(chosen_by("neoverse-n1") == 394);
    }
    TEST_CASE("which version of the architecture a machine has is not found out") {
        Func f("f");
        Var x("x");
        f(x) = x;
        std::vector<Target> targets = {Target("arm-64-linux"), Target("arm-64-linux-armv86a")};
        CHECK_THROWS_WITH_AS(f.compile_to_multitarget_static_library("f", {}, targets),
                             doctest::Contains("whether a machine has armv81a is not found out at "
                                               "run time; leave it out of arm-64-linux"),
                             CompileError);
    }
    TEST_CASE("a machine without its runtime has libraries without one only") {
        const driver::MachineRuntime none[] = {{"arm-64-linux", ""}};
        CHECK_THROWS_WITH_AS(driver::runtime_library(Target("arm-64-linux-arm_fp16"), none),
                             doctest::Contains("without a runtime for arm-64-linux-arm_fp16: add "
                                               "no_runtime to the target"),
                             CompileError);
        CHECK(driver::runtime_library(Target("arm-64-linux")).substr(0, 7) == "!<arch>");
        Func f("f");
        Var x("x");
        f(x) = x;
        Program program(aarch64_machine());
        std::string path = program.path("alone");
        f.compile_to_static_library(path, {}, "alone", Target("arm-64-linux-no_runtime"));
        CHECK(std::ifstream(path + ".a").seekg(0, std::ios::end).tellg() < 20000);
    }
    TEST_CASE("this process cannot run its code") {
        Func f("f");
        Var x("x");
        f(x) = x;
        CHECK_THROWS_WITH_AS(f.realize({4}, Target("arm-64-linux")),
                             doctest::Contains("cannot run code for the target arm-64-linux-jit on "
                                               "this machine, which is"),
                             CompileError);
    }
}
