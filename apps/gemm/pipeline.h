// The product of two matrices of floats, each stored row by row, or column by column.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct Gemm {
    struct Options {
        bool transpose_a = false, transpose_b = false;  // stored column by column
        bool has_small = true;  // small products are computed in another way than large ones
        int step = 1;           // of sums; what is left of the depth is summed up afterwards
        int tile = 128;         // the rows and columns of a block of a GPU
        int thread_rows = 8;    // of it that a thread has, with eight columns
    };

    Func left{"left"}, right{"right"}, product{"product"}, small_product{"small_product"},
        output{"gemm"};
    Var x{"x"}, y{"y"}, i{"i"};
    const Options options;
    RDom k, rest;

    // Dimensions: a (k, y) and b (x, k), or the other way round of one that is transposed.
    Gemm(const ImageParam &a, const ImageParam &b, const Options &given)
        : options(given), k(0, depth_of(a, given) / given.step * given.step, "k") {
        const auto of_a = [&](Expr i, Expr y) { return options.transpose_a ? a(y, i) : a(i, y); };
        const auto of_b = [&](Expr x, Expr i) { return options.transpose_b ? b(i, x) : b(x, i); };
        left(i, y) = of_a(i, y);
        right(x, i) = of_b(x, i);
        product(x, y) += left(k, y) * right(x, k);
        const Expr depth = depth_of(a, options);
        if (options.step > 1) {
            rest = RDom(depth / options.step * options.step, depth % options.step, "rest");
            product(x, y) += of_a(rest, y) * of_b(x, rest);
        }
        small_product(x, y) += left(k, y) * of_b(x, k);

        width = b.dim(options.transpose_b ? 1 : 0).extent();
        height = a.dim(options.transpose_a ? 0 : 1).extent();
        is_small = width * height <= 128 * 128 && depth <= 128;
        output(x, y) = options.has_small ? select(is_small, small_product(x, y), product(x, y))
                                         : product(x, y);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        // With AVX-512, 6 rows of 4 vectors are 24 of the 32 registers; the rest holds four
        // vectors of b and one value of a.
        const int vector = target.natural_vector_size<float>();
        const int wide = vector >= 16 ? 4 : 2;
        // The output is the whole product. Its sizes are known, and so is where tiles that are
        // moved inwards begin, which each call computed before: an eighth of the time of 16x16x16.
        output.bound(x, 0, width).bound(y, 0, height);
        if (options.has_small) schedule_small(wide, vector);

        // If the matrix is a few columns or rows wider than a multiple of the large tiles, smaller
        // ones waste less.
        const Expr is_odd =
            33 * padded_size(wide / 2 * vector, 8) < 32 * padded_size(wide * vector, 6);
        const Expr is_large = width >= wide * vector && height >= 8;
        Stage odd = output.specialize(is_large && is_odd);
        tile(odd, wide / 2 * vector, 8, vector, TailStrategy::ShiftInwards);
        in_parallel(odd);
        Stage even = output.specialize(is_large);
        tile(even, wide * vector, 6, vector, TailStrategy::ShiftInwards);
        in_parallel(even);
        Stage narrow = output.specialize(width >= vector && height >= 6);
        tile(narrow, vector, 6, vector, TailStrategy::ShiftInwards);
        tile(output, vector, 6, vector, TailStrategy::GuardWithIf);  // smaller than a tile

        schedule_sums(product, vector);
        right
            .compute_at(output, x)  // a panel: the rows of b are far apart, those of a panel not
            .vectorize(x, vector, TailStrategy::GuardWithIf)
            .unroll(x);
        // Whole vectors are read of what is transposed, and written.
        if (options.transpose_b) right.vectorize(i, vector, TailStrategy::GuardWithIf);
        if (options.transpose_a) {
            left.compute_root()
                .vectorize(i, vector, TailStrategy::GuardWithIf)
                .vectorize(y, vector, TailStrategy::GuardWithIf)
                .parallel(y);
        }
    }

