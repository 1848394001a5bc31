// The product of two matrices of narrow numbers (bytes, or bfloat16s), each stored row by row, as
// 32-bit sums.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct WideningGemm {
    Func packed{"packed"}, product{"product"}, output{"widening_gemm"};
    Var x{"x"}, y{"y"}, i{"i"}, g{"g"};
    const int group;  // processors with an instruction for it add up as many products at once
    const Expr depth, done;
    RDom k, rest;

    // Dimensions: a (k, y), b (x, k).
    WideningGemm(const ImageParam &a, const ImageParam &b)
        : group(32 / a.type().bits()), depth(a.dim(0).extent()), done(depth / group * group),
          k(0, group, 0, depth / group, "k"), rest(done, depth - done, "rest") {
        const Type sum = group == 4 ? Int(32) : Float(32);
        auto wide = [&](const Expr &e) { return cast(sum, e); };
        packed(i, x, g) = b(x, g * group + i);
        product(x, y) = cast(sum, 0);
        product(x, y) += wide(a(k.y * group + k.x, y)) * wide(packed(k.x, x, k.y));
        product(x, y) += wide(a(rest, y)) * wide(b(x, rest));
        output(x, y) = product(x, y);
    }

    void schedule(const Target &target) {
        const int vector = target.natural_vector_size<float>();
        const int vectors = vector >= 16 ? 4 : 2, rows = 6;
        const Expr width = output.output_buffer().width(), height = output.output_buffer().height();

        // A tile at the end is moved inwards, so that all are whole.
        Stage large = output.specialize(width >= vectors * vector && height >= rows);
        tile(large, vectors * vector, rows, vector, TailStrategy::ShiftInwards);
        large.split(y, block, y, 16, TailStrategy::GuardWithIf).parallel(block).parallel(x);
        tile(output, vector, rows, vector, TailStrategy::GuardWithIf);

        product
            .compute_at(output, y)  // one tile of sums, in registers
            .vectorize(x, vector)
            .unroll(x)
            .unroll(y);
        product.update(0)
            .reorder(k.x, x, y, k.y)
            .atomic()
            .vectorize(k.x)  // a group of products: one sum
            .vectorize(x, vector)
            .unroll(x)
            .unroll(y);
        product.update(1).reorder(x, y, rest).vectorize(x, vector).unroll(x).unroll(y);
        packed
            .compute_at(output, x)  // a panel
            .bound_extent(i, group)
            .vectorize(i)
            .vectorize(x, vector, TailStrategy::GuardWithIf)
            .unroll(x);
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
