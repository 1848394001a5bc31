// Interpolation from scattered samples: a picture is known where its alpha is not 0, and filled in
// elsewhere from coarser levels of its pyramid.
#pragma once

#include <tessera.h>

#include <string>
#include <vector>

namespace tessera::apps {

struct Interpolate {
    Func output{"interpolate"};
    std::vector<Func> downsampled, interpolated;  // one for each level
    Var x{"x"}, y{"y"}, c{"c"};

    // `input` has red, green, blue and alpha as floats; `width` and `height` are its size.
    Interpolate(const Func &input, const Expr &width, const Expr &height, int levels = 10) {
        Func padded = BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}, {}});
        Func finest("downsampled0");
        finest(x, y, c) = padded(x, y, c) * select(c == 3, 1.0f, padded(x, y, 3));
        downsampled = {finest};
        for (int j = 1; j < levels; j++) {
            downsampled.push_back(half(downsampled.back(), j, width, height));
        }
        interpolated.resize(size_t(levels));
        interpolated.back() = downsampled.back();
        for (size_t j = size_t(levels) - 1; j-- > 0;) {
            Func &filled = interpolated[j] = Func("interpolated" + std::to_string(j));
            Expr missing = 1.0f - downsampled[j](x, y, 3);
            filled(x, y, c) = downsampled[j](x, y, c) + missing * twice(interpolated[j + 1]);
        }
        output(x, y, c) = interpolated[0](x, y, c) / interpolated[0](x, y, 3);
        output.bound(c, 0, 3);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        const size_t fine = 5;  // levels large enough for vectors and threads
        Var xi("xi"), yi("yi"), strip("strip");
        output.tile(x, y, xi, yi, vector, 2)
            .reorder(c, xi, yi, x, y)  // the colours share alpha
            .unroll(c)
            .unroll(yi)
            .vectorize(xi)
            .split(y, strip, y, 16, TailStrategy::GuardWithIf)
            .parallel(strip);
        for (size_t j = 1; j < downsampled.size(); j++) {
            Func &down = downsampled[j], &rows = halved_rows[j - 1];
            down.compute_root().bound(c, 0, 4).reorder(c, x, y).unroll(c);
            rows.compute_at(down,
                            y)  // along y first: the sums along x then read one row, not three
                .bound(c, 0, 4)
                .reorder(c, x, y)
                .unroll(c)
                .vectorize(x, vector);
            if (j < fine) down.vectorize(x, vector).parallel(y, 16);
        }
        for (size_t j = 1; j + 1 < interpolated.size(); j++) {
            Func &filled = interpolated[j];
            filled.compute_root().bound(c, 0, 4).reorder(c, x, y).unroll(c);
            if (j < fine) filled.vectorize(x, vector);
            if (j == 1) {
                filled.compute_at(output, strip);  // never to memory; strips share a row
            } else if (j < fine) {
                filled.parallel(y, 16);
            }
        }
        // The finest level is inlined: to multiply again costs less than to store four channels.
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    // Every other filled level is computed where it is read. A thread has 2 x 2 pixels of the
    // finest ones, which share what they read of the coarser level.
    void schedule_for_gpu() {
        for (size_t j = 1; j < downsampled.size(); j++)
            tile_for_gpu(downsampled[j], 4, 1, j < 5 ? 32 : 8, 8);  // coarse ones are small
        for (size_t j = 1; j + 1 < interpolated.size(); j += 2)
            tile_for_gpu(interpolated[j], 4, j < 4 ? 2 : 1, j < 5 ? 32 : 8, j < 4 ? 4 : 8);
        tile_for_gpu(output, 3, 2, 32, 4);
        interpolated[0].compute_at(output, Var("xi")).bound(c, 0, 4).unroll(c).unroll(x).unroll(y);
    }
    void tile_for_gpu(Func f, int channels, int pixels, int width, int height) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        f.bound(c, 0, channels)
            .tile(x, y, xp, yp, pixels, pixels, guard)
            .reorder(c, xp, yp, x, y)
            .unroll(c)
            .unroll(xp)
            .unroll(yp);
        f.compute_root().gpu_tile(x, y, xi, yi, width, height, guard);
        f.gpu_resident_blocks(512 / (width * height));  // few threads of many registers
    }

    std::vector<Func> halved_rows;  // of each level but the finest: halved along y only

    // 1 2 1 in each direction, then every other pixel.
    Func half(Func f, int level, const Expr &width, const Expr &height) {
        if (level == 5) {
            // Coarse levels end here: without, the coarsest pixel sees 512 beyond the edge.
            Expr last_x = width / 16, last_y = height / 16;
            Func inside("inside");
            inside(x, y, c) = f(clamp(x, 0, last_x), clamp(y, 0, last_y), c);
            f = inside;
        }
        const std::string name = "downsampled" + std::to_string(level);
        Func along_y(name + "_y"), both(name);
        along_y(x, y, c) =
            (f(x, 2 * y - 1, c) + 2.0f * f(x, 2 * y, c) + f(x, 2 * y + 1, c)) * 0.25f;
        both(x, y, c) =
            (along_y(2 * x - 1, y, c) + 2.0f * along_y(2 * x, y, c) + along_y(2 * x + 1, y, c)) *
            0.25f;
        halved_rows.push_back(along_y);
        return both;
    }

    // Bilinear: the sample itself, or the mean of two.
    Expr twice(const Func &f) {
        Func along_x(f.name() + "_twice_x");
        along_x(x, y, c) = (f(x / 2, y, c) + f((x + 1) / 2, y, c)) * 0.5f;
        return (along_x(x, y / 2, c) + along_x(x, (y + 1) / 2, c)) * 0.5f;
    }
};

}  // namespace tessera::apps