private:
    static Expr depth_of(const ImageParam &a, const Options &options) {
        return a.dim(options.transpose_a ? 1 : 0).extent();
    }

    // For at least as many rows and columns as a block has: a tile of 128 x 128, a thread 8 x 8 of
    // it, in groups of 4 x 4 that are half a tile apart: so neighbouring threads read neighbouring
    // quads. The sums are in the threads' registers; what a block reads of the matrices for 32
    // steps is in its memory.
    void schedule_for_gpu() {
        output.bound(x, 0, width).bound(y, 0, height);
        output.tile(x, y, xi, yi, options.tile, options.tile, TailStrategy::ShiftInwards);
        share_tile(output, xi, yi)
            .reorder({xi, xg, yi, yg, xt, yt, x, y})
            .gpu_blocks(x, y)
            .gpu_threads(xt, yt);
        RVar ko("ko"), kq("kq");
        product.compute_at(output, x).store_in(MemoryType::Register);
        share_tile(product, x, y).reorder({x, xg, y, yg, xt, yt}).gpu_threads(xt, yt);
        share_tile(product.update().split(k, ko, k, options.step).split(k, kq, k, 4), x, y)
            .reorder({x, xg, y, k, yg, kq, xt, yt, ko})
            .unroll(k)
            .unroll(kq)
            .gpu_threads(xt, yt);
        share_tile(product.update(1), x, y)
            .reorder({x, xg, y, yg, rest.x, xt, yt})
            .gpu_threads(xt, yt);
        stage(left, i, y, options.transpose_a, ko);
        stage(right, x, i, options.transpose_b, ko);
        left.in(product).compute_at(product, yg).vectorize(i).unroll(y);  // four by one load
    }

    // Stages what a block reads in a step. Copies of rows are begun two steps ahead. If a matrix
    // has to be turned, neighbouring threads load what lies side by side.
    void stage(Func f, const Var &inner, const Var &outer, bool is_transposed, const RVar &step) {
        f.compute_at(product, step).store_in(MemoryType::GPUShared);
        if (!options.transpose_a && !options.transpose_b) {
            f.async().ring_buffer(3);
            return;
        }
        const int columns = options.tile / 8, rows = options.tile / options.thread_rows;
        Var element("element"), turn("turn");
        f.fuse(is_transposed ? outer : inner, is_transposed ? inner : outer, element)
            .split(element, turn, yt, columns * rows, TailStrategy::GuardWithIf)
            .split(yt, yt, xt, columns)
            .reorder(xt, yt, turn)
            .unroll(turn)
            .gpu_threads(xt, yt);
    }

    // The part of a thread, of loops over a tile.
    Stage share_tile(Stage stage, const Var &tx, const Var &ty) {
        return stage.split(tx, xg, tx, options.tile / 2)
            .split(ty, yg, ty, options.tile / (options.thread_rows / 4))
            .split(tx, xt, tx, 4)
            .split(ty, yt, ty, 4)
            .vectorize(tx)
            .unroll(xg)
            .unroll(ty)
            .unroll(yg);
    }

    // Reads b as it is: it stays in the cache. Most sizes are multiples of 4.
    void schedule_small(int wide, int vector) {
        Stage small = output.specialize(is_small);
        for (int vectors = wide; vectors > 0; vectors /= 2) {
            const int rows = vectors == wide ? 4 : 8;
            Stage s = small.specialize(width >= vectors * vector && height >= rows);
            tile(s, vectors * vector, rows, vector, TailStrategy::ShiftInwards);
            if (vectors < wide) continue;
            // Eight tiles are a task: with AVX-512, 32 rows of 64 columns. All tasks are one loop,
            // for the owner of a loop within a loop would wait for its last task.
            s.split(y, block, y, 8, TailStrategy::GuardWithIf)
                .reorder(xi, yi, y, x, block)
                .fuse(x, block, x)
                .parallel(x);
        }
        tile(small, vector, 1, vector, TailStrategy::GuardWithIf);
        schedule_sums(small_product, vector);
    }

    // One tile of sums, in registers: a column of a times a row of b at each step.
    void schedule_sums(Func sums, int vector) {
        sums.compute_at(output, y).vectorize(x, vector).unroll(x).unroll(y);
        sums.update().reorder(x, y, k).vectorize(x, vector).unroll(x).unroll(y);
    }

    // Down a panel of b, which stays in the cache meanwhile. A tile at the end is moved inwards, so
    // that all are whole: computing some sums twice costs less than masks.
    void tile(Stage stage, int width, int height, int vector, TailStrategy tail) {
        stage.tile(x, y, xi, yi, width, height, tail)
            .reorder(xi, yi, y, x)
            .vectorize(xi, vector)
            .unroll(xi)
            .unroll(yi);
    }

    void in_parallel(Stage stage) {
        stage.split(y, block, y, 8, TailStrategy::GuardWithIf).parallel(block).parallel(x);
        // The output's elements of a tile are fetched while its sums are computed: the stores would
        // wait for them.
        stage.prefetch(output, y, y, 0);
    }

    // Returns how much is computed with tiles of this size.
    Expr padded_size(int tile_width, int tile_height) const {
        auto rounded = [](const Expr &size, int to) { return (size + to - 1) / to * to; };
        return rounded(width, tile_width) * rounded(height, tile_height);
    }

    Var xi{"xi"}, yi{"yi"}, block{"block"};
    Var xg{"xg"}, yg{"yg"}, xt{"xt"}, yt{"yt"};  // on a GPU
    Expr width, height, is_small;
};

}  // namespace tessera::apps
