// Fused chains: the result of one product of matrices is an operand of the next, in registers or in
// the memory of the block, within one kernel.
#include "device_code.h"
#include "error/refusal.h"
#include "lang/module.h"
#include <doctest/doctest.h>
#include <functional>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wy("wy");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

struct Chain {
    int rows, inner, columns, k;  // of the first product: rows x inner x k; the second: x columns
    int block_rows;
};

// second = relu(first) * w, where first = a * b. All that is cast is exact: small integers.
template<typename Element, typename Sum>
struct BackToBack {
    Buffer<Element> a, b, w;
    Func first{"first"}, between{"between"}, second{"second"}, out{"out"};
    RDom k, r;

    explicit BackToBack(const Chain &c)
        : a(c.k, c.rows), b(c.inner, c.k), w(c.columns, c.inner), k(0, c.k), r(0, c.inner) {
        a.for_each_element([&](int i, int j) { a(i, j) = Element(float((i * 3 + j) % 3 - 1)); });
        b.for_each_element([&](int i, int j) { b(i, j) = Element(float((i + j * 5) % 3 - 1)); });
        w.for_each_element([&](int i, int j) { w(i, j) = Element(float((i * 2 + j) % 5 - 2)); });
        first(x, y) += cast<Sum>(a(k, y)) * cast<Sum>(b(x, k));
        between(x, y) = cast<Element>(max(first(x, y), Sum(0)));
        second(x, y) += cast<Sum>(between(r, y)) * cast<Sum>(w(x, r));
        out(x, y) = second(x, y);
    }
    void schedule(const Chain &c, const TensorInstruction &instruction, bool in_memory) {
        constexpr int warp_rows = 16;
        const auto warps = [&](auto &&f, const Var &rows) {
            f.split(rows, wy, rows, warp_rows).gpu_warps(wy);
        };
        out.tile(x, y, xi, yi, c.columns, c.block_rows).gpu_blocks(x, y);
        warps(out, yi);
        second.compute_at(out, x).store_in(MemoryType::Tile);
        warps(second, y);
        second.update().split(y, wy, y, warp_rows).reorder({r.x, x, y, wy}).gpu_warps(wy);
        second.update().tensorize(x, y, r.x, instruction);
        first.compute_at(out, x).store_in(MemoryType::Tile);
        warps(first, y);
        first.update().split(y, wy, y, warp_rows).reorder({k.x, x, y, wy}).gpu_warps(wy);
        first.update().tensorize(x, y, k.x, instruction);
        if (!in_memory) return;
        between.compute_at(out, x).store_in(MemoryType::GPUShared);
        warps(between, y);
    }
    Sum expected(const Chain &c, int i, int j) const {
        Sum sum(0);
        for (int m = 0; m < c.inner; m++) {
            Sum inner(0);
            for (int n = 0; n < c.k; n++) inner = Sum(inner + Sum(a(n, j)) * Sum(b(m, n)));
            sum = Sum(sum + Sum(Element(std::max(inner, Sum(0)))) * Sum(w(i, m)));
        }
        return sum;
    }
};

template<typename Element, typename Sum>
void agrees(const Chain &c, bool in_memory) {
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        CAPTURE(in_memory);
        BackToBack<Element, Sum> chain(c);
        chain.schedule(c, TensorInstruction::MMA, in_memory);
        const Buffer<Sum> out = chain.out.realize({c.columns, c.rows}, target);
        int wrong = 0;
        out.for_each_element([&](int i, int j) { wrong += out(i, j) != chain.expected(c, i, j); });
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_SUITE("tensor chains") {
    TEST_CASE("the sums of one product are the operand of the next, in registers") {
        agrees<float16_t, float>({32, 32, 24, 16, 32}, false);
        agrees<bfloat16_t, float>({64, 16, 16, 32, 16}, false);
    }
    TEST_CASE("or in the memory of the block") {
        agrees<float16_t, float>({32, 32, 24, 16, 32}, true);
        agrees<int8_t, int32_t>({32, 32, 16, 32, 32}, true);
        agrees<float16_t, float>({64, 64, 24, 16, 32}, true);
    }
    TEST_CASE("GPUs from 9.0 on store four matrices of accumulators at a time in that memory") {
        const Chain c{64, 64, 24, 16, 32};
        for (const int capability : {80, 90}) {
            BackToBack<float16_t, float> chain(c);
            chain.schedule(c, TensorInstruction::MMA, true);
            const std::string ptx = test::ptx_of(chain.out, capability);
            CAPTURE(ptx);
            // A warp has 16 rows of 64 columns: four times eight rows of four blocks of columns.
            const size_t matrices = capability >= 90 ? 4 : 0;
            CHECK(test::count_of(ptx, "stmatrix.sync.aligned.m8n8.x4.shared.b16") == matrices);
            CHECK(test::count_of(ptx, "shfl.sync.idx") == matrices);
            CHECK(test::count_of(ptx, "shfl.sync.bfly") == 16 - 4 * matrices);
            test::check_assembled(ptx, capability);
        }
    }
}
