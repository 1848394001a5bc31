// Tensor instructions of CPUs, run: those of AArch64 by qemu, those of AMX by an emulator of them
// where this machine has none.
#include "ir/instruction.h"
#include "support/program.h"
#include <doctest/doctest.h>
#include <filesystem>
#include <tessera.h>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Case {
    const char *instruction;
    int tile_rows, tile_columns, tile_k;
};

template<typename T> T value_at(int i, int j) {
    const int v = (i * 7 + j * 3) % 11;
    return T(std::is_unsigned_v<T> ? float(v) : float(v - 5));
}

// out = a * b in tiles, on several threads.
template<typename A, typename B, typename S>
void agrees(Program &program, const Target &target, const Case &c) {
    CAPTURE(c.instruction);
    const int rows = 2 * c.tile_rows, columns = 3 * c.tile_columns, terms = 2 * c.tile_k;
    Var x("x"), y("y"), xi("xi"), yi("yi");
    RVar ko("ko"), ki("ki");
    RDom k(0, terms, "k");
    ImageParam a(type_of<A>(), 2, "a"), b(type_of<B>(), 2, "b");
    Func sums("sums"), out("out");
    sums(x, y) += cast<S>(a(k, y)) * cast<S>(b(x, k));
    out(x, y) = sums(x, y);
    out.tile(x, y, xi, yi, c.tile_columns, c.tile_rows, TailStrategy::RoundUp).parallel(y);
    sums.compute_at(out, x).store_in(MemoryType::Tile);
    sums.update().split(k, ko, ki, c.tile_k).reorder({ki, x, y, ko});
    sums.update().tensorize(x, y, ki, TensorInstruction(c.instruction));
    b.in().compute_root();
    out.compile_to_static_library(program.path(c.instruction), {a, b}, "multiply", target);

    Buffer<A> of_a(terms, rows);
    Buffer<B> of_b(columns, terms);
    Buffer<S> result(columns, rows);
    of_a.for_each_element([&](int i, int j) { of_a(i, j) = value_at<A>(i, j); });
    of_b.for_each_element([&](int i, int j) { of_b(i, j) = value_at<B>(j, i * 3); });
    const size_t call =
        program.call("multiply", {of_a.raw_buffer(), of_b.raw_buffer(), result.raw_buffer()});
    program.run();
    INFO(program.result(call).message);
    REQUIRE(program.result(call).code == 0);
    result.for_each_element([&](int i, int j) {
        double sum = 0;
        for (int t = 0; t < terms; t++)
            sum += double(float(of_a(t, j))) * double(float(of_b(i, t)));
        REQUIRE(double(result(i, j)) == sum);
    });
}

template<typename A, typename B, typename S> void by_qemu(const char *target, const Case &c) {
    Program program(aarch64_machine());
    agrees<A, B, S>(program, Target(target), c);
}

template<typename A, typename B, typename S> void by_emulator(const Case &c) {
    const Target target("x86-64-linux-avx512_sapphirerapids");
    const Target host = get_host_target();
    if (!host.has_feature(Target::AVX512_Skylake)) return;
    Program program(this_machine());
    if (!ir::find_instruction(c.instruction)->is_on(host))
        std::filesystem::copy_file(AMX_EMULATOR, program.path("amx_emulator.c"));
    agrees<A, B, S>(program, target, c);
}

}  // namespace

TEST_SUITE("tensor instructions of CPUs") {
    TEST_CASE("AArch64 runs dot products") {
        const char *const plain = "arm-64-linux-arm_dot_prod", *const newer =
                                                                   "arm-64-linux-armv86a";
        by_qemu<int8_t, int8_t, int>(plain, {"sdot", 4, 8, 8});
        by_qemu<uint8_t, uint8_t, uint32_t>(plain, {"udot", 4, 8, 8});
        by_qemu<uint8_t, int8_t, int>(newer, {"usdot", 4, 8, 8});
        by_qemu<int8_t, uint8_t, int>(newer, {"usdot", 4, 8, 8});
    }
    TEST_CASE("AArch64 runs products of 2 x 8 by 8 x 2") {
        const char *const newer = "arm-64-linux-armv86a";
        by_qemu<int8_t, int8_t, int>(newer, {"smmla", 4, 8, 16});
        by_qemu<uint8_t, uint8_t, uint32_t>(newer, {"ummla", 4, 8, 16});
        by_qemu<uint8_t, int8_t, int>(newer, {"usmmla", 4, 8, 16});
        by_qemu<int8_t, uint8_t, int>(newer, {"usmmla", 4, 8, 16});
        by_qemu<bfloat16_t, bfloat16_t, float>(newer, {"bfmmla", 4, 8, 16});
    }
    TEST_CASE("AMX runs") {
        by_emulator<int8_t, int8_t, int>({"tdpbssd", 32, 32, 64});
        by_emulator<uint8_t, int8_t, int>({"tdpbusd", 48, 32, 128});
        by_emulator<int8_t, uint8_t, int>({"tdpbsud", 16, 96, 64});
        by_emulator<uint8_t, uint8_t, int>({"tdpbuud", 80, 16, 64});
        by_emulator<bfloat16_t, bfloat16_t, float>({"tdpbf16ps", 32, 48, 32});
    }
}
