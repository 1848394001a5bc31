#include "oracle.h"

// Hardware copies into shared memory, where there are any.
namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

}  // namespace

PROGRAM(tiles_are_copied_asynchronously) {
    for (int width : {1, 2, 4}) {
        Buffer<float> a(64, 32), b(32, 64);
        a.fill([](int i, int j) { return float((i * 3 + j) % 7); });
        b.fill([](int i, int j) { return float((i + j * 5) % 11); });
        EXPECT(same_on_gpu<float>(
            [&](bool gpu) {
                Func A("A"), B("B"), prod("prod"), out("out");
                RDom r(0, 32);
                A(x, y) = a(x, y);
                B(x, y) = b(x, y);
                prod(x, y) = 0.0f;
                prod(x, y) += A(x, r) * B(r, y);
                out(x, y) = prod(x, y);
                if (!gpu) return out;
                RVar ro("ro"), ri("ri");
                Var xii("xii"), yii("yii"), v("v");
                A.compute_root().gpu_tile(x, y, xi, yi, 16, 4);
                B.compute_root().gpu_tile(x, y, xi, yi, 16, 4);
                out.bound(x, 0, 64).bound(y, 0, 64);
                out.tile(x, y, xo, yo, xi, yi, 16, 16).tile(xi, yi, xii, yii, 2, 2);
                out.gpu_blocks(xo, yo).gpu_threads(xi, yi).unroll(xii).unroll(yii);
                prod.compute_at(out, xo).store_in(MemoryType::GPUShared);
                prod.tile(x, y, xi, yi, 2, 2).gpu_threads(x, y).unroll(xi).unroll(yi);
                prod.update().split(r, ro, ri, 8).tile(x, y, xi, yi, 2, 2);
                prod.update().reorder(ri, xi, yi, x, y, ro).gpu_threads(x, y);
                A.in().compute_at(prod, ro).store_in(MemoryType::GPUSharedAsync);
                A.in().split(x, x, v, width).vectorize(v).gpu_threads(x, y);
                B.in().compute_at(prod, ro).store_in(MemoryType::GPUSharedAsync);
                B.in().split(x, x, v, 4).vectorize(v).gpu_threads(x, y);
                return out;
            },
            {64, 64}));
    }
    return 0;
}

PROGRAM(asynchronous_copies_beside_plain_shared_memory) {
    Buffer<int> in(64, 16);
    in.fill([](int i, int j) { return i * 3 + j * j; });
    EXPECT(same_on_gpu<int>(
        [&](bool gpu) {
            Func f("f"), g("g"), out("out");
            f(x, y) = in(x, y);
            g(x, y) = f(x, y) + f(x + 1, y);
            out(x, y) = g(x, y) * 2 + f(x + 2, y);
            if (!gpu) return out;
            f.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            out.gpu_tile(x, y, xo, yo, xi, yi, 16, 4);
            g.compute_at(out, xo).gpu_threads(x, y);
            f.in().compute_at(out, xo).store_in(MemoryType::GPUSharedAsync).align_storage(x, 20);
            f.in().gpu_threads(x, y);
            return out;
        },
        {48, 16}));
    return 0;
}
