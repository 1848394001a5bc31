// The local Laplacian filter in its fast form (Paris, Hasinoff, Kautz 2011; Aubry et al. 2014):
// the picture is remapped once for each of a few levels of brightness, each remapped picture is
// taken apart into a pyramid, and each detail of the result is read from the two pyramids whose
// level is nearest to the brightness at its place.
#pragma once

#include <tessera.h>

#include <string>
#include <vector>

namespace tessera::apps {

struct LocalLaplacian {
    Expr levels;  // of brightness
    Func remap{"remap"}, gray{"gray"}, output{"local_laplacian"};
    std::vector<Func> remapped, original, blended, collapsed;  // one for each level of a pyramid
    Func rows;                                                 // of remapped[0], half as wide
    Var x{"x"}, y{"y"}, c{"c"}, k{"k"}, i{"i"};

    // `input` has three colours of uint16_t; `alpha` is the gain of detail, `beta` of large edges.
    LocalLaplacian(const ImageParam &input, const Expr &levels, const Expr &alpha, const Expr &beta,
                   int pyramid_levels)
        : levels(levels) {
        Func in = BoundaryConditions::repeat_edge(input);
        Func floating("floating");
        floating(x, y, c) = in(x, y, c) / 65535.0f;
        gray(x, y) =
            0.299f * floating(x, y, 0) + 0.587f * floating(x, y, 1) + 0.114f * floating(x, y, 2);

        // The detail added, in 256 steps between two levels. To compute it again in vectors costs
        // less than reading a table of it element by element.
        Expr detail = i / 256.0f;
        remap(i) = alpha * detail * exp(-detail * detail / 2.0f);

        Expr steps = (levels - 1) * 256;
        Expr level = k * (1.0f / (levels - 1));
        Expr index = clamp(cast<int>(gray(x, y) * cast<float>(steps)), 0, steps);
        Func finest = named("remapped", 0);
        finest(x, y, k) = beta * (gray(x, y) - level) + level + remap(index - 256 * k);
        original = pyramid(gray, "original", pyramid_levels);
        remapped = pyramid(finest, "remapped", pyramid_levels, &rows);

        blended.resize(size_t(pyramid_levels));
        collapsed.resize(size_t(pyramid_levels));
        for (int j = pyramid_levels - 1; j >= 0; j--) blend_and_collapse(j);

        const float small = 0.01f;
        Expr gain = collapsed[0](x, y) / (gray(x, y) + small);
        output(x, y, c) =
            cast<uint16_t>(clamp(gain * (floating(x, y, c) + small), 0.0f, 1.0f) * 65535.0f);
        output.bound(c, 0, 3);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        const size_t fine = 5;  // levels large enough for vectors and threads
        output
            .reorder(c, x, y)  // the colours share the gain
            .unroll(c)
            .vectorize(x, vector)
            .parallel(y, 32);
        gray.compute_root().vectorize(x, vector).parallel(y, 32);  // read by all eight remappings
        for (size_t j = 1; j < remapped.size(); j++) {
            // Pyramids are read at three scales and two levels: each is computed once, in full.
            original[j].compute_root();
            remapped[j].compute_root().reorder_storage(x, k, y);
            collapsed[j].compute_root();
            if (j >= fine) continue;
            collapsed[j].vectorize(x, vector).parallel(y, 32);
            original[j].vectorize(x, vector).parallel(y, 32);
            if (j > 1) remapped[j].reorder(x, k, y).vectorize(x, vector).parallel(y, 8);
        }
        if (remapped.size() == 1) return;
        // Half of the rows that a row of the first level is made of were made for the row before,
        // and these of rows of remapped[0]. remapped[0] is inlined where the output reads it: to
        // compute it again costs less than eight pictures of memory.
        const Var strip("strip");
        remapped[1].split(y, strip, y, 16).reorder(x, y, k, strip).vectorize(x, vector);
        remapped[1].parallel(strip);
        rows.store_at(remapped[1], k).compute_at(remapped[1], y).vectorize(x, vector);
        remapped[0].in(rows).compute_at(rows, y).vectorize(x, vector);
    }

private:
    void schedule_for_gpu() {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
        const auto tile = [&](Func f, int width) {
            f.compute_root().gpu_tile(x, y, xo, yo, xi, yi, width, 8, TailStrategy::GuardWithIf);
        };
        tile(gray, 32);
        remap.compute_root().gpu_tile(i, xi, 64, TailStrategy::GuardWithIf);  // a table
        for (size_t j = 1; j < remapped.size(); j++) {
            remapped[j].reorder(k, x, y);      // a thread has all remapped pictures of a pixel
            const int width = j < 4 ? 32 : 8;  // coarse levels have few pixels
            for (const Func &f : {original[j], remapped[j], collapsed[j]}) tile(f, width);
        }
        output.reorder(c, x, y).unroll(c);
        tile(output, 32);
        collapsed[0].compute_at(output, xi);  // the colours share the gain
        if (remapped.size() == 1) return;
        // Remapped values are not stored: each pixel is computed for two of the rows that it is in.
        rows.compute_at(remapped[1], xo).gpu_threads(x, y);
    }

