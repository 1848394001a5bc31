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
    }

    void schedule(const Target &target) {
        const int vector = target.natural_vector_size<float>();
        const size_t fine = 5;  // levels large enough for vectors and threads
        output.bound(c, 0, 3)
            .reorder(c, x, y)  // the colours share alpha
            .unroll(c)
            .vectorize(x, 2 * vector)
            .parallel(y, 32);
        for (size_t j = 1; j < downsampled.size(); j++) {
            std::vector<Func> level = {downsampled[j]};
            if (j + 1 < downsampled.size()) level.push_back(interpolated[j]);
            for (Func &f : level) {
                f.compute_root().bound(c, 0, 4).reorder(c, x, y).unroll(c);
                if (j < fine) f.vectorize(x, vector).parallel(y, 16);
            }
        }
        // The finest level is inlined: to multiply again costs less than to store four channels.
    }

private:
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
        Func along_x(name + "_x"), both(name);
        along_x(x, y, c) =
            (f(2 * x - 1, y, c) + 2.0f * f(2 * x, y, c) + f(2 * x + 1, y, c)) * 0.25f;
        both(x, y, c) =
            (along_x(x, 2 * y - 1, c) + 2.0f * along_x(x, 2 * y, c) + along_x(x, 2 * y + 1, c)) *
            0.25f;
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
