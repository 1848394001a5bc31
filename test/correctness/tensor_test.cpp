// Products of matrices on tensor cores: by meaning, thread by thread, without a GPU; as PTX, and
// what ptxas says of it where it is installed; and on the GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include "lang/module.h"
#include "random.h"
#include <algorithm>
#include <cmath>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");

struct Sizes {
    int rows, columns, k;           // of the product
    int block_rows, block_columns;  // of a block
    int warp_rows, warp_columns;    // of a warp, or a warpgroup
    int k_step = 64, stages = 3;
};

// out = max(a * b + bias, 0), with a stored row by row or column by column, and so b.
struct Product {
    ImageParam a, b, bias{Float(32), 1, "bias"};
    Func product{"product"}, out{"out"};
    RVar ko{"ko"}, ki{"ki"};
    RDom k;

    Product(const Sizes &s, bool a_by_rows, bool b_by_rows, Type type = Float(16),
            bool is_checked = false, int step = 1)
        : a(type, 2, "a"), b(type, 2, "b"), k(0, s.k, "k") {
        const Expr of_a = a_by_rows ? a(k * step, y) : a(y, k),
                   of_b = b_by_rows ? b(x, k) : b(k, x);
        product(x, y) += cast<float>(of_a) * cast<float>(of_b);
        const Expr added = is_checked ? require(bias(x) < 9, bias(x), "bias of", x) : bias(x);
        out(x, y) = cast(type, max(product(x, y) + added, 0.0f));
    }

    void schedule(const Sizes &s, TensorInstruction instruction) {
        out.tile(x, y, xi, yi, s.block_columns, s.block_rows).gpu_blocks(x, y);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        Stage update = product.update();
        update.split(k, ko, ki, s.k_step);
        share(out, xi, yi, s, instruction);
        share(product, x, y, s, instruction);
        update.tile(x, y, wx, wy, x, y, s.warp_columns, s.warp_rows);
        update.reorder({ki, x, y, wx, wy, ko});
        over_warps(update, instruction).tensorize(x, y, ki, instruction);
        for (Func staged : {a.in(), b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(s.stages);
        }
    }

private:
    template<typename Scheduled>
    static Scheduled &over_warps(Scheduled &f, TensorInstruction instruction) {
        return instruction == TensorInstruction::MMA ? f.gpu_warps(wx, wy)
                                                     : f.gpu_warpgroups(wx).gpu_warpgroups(wy);
    }
    static void share(Func &f, const Var &columns, const Var &rows, const Sizes &s,
                      TensorInstruction instruction) {
        f.tile(columns, rows, wx, wy, columns, rows, s.warp_columns, s.warp_rows);
        over_warps(f, instruction);
    }
};

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// Small integers and halves, whose sums are exact.
template<typename T> T value_at(int i, int j) { return T(float((i * 7 + j * 3) % 11 - 5) / 2); }

template<typename T>
void agrees(
    const Sizes &s, TensorInstruction instruction, bool a_by_rows, bool b_by_rows,
    const std::function<void(Product &)> &also = [](Product &) {}) {
    CAPTURE(a_by_rows);
    CAPTURE(b_by_rows);
    Product p(s, a_by_rows, b_by_rows, type_of<T>());
    p.schedule(s, instruction);
    also(p);
    Buffer<T> a(a_by_rows ? s.k : s.rows, a_by_rows ? s.rows : s.k);
    Buffer<T> b(b_by_rows ? s.columns : s.k, b_by_rows ? s.k : s.columns);
    Buffer<float> bias(s.columns);
    a.for_each_element([&](int i, int j) { a(i, j) = value_at<T>(i, j); });
    b.for_each_element([&](int i, int j) { b(i, j) = value_at<T>(j, i); });
    bias.for_each_element([&](int i) { bias(i) = float(i % 5 - 2); });
    p.a.set(a);
    p.b.set(b);
    p.bias.set(bias);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<T> out = p.out.realize({s.columns, s.rows}, target);
        out.for_each_element([&](int i, int j) {
            float sum = bias(i);
            for (int k = 0; k < s.k; k++) {
                const T of_a = a_by_rows ? a(k, j) : a(j, k), of_b = b_by_rows ? b(i, k) : b(k, i);
                sum += float(of_a) * float(of_b);
            }
            REQUIRE(float(out(i, j)) == float(T(std::max(sum, 0.0f))));
        });
    }
}

