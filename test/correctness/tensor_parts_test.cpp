// Sums in parts (split_k), and copies that the blocks of a cluster make together: by meaning,
// thread by thread, without a GPU; as PTX, which ptxas assembles where it is installed; and on the
// GPU, where there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), yb("yb"), xb("xb"), wx("wx"), w("w"), t("t"), part("part");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu) && host_cuda_capability() >= 90) all.push_back(gpu);
    return all;
}

// Small integers and halves, whose sums are exact.
float16_t value_at(int i, int j) { return float16_t(float((i * 7 + j * 3) % 11 - 5) / 2); }

// out = max(a * b + bias, 0), float16, of sums in float32. Not scheduled yet.
struct Product {
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"}, bias{Float(32), 1, "bias"};
    Func product{"product"}, out{"out"};
    RVar ko{"ko"}, ki{"ki"};
    RDom k;

    explicit Product(int k_extent) : k(0, k_extent, "k") {
        product(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
        out(x, y) = cast<float16_t>(max(product(x, y) + bias(x), 0.0f));
    }
    void stage(Func sums) {
        for (Func f : {a.in(), b.in()})
            f.compute_at(sums, ko).store_in(MemoryType::GPUShared).async().ring_buffer(3);
    }
};

using Schedule = std::function<void(Product &)>;

void agrees(int columns, int rows, int k, const Schedule &schedule) {
    Product p(k);
    schedule(p);
    Buffer<float16_t> a(k, rows), b(columns, k);
    a.for_each_element([&](int i, int j) { a(i, j) = value_at(i, j); });
    b.for_each_element([&](int i, int j) { b(i, j) = value_at(j, i); });
    Buffer<float> bias(columns);
    bias.for_each_element([&](int i) { bias(i) = float(i % 5 - 2); });
    p.a.set(a);
    p.b.set(b);
    p.bias.set(bias);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<float16_t> out = p.out.realize({columns, rows}, target);
        out.for_each_element([&](int i, int j) {
            float sum = bias(i);
            for (int r = 0; r < k; r++) sum += float(a(r, j)) * float(b(i, r));
            REQUIRE(float(out(i, j)) == float(float16_t(std::max(sum, 0.0f))));
        });
    }
}

std::string ptx_of(int k, const Schedule &schedule) {
    Product p(k);
    schedule(p);
    return test::ptx_of(p.out, 90);
}
// Instructions wgmma need the architecture with all of its features.
void check_assembled(const std::string &ptx) {
    if (std::string(PTXAS).empty()) return;
    std::string folder = (std::filesystem::temp_directory_path() / "parts_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    const std::string path = folder + "/kernels.ptx";
    std::ofstream(path) << ptx;
    const std::string command =
        std::string(PTXAS) + " -arch=sm_90a " + path + " -o " + path + ".cubin 2>&1";
    CHECK(std::system(command.c_str()) == 0);
    std::filesystem::remove_all(folder);
}

// The parts are computed by one kernel, and added up by another one.
Schedule by_two_kernels(int parts, int rows = 64, int columns = 64) {
    return [=](Product &p) {
        Func sums =
            p.product.update().split(p.k, p.ko, p.ki, 64 * parts).split_k(p.ki, part, parts);
        Func stored = sums.in();
        stored.compute_root().tile(x, y, xi, yi, columns, rows, TailStrategy::RoundUp);
        stored.gpu_blocks(x, y, part).gpu_warpgroups(yi, 64);
        sums.compute_at(stored, x).store_in(MemoryType::Tile).gpu_warpgroups(y, 64);
        sums.update().split(y, w, y, 64).reorder({p.ki, x, y, w, p.ko}).gpu_warpgroups(w);
        sums.update().tensorize(x, y, p.ki, TensorInstruction::WGMMA);
        p.stage(sums);
        p.out.gpu_tile(x, y, xi, yi, 64, 4, TailStrategy::GuardWithIf);
        p.product.compute_at(p.out, xi);
    };
}

// Each block of a cluster computes a part, and adds up a part of the rows of the tile.
Schedule by_cluster(int parts, int rows = 64, int columns = 64) {
    return [=](Product &p) {
        Func sums =
            p.product.update().split(p.k, p.ko, p.ki, 64 * parts).split_k(p.ki, part, parts);
        Func stored = sums.in();
        p.out.tile(x, y, xi, yi, columns, rows).split(yi, yb, yi, rows / parts);
        p.out.reorder(xi, yi, yb, x, y).gpu_clusters(x, y).gpu_blocks(yb);
        p.out.split(yi, w, yi, 4).gpu_threads(xi, yi);
        p.product.compute_at(p.out, xi);
        stored.compute_at(p.out, x).gpu_blocks(part).gpu_warpgroups(y, 64);
        sums.compute_at(stored, part).store_in(MemoryType::Tile).gpu_warpgroups(y, 64);
        sums.update().split(y, w, y, 64).reorder({p.ki, x, y, w, p.ko}).gpu_warpgroups(w);
        sums.update().tensorize(x, y, p.ki, TensorInstruction::WGMMA);
        p.stage(sums);
    };
}

// One kernel whose clusters are of blocks along x and along y.
Schedule in_clusters(int along_x, int along_y, const std::function<void(Product &)> &change) {
    return [=](Product &p) {
        p.out.tile(x, y, xi, yi, 64, 64).tile(x, y, xb, yb, along_x, along_y);
        p.out.gpu_clusters(x, y).gpu_blocks(xb, yb).gpu_warpgroups(yi, 64);
        p.product.compute_at(p.out, xb).store_in(MemoryType::Tile).gpu_warpgroups(y, 64);
        Stage update = p.product.update();
        update.split(p.k, p.ko, p.ki, 64).split(y, w, y, 64).reorder({p.ki, x, y, w, p.ko});
        update.gpu_warpgroups(w).tensorize(x, y, p.ki, TensorInstruction::WGMMA);
        p.stage(p.product);
        change(p);
    };
}

// One kernel without clusters: tiles of 64 x 64, by wgmma or by mma, with what is copied ahead.
Schedule plain(TailStrategy tail, bool is_mma = false) {
    return [=](Product &p) {
        p.out.tile(x, y, xi, yi, 64, 64, tail).gpu_blocks(x, y).split(yi, w, yi, is_mma ? 16 : 64);
        p.product.bound_extent(x, 64).bound_extent(y, 64);
        p.product.compute_at(p.out, x).store_in(MemoryType::Tile).split(y, w, y, is_mma ? 16 : 64);
        Stage update = p.product.update();
        update.split(p.k, p.ko, p.ki, 64).split(y, w, y, is_mma ? 16 : 64);
        update.reorder({p.ki, x, y, w, p.ko});
        const auto share = [&](auto &stage) {
            if (is_mma)
                stage.gpu_warps(w);
            else
                stage.gpu_warpgroups(w);
        };
        share(p.out);
        share(p.product);
        share(update);
        update.tensorize(x, y, p.ki, is_mma ? TensorInstruction::MMA : TensorInstruction::WGMMA);
        p.stage(p.product);
    };
}

}  // namespace

