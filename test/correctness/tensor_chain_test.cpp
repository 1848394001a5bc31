// Fused chains: the result of one product of matrices is an operand of the next, in registers or in
// the memory of the block, within one kernel: by meaning, thread by thread, without a GPU; as PTX
// that ptxas takes where it is installed; and on the GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include <cmath>
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
    // `columns`: of a block; 0: all of them.
    void schedule(const TensorInstruction &instruction, bool in_memory, int columns = 0) {
        out.tile(x, y, xi, yi, columns > 0 ? columns : c.columns, c.block_rows).gpu_blocks(x, y);
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
    // These are copied ahead: a and b in steps, or b for all of them, and w.
    void schedule_for_wgmma(bool keeps_b, bool in_memory = false) {
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
        if (!in_memory) return;
        between.compute_at(out, x).store_in(MemoryType::GPUShared);
        share(between, y);
    }
    void check(int capability) {
        const Buffer<Sum> right = expected();
        for (const Target &target : targets(capability)) {
            CAPTURE(target.to_string());
            const Buffer<Sum> result = out.realize({c.columns, c.rows}, target);
            int wrong = 0;
            result.for_each_element([&](int i, int j) { wrong += result(i, j) != right(i, j); });
            CHECK(wrong == 0);
        }
    }

private:
    static Element value(int i) { return Element(float(i)); }
    template<typename F> void share(F &&f, const Var &rows) {
        f.split(rows, wy, rows, c.warp_rows);
        c.warp_rows == 64 ? f.gpu_warpgroups(wy) : f.gpu_warps(wy);
    }
    Buffer<Sum> expected() const {
        Buffer<Sum> between(c.inner, c.rows), all(c.columns, c.rows);
        between.for_each_element([&](int m, int j) {
            Sum sum(0);
            for (int n = 0; n < c.k; n++)
                sum = Sum(sum + Sum(of_a(n, j)) * Sum(along_k ? of_b(n, m) : of_b(m, n)));
            between(m, j) = Sum(Element(std::max(sum, Sum(0))));
        });
        all.for_each_element([&](int i, int j) {
            Sum sum(0);
            for (int m = 0; m < c.inner; m++)
                sum = Sum(sum + between(m, j) * Sum(along_k ? of_w(m, i) : of_w(i, m)));
            all(i, j) = sum;
        });
        return all;
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
void agrees_by_wgmma(const Chain &c, bool keeps_b, bool along_k, const Change &change = {},
                     bool in_memory = false) {
    CAPTURE(keeps_b);
    CAPTURE(along_k);
    BackToBack<Element, Sum> chain(c, along_k);
    chain.schedule_for_wgmma(keeps_b, in_memory);
    if (change) change(chain.out);
    chain.check(90);
}

// Checks that ptxas reports no notes and no spills.
void check_not_serialized(const std::string &ptx) {
    if (std::string(PTXAS).empty()) return;
    const auto folder = std::filesystem::temp_directory_path() / "tensor_chain_test";
    std::filesystem::create_directories(folder);
    const std::string path = (folder / "kernels.ptx").string();
    std::ofstream(path) << ptx;
    const std::string command = std::string(PTXAS) + " -v -arch=sm_90a " + path + " -o " + path +
                                ".cubin > " + path + ".txt 2>&1";
    CHECK(std::system(command.c_str()) == 0);
    std::ifstream file(path + ".txt");
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove_all(folder);
    CAPTURE(said);
    CHECK(test::count_of(said, "C75") == 0);
    CHECK(test::count_of(said, " 0 bytes spill stores, 0 bytes spill loads") ==
          test::count_of(ptx, ".entry"));
}

// Three layers with activations between them, of one kernel: the sums of each are an operand of the
// next.
struct Layers {
    static constexpr int rows = 64, width = 32, results = 16;
    Buffer<float16_t> in{width, rows}, w0{width, width}, w1{width, width}, w2{results, width};
    Buffer<float> bias{width};
    Func sum0{"sum0"}, sum1{"sum1"}, sum2{"sum2"}, layer0{"layer0"}, layer1{"layer1"}, out{"out"};
    RDom k{0, width};

    Layers() {
        int i = 0;
        for (Buffer<float16_t> *b : {&in, &w0, &w1, &w2})
            b->for_each_value([&](float16_t &v) { v = float16_t(float(i++ * 7 % 13 - 6) / 32); });
        bias.for_each_value([&](float &v) { v = float(i++ % 5 - 2) / 8; });
        const auto layer = [&](Func &sum, const auto &of, const auto &weights) {
            sum(x, y) += cast<float>(of(k, y)) * cast<float>(weights(x, k));
        };
        const auto activated = [&](Func &to, Func &sum) {
            const Expr v = sum(x, y) + bias(x);
            to(x, y) = cast<float16_t>(v / (1.0f + exp(-1.702f * v)));
        };
        layer(sum0, in, w0);
        activated(layer0, sum0);
        layer(sum1, layer0, w1);
        activated(layer1, sum1);
        layer(sum2, layer1, w2);
        out(x, y) = sum2(x, y);
        out.tile(x, y, xi, yi, results, 32).gpu_blocks(x, y).split(yi, wy, yi, 16).gpu_warps(wy);
        for (Func sum : {sum0, sum1, sum2}) {
            sum.compute_at(out, x).store_in(MemoryType::Tile);
            sum.split(y, wy, y, 16).gpu_warps(wy);
            sum.update().split(y, wy, y, 16).reorder({k.x, x, y, wy}).gpu_warps(wy);
            sum.update().tensorize(x, y, k.x, mma);
        }
    }
    std::vector<float> expected_row(int j) const {
        std::vector<float> values(width);
        for (int i = 0; i < width; i++) values[size_t(i)] = float(in(i, j));
        for (const Buffer<float16_t> *w : {&w0, &w1, &w2}) {
            std::vector<float> sums(size_t(w->width()), 0);
            for (int i = 0; i < w->width(); i++) {
                for (int n = 0; n < width; n++)
                    sums[size_t(i)] += values[size_t(n)] * float((*w)(i, n));
                const float v = sums[size_t(i)] + (w == &w2 ? 0 : bias(i));
                if (w != &w2) sums[size_t(i)] = float(float16_t(v / (1 + std::exp(-1.702f * v))));
            }
            values = sums;
        }
        return values;
    }
};

// The first product with warps that have some of its columns, or the second one with more taps.
void refused(int columns_of_warp, int taps) {
    const Chain c{32, 32, 16, 16, 32};
    Buffer<float16_t> a(c.k, c.rows + taps), b(c.inner, c.k), w(c.columns, c.inner, taps);
    Func first("first"), between("between"), second("second"), out("out");
    RDom k(0, c.k), r(0, c.inner, 0, taps);
    Var wx("wx");
    first(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
    between(x, y) = cast<float16_t>(first(x, y));
    second(x, y) += cast<float>(between(r.x, y + r.y)) * cast<float>(w(x, r.x, r.y));
    out(x, y) = second(x, y);
    out.tile(x, y, xi, yi, c.columns, c.block_rows).gpu_blocks(x, y);
    out.tile(xi, yi, wx, wy, xi, yi, c.columns, 16).gpu_warps(wx, wy);
    for (Func sum : {first, second}) {
        const int columns = sum.name() == "first" ? columns_of_warp : c.columns;
        sum.compute_at(out, x).store_in(MemoryType::Tile);
        sum.tile(x, y, wx, wy, x, y, columns, 16).gpu_warps(wx, wy);
        sum.update().tile(x, y, wx, wy, x, y, columns, 16).gpu_warps(wx, wy);
    }
    first.update().reorder({k.x, x, y, wx, wy}).tensorize(x, y, k.x, mma);
    second.update().reorder({r.x, x, y, wx, wy, r.y}).tensorize(x, y, r.x, mma);
    out.compile_jit(targets(80)[0]);
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
        for (const bool along_k : {true, false}) {
            agrees_by_wgmma<float16_t, float>({64, 64, 64, 128, 64, 64}, false, along_k);
            agrees_by_wgmma<bfloat16_t, float>({128, 64, 64, 64, 128, 64}, true, along_k);
        }
    }
    TEST_CASE("wgmma: or in the memory of the block, in panels") {
        agrees_by_wgmma<float16_t, float>({128, 64, 64, 64, 128, 64}, false, true, {}, true);
        // What threads store is seen by the instructions behind a fence of each and a barrier.
        BackToBack<float16_t, float> chain({128, 64, 64, 64, 128, 64}, true);
        chain.schedule_for_wgmma(false, true);
        const std::string ptx = test::ptx_of(chain.out, 90);
        CAPTURE(ptx);
        size_t at = ptx.find("wgmma.wait_group.sync.aligned 0");
        for (const char *next : {"st.shared", "fence.proxy.async", "bar.sync", "wgmma.mma_async"}) {
            CAPTURE(next);
            REQUIRE(at != std::string::npos);
            at = ptx.find(next, at);
        }
        check_not_serialized(ptx);
    }
    TEST_CASE("code for wgmma: nothing is serialized, weights are copied once for a block") {
        BackToBack<float16_t, float> chain({1280, 64, 128, 576, 128, 64}, true);
        chain.schedule_for_wgmma(true);
        chain.out.bound(x, 0, 128).persistent().warp_specialize(40, 232);
        const std::string ptx = test::ptx_of(chain.out, 90);
        CHECK(test::count_of(ptx, "wgmma.mma_async.sync.aligned.m64n64k16") > 0);
        CHECK(test::count_of(ptx, "m64n128k16.f32.f16.f16 {") > 0);
        check_not_serialized(ptx);
        // Nothing is written to registers between a fence and the instructions behind it.
        size_t fences = 0;
        for (size_t at = ptx.find("wgmma.fence"); at != std::string::npos; fences++) {
            const std::string between = ptx.substr(at, ptx.find("wgmma.mma_async", at) - at);
            CHECK(test::count_of(between, "mov.") + test::count_of(between, "cvt.") == 0);
            at = ptx.find("wgmma.fence", at + 1);
        }
        CHECK(fences > 0);
    }
    TEST_CASE("three layers in a row, with biases and activations between") {
        const Layers layers;
        for (const Target &target : targets(80)) {
            CAPTURE(target.to_string());
            Func out = layers.out;
            const Buffer<float> result = out.realize({Layers::results, Layers::rows}, target);
            for (int j = 0; j < Layers::rows; j++) {
                const std::vector<float> expected = layers.expected_row(j);
                for (int i = 0; i < Layers::results; i++)
                    CHECK(std::abs(result(i, j) - expected[size_t(i)]) < 1e-3f);
            }
        }
    }
    TEST_CASE("a block that recomputes the first product for a part of the columns is right") {
        BackToBack<float16_t, float> chain({32, 32, 32, 16, 32});
        chain.schedule(mma, false, 16);
        chain.check(80);
    }
    TEST_CASE("what cannot be in registers is refused, with what would do") {
        const auto says = [](const std::string &message, const std::string &part) {
            CAPTURE(message);
            CHECK(message.find(part) != std::string::npos);
        };
        const std::string of_warps = refusal([] { refused(16, 1); });
        says(of_warps, "the tile of a warp has all columns that the next product sums");
        says(of_warps, "store a copy of it in MemoryType::GPUShared");
        says(refusal([] { refused(32, 2); }), "each iteration has to work on the elements that the "
                                              "same iteration");
    }
    TEST_CASE("wgmma: a persistent block keeps what is the same for its tiles") {
        const Chain c{192, 64, 8, 128, 64, 64};
        agrees_by_wgmma<float16_t, float>(c, true, true, [](Func &f) { f.persistent(); });
        for (const bool keeps_b : {false, true})
            agrees_by_wgmma<float16_t, float>(
                c, keeps_b, true, [](Func &f) { f.persistent().warp_specialize(40, 232); });
    }
}
