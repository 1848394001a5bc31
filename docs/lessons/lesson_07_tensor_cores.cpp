// Lesson 7: tensor cores.
//
// GPUs have instructions that multiply small matrices. tensorize() makes loops of a product such
// instructions: the algorithm stays the sum that it is. Without a card that has them, an
// interpreter does what each thread would.
#include "check.h"
#include <algorithm>
#include <iostream>
#include <tessera.h>

using namespace tessera;

int main() {
    const Target card("host-cuda");
    const Target target =
        host_supports_target_device(card) ? card : Target("host-cuda-cuda_capability_90-interpret");
    const int rows = 32, columns = 16, depth = 32;

    // Operands are of 16 bits, sums of 32. What comes after the product (here: nothing below 0) is
    // a stage of its own, and is computed while the sums are in registers.
    Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");
    ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
    RDom k(0, depth, "k");
    Func product("product"), out("out");
    product(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
    out(x, y) = max(product(x, y), 0.0f);

    // The schedule, from the outside in: blocks of 32 by 16 results, of which each warp (32
    // threads) has 16 by 16. MemoryType::Tile is the registers in which the instruction leaves its
    // results.
    RVar ko("ko"), ki("ki");
    out.tile(x, y, xi, yi, 16, 32).gpu_blocks(x, y);
    out.tile(xi, yi, wx, wy, xi, yi, 16, 16).gpu_warps(wx, wy);
    product.compute_at(out, x).store_in(MemoryType::Tile);
    product.tile(x, y, wx, wy, x, y, 16, 16).gpu_warps(wx, wy);
    product.update()
        .split(k, ko, ki, 16)
        .tile(x, y, wx, wy, x, y, 16, 16)
        .reorder({ki, x, y, wx, wy, ko})
        .gpu_warps(wx, wy)
        .tensorize(x, y, ki, TensorInstruction::MMA);

    // The operands of an iteration go through shared memory: in() is a copy of an input that has a
    // schedule. With async() and a ring of 2 places, the next one is copied while this one is
    // multiplied.
    for (Func staged : {a.in(), b.in()}) {
        staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
        staged.async().ring_buffer(2);
    }
    std::cout << out.loop_nest();
    check(out.loop_nest().find("tensorized") != std::string::npos);

    Buffer<float16_t> left(depth, rows), right(columns, depth);
    left.fill([](int i, int j) { return float16_t(float((i * 7 + j) % 8 - 4)); });
    right.fill([](int i, int j) { return float16_t(float((i + 3 * j) % 8 - 4)); });
    a.set(left);
    b.set(right);
    Buffer<float> result = out.realize({columns, rows}, target);
    result.copy_to_host();
    result.for_each_element([&](int i, int j) {
        float sum = 0;
        for (int n = 0; n < depth; n++) sum += float(left(n, j)) * float(right(i, n));
        check(result(i, j) == std::max(sum, 0.0f));
    });

    // The code for a card shows the instruction.
    const std::string ptx = out.compile_to_string(OutputFileType::device_code, {a, b}, "",
                                                  Target("x86-64-linux-cuda-cuda_capability_80"));
    check(ptx.find("mma.sync.aligned.m16n8k16") != std::string::npos);
}
