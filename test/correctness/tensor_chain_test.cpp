// Fused chains: the result of one product of matrices is an operand of the next, in registers or in
// the memory of the block, within one kernel: by meaning, thread by thread, without a GPU; as PTX
// that ptxas takes where it is installed; and on the GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include <functional>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wy("wy");

const TensorInstruction mma = TensorInstruction::MMA, wgmma = TensorInstruction::WGMMA;

// The oracle, and the GPU if it has this capability or a newer one; 90: this one.
std::vector<Target> targets(int capability) {
    const std::string gpu = "host-jit-cuda-cuda_capability_" + std::to_string(capability);
    std::vector<Target> all = {Target(gpu + "-interpret")};
    const int here = host_cuda_capability();
    const bool runs = capability == 90 ? here == 90 : here >= capability;
    if (runs && host_supports_target_device(Target(gpu))) all.emplace_back(gpu);
    return all;
}

struct Chain {
    int rows, inner, columns, k;  // of the first product: rows x inner x k; the second: x columns
    int block_rows;
    int warp_rows = 16;
};

// second = relu(first) * w, where first = a * b. All that is cast is exact: small integers.
template<typename Element, typename Sum>
struct BackToBack {
    const Chain c;
    ImageParam a{type_of<Element>(), 2, "a"}, b{type_of<Element>(), 2, "b"},
        w{type_of<Element>(), 2, "w"};
    Buffer<Element> of_a, of_b, of_w;
    Func first{"first"}, between{"between"}, second{"second"}, out{"out"};
    RDom k, r;
    const bool along_k;  // b and w are stored along what is summed

    explicit BackToBack(const Chain &c, bool along_k = false)
        : c(c), of_a(c.k, c.rows), of_b(along_k ? c.k : c.inner, along_k ? c.inner : c.k),
          of_w(along_k ? c.inner : c.columns, along_k ? c.columns : c.inner), k(0, c.k),
          r(0, c.inner), along_k(along_k) {
        of_a.for_each_element([&](int i, int j) { of_a(i, j) = value((i * 3 + j) % 3 - 1); });
        of_b.for_each_element([&](int i, int j) { of_b(i, j) = value((i + j * 5) % 3 - 1); });
        of_w.for_each_element([&](int i, int j) { of_w(i, j) = value((i * 2 + j) % 5 - 2); });
        a.set(of_a);
        b.set(of_b);
        w.set(of_w);
        first(x, y) += cast<Sum>(a(k, y)) * cast<Sum>(along_k ? b(k, x) : b(x, k));
        between(x, y) = cast<Element>(max(first(x, y), Sum(0)));
        second(x, y) += cast<Sum>(between(r, y)) * cast<Sum>(along_k ? w(r, x) : w(x, r));
        out(x, y) = second(x, y);
    }
    void schedule(const TensorInstruction &instruction, bool in_memory) {
        out.tile(x, y, xi, yi, c.columns, c.block_rows).gpu_blocks(x, y);
        share(out, yi);
        for (Func sum : {first, second}) {
            sum.compute_at(out, x).store_in(MemoryType::Tile);
            share(sum, y);
            share(sum.update(), y);
        }
        first.update().reorder({k.x, x, y, wy}).tensorize(x, y, k.x, instruction);
        second.update().reorder({r.x, x, y, wy}).tensorize(x, y, r.x, instruction);
        if (!in_memory) return;
        between.compute_at(out, x).store_in(MemoryType::GPUShared);
        share(between, y);
    }
    // What is copied ahead: a and b in steps, or b for all of them, and w.
    void schedule_for_wgmma(bool keeps_b) {
        RVar ko("ko"), ki("ki"), ro("ro"), ri("ri");
        out.tile(x, y, xi, yi, c.columns, c.block_rows).gpu_blocks(x, y);
        share(out, yi);
        for (Func sum : {first, second}) {
            sum.compute_at(out, x).store_in(MemoryType::Tile);
            share(sum, y);
            share(sum.update(), y);
        }
        first.update().split(k, ko, ki, 64).reorder({ki, x, y, wy, ko});
        first.update().tensorize(x, y, ki, wgmma);
        second.update().split(r, ro, ri, c.inner).reorder({ri, x, y, wy, ro});
        second.update().tensorize(x, y, ri, wgmma);
        a.in().compute_at(first, ko);
        keeps_b ? b.in().compute_at(out, x) : b.in().compute_at(first, ko);
        keeps_b ? w.in().compute_at(out, x) : w.in().compute_at(second, ro);
        for (Func f : {a.in(), b.in(), w.in()})
            f.store_in(MemoryType::GPUShared).async().ring_buffer(2);
    }
    void check(int capability) {
        for (const Target &target : targets(capability)) {
            CAPTURE(target.to_string());
            const Buffer<Sum> result = out.realize({c.columns, c.rows}, target);
            int wrong = 0;
            result.for_each_element([&](int i, int j) { wrong += result(i, j) != expected(i, j); });
            CHECK(wrong == 0);
        }
    }

private:
    static Element value(int i) { return Element(float(i)); }
    template<typename F> void share(F &&f, const Var &rows) {
        f.split(rows, wy, rows, c.warp_rows);
        c.warp_rows == 64 ? f.gpu_warpgroups(wy) : f.gpu_warps(wy);
    }
    Sum expected(int i, int j) const {
        Sum sum(0);
        for (int m = 0; m < c.inner; m++) {
            Sum inner(0);
            for (int n = 0; n < c.k; n++)
                inner = Sum(inner + Sum(of_a(n, j)) * Sum(along_k ? of_b(n, m) : of_b(m, n)));
            sum = Sum(sum + Sum(Element(std::max(inner, Sum(0)))) *
                                Sum(along_k ? of_w(m, i) : of_w(i, m)));
        }
        return sum;
    }
};

