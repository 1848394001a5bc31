// Lesson 6: GPUs.
//
// The same algorithm runs on a GPU where its schedule says so: on the card if there is one, and
// else in an interpreter of GPU programs, which checks them, too.
#include "check.h"
#include <cmath>
#include <iostream>
#include <tessera.h>

using namespace tessera;

int main() {
    const Target card("host-cuda");
    const Target target = host_supports_target_device(card) ? card : Target("host-cuda-interpret");
    std::cout << target.to_string() << "\n";

    Var x("x"), y("y"), xi("xi"), yi("yi");
    Buffer<float> values(64, 48);
    values.fill([](int i, int j) { return float((i * 5 + j * 3) % 17) / 16; });

    // gpu_tile() splits the loops into blocks, and each block into threads: here of 16 by 8. Blocks
    // run in any order, the threads of one together.
    Func squares("squares");
    squares(x, y) = values(x, y) * values(x, y);
    squares.gpu_tile(x, y, xi, yi, 16, 8);
    std::cout << squares.loop_nest();
    check(squares.loop_nest().find("gpu_block") != std::string::npos);
    Buffer<float> squared = squares.realize({64, 48}, target);
    squared.copy_to_host();
    check(squared(13, 7) == values(13, 7) * values(13, 7));

    // Stages that are computed at the blocks of another are shared by its threads. The sums along x
    // of a block, and of a row above and below it, go into shared memory; the barrier between is
    // the compiler's business.
    Func edge = BoundaryConditions::repeat_edge(values), sum_x("sum_x"), out("out");
    sum_x(x, y) = edge(x - 1, y) + edge(x, y) + edge(x + 1, y);
    out(x, y) = sum_x(x, y - 1) + sum_x(x, y) + sum_x(x, y + 1);
    out.gpu_tile(x, y, xi, yi, 16, 8);
    sum_x.compute_at(out, x).gpu_threads(x, y).store_in(MemoryType::GPUShared);
    Buffer<float> sums = out.realize({64, 48}, target);
    sums.copy_to_host();
    float expected = 0;
    for (int i = 20; i < 23; i++) {
        for (int j = 30; j < 33; j++) expected += values(i, j);
    }
    check(std::fabs(sums(21, 31) - expected) < 1e-5f);

    // Kernels can be read as PTX, the assembly language of such GPUs, without having one.
    const std::string ptx = squares.compile_to_string(
        OutputFileType::device_code, {}, "", Target("x86-64-linux-cuda-cuda_capability_80"));
    check(ptx.find(".entry") != std::string::npos);

    // A stage that is computed at the root and has no loops over blocks runs on the CPU. Copies
    // between the two are made where they are needed.
    Func doubled("doubled"), shifted("shifted");
    doubled(x, y) = values(x, y) * 2;
    shifted(x, y) = doubled(x, y) + 1;
    doubled.compute_root().vectorize(x, 8);
    shifted.gpu_tile(x, y, xi, yi, 16, 8);
    Buffer<float> result = shifted.realize({64, 48}, target);
    result.copy_to_host();
    check(result(13, 7) == values(13, 7) * 2 + 1);
}
