// Non-local means: each pixel becomes the mean of those nearby whose surroundings look alike
// (Buades, Coll, Morel 2005).
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct NlMeans {
    Func padded{"padded"}, difference{"difference"}, columns{"columns"}, patches{"patches"},
        weight{"weight"};
    Func sum{"sum"}, output{"nl_means"};
    Var x{"x"}, y{"y"}, dx{"dx"}, dy{"dy"}, c{"c"};
    RDom patch, search;

    // `input` has three colours as floats; `width` and `height` are its size. Patches of
    // `patch_size` squared are compared with all those that lie within `search_size` squared.
    NlMeans(const Func &input, const Expr &width, const Expr &height, int patch_size,
            int search_size, const Expr &sigma)
        : patch(-(patch_size / 2), patch_size, "patch"),
          search(-(search_size / 2), search_size, -(search_size / 2), search_size, "search") {
        Func &in = padded;
        in(x, y, c) =
            BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}, {}})(x, y, c);

        Expr squares = 0.0f;
        for (int i = 0; i < 3; i++) {
            Expr distance = in(x, y, i) - in(x + dx, y + dy, i);
            squares += distance * distance;
        }
        difference(x, y, dx, dy) = squares;
        columns(x, y, dx, dy) += difference(x, y + patch, dx, dy);
        patches(x, y, dx, dy) += columns(x + patch, y, dx, dy);

        Expr scale = -1.0f / (sigma * sigma * float(patch_size * patch_size));
        weight(x, y, dx, dy) = fast_exp(patches(x, y, dx, dy) * scale);
        // c = 3 sums the weights.
        Expr value = select(c == 3, 1.0f, in(x + search.x, y + search.y, min(c, 2)));
        sum(x, y, c) += weight(x, y, search.x, search.y) * value;
        output(x, y, c) = clamp(sum(x, y, c) / sum(x, y, 3), 0.0f, 1.0f);
        output.bound(c, 0, 3);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var xi("xi"), yi("yi"), row("row"), column("column");
        RVar places("places"), place("place");
        output
            .tile(x, y, xi, yi, 128, 64)  // with what is around it, for the second cache
            .reorder(c, xi, yi, x, y)
            .unroll(c)
            .vectorize(xi, vector)
            .parallel(y);
        padded
            .compute_at(output, x)  // no place has to ask for the edge
            .align_storage(x, vector)
            .vectorize(x, vector);
        sum.compute_at(output, x)  // a tile's sums stay in the cache for all places compared
            .bound(c, 0, 4)
            .reorder(c, x, y)
            .unroll(c)
            .vectorize(x, vector);
        sum.update()
            .rename(y, row)
            .split(x, column, x, vector)
            .split(search.x, places, place, 4)  // their rows of differences fit the first cache
            .reorder(c, x, place, column, row, places, search.y)  // sums in registers meanwhile
            .unroll(c)                                            // one weight for four channels
            .vectorize(x);
        difference
            .store_at(sum, places)  // seven rows are alive; each is computed once
            .compute_at(sum, row)
            .align_storage(x, vector)  // its rows begin where cache lines do
            .vectorize(x, vector);
        Func stored = columns.in(patches);
        stored
            .compute_at(sum, row)  // a row for each of the places, read seven times
            .align_storage(x, vector)
            .split(x, x, xi, vector, TailStrategy::RoundUp)
            .vectorize(xi);
        columns
            .compute_at(stored, x)  // the sums in a register meanwhile
            .vectorize(x, vector, TailStrategy::RoundUp);
        columns.update()
            .reorder(x, patch)
            .vectorize(x, vector, TailStrategy::RoundUp)
            .unroll(patch);
        patches.compute_at(sum, place).vectorize(x);  // in a register, as is the weight
        patches.update().reorder(x, patch).vectorize(x).unroll(patch);
        weight.compute_at(sum, place).vectorize(x);
    }

private:
    void schedule_for_gpu() {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), row("row"), turn_x("turn_x"), turn_y("turn_y");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        // A block has a tile of the picture, with what is around it in its memory, and goes through
        // the places compared in step. With the sums around it, a row of the tile is 64 threads.
        output.tile(x, y, xo, yo, xi, yi, 58, 32, guard)
            .split(yi, yi, row, 4)
            .reorder(c, row, xi, yi, xo, yo)
            .unroll(c)
            .unroll(row)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        padded.compute_at(output, xo)
            .split(x, turn_x, x, 64, guard)
            .split(y, turn_y, y, 8, guard)
            .reorder(x, y, turn_x, turn_y, c)
            .gpu_threads(x, y);
        sum.compute_at(output, xo).store_in(MemoryType::Register).bound(c, 0, 4);
        sum.split(y, y, row, 4, guard).reorder(c, row, x, y).unroll(c).unroll(row);
        sum.gpu_threads(x, y);
        sum.update()
            .split(y, y, row, 4, guard)
            .reorder({c, row, x, y, search.x, search.y})
            .unroll(c)
            .unroll(row)
            .gpu_threads(x, y);
        weight.compute_at(sum, row);  // one weight for four channels
        Func stored = columns.in(patches);
        stored
            .compute_at(sum, search.x)  // sums of columns, read seven times each
            .split(y, y, row, 4, guard)
            .reorder(row, x, y)
            .unroll(row)
            .gpu_threads(x, y);
        columns.compute_at(stored, x).unroll(y);
        columns.update().unroll(patch).unroll(y);
        difference.compute_at(stored, x).unroll(y);  // a column for the sums of several rows
        patches.compute_at(sum, row);
        patches.update().unroll(patch);
    }
};

}  // namespace tessera::apps
