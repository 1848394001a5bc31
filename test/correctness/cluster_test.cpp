// Clusters of blocks: without a GPU, as PTX, and on the GPU, where there is one that has them.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include <cstdio>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yb("yb"), u("u"), v("v"), t("t");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu) && host_cuda_capability() >= 90) all.push_back(gpu);
    return all;
}

// make(scheduled) is one pipeline without a schedule, and with it.
template<typename T>
void agrees(const std::function<Func(bool)> &make, const std::vector<int> &sizes) {
    const Buffer<T> wanted = make(false).realize(sizes);
    Func scheduled = make(true);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<T> found = scheduled.realize(sizes, target);
        wanted.for_each_element([&](const int *at) { REQUIRE(wanted(at) == found(at)); });
    }
}

std::string ptx_of(const Func &f) { return test::ptx_of(f, 90); }
void check_assembled(const std::string &ptx) { test::check_assembled(ptx, 90); }

// Each row less its sum: blocks of a cluster sum their parts, and each adds up what all have.
struct Rows {
    Func out{"out"}, sum{"sum"}, part;
    int line = 0;  // of gpu_clusters

    Rows(bool scheduled, int width, int blocks, int threads, bool is_checked = false) {
        Func in("in");
        RDom r(0, width, "r");
        in(x, y) = x * 7 + y * y - x * y;
        sum(y) += in(r, y);
        out(x, y) = in(x, y) - (is_checked ? require(sum(y) > 0, sum(y), "row", y) : sum(y));
        if (!scheduled) return;
        RVar ro("ro"), ri("ri"), rt("rt");
        out.split(x, xo, xi, width / blocks).split(xi, xi, t, threads).reorder(xi, t, xo, y);
        out.bound(x, 0, width);
        line = __LINE__ + 1;
        out.gpu_clusters(y).gpu_blocks(xo).gpu_threads(t);
        sum.compute_at(out, xo);
        sum.update().split(r, ro, ri, width / blocks);
        part = sum.update().rfactor(ro, u);
        part.compute_at(out, y).gpu_blocks(u);
        part.update().split(ri, ri, rt, threads).reorder(ri, rt, u).gpu_blocks(u);
        Func of_thread = part.update().rfactor(rt, v);
        of_thread.compute_at(part, u).gpu_threads(v);
        of_thread.update().gpu_threads(v);
    }
};

}  // namespace