TEST_SUITE("copies ahead, with other directives") {
    TEST_CASE("tails of the tiles") {
        for (const bool is_mma : {false, true}) {
            agrees(72, is_mma ? 64 : 72, 128, plain(TailStrategy::ShiftInwards, is_mma));
            agrees(64, 64, 200, plain(TailStrategy::RoundUp, is_mma));
        }
    }
    TEST_CASE("a kernel of its own for each case of a specialization") {
        for (const bool has_roles : {false, true}) {
            agrees(128, 64, 128, [&](Product &p) {
                plain(TailStrategy::GuardWithIf)(p);
                if (has_roles) p.out.warp_specialize();
                p.out.specialize(p.a.height() == 64);
            });
            agrees(64, 128, 128, [&](Product &p) {
                plain(TailStrategy::GuardWithIf)(p);
                Stage narrow = p.out.specialize(p.a.height() == 64);
                narrow.gpu_order(grouped(2));
                p.out.persistent();
                if (has_roles) p.out.warp_specialize();
            });
        }
    }
    TEST_CASE("parts of a sum by mma") {
        for (int k : {192, 256}) {
            CAPTURE(k);
            agrees(64, 64, k, [](Product &p) {
                Func sums = p.product.update().split(p.k, p.ko, p.ki, 64).split_k(p.ki, part, 2);
                Func stored = sums.in();
                stored.compute_root().tile(x, y, xi, yi, 64, 64, TailStrategy::RoundUp);
                stored.gpu_blocks(x, y, part).split(yi, w, yi, 16).gpu_warps(w);
                sums.compute_at(stored, x)
                    .store_in(MemoryType::Tile)
                    .split(y, w, y, 16)
                    .gpu_warps(w);
                sums.update().split(y, w, y, 16).reorder({p.ki, x, y, w, p.ko}).gpu_warps(w);
                sums.update().tensorize(x, y, p.ki, TensorInstruction::MMA);
                p.stage(sums);
                p.out.gpu_tile(x, y, xi, yi, 64, 4, TailStrategy::GuardWithIf);
                p.product.compute_at(p.out, xi);
            });
        }
    }
}

