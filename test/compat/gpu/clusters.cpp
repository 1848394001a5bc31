#include "oracle.h"

// Clusters of blocks, which Halide does not have: in the oracle, and on GPUs that have them.
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), u("u"), t("t");

template<typename T, typename Make>
bool same_in_clusters(Make make, const std::vector<int> &sizes) {
    Func plain = make(false), scheduled = make(true);
    Buffer<T> wanted = plain.realize(sizes);
    for (const Target &target : gpu_targets()) {
        const bool is_real = !target.has_feature(Target::Interpret);
        if (is_real && tessera::host_cuda_capability() < 90) continue;
        Buffer<T> found = scheduled.realize(sizes, target);
        if (is_same(wanted, found)) continue;
        std::printf("for %s\n", target.to_string().c_str());
        return false;
    }
    return true;
}

}  // namespace

PROGRAM(rows_less_their_sums_by_clusters) {
    for (int blocks : {2, 3, 5, 8}) {
        const int width = blocks * 64;
        EXPECT(same_in_clusters<int>(
            [&](bool gpu) {
                Func in("in"), sum("sum"), out("out");
                RDom r(0, width);
                in(x, y) = x * 7 + y * y - x * y;
                sum(y) += in(r, y);
                out(x, y) = in(x, y) - sum(y);
                if (!gpu) return out;
                RVar ro("ro"), ri("ri");
                out.bound(x, 0, width);
                out.split(x, xo, xi, 64).gpu_clusters(y).gpu_blocks(xo).gpu_threads(xi);
                sum.compute_at(out, xo);
                sum.update().split(r, ro, ri, 64);
                Func part = sum.update().rfactor(ro, u);
                part.compute_at(out, y).gpu_blocks(u);
                part.update().reorder(ri, u).gpu_blocks(u);
                return out;
            },
            {width, 37}));
    }
    return 0;
}

PROGRAM(blocks_of_a_cluster_read_what_their_neighbours_have) {
    EXPECT(same_in_clusters<uint16_t>(
        [&](bool gpu) {
            Func f("f"), out("out");
            f(x, y) = cast<uint16_t>(x * 31 + y);
            out(x, y) = f(x, y) + f(x + 1, y) * 2 + f(x + 70, y) * 3;
            if (!gpu) return out;
            out.split(x, xo, x, 256).split(x, xi, t, 64).reorder(t, xi, xo, y);
            out.gpu_clusters(xo, y).gpu_blocks(xi).gpu_threads(t);
            f.compute_at(out, xo).split(x, u, t, 82, TailStrategy::GuardWithIf);
            f.gpu_blocks(u).gpu_threads(t);
            return out;
        },
        {1024, 19}));
    return 0;
}
