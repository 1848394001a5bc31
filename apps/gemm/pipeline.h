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
        const Expr width = output.output_buffer().width(), height = output.output_buffer().height();

        // A tile at the end is moved inwards, so that all are whole: computing some sums twice
        // costs less than masks.
        Stage large = output.specialize(width >= vectors * vector && height >= rows);
        tile(large, vectors * vector, rows, vector, TailStrategy::ShiftInwards);
        large.split(y, block, y, 16, TailStrategy::GuardWithIf).parallel(block).parallel(x);
        Stage narrow = output.specialize(width >= vector && height >= rows);
        tile(narrow, vector, rows, vector, TailStrategy::ShiftInwards);
        tile(output, vector, rows, vector, TailStrategy::GuardWithIf);  // smaller than a tile

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
            .vectorize(panel.args()[0], vector, TailStrategy::GuardWithIf)
            .unroll(panel.args()[0]);
    }

private:
    // Down a panel of b, which stays in the cache meanwhile.
    void tile(Stage stage, int width, int height, int vector, TailStrategy tail) {
        stage.tile(x, y, xi, yi, width, height, tail)
            .reorder(xi, yi, y, x)
            .vectorize(xi, vector)
            .unroll(xi)
            .unroll(yi);
    }

    Var xi{"xi"}, yi{"yi"}, block{"block"};
};

}  // namespace tessera::apps
