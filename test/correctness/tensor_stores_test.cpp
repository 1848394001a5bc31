// Results of tensor instructions of 8, 16 and 32 bits: threads exchange what they have, so that
// each stores 16 bytes; by meaning without a GPU and on one where there is one, and as PTX.
#include "device_code.h"
#include <algorithm>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");

struct Tiles {
    int rows, columns;            // of the result
    int warp_rows, warp_columns;  // of a warp or a warpgroup; a block has two beside each other
};

// out = a * b, stored as T, of float16 or of bytes.
template<typename T, typename Operand, typename Sum> struct StoredProduct {
    static constexpr int length = 64;
    Buffer<Operand> a, b;
    ImageParam of_a{type_of<Operand>(), 2, "a"}, of_b{type_of<Operand>(), 2, "b"};
    Func product{"product"}, out{"out"};
    RDom k{0, length, "k"};

    explicit StoredProduct(const Tiles &s) : a(length, s.rows), b(length, s.columns) {
        a.for_each_element(
            [&](int i, int j) { a(i, j) = Operand(float((i * 7 + j * 3) % 5 - 2)); });
        b.for_each_element([&](int i, int j) { b(i, j) = Operand(float((i * 3 + j) % 4 - 1)); });
        of_a.set(a);
        of_b.set(b);
        product(x, y) += cast<Sum>(of_a(k, y)) * cast<Sum>(of_b(k, x));
        out(x, y) = cast<T>(clamp(product(x, y), cast<Sum>(-100), cast<Sum>(100)));
    }
    void schedule(const Tiles &s, const TensorInstruction &instruction) {
        const bool is_of_group = instruction == TensorInstruction::WGMMA;
        const auto share = [&](auto &&f, const Var &columns, const Var &rows) {
            f.tile(columns, rows, wx, wy, columns, rows, s.warp_columns, s.warp_rows);
            if (is_of_group) return (void)f.gpu_warpgroups(wx).gpu_warpgroups(wy);
            f.gpu_warps(wx, wy);
        };
        RVar ko("ko"), ki("ki");
        out.tile(x, y, xi, yi, 2 * s.warp_columns, s.warp_rows).gpu_blocks(x, y);
        share(out, xi, yi);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        share(product, x, y);
        Stage update = product.update();
        update.split(k, ko, ki, length);
        update.tile(x, y, wx, wy, x, y, s.warp_columns, s.warp_rows);
        update.reorder({ki, x, y, wx, wy, ko});
        if (is_of_group)
            update.gpu_warpgroups(wx).gpu_warpgroups(wy);
        else
            update.gpu_warps(wx, wy);
        update.tensorize(x, y, ki, instruction);
        for (Func staged : {of_a.in(), of_b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            if (is_of_group) staged.async().ring_buffer(2);
        }
    }
};

template<typename T, typename Operand, typename Sum>
void agrees(const Tiles &s, const TensorInstruction &instruction) {
    StoredProduct<T, Operand, Sum> p(s);
    p.schedule(s, instruction);
    std::vector<Target> targets = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) targets.push_back(gpu);
    for (const Target &target : targets) {
        CAPTURE(target.to_string());
        const Buffer<T> out = p.out.realize({s.columns, s.rows}, target);
        int wrong = 0;
        out.for_each_element([&](int i, int j) {
            int sum = 0;
            for (int k = 0; k < p.length; k++) sum += int(float(p.a(k, j)) * float(p.b(k, i)));
            wrong += float(out(i, j)) != float(std::clamp(sum, -100, 100));
        });
        CHECK(wrong == 0);
    }
}

// Checks how many stores and exchanges the kernel for aligned buffers has.
template<typename T, typename Operand, typename Sum>
void stores(const Tiles &s, const TensorInstruction &instruction, size_t wide, size_t exchanges) {
    StoredProduct<T, Operand, Sum> p(s);
    p.schedule(s, instruction);
    const std::string ptx = test::ptx_of(p.out, 90);
    CAPTURE(ptx);
    CHECK(count_of(ptx, "st.global.v4.b32") == wide);
    CHECK(count_of(ptx, "shfl.sync.bfly") == exchanges);
    if (instruction == TensorInstruction::MMA) test::check_assembled(ptx, 90);
}

}  // namespace

TEST_SUITE("tensor stores") {
    TEST_CASE("results of 8, 16 and 32 bits agree, where tiles divide the sizes and where not") {
        const auto mma = TensorInstruction::MMA, wgmma = TensorInstruction::WGMMA;
        for (const Tiles &s : {Tiles{32, 128, 16, 64}, Tiles{24, 136, 16, 64}}) {
            agrees<float, float16_t, float>(s, mma);
            agrees<float16_t, float16_t, float>(s, mma);
            agrees<int8_t, float16_t, float>(s, mma);
            agrees<int32_t, int8_t, int32_t>(s, mma);
            agrees<int8_t, int8_t, int32_t>(s, mma);
        }
        agrees<float, float16_t, float>({64, 48, 64, 16}, wgmma);
        agrees<int8_t, float16_t, float>({64, 128, 64, 64}, wgmma);
        agrees<int8_t, float16_t, float>({64, 64, 64, 32}, wgmma);  // too few columns
    }
    TEST_CASE("each thread stores 16 bytes, after the fewest exchanges") {
        const auto mma = TensorInstruction::MMA;
        // 16 x 64 elements of a warp are 32 of a thread.
        const Tiles s{256, 256, 16, 64};
        stores<float, float16_t, float>(s, mma, 8, 8 * 2);
        stores<int32_t, int8_t, int32_t>(s, mma, 8, 8 * 2);
        stores<float16_t, float16_t, float>(s, mma, 4, 4 * 4);
        stores<int8_t, int8_t, int32_t>(s, mma, 2, 2 * 4);
        stores<uint8_t, float16_t, float>(s, mma, 2, 2 * 4);
        stores<int8_t, int8_t, int32_t>({256, 256, 16, 32}, mma, 0, 0);
        stores<float, float16_t, float>({256, 256, 64, 64}, TensorInstruction::WGMMA, 8, 8 * 2);
    }
}
