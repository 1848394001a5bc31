#include "oracle.h"

// Lanes of warps.
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), u("u");

}  // namespace

PROGRAM(a_stencil_of_lanes) {
    for (int width : {32, 16, 30}) {
        EXPECT(same_on_gpu<int>(
            [&](bool gpu) {
                Func f("f"), out("out");
                f(x, y) = x * 3 + y * y;
                out(x, y) = f(x - 1, y) + f(x, y) + f(x + 1, y);
                if (!gpu) return out;
                out.split(x, xo, xi, width, TailStrategy::GuardWithIf).reorder(xi, y, xo);
                out.gpu_blocks(xo).gpu_threads(y).gpu_lanes(xi);
                f.compute_at(out, y)
                    .split(x, xo, xi, 32, TailStrategy::RoundUp)
                    .gpu_lanes(xi)
                    .unroll(xo);
                return out;
            },
            {60, 4}));
    }
    return 0;
}

PROGRAM(a_sum_of_a_warp) {
    Buffer<uint8_t> in = picture(64, 8);
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), out("out");
            RDom r(0, 64);
            f(y) = 0;
            f(y) += cast<int>(in(r, y));
            out(y) = f(y);
            if (!gpu) return out;
            RVar ro("ro"), ri("ri");
            out.gpu_tile(y, x, xi, 4);
            f.compute_at(out, xi);
            f.update().split(r, ro, ri, 32);
            Func part = f.update().rfactor(ri, u);
            part.compute_at(out, xi).gpu_lanes(u);
            part.update().gpu_lanes(u);
            return out;
        },
        {8}));
    return 0;
}