std::string ptx_of(Product &p) {
    const Target target("x86-64-linux-cuda-cuda_capability_90");
    const Module m = Pipeline(p.out).compile_to_module({p.a, p.b, p.bias}, "product", target);
    const Buffer<uint8_t> code = m.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

// No instruction waits for the one before it, and no register is in memory: of the kernel for
// buffers that are aligned, which is the first.
void check_assembled(const std::string &ptx, const std::string &gpu) {
    const std::string said = test::assembled(ptx, gpu);
    if (said.empty()) return;
    CAPTURE(said);
    CHECK(count_of(said, "C75") == 0);
    const std::string of_first = said.substr(said.find("product_kernel_0'"));
    CHECK(count_of(of_first, "0 bytes spill stores, 0 bytes spill loads") == 1);
}

}  // namespace

TEST_SUITE("tensor cores") {
    TEST_CASE("mma.sync: operands by rows and by columns") {
        const Sizes s{64, 64, 64, 64, 64, 32, 32, 32, 2};
        for (const bool a_by_rows : {true, false}) {
            for (const bool b_by_rows : {true, false})
                agrees<float16_t>(s, TensorInstruction::MMA, a_by_rows, b_by_rows);
        }
    }
    TEST_CASE("mma.sync: bfloat16, several blocks, and sizes that no tile divides") {
        agrees<bfloat16_t>({40, 72, 96, 32, 32, 16, 32, 32, 3}, TensorInstruction::MMA, true, true);
        agrees<float16_t>({33, 56, 128, 32, 32, 32, 16, 64, 4}, TensorInstruction::MMA, true,
                          false);
    }
    TEST_CASE("wgmma: operands by rows and by columns") {
        const Sizes s{64, 64, 128, 64, 64, 64, 64, 64, 2};
        for (const bool a_by_rows : {true, false}) {
            for (const bool b_by_rows : {true, false})
                agrees<float16_t>(s, TensorInstruction::WGMMA, a_by_rows, b_by_rows);
        }
    }
    TEST_CASE("wgmma: two warpgroups, two tiles of rows each, panels, bfloat16, few columns") {
        agrees<float16_t>({128, 128, 64, 128, 128, 64, 128, 64, 2}, TensorInstruction::WGMMA, true,
                          true);
        agrees<bfloat16_t>({128, 24, 128, 128, 24, 128, 24, 64, 2}, TensorInstruction::WGMMA, true,
                           false);
        agrees<float16_t>({96, 24, 256, 64, 16, 64, 16, 128, 2}, TensorInstruction::WGMMA, true,
                          false);
    }
    TEST_CASE("blocks in groups of rows, and fewer blocks than tiles") {
        const Sizes s{128, 80, 64, 32, 32, 32, 16, 32, 2}, w{192, 16, 192, 64, 8, 64, 8, 64, 2};
        agrees<float16_t>(s, TensorInstruction::MMA, true, true,
                          [](Product &p) { p.out.gpu_order(grouped(3)); });
        agrees<float16_t>(s, TensorInstruction::MMA, true, false,
                          [](Product &p) { p.out.persistent(); });
        agrees<float16_t>(w, TensorInstruction::WGMMA, true, false,
                          [](Product &p) { p.out.gpu_order(grouped(2)).persistent(); });
    }
    TEST_CASE("warps beside a stage whose rows of threads are longer") {
        const auto stage_bias = [](Product &p) {
            p.bias.in().compute_at(p.out, x).store_in(MemoryType::GPUShared);
            p.bias.in().gpu_threads(Var::implicit(0));
        };
        agrees<float16_t>({64, 128, 64, 64, 64, 32, 32, 32, 2}, TensorInstruction::MMA, true, true,
                          stage_bias);
        agrees<float16_t>({64, 96, 64, 64, 96, 32, 32, 32, 2}, TensorInstruction::MMA, true, false,
                          stage_bias);
        agrees<float16_t>({64, 256, 64, 64, 256, 64, 256, 64, 2}, TensorInstruction::WGMMA, true,
                          true, stage_bias);
    }
    TEST_CASE("random sizes, tiles, stages and layouts") {
        test::Seeds seeds(3.0, 24);
        while (const auto seed = seeds.next()) {
            CAPTURE(*seed);
            test::Random random(*seed);
            const auto pick = [&](const std::vector<int> &of) { return random.pick(of); };
            const bool mma = random.chance(60), b_by_columns = random.chance(50);
            const auto tiles = [&](const std::vector<int> &of_mma, const std::vector<int> &others) {
                return pick(mma ? of_mma : others);
            };
            Sizes s{};
            s.warp_rows = tiles({16, 32, 48}, {64});
            s.warp_columns =
                b_by_columns ? tiles({16, 32}, {8, 24, 40, 64}) : tiles({16, 32}, {64});
            s.block_rows = s.warp_rows * pick({1, 2});
            s.block_columns = s.warp_columns * pick({1, 2});
            s.k_step = tiles({16, 32, 64}, {64});
            const auto blocks = [&](int block, int warp) {
                const int more = pick({0, 3, 8, warp});
                return block == warp || mma ? block + more : block;
            };
            s.rows = blocks(s.block_rows, s.warp_rows);
            s.columns = blocks(s.block_columns, s.warp_columns) / 8 * 8;
            s.stages = pick({2, 3, 4});
            // Rings come around where less is computed.
            const bool is_small = s.rows * s.columns <= 64 * 64;
            s.k = s.k_step * pick(is_small ? std::vector{1, 2, 3, 5} : std::vector{1, 2});
            CAPTURE(s.warp_rows);
            CAPTURE(s.warp_columns);
            CAPTURE(s.k_step);
            CAPTURE(s.k);
            CAPTURE(s.rows);
            CAPTURE(s.columns);
            CAPTURE(s.stages);
            const int order = pick({0, 1, 3}), turns = pick({0, 0, 1});
            const auto also = [&](Product &p) {
                if (order > 0) p.out.gpu_order(grouped(order));
                if (turns > 0) p.out.persistent();
            };
            agrees<float16_t>(s, mma ? TensorInstruction::MMA : TensorInstruction::WGMMA,
                              random.chance(50), !b_by_columns, also);
        }
    }
    TEST_CASE("a schedule is printed as it is written") {
        const Sizes s{64, 64, 64, 64, 64, 32, 32, 32, 2};
        Product p(s, true, true);
        p.schedule(s, TensorInstruction::MMA);
        p.out.gpu_order(grouped(4)).persistent(2);
        const std::string text = Pipeline(p.out).schedule_as_cpp();
        CAPTURE(text);
        for (const char *part :
             {".gpu_warps(wx)", ".tensorize(ki, TensorInstruction::MMA)", ".gpu_order(grouped(4))",
              ".persistent(2)", ".store_in(MemoryType::Tile)"})
            CHECK(text.find(part) != std::string::npos);
    }
    TEST_CASE(
        "code for wgmma: one wait, one barrier and the loads of one thread in each iteration") {
        const Sizes s{256, 256, 1024, 128, 256, 64, 256, 64, 4};
        for (const bool b_by_rows : {true, false}) {
            Product p(s, true, b_by_rows);
            p.schedule(s, TensorInstruction::WGMMA);
            const std::string ptx = ptx_of(p);
            CAPTURE(ptx);
            const size_t kernels = count_of(ptx, ".entry");
            CHECK(count_of(ptx, ".target sm_90a") == 1);
            CHECK(count_of(ptx, "wgmma.mma_async.sync.aligned.m64n256k16") == 4 * kernels);
            CHECK(count_of(ptx, "wgmma.fence") == kernels);
            CHECK(count_of(ptx, "wgmma.commit_group") == kernels);
            CHECK(count_of(ptx, "wgmma.wait_group.sync.aligned 1") == kernels);
            CHECK(count_of(ptx, "wgmma.wait_group.sync.aligned 0") == kernels);
            CHECK(count_of(ptx, "mbarrier.try_wait") == kernels);
            CHECK(count_of(ptx, "bar.sync") == 2 * kernels);
            CHECK(count_of(ptx, "cp.async.bulk.tensor.2d") == 4 * kernels);  // ahead, and in it
            CHECK(count_of(ptx, "st.global.v4.b32") == 16);                  // of the aligned one
            CHECK(count_of(ptx, "shfl.sync.bfly") == 16 * 4);
            check_assembled(ptx, "sm_90a");
        }
    }
    TEST_CASE("code for mma.sync: fragments by ldmatrix, copies of 16 bytes") {
        const Sizes s{256, 256, 1024, 128, 128, 64, 64, 64, 4};
        Product p(s, true, true);
        p.schedule(s, TensorInstruction::MMA);
        const std::string ptx = ptx_of(p);
        CHECK(count_of(ptx, "mma.sync.aligned.m16n8k16") % (4 * 8 * 4) == 0);
        CHECK(count_of(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared") ==
              count_of(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared"));
        CHECK(count_of(ptx, "cp.async.cg.shared.global") > 0);
        // Fragments of rows below one another share the exchange of slots.
        CHECK(2 * count_of(ptx, "xor.b32") <= count_of(ptx, "ldmatrix"));
        CHECK(count_of(ptx, "cp.async.wait_group 2") == count_of(ptx, ".entry"));
        check_assembled(ptx, "sm_90");
    }
    TEST_CASE("where threads compute together, the first that fails brings the kernel down") {
        for (const TensorInstruction instruction :
             {TensorInstruction::WGMMA, TensorInstruction::MMA}) {
            const Sizes s{256, 256, 256, 128, 128, 64, 128, 64, 3};
            Product p(s, true, true, Float(16), true), unchecked(s, true, true);
            p.schedule(s, instruction);
            unchecked.schedule(s, instruction);
            const std::string ptx = ptx_of(p);
            CAPTURE(ptx);
            CHECK(count_of(ptx, "atom.relaxed.sys.global.cas.b32") >= count_of(ptx, ".entry"));
            const size_t fence = ptx.find("fence.sc.sys"), trap = ptx.find("trap;", fence);
            CHECK(fence < trap);
            CHECK(trap != std::string::npos);
            test::assembled(ptx, instruction == TensorInstruction::MMA ? "sm_90" : "sm_90a");
            CHECK(count_of(ptx_of(unchecked), "atom.relaxed.sys") == 0);
        }
    }
    TEST_CASE("mma.sync: operands of memory of the device, which threads load") {
        const Sizes s{64, 64, 64, 64, 64, 32, 32, 32, 2};
        for (const bool by_rows : {true, false}) {
            agrees<float16_t>(s, TensorInstruction::MMA, by_rows, by_rows,
                              [](Product &p) { p.b.in().store_in(MemoryType::Heap); });
        }
    }
    TEST_CASE("mma.sync: sums of eight products, columns of eight") {
        agrees<float16_t>({64, 40, 24, 32, 24, 32, 24, 8, 2}, TensorInstruction::MMA, true, false);
        agrees<bfloat16_t>({32, 24, 48, 16, 8, 16, 8, 16, 2}, TensorInstruction::MMA, true, true);
    }
    TEST_CASE("operands that do not lie as the instruction reads them are refused") {
        const Sizes s{64, 64, 64, 64, 64, 64, 64, 64, 2};
        Product unstaged(s, true, true);
        unstaged.schedule(s, TensorInstruction::WGMMA);
        unstaged.b.in().store_in(MemoryType::Heap);
        const std::string heap = refusal([&] { ptx_of(unstaged); });
        CAPTURE(heap);
        CHECK(heap.find("staged in MemoryType::GPUShared") != std::string::npos);
        const Sizes wide{64, 96, 64, 64, 96, 64, 96, 64, 2};
        Product by_columns(wide, true, true);
        by_columns.schedule(wide, TensorInstruction::WGMMA);
        const std::string not_whole = refusal([&] { ptx_of(by_columns); });
        CAPTURE(not_whole);
        CHECK(not_whole.find("tensor_test.cpp:") == 0);
        CHECK(
            not_whole.find("an operand of wgmma.m64n96k16.f32.f16 that is stored along its columns "
                           "has a multiple of 64 of them for each instruction, and not 96") !=
            std::string::npos);
    }
    TEST_CASE("updates that are no product of the instruction's operands are refused") {
        const Sizes s{64, 64, 64, 64, 64, 64, 64, 64, 2};
        const auto refused = [](Product &p, const Sizes &sizes, TensorInstruction instruction) {
            p.schedule(sizes, instruction);
            const std::string message = refusal([&] { ptx_of(p); });
            CHECK(message.find("tensor_test.cpp:") == 0);
            return message;
        };
        const auto has = [](const std::string &message, const std::string &part) {
            CAPTURE(message);
            CHECK(message.find(part) != std::string::npos);
        };
        Product of_floats(s, true, true, Float(32));
        const std::string floats = refused(of_floats, s, TensorInstruction::MMA);
        has(floats, "is no product that mma computes: its factor a_im_in(");
        has(floats, "is of float32, and they multiply float16 or bfloat16");
        has(floats, "they compute float32 += float16 * float16, ");
        Sizes few = s;
        few.k_step = 4;
        Product short_sum(few, true, true);
        has(refused(short_sum, few, TensorInstruction::WGMMA),
            "wgmma.m64n64k16.f32.f16 sums a multiple of 16 products; the loop ki of "
            "product.update(0) has 4");
    }
    TEST_CASE("what does not fit is refused, at the directive") {
        const Sizes s{64, 64, 64, 64, 64, 32, 32, 32, 2};
        const auto refused = [&](const std::function<void(Product &)> &change,
                                 TensorInstruction instruction = TensorInstruction::MMA) {
            Product p(s, true, true);
            p.schedule(s, instruction);
            change(p);
            return refusal([&] { ptx_of(p); });
        };
        const auto has = [](const std::string &message, const std::string &part) {
            CAPTURE(message);
            CAPTURE(part);
            CHECK(message.find("tensor_test.cpp:") == 0);
            CHECK(message.find(part) != std::string::npos);
        };
        has(refused([](Product &p) { p.product.update().serial(p.ki); }),
            "either all loops within it are tensorized, or none");
        has(refused([](Product &p) { p.product.update().gpu_threads(wx, wy); }),
            "is computed and used within loops of gpu_warps or gpu_warpgroups");
        has(refused([](Product &p) { p.product.store_in(MemoryType::GPUShared); }),
            "is in no nest that computes a Func in MemoryType::Tile");
        has(refused([](Product &p) { p.a.in().ring_buffer(1); }), "2 at least");
        has(refused([](Product &p) { p.b.in().ring_buffer(3); }), "the same for all");
        has(refused([](Product &) {}, TensorInstruction::WGMMA), "a multiple of 64");
        const auto refused_sizes = [&](const Sizes &narrow) {
            Product p(narrow, true, true);
            p.schedule(narrow, TensorInstruction::WGMMA);
            return refusal([&] { ptx_of(p); });
        };
        has(refused_sizes({64, 96, 64, 64, 96, 64, 96}), "a multiple of 64 of them");
        has(refused_sizes({64, 64, 96, 64, 64, 64, 64, 48}),
            "a multiple of 128 bytes, or of 64 or 32");
    }
}
