// The largest value within a disc around each pixel. A column of the disc, of any height, is made
// of two columns whose height is a power of two: these are computed once each, from one another.
#pragma once

#include <tessera.h>

#include <cmath>
#include <string>
#include <vector>

namespace tessera::apps {

struct MaxFilter {
    std::vector<Func> columns;  // the maximum of 2^i values, downwards from each place
    Func output{"max_filter"};
    Var x{"x"}, y{"y"}, c{"c"};

    // `input` has the dimensions x, y and c; around a picture of this size, its edge is repeated.
    MaxFilter(const Func &input, const Expr &width, const Expr &height, int radius = 26) {
        columns.push_back(Func("column0"));
        columns[0](x, y, c) =
            BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}, {}})(x, y, c);
        for (int i = 0; (2 << i) <= 2 * radius + 1; i++) {
            Func next("column" + std::to_string(i + 1));
            next(x, y, c) =
                max(columns[size_t(i)](x, y, c), columns[size_t(i)](x, y + (1 << i), c));
            columns.push_back(next);
        }
        Expr most = column(0, radius);
        for (int dx = 1; dx <= radius; dx++) {
            const int half_height = half_height_of_disc(dx, radius);
            most = max(most, max(column(-dx, half_height), column(dx, half_height)));
        }
        output(x, y, c) = most;
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var xi("xi"), yi("yi");
        output
            .tile(x, y, xi, yi, 128, 64)  // with the columns around it, for the second cache
            .vectorize(xi, vector)
            .parallel(y)
            .parallel(c);
        for (Func &column : columns) column.compute_at(output, x).vectorize(x, vector);
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    void schedule_for_gpu() {
        Var xi("xi"), yi("yi"), ci("ci");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        // Columns of one and two values are computed where they are read: few read them.
        for (size_t i = 2; i < columns.size(); i++)
            columns[i].compute_root().gpu_tile(x, y, c, xi, yi, ci, 32, 8, 1, guard);
        output.gpu_tile(x, y, c, xi, yi, ci, 32, 8, 1, guard);
    }

    static int half_height_of_disc(int dx, int radius) {
        const float beyond = float(radius) + 0.25f;  // rounder than the radius itself
        return int(std::sqrt(beyond * beyond - float(dx * dx)));
    }

    // The maximum of a column of 2 * half_height + 1 values around (x + dx, y).
    Expr column(int dx, int half_height) {
        size_t i = 0;
        while ((2 << i) <= 2 * half_height + 1) i++;
        const int height = 1 << i;
        return max(columns[i](x + dx, y - half_height, c),
                   columns[i](x + dx, y + half_height + 1 - height, c));
    }
};

}  // namespace tessera::apps
