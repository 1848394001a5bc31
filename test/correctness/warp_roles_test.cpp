// Kernels whose warps have roles (warp_specialize): by meaning, thread by thread, without a GPU; as
// PTX, and what ptxas says of it where it is installed; and on the GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include "random.h"
#include <algorithm>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");

struct Sizes {
    int rows, columns, k;           // of the product
    int block_rows, block_columns;  // of a block
    int group_rows, group_columns;  // of a warpgroup
    int stages = 3;
};

// out = max(a * b + bias, 0) by wgmma, with what is copied ahead, and without roles yet.
struct Product {
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"}, bias{Float(32), 1, "bias"};
    Func product{"product"}, out{"out"};
    RVar ko{"ko"}, ki{"ki"};
    RDom k;

    explicit Product(const Sizes &s, bool b_by_rows = true) : k(0, s.k, "k") {
        const Expr of_b = b_by_rows ? b(x, k) : b(k, x);
        product(x, y) += cast<float>(a(k, y)) * cast<float>(of_b);
        out(x, y) = cast<float16_t>(max(product(x, y) + bias(x), 0.0f));
        out.tile(x, y, xi, yi, s.block_columns, s.block_rows).gpu_blocks(x, y);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        Stage update = product.update();
        update.split(k, ko, ki, 64);
        over_groups(out.tile(xi, yi, wx, wy, xi, yi, s.group_columns, s.group_rows));
        over_groups(product.tile(x, y, wx, wy, x, y, s.group_columns, s.group_rows));
        update.tile(x, y, wx, wy, x, y, s.group_columns, s.group_rows);
        update.reorder({ki, x, y, wx, wy, ko});
        over_groups(update).tensorize(x, y, ki, TensorInstruction::WGMMA);
        for (Func staged : {a.in(), b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(s.stages);
        }
    }

private:
    template<typename Scheduled> static Scheduled &over_groups(Scheduled &f) {
        return f.gpu_warpgroups(wx).gpu_warpgroups(wy);
    }
};

using Change = std::function<void(Product &)>;

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu) && host_cuda_capability() >= 90) all.push_back(gpu);
    return all;
}

// Small integers and halves, whose sums are exact.
float16_t value_at(int i, int j) { return float16_t(float((i * 7 + j * 3) % 11 - 5) / 2); }

void agrees(const Sizes &s, bool b_by_rows, const Change &change) {
    Product p(s, b_by_rows);
    change(p);
    Buffer<float16_t> a(s.k, s.rows), b(b_by_rows ? s.columns : s.k, b_by_rows ? s.k : s.columns);
    a.for_each_element([&](int i, int j) { a(i, j) = value_at(i, j); });
    b.for_each_element([&](int i, int j) { b(i, j) = value_at(j, i); });
    Buffer<float> bias(s.columns);
    bias.for_each_element([&](int i) { bias(i) = float(i % 5 - 2); });
    p.bias.set(bias);
    p.a.set(a);
    p.b.set(b);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<float16_t> out = p.out.realize({s.columns, s.rows}, target);
        out.for_each_element([&](int i, int j) {
            float sum = bias(i);
            for (int k = 0; k < s.k; k++)
                sum += float(a(k, j)) * float(b_by_rows ? b(i, k) : b(k, i));
            REQUIRE(float(out(i, j)) == float(float16_t(std::max(sum, 0.0f))));
        });
    }
}

}  // namespace

