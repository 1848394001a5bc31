// A landscape painted by a pipeline: the picture on which the apps and their tests run. It holds
// what they need: smooth gradients, sharp edges, fine texture and small saturated colours.
#pragma once

#include "sample_picture/size.h"

#include <tessera.h>

#include <string>
#include <vector>

namespace tessera::apps {

struct SamplePicture {
    Func output{"sample_picture"};
    Var x{"x"}, y{"y"}, c{"c"};

    SamplePicture() {
        // Places are measured in heights of the picture, from its upper left corner.
        Expr u = cast<float>(x) / float(sample_height), v = cast<float>(y) / float(sample_height);

        above_water(x, y, c) = mountains(sky(u, v), u, v);
        const float shore = 0.64f;
        Expr across = u + 0.02f * (fractal(u * 6.0f, v * 60.0f, 5, 2) - 0.5f);
        Expr mirrored = 2.0f * shore - v + 0.03f * (fractal(u * 9.0f, v * 80.0f, 6, 2) - 0.5f);
        Expr column = clamp(cast<int>(across * float(sample_height)), 0, sample_width - 1);
        Expr row = clamp(cast<int>(mirrored * float(sample_height)), 0, int(shore * sample_height));
        Expr water = above_water(column, row, c) * 0.72f + rgb(0.02f, 0.05f, 0.09f);
        Expr scene = select(v < shore, above_water(x, y, c), water);
        scene = meadow(scene, u, v);
        output(x, y, c) = cast<uint8_t>(clamp(scene, 0.0f, 1.0f) * 255.0f + 0.5f);
    }

    void schedule(const Target &target) {
        const int vector = target.natural_vector_size<float>();
        above_water
            .compute_root()  // the lake mirrors it from far away
            .bound(c, 0, 3)
            .reorder(x, c, y)
            .vectorize(x, vector)
            .parallel(y, 16);
        for (Func &noise : noises) {
            noise
                .compute_root()  // the three colours share it
                .vectorize(x, vector)
                .parallel(y, 16);
        }
        output.bound(c, 0, 3).reorder(x, c, y).vectorize(x, vector).parallel(y, 16);
    }

private:
    Func above_water{"above_water"};
    std::vector<Func> noises;

    Expr rgb(float r, float g, float b) { return mux(c, {r, g, b}); }

    static Expr mix(Expr a, Expr b, Expr part) { return a + (b - a) * clamp(part, 0.0f, 1.0f); }

    // From 0 before `from` to 1 after `to`, smoothly.
    static Expr step_between(Expr value, float from, float to) {
        Expr t = clamp((value - from) / (to - from), 0.0f, 1.0f);
        return t * t * (3.0f - 2.0f * t);
    }

    // A value in [0, 1) for each cell of a grid, without pattern.
    static Expr scattered(Expr i, Expr j, uint32_t seed) {
        auto whole = [](uint32_t value) { return cast<uint32_t>(Expr(value)); };
        Expr h = cast<uint32_t>(i) * whole(0x9e3779b1u) + cast<uint32_t>(j) * whole(0x7feb352du) +
                 whole(seed * 0x632be5abu);
        h = (h ^ (h >> 15)) * whole(0x846ca68bu);
        h = (h ^ (h >> 13)) * whole(0x2c1b3c6du);
        return cast<float>((h ^ (h >> 16)) >> 8) * (1.0f / float(1 << 24));
    }

    // Smooth noise with one feature per unit.
    static Expr smooth(Expr u, Expr v, uint32_t seed) {
        Expr i = cast<int>(floor(u)), j = cast<int>(floor(v));
        Expr fu = u - floor(u), fv = v - floor(v);
        fu = fu * fu * (3.0f - 2.0f * fu);
        fv = fv * fv * (3.0f - 2.0f * fv);
        Expr above = lerp(scattered(i, j, seed), scattered(i + 1, j, seed), fu);
        Expr below = lerp(scattered(i, j + 1, seed), scattered(i + 1, j + 1, seed), fu);
        return lerp(above, below, fv);
    }

