// The bilateral grid: an edge-preserving blur as an ordinary blur of a coarse three-dimensional
// histogram of the picture (Chen, Paris, Durand 2007).
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct BilateralGrid {
    Func histogram{"histogram"}, blur_z{"blur_z"}, blur_x{"blur_x"}, blur_y{"blur_y"};
    Func output{"bilateral_grid"};
    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
    RDom r;

    // `input` is grey. A cell of the grid spans `cell` pixels and `range` of brightness.
    BilateralGrid(const ImageParam &input, const Expr &range, int cell) : r(0, cell, 0, cell, "r") {
        Func in = BoundaryConditions::repeat_edge(input);

        const Expr per_range = 1.0f / range;
        // c = 0 holds sums of brightness, c = 1 counts.
        Expr value = clamp(in(x * cell + r.x - cell / 2, y * cell + r.y - cell / 2), 0.0f, 1.0f);
        histogram(x, y, z, c) = 0.0f;
        histogram(x, y, cast<int>(value * per_range + 0.5f), c) += mux(c, {value, 1.0f});

        blur_z(x, y, z, c) =
            blur(histogram(x, y, z - 2, c), histogram(x, y, z - 1, c), histogram(x, y, z, c),
                 histogram(x, y, z + 1, c), histogram(x, y, z + 2, c));
        blur_x(x, y, z, c) =
            blur(blur_z(x - 2, y, z, c), blur_z(x - 1, y, z, c), blur_z(x, y, z, c),
                 blur_z(x + 1, y, z, c), blur_z(x + 2, y, z, c));
        blur_y(x, y, z, c) =
            blur(blur_x(x, y - 2, z, c), blur_x(x, y - 1, z, c), blur_x(x, y, z, c),
                 blur_x(x, y + 1, z, c), blur_x(x, y + 2, z, c));

        Expr depth = clamp(input(x, y), 0.0f, 1.0f) * per_range;
        Expr zi = cast<int>(depth);
        Expr fz = depth - zi, fx = cast<float>(x % cell) / cell, fy = cast<float>(y % cell) / cell;
        auto along_x = [&](int j, int k, int channel) {
            Expr xi = x / cell, yi = y / cell + j;
            return lerp(blur_y(xi, yi, zi + k, channel), blur_y(xi + 1, yi, zi + k, channel), fx);
        };
        auto between = [&](int channel) {
            return lerp(lerp(along_x(0, 0, channel), along_x(1, 0, channel), fy),
                        lerp(along_x(0, 1, channel), along_x(1, 1, channel), fy), fz);
        };
        output(x, y) = between(0) / between(1);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var cz("cz");
        histogram.compute_at(blur_z, y);  // the bins of one row of cells stay in the cache
        histogram.update()
            .reorder(c, r.x, r.y, x, y)  // a cell's pixels in turn
            .vectorize(c, 2);            // both channels of a bin at once
        for (Func *stage : {&histogram, &blur_z, &blur_x, &blur_y}) {
            stage
                ->reorder_storage(c, z, x, y)  // what a pixel reads of a cell lies side by side
                .bound(c, 0, 2)
                .align_bounds(z, vector / 2)  // whole vectors of bins
                .reorder(c, z, x, y)
                .fuse(c, z, cz)
                .vectorize(cz, vector);
        }
        for (Func *stage : {&blur_z, &blur_x, &blur_y}) {
            // The grid is small, 1/64 of the picture times its depth.
            stage->compute_root().parallel(y);
        }
        output
            .vectorize(x, vector)  // one cell's x for eight pixels, gathers over z
            .parallel(y, 8);       // a row of cells a task
    }

private:
    void schedule_for_gpu() {
        Var xi("xi"), yi("yi"), zi("zi");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        // The bins of 8 x 8 cells are in the memory of a block; a thread counts the pixels of a
        // cell.
        Var xo("xo"), yo("yo");
        blur_z.compute_root().bound(c, 0, 2).reorder(c, z, x, y).unroll(c);
        blur_z.gpu_tile(x, y, xo, yo, xi, yi, 8, 8, guard);
        histogram.compute_at(blur_z, xo).bound(c, 0, 2).reorder(c, z, x, y).unroll(c);
        histogram.gpu_threads(x, y);
        histogram.update().reorder(c, r.x, r.y, x, y).unroll(c).gpu_threads(x, y);
        for (Func *stage : {&blur_x, &blur_y}) {
            stage->compute_root().bound(c, 0, 2).reorder(c, x, y, z).unroll(c);
            stage->gpu_tile(x, y, z, xi, yi, zi, 8, 8, 2, guard);
        }
        output.gpu_tile(x, y, xi, yi, 32, 8, guard);
    }

    static Expr blur(Expr a, Expr b, Expr c, Expr d, Expr e) {
        return a + 4 * b + 6 * c + 4 * d + e;
    }
};

}  // namespace tessera::apps