TEST_SUITE("roles of warps") {
    TEST_CASE("a producer copies, and consumers compute") {
        for (const bool b_by_rows : {true, false}) {
            agrees({64, 64, 256, 64, 64, 64, 64, 2}, b_by_rows,
                   [](Product &p) { p.out.warp_specialize(); });
            agrees({128, 64, 192, 128, 64, 64, 64, 3}, b_by_rows,
                   [](Product &p) { p.out.warp_specialize(40, 232); });
        }
    }
    TEST_CASE("the copies of a block run on into its next tile") {
        // 5 and 3 iterations in rings of 3 and 2: tiles begin in any slot and phase.
        agrees({256, 32, 320, 64, 16, 64, 16, 3}, false,
               [](Product &p) { p.out.persistent().warp_specialize(); });
        agrees({192, 64, 192, 64, 64, 64, 64, 2}, true, [](Product &p) {
            p.out.gpu_order(grouped(2)).persistent().warp_specialize(40, 232);
        });
    }
    TEST_CASE("warpgroups in two dimensions have a warpgroup more in the outer one") {
        agrees({128, 128, 128, 128, 128, 64, 64, 2}, true,
               [](Product &p) { p.out.warp_specialize(); });
    }
    TEST_CASE("consumers take the tiles of a block in turns") {
        const auto in_turns = [](Product &p) { p.out.persistent().warp_specialize().ping_pong(); };
        // Odd and even numbers of tiles, and of iterations in rings of 3 and 2.
        agrees({192, 64, 320, 64, 64, 64, 64, 3}, true, in_turns);
        agrees({256, 128, 192, 64, 64, 64, 64, 2}, false, [](Product &p) {
            p.out.gpu_order(hilbert()).persistent().warp_specialize(40, 232).ping_pong();
        });
        agrees({256, 64, 64, 128, 64, 64, 64, 3}, true, in_turns);
        agrees({64, 64, 128, 64, 64, 64, 64, 2}, true, in_turns);
    }
    TEST_CASE("random sizes, stages, layouts and orders") {
        test::Seeds seeds(3.0, 16);
        while (const auto seed = seeds.next()) {
            CAPTURE(*seed);
            test::Random random(*seed);
            const auto pick = [&](const std::vector<int> &of) { return random.pick(of); };
            const bool b_by_rows = random.chance(50);
            Sizes s{};
            s.group_rows = 64;
            s.group_columns = b_by_rows ? 64 : pick({8, 24, 64});
            s.block_rows = s.group_rows * pick({1, 2});
            s.block_columns = s.group_columns * pick({1, 2});
            const auto blocks = [&](int block, int group, const std::vector<int> &more) {
                return block == group ? block + pick(more) : block;
            };
            s.rows = blocks(s.block_rows, s.group_rows, {0, 3, 8, 64, 128});
            s.columns = blocks(s.block_columns, s.group_columns, {0, 8, 24});
            s.stages = pick({2, 3, 4});
            // Rings come around where less is computed.
            const bool is_small = s.rows * s.columns <= 64 * 64;
            s.k = 64 * pick(is_small ? std::vector{1, 2, 3, 5} : std::vector{1, 2});
            const int turns = pick({0, 1, 2}), registers = pick({0, 1});
            CAPTURE(s.block_rows);
            CAPTURE(s.block_columns);
            CAPTURE(s.k);
            CAPTURE(s.rows);
            CAPTURE(s.columns);
            CAPTURE(s.stages);
            agrees(s, b_by_rows, [&](Product &p) {
                if (turns > 0) p.out.persistent();
                if (registers > 0)
                    p.out.warp_specialize(24, 96);
                else
                    p.out.warp_specialize();
                if (turns == 2) p.out.ping_pong();
            });
        }
    }
    TEST_CASE("code: no barrier of all threads in the loop, arrivals, and registers of the roles") {
        const Sizes s{256, 256, 1024, 128, 256, 64, 256, 4};
        for (const bool with_registers : {false, true}) {
            Product p(s);
            p.out.persistent();
            if (with_registers)
                p.out.warp_specialize(40, 232);
            else
                p.out.warp_specialize();
            const std::string ptx = test::ptx_of(p.out, 90);
            CAPTURE(ptx);
            const size_t kernels = count_of(ptx, ".entry");
            CHECK(count_of(ptx, "wgmma.mma_async.sync.aligned.m64n256k16") == 4 * kernels);
            CHECK(count_of(ptx, "mbarrier.try_wait") == 2 * kernels);  // of each role
            CHECK(count_of(ptx, "mbarrier.arrive.shared.b64") == 2 * kernels);
            CHECK(count_of(ptx, "mbarrier.arrive.expect_tx") == kernels);
            CHECK(count_of(ptx, "cp.async.bulk.tensor.2d") == 2 * kernels);
            CHECK(count_of(ptx, "bar.sync \t0") == kernels);     // before the roles begin
            CHECK(count_of(ptx, "bar.sync 1, 256") == kernels);  // of consumers, between two tiles
            CHECK(count_of(ptx, "setmaxnreg.dec.sync.aligned.u32 40") == with_registers * kernels);
            CHECK(count_of(ptx, "setmaxnreg.inc.sync.aligned.u32 232") == with_registers * kernels);
            CHECK(count_of(ptx, ".maxntid 384") == kernels);
            test::check_fast(ptx);
        }
    }
    TEST_CASE("code of consumers in turns: barriers of each group, and none of all threads") {
        Product p({256, 256, 1024, 64, 256, 64, 256, 4});
        p.out.persistent().warp_specialize(40, 232).ping_pong();
        const std::string ptx = test::ptx_of(p.out, 90);
        CAPTURE(ptx);
        const size_t kernels = count_of(ptx, ".entry");
        CHECK(count_of(ptx, "wgmma.mma_async.sync.aligned.m64n256k16") == 4 * kernels);
        CHECK(count_of(ptx, ".maxntid 384") == kernels);
        CHECK(count_of(ptx, "bar.sync \t0") == kernels);
        CHECK(count_of(ptx, "mbarrier.try_wait") == 3 * kernels);  // and of the other group's turn
        test::check_assembled(ptx, 90, true);
    }
    TEST_CASE("consumers that share memory meet among themselves") {
        const Sizes s{128, 128, 128, 64, 128, 64, 128, 2};
        const auto stage_bias = [](Product &p) {
            p.bias.in().compute_at(p.out, x).store_in(MemoryType::GPUShared);
            p.bias.in().gpu_threads(Var::implicit(0));
            p.out.persistent().warp_specialize();
        };
        agrees(s, true, stage_bias);
        Product p(s);
        stage_bias(p);
        const std::string ptx = test::ptx_of(p.out, 90);
        CAPTURE(ptx);
        CHECK(count_of(ptx, "bar.sync 1, 128") >= count_of(ptx, ".entry"));
        test::check_fast(ptx);
    }
    TEST_CASE("a schedule is printed as it is written") {
        Product p({64, 64, 64, 64, 64, 64, 64, 2});
        p.out.warp_specialize(40, 232);
        const std::string text = Pipeline(p.out).schedule_as_cpp();
        CAPTURE(text);
        CHECK(text.find(".warp_specialize(40, 232)") != std::string::npos);
        const std::string json = Pipeline(p.out).schedule_as_json();
        CAPTURE(json);
        CHECK(json.find("\"warp_specialize\"") != std::string::npos);
    }
    TEST_CASE("what does not fit is refused, at the directive") {
        const Sizes s{64, 64, 128, 64, 64, 64, 64, 2};
        const auto refused = [&](const Change &change, const Sizes &sizes) {
            Product p(sizes);
            return refusal([&] {
                change(p);
                test::ptx_of(p.out, 90);
            });
        };
        const auto has = [](const std::string &message, const std::string &part) {
            CAPTURE(message);
            CHECK(message.find("warp_roles_test.cpp:") == 0);
            CHECK(message.find(part) != std::string::npos);
        };
        has(refused([](Product &p) { p.out.warp_specialize(41, 232); }, s),
            "warp_specialize: the threads of a warpgroup have 24 to 240 registers, a multiple of "
            "8");
        has(refused([](Product &p) { p.out.warp_specialize(40); }, s), "here they are 40 and 0");
        has(refused([](Product &p) { p.product.update().warp_specialize(); }, s),
            "warp_specialize: stage product.update(0) has no loop over blocks");
        has(refused([](Product &p) { p.out.warp_specialize(240, 240); },
                    {256, 64, 128, 256, 64, 64, 64, 2}),
            "a multiprocessor has 65536");
        has(refused([](Product &p) { p.out.warp_specialize().ping_pong(); }, s),
            "ping_pong: consumers take the tiles of one block in turns, and stage out has a block "
            "for "
            "each tile; say persistent() before");
        has(refused([](Product &p) { p.out.persistent().ping_pong(); }, s), "no roles");
        has(refused(
                [](Product &p) {
                    p.bias.in().compute_at(p.out, x).store_in(MemoryType::GPUShared);
                    p.bias.in().gpu_threads(Var::implicit(0));
                    p.out.persistent().warp_specialize().ping_pong();
                },
                s),
            "ping_pong: the memory of the block has bias_im");
        Func plain("plain");
        plain(x, y) = x + y;
        plain.gpu_tile(x, y, xi, yi, 16, 16).warp_specialize();
        has(refusal([&] { test::ptx_of(plain, 90); }),
            "warp_specialize: no loop of the kernel has copies for wgmma");
    }
}
