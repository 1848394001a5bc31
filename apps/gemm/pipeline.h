// The product of two matrices of floats, each stored row by row, or column by column.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct Gemm {
    Func left{"left"}, right{"right"}, product{"product"}, output{"gemm"};
    Var x{"x"}, y{"y"}, i{"i"};
    const bool transpose_a, transpose_b;
    RDom k;

    // Dimensions: a (k, y) and b (x, k), or those that are transposed the other way round.
    Gemm(const ImageParam &a, const ImageParam &b, bool transpose_a = false,
         bool transpose_b = false)
        : transpose_a(transpose_a), transpose_b(transpose_b),
          k(0, a.dim(transpose_a ? 1 : 0).extent(), "k") {
        left(i, y) = transpose_a ? a(y, i) : a(i, y);
        right(x, i) = transpose_b ? b(i, x) : b(x, i);
        product(x, y) += left(k, y) * right(x, k);
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
        right
            .compute_at(output, x)  // a panel: the rows of b are far apart, those of a panel not
            .vectorize(x, vector, TailStrategy::GuardWithIf)
            .unroll(x);
        // Whole vectors are read of what is transposed, and written to the other matrix.
        if (transpose_b) right.vectorize(i, vector, TailStrategy::GuardWithIf);
        if (transpose_a) {
            left.compute_root()
                .vectorize(i, vector, TailStrategy::GuardWithIf)
                .vectorize(y, vector, TailStrategy::GuardWithIf)
                .parallel(y);
        }
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