    static Func named(const char *name, int j) { return Func(name + std::to_string(j)); }

    // 1 3 3 1 and every other sample, along x; and then along y.
    Func half_x(Func f) {
        Func half(f.name() + "_half_x");
        half(x, y, _) = (f(2 * x - 1, y, _) + 3.0f * (f(2 * x, y, _) + f(2 * x + 1, y, _)) +
                         f(2 * x + 2, y, _)) /
                        8.0f;
        return half;
    }
    Func half_y(Func f) {
        Func half(f.name() + "_half_y");
        half(x, y, _) = (f(x, 2 * y - 1, _) + 3.0f * (f(x, 2 * y, _) + f(x, 2 * y + 1, _)) +
                         f(x, 2 * y + 2, _)) /
                        8.0f;
        return half;
    }

    // Three quarters of the nearer sample and a quarter of the next, in each direction.
    Func upsample(Func f) {
        Func along_x(f.name() + "_twice_x"), along_y(f.name() + "_twice");
        along_x(x, y, _) = 0.25f * f((x / 2) - 1 + 2 * (x % 2), y, _) + 0.75f * f(x / 2, y, _);
        along_y(x, y, _) =
            0.25f * along_x(x, (y / 2) - 1 + 2 * (y % 2), _) + 0.75f * along_x(x, y / 2, _);
        return along_y;
    }

    // `first_rows`: set to what the second level is made of, half as wide as the first.
    std::vector<Func> pyramid(Func finest, const char *name, int levels_of_pyramid,
                              Func *first_rows = nullptr) {
        const std::vector<Var> vars = finest.args();
        const std::vector<Expr> place(vars.begin(), vars.end());
        std::vector<Func> result = {finest};
        for (int j = 1; j < levels_of_pyramid; j++) {
            Func next = named(name, j);
            Func half = half_x(result.back());
            if (j == 1 && first_rows) *first_rows = half;
            next(vars) = half_y(half)(place);
            result.push_back(next);
        }
        return result;
    }

    void blend_and_collapse(int j) {
        const bool coarsest = size_t(j) + 1 == remapped.size();
        Func laplacian = named("laplacian", j);
        Expr own = remapped[size_t(j)](x, y, k);
        if (!coarsest) own -= upsample(remapped[size_t(j) + 1])(x, y, k);
        laplacian(x, y, k) = own;

        Expr level = original[size_t(j)](x, y) * cast<float>(levels - 1);
        Expr below = clamp(cast<int>(level), 0, levels - 2);
        Expr part = level - cast<float>(below);
        Func &blend = blended[size_t(j)] = named("blended", j);
        blend(x, y) = (1.0f - part) * laplacian(x, y, below) + part * laplacian(x, y, below + 1);

        Func &sum = collapsed[size_t(j)] = named("collapsed", j);
        if (coarsest) {
            sum(x, y) = blend(x, y);
        } else {
            sum(x, y) = upsample(collapsed[size_t(j) + 1])(x, y) + blend(x, y);
        }
    }
};

}  // namespace tessera::apps