    // Several octaves of it, as one stage of its own: a value in [0, 1).
    Expr fractal(Expr u, Expr v, uint32_t seed, int octaves) {
        Expr sum = 0.0f;
        float weight = 0.5f, scale = 1;
        for (int octave = 0; octave < octaves; octave++) {
            sum += weight * smooth(u * scale, v * scale, seed + 17u * uint32_t(octave));
            weight *= 0.5f;
            scale *= 2.03f;
        }
        Func noise("noise" + std::to_string(seed));
        noise(x, y) = sum / (1 - 2 * weight);
        noises.push_back(noise);
        return noise(x, y);
    }

    Expr sky(Expr u, Expr v) {
        Expr colour = mix(rgb(0.16f, 0.36f, 0.70f), rgb(0.98f, 0.80f, 0.60f), v * 1.9f);
        Expr clouds = fractal(u * 2.2f + v, v * 7.0f, 1, 5);
        colour = mix(colour, rgb(1.0f, 0.95f, 0.90f), step_between(clouds, 0.40f, 0.70f) * 0.85f);
        Expr du = u - 1.05f, dv = v - 0.30f;
        Expr distance = sqrt(du * du + dv * dv);
        colour += rgb(0.55f, 0.38f, 0.16f) * exp(distance * -7.0f);
        return mix(rgb(1.0f, 0.97f, 0.86f), colour, step_between(distance, 0.045f, 0.05f));
    }

    Expr mountains(Expr colour, Expr u, Expr v) {
        struct Range {
            float top, height, scale;
            uint32_t seed;
            Expr rock;
        };
        const Range ranges[] = {{0.26f, 0.30f, 2.0f, 2, rgb(0.50f, 0.56f, 0.70f)},
                                {0.38f, 0.24f, 3.1f, 3, rgb(0.30f, 0.38f, 0.46f)},
                                {0.52f, 0.13f, 5.3f, 4, rgb(0.12f, 0.24f, 0.17f)}};
        for (const Range &range : ranges) {
            // Noise along one line is the ridge; noise of the plane is the rock's face.
            Expr ridge =
                range.top + range.height * (fractal(u * range.scale, 0.5f, range.seed, 6) - 0.35f);
            Expr depth = v - ridge;
            Expr face =
                fractal(u * 14.0f * range.scale + depth * 20.0f, v * 30.0f, range.seed + 40, 4);
            Expr stone = range.rock * (0.55f + 0.9f * face);
            if (range.seed != 4) {
                Expr snow = step_between(0.07f - depth + 0.12f * (face - 0.5f), 0.0f, 0.03f);
                stone = mix(stone, rgb(0.95f, 0.96f, 1.0f), snow * (0.6f + 0.4f * face));
            }
            colour = select(depth > 0.0f, stone, colour);
        }
        return colour;
    }

    // Grass with flowers over the lower edge of the picture.
    Expr meadow(Expr colour, Expr u, Expr v) {
        Expr edge = 0.80f + 0.10f * (fractal(u * 2.6f, 1.5f, 7, 5) - 0.5f) - 0.05f * u;
        Expr blades = fractal(u * 90.0f + v * 25.0f, v * 22.0f, 8, 4);
        Expr grass = mix(rgb(0.06f, 0.20f, 0.04f), rgb(0.48f, 0.62f, 0.14f), blades * 1.5f - 0.25f);
        // One flower at most in each cell; the nearer, the larger.
        const float cells = 26;
        Expr i = cast<int>(floor(u * cells)), j = cast<int>(floor(v * cells));
        Expr fu = u * cells - i - (0.3f + 0.4f * scattered(i, j, 20));
        Expr fv = v * cells - j - (0.3f + 0.4f * scattered(i, j, 21));
        Expr radius = 0.12f + 0.14f * clamp((v - 0.75f) * 4.0f, 0.0f, 1.0f);
        Expr distance = sqrt(fu * fu + fv * fv) / radius;
        Expr kind = scattered(i, j, 22);
        Expr petals =
            select(kind < 0.2f, rgb(0.90f, 0.10f, 0.12f), kind < 0.4f, rgb(0.98f, 0.85f, 0.10f),
                   kind < 0.55f, rgb(0.55f, 0.20f, 0.75f), rgb(0.98f, 0.98f, 0.95f));
        Expr flower = select(distance < 0.35f, rgb(0.95f, 0.65f, 0.05f), petals);
        Expr ground = select(distance < 1.0f && kind < 0.7f, flower, grass);
        return select(v > edge, ground, colour);
    }
};

}  // namespace tessera::apps