template<typename Element, typename Sum>
void agrees(const Chain &c, bool in_memory, bool along_k = false, int capability = 80) {
    CAPTURE(in_memory);
    CAPTURE(along_k);
    BackToBack<Element, Sum> chain(c, along_k);
    chain.schedule(mma, in_memory);
    chain.check(capability);
    const std::string ptx = test::ptx_of(chain.out, capability);
    CHECK(test::count_of(ptx, "mma.sync.aligned.m") > 0);
    test::check_assembled(ptx, capability);
}

using Change = std::function<void(Func &)>;

template<typename Element, typename Sum>
void agrees_by_wgmma(const Chain &c, bool keeps_b, bool along_k,
                     const Change &change = [](Func &) {}) {
    CAPTURE(keeps_b);
    CAPTURE(along_k);
    BackToBack<Element, Sum> chain(c, along_k);
    chain.schedule_for_wgmma(keeps_b);
    change(chain.out);
    chain.check(90);
}

}  // namespace

TEST_SUITE("tensor chains") {
    TEST_CASE("the sums of one product are the operand of the next, in registers") {
        agrees<float16_t, float>({32, 32, 24, 16, 32}, false);
        agrees<bfloat16_t, float>({64, 16, 16, 32, 16}, false);
        agrees<float16_t, float16_t>({32, 32, 16, 16, 32}, false, true);
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
            chain.schedule(TensorInstruction::MMA, true);
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
    TEST_CASE("bytes in registers: the second product sums in the order in which they lie") {
        for (const bool along_k : {true, false}) {
            agrees<int8_t, int32_t>({32, 64, 16, 32, 32}, false, along_k);
            agrees<int8_t, int32_t>({32, 48, 8, 32, 16}, false, along_k);
        }
    }
    TEST_CASE("instructions of sm_75") {
        for (const bool in_memory : {true, false}) {
            for (const bool along_k : {true, false}) {
                agrees<float16_t, float>({32, 32, 24, 16, 32, 16}, in_memory, along_k, 75);
                agrees<float16_t, float>({64, 24, 32, 8, 32, 32}, in_memory, along_k, 75);
                agrees<int8_t, int32_t>({32, 32, 16, 16, 32, 8}, in_memory, along_k, 75);
                agrees<int8_t, int32_t>({64, 32, 32, 32, 64, 32}, in_memory, along_k, 75);
            }
        }
    }
    TEST_CASE("wgmma: the first sums are an operand in registers, the other is copied once") {
        const Chain c{128, 64, 64, 128, 64, 64};
        for (const bool keeps_b : {false, true}) {
            for (const bool along_k : {true, false}) {
                agrees_by_wgmma<float16_t, float>(c, keeps_b, along_k);
                agrees_by_wgmma<bfloat16_t, float>({128, 64, 128, 192, 128, 64}, keeps_b, along_k);
            }
        }
    }
    TEST_CASE("wgmma: a persistent block keeps what is the same for its tiles") {
        const Chain c{320, 64, 64, 192, 64, 64};
        for (const bool keeps_b : {false, true}) {
            agrees_by_wgmma<float16_t, float>(c, keeps_b, true, [](Func &f) { f.persistent(); });
            agrees_by_wgmma<float16_t, float>(c, keeps_b, true, [](Func &f) {
                f.persistent().warp_specialize(40, 232);
            });
        }
    }
}