TEST_SUITE("sums in parts") {
    TEST_CASE("a plain sum, of parts that do not divide it, over blocks") {
        for (int parts : {1, 2, 3, 5}) {
            Func in("in"), sum("sum");
            RDom r(0, 23, "r");
            in(x) = x * x + 1;
            sum(y) += in(r)*y;
            Func sums = sum.update().split_k(r, part, parts);
            sums.compute_root().gpu_blocks(part).gpu_threads(y);
            sums.update().gpu_blocks(part).gpu_threads(y);
            sum.gpu_single_thread().update().gpu_single_thread();
            for (const Target &target : targets()) {
                const Buffer<int> found = sum.realize({3}, target);
                int wanted = 0;
                for (int i = 0; i < 23; i++) wanted += i * i + 1;
                for (int i = 0; i < 3; i++) CHECK(found(i) == wanted * i);
            }
        }
    }
    TEST_CASE("products on tensor cores, added up by another kernel") {
        agrees(64, 64, 256, by_two_kernels(2));
        agrees(128, 64, 192, by_two_kernels(3));
    }
    TEST_CASE("products on tensor cores, added up by the blocks of a cluster") {
        agrees(64, 64, 256, by_cluster(2));
        agrees(128, 64, 256, by_cluster(4));
    }
    TEST_CASE("code: nothing atomic, memory of other blocks where they are of a cluster") {
        const std::string two = ptx_of(1024, by_two_kernels(4, 128, 128)),
                          one = ptx_of(1024, by_cluster(4, 128, 128));
        for (const std::string &ptx : {two, one}) {
            CAPTURE(ptx);
            CHECK(count_of(ptx, "\tatom.") + count_of(ptx, "\tred.") == 0);
            CHECK(count_of(ptx, "wgmma.mma_async") > 0);
            check_assembled(ptx);
        }
        CHECK(count_of(two, "mapa") == 0);
        CHECK(count_of(one, "mapa") > 0);
    }
    TEST_CASE("a printed schedule has the directives that it is short for") {
        Product p(256);
        by_two_kernels(4)(p);
        const std::string text = Pipeline(p.out).schedule_as_cpp();
        CAPTURE(text);
        CHECK(text.find(".split(ki, part_1, ki, 64, TailStrategy::Auto)") != std::string::npos);
        CHECK(text.find("product.update(0).rfactor({{part_1, part}})") != std::string::npos);
    }
    TEST_CASE("what cannot be computed in parts is refused") {
        const auto has = [](const std::string &message, const std::string &wanted) {
            CAPTURE(message);
            CHECK(message.find("tensor_parts_test.cpp:") == 0);
            CHECK(message.find(wanted) != std::string::npos);
        };
        Product p(64);
        Param<int> n("n");
        has(refusal([&] { p.product.update().split_k(p.ko, part, 0); }),
            "split_k: the number of parts is a positive constant, and not 0");
        has(refusal([&] { p.product.update().split_k(p.k, part, n); }), "and not n");
        Func scan("scan");
        RDom r(1, 7, "r");
        scan(x) = x;
        scan(r) = scan(r - 1) * 2 + scan(r);
        has(refusal([&] { scan.update().split_k(r, part, 2); }), "rfactor: the update scan");
    }
}

TEST_SUITE("copies of a cluster") {
    const auto roles = [](Product &p) { p.out.warp_specialize(); };

    TEST_CASE("what blocks of a cluster share is copied once") {
        agrees(128, 64, 256, in_clusters(2, 1, roles));
        agrees(64, 128, 256, in_clusters(1, 2, roles));
        agrees(128, 128, 128, in_clusters(2, 2, roles));
        agrees(256, 64, 128, in_clusters(4, 1, roles));
    }
    TEST_CASE("clusters that take turns, in groups of rows") {
        const auto turns = [](Product &p) {
            p.out.gpu_order(grouped(2)).persistent().warp_specialize(40, 232);
        };
        agrees(128, 192, 128, in_clusters(2, 1, turns));
        agrees(128, 128, 128, in_clusters(1, 2, turns));
    }
    TEST_CASE("without roles each block copies what it needs") {
        agrees(128, 64, 256, in_clusters(2, 1, [](Product &) {}));
    }
    TEST_CASE("code: parts of boxes to all blocks, and arrivals at the barriers of others") {
        for (const bool in_turns : {false, true}) {
            const std::string ptx = ptx_of(1024, in_clusters(2, 1, [&](Product &p) {
                                               if (in_turns) p.out.persistent();
                                               p.out.warp_specialize(40, 232);
                                           }));
            CAPTURE(ptx);
            const size_t kernels = count_of(ptx, ".entry");
            // Each copies 32 rows of a, which is the same for both; b is each block's own.
            CHECK(count_of(ptx, ".multicast::cluster") == kernels);
            CHECK(count_of(ptx, "cp.async.bulk.tensor.2d") == 2 * kernels);
            CHECK(count_of(ptx, "mbarrier.arrive.shared::cluster") == 2 * kernels);
            CHECK(count_of(ptx, "barrier.cluster.arrive") == 2 * kernels);
            check_assembled(ptx);
        }
    }
}
