// The product of two matrices of floats, each stored row by row.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct Gemm {
    ImageParam b;
    Func product{"product"}, output{"gemm"};
    Var x{"x"}, y{"y"};
    RDom k;

    // Dimensions: a (k, y), b (x, k).
    Gemm(const ImageParam &a, const ImageParam &b) : b(b), k(0, a.dim(0).extent(), "k") {
        product(x, y) += a(k, y) * b(x, k);
        output(x, y) = product(x, y);
    }

    void schedule(const Target &target) {
        // With AVX-512, 6 rows of 4 vectors are 24 of the 32 registers; the rest holds four
        // vectors of b and one value of a.
        const int vector = target.natural_vector_size<float>();
        const int vectors = vector >= 16 ? 4 : 2, rows = 6;
        Var xi("xi"), yi("yi");
        output.tile(x, y, xi, yi, vectors * vector, rows)
            .reorder(xi, yi, y, x)  // down a panel of b, which stays in the cache meanwhile
            .vectorize(xi, vector)
            .unroll(xi)
            .unroll(yi)
            .parallel(x);
        product
            .compute_at(output, y)  // one tile of sums, in registers
            .vectorize(x, vector)
            .unroll(x)
            .unroll(y);
        product.update()
            .reorder(x, y, k)  // a column of a times a row of b at each step
            .vectorize(x, vector)
            .unroll(x)
            .unroll(y)
            .unroll(k, 4);
        Func panel = b.in();
        panel
            .compute_at(output, x)  // packed: the rows of b are far apart, those of a panel not
            .vectorize(panel.args()[0], vector)
            .unroll(panel.args()[0]);
    }
};

}  // namespace tessera::apps