TEST_SUITE("clusters") {
    TEST_CASE("blocks of a cluster that compute what one loop over blocks would") {
        for (int blocks : {1, 2, 3, 8}) {
            agrees<int>(
                [&](bool scheduled) {
                    Func out("out");
                    out(x, y) = x * 100 + y;
                    if (!scheduled) return out;
                    out.split(x, x, t, 4, TailStrategy::GuardWithIf);
                    out.split(x, xo, xi, blocks, TailStrategy::GuardWithIf).reorder(t, xi, xo, y);
                    out.gpu_clusters(xo, y).gpu_blocks(xi).gpu_threads(t);
                    return out;
                },
                {61, 3});
        }
    }
    TEST_CASE("long rows, whose parts are summed by the blocks of a cluster") {
        for (int blocks : {2, 4, 8})
            agrees<int>([&](bool scheduled) { return Rows(scheduled, 256, blocks, 8).out; },
                        {256, 5});
    }
    TEST_CASE("a tile of a cluster, of which blocks read what their neighbours have") {
        for (int threads : {5, 16}) {
            agrees<uint16_t>(
                [&](bool scheduled) {
                    Func f("f"), g("g"), out("out");
                    f(x, y) = cast<uint16_t>(x * 31 + y);
                    g(x, y) = f(x, y) + f(x + 1, y) * 2;
                    out(x, y) = g(x, y) + g(x + 3, y) * 5;
                    if (!scheduled) return out;
                    out.split(x, xo, x, 48, TailStrategy::GuardWithIf);
                    out.split(x, xi, t, 12).reorder(t, xi, xo, y);
                    out.gpu_clusters(xo, y).gpu_blocks(xi).gpu_threads(t);
                    for (Func h : {f, g}) {
                        h.compute_at(out, xo).split(x, u, t, 13, TailStrategy::GuardWithIf);
                        h.gpu_blocks(u);
                        if (threads < 13) h.split(t, v, t, threads, TailStrategy::GuardWithIf);
                        h.gpu_threads(t);
                    }
                    return out;
                },
                {90, 3});
        }
    }
    TEST_CASE("rows and columns of blocks, values of several types, and vectors") {
        agrees<float>(
            [&](bool scheduled) {
                Func f("f"), out("out");
                f(x, y) = {cast<uint8_t>(x * 3 + y), x * 0.5f - y};
                out(x, y) = cast<float>(f(y, x)[0]) + f(15 - x, y)[1];
                if (!scheduled) return out;
                out.bound(x, 0, 16).bound(y, 0, 16);
                out.split(y, xo, y, 16).split(y, yb, y, 8).split(x, u, x, 8).vectorize(x, 4);
                out.reorder(x, y, u, yb, xo).gpu_clusters(xo).gpu_blocks(u, yb).gpu_threads(x, y);
                f.compute_at(out, xo).split(y, yb, y, 4).gpu_blocks(yb).gpu_threads(x, y);
                return out;
            },
            {16, 16});
    }
    TEST_CASE("rows one after the other, whose blocks meet in each, and a window that slides") {
        for (const bool slides : {false, true}) {
            const auto make = [&](bool scheduled) {
                Func f("f"), out("out");
                f(x, y) = cast<uint16_t>(x * 31 + y * y);
                out(x, y) = f(x, y - 1) + f(x + 5, y) * 3;
                if (!scheduled) return out;
                out.split(x, xo, x, 48, TailStrategy::GuardWithIf);
                out.split(x, xi, t, 12).reorder(t, xi, y, xo);
                out.gpu_clusters(xo).gpu_blocks(xi).gpu_threads(t);
                f.compute_at(out, y).split(x, u, t, 14, TailStrategy::GuardWithIf);
                f.reorder(t, y, u).gpu_blocks(u).gpu_threads(t).reorder_storage(y, x);
                if (slides) f.store_at(out, xo);
                return out;
            };
            agrees<uint16_t>(make, {90, 7});
            const std::string ptx = ptx_of(make(true));
            CAPTURE(ptx);
            CHECK(count_of(ptx, "barrier.cluster.arrive") >= 2);
            check_assembled(ptx);
        }
    }
    TEST_CASE("stages that are left out, for all blocks of a cluster together") {
        Param<int> wanted("wanted");
        Func f("f"), out("out");
        f(x, y) = x + y * 10;
        out(x, y) = select(wanted > y, f(15 - x, y), x);
        out.split(x, xo, x, 16).split(x, xi, t, 4).reorder(t, xi, xo, y);
        out.gpu_clusters(xo, y).gpu_blocks(xi).gpu_threads(t);
        f.compute_at(out, xo).split(x, u, t, 8).gpu_blocks(u).gpu_threads(t);
        for (const Target &target : targets()) {
            for (int n : {0, 1, 4}) {
                wanted.set(n);
                const Buffer<int> found = out.realize({32, 3}, target);
                found.for_each_element([&](int i, int j) {
                    const int of_f = 15 - i + j * 10;
                    REQUIRE(found(i, j) == (n > j ? of_f : i));
                });
            }
        }
    }
    TEST_CASE("PTX: launches by clusters, barriers of them, and loads from other blocks") {
        const std::string ptx = ptx_of(Rows(true, 4096, 8, 128).out);
        CAPTURE(ptx);
        const size_t kernels = count_of(ptx, ".entry");
        CHECK(count_of(ptx, ".reqnctapercluster 8") == kernels);
        CHECK(count_of(ptx, ".explicitcluster") == kernels);
        CHECK(count_of(ptx, "barrier.cluster.arrive") == 2 * kernels);
        CHECK(count_of(ptx, "barrier.cluster.wait") == 2 * kernels);
        CHECK(count_of(ptx, "mapa.shared::cluster") >= kernels);
        CHECK(count_of(ptx, "ld.shared::cluster") >= kernels);
        CHECK(count_of(ptx, "%clusterid.x") >= kernels);
        CHECK(count_of(ptx, "%ctaid") == 0);
        check_assembled(ptx);
    }
    TEST_CASE("a requirement that does not hold brings down a kernel whose blocks are read") {
        CHECK(count_of(ptx_of(Rows(true, 256, 4, 32, true).out), "trap;") > 0);
        CHECK(count_of(ptx_of(Rows(true, 256, 4, 32).out), "trap;") == 0);
    }
    TEST_CASE("a schedule is printed as it is written") {
        const std::string text = Pipeline(Rows(true, 256, 4, 8).out).schedule_as_cpp();
        CAPTURE(text);
        CHECK(text.find(".gpu_clusters(y)") != std::string::npos);
    }
    TEST_CASE("refusals name the line of the directive") {
        const Target older("x86-64-linux-cuda-cuda_capability_80");
        Rows rows(true, 256, 4, 8);
        REFUSED_AT(rows.line, rows.out.compile_to_module({}, "f", older),
                   "gpu_clusters: the loop y of out is over clusters of blocks, which GPUs have "
                   "from compute capability 9.0 on");
        const Target gpu("host-jit-cuda-interpret");
        const auto make = [] {
            Func f("f");
            f(x, y) = x + y;
            return f;
        };
        Func large = make();
        large.split(x, xo, xi, 9).gpu_clusters(y, xo);
        const int of_large = __LINE__ + 1;
        large.gpu_blocks(xi);
        REFUSED_AT(of_large, large.realize({32, 4}, gpu), "have 9 blocks, and a cluster has 8");
        Func unknown = make();
        const int of_unknown = __LINE__ + 1;
        unknown.gpu_clusters(y).gpu_blocks(x);
        REFUSED_AT(of_unknown, unknown.realize({32, 4}, gpu),
                   "the loop x of f is over the blocks of a cluster, whose number has to be known");
        Func inner = make();
        inner.gpu_blocks(y);
        const int of_inner = __LINE__ + 1;
        inner.split(x, xo, xi, 4).gpu_clusters(xo).gpu_threads(xi);
        REFUSED_AT(of_inner, inner.realize({32, 4}, gpu),
                   "over clusters is within a loop over blocks");
        Func f = make(), out("out");
        out(x, y) = f(x, y) + f(x + 1, y);
        out.split(x, xo, xi, 4).gpu_clusters(y, xo).gpu_blocks(xi);
        const int of_f = __LINE__ + 1;
        f.compute_at(out, xo).split(x, u, v, 4).reorder(u, v).gpu_blocks(v);
        REFUSED_AT(of_f, out.realize({32, 4}, gpu),
                   "f is computed at a loop over clusters, where each block has what it writes, "
                   "and its blocks write");
    }
}
