// Plain C++ loops, compiled with different options for the machine that compiles them.
#pragma once

namespace tessera::bench {

struct Loops {
    void (*blur_f32)(const float *input, float *output, int width, int height, int threads);
    void (*softmax)(const float *input, float *output, int width, int height, int threads);
    void (*layer_norm)(const float *input, const float *scale, const float *shift, float *output,
                       int width, int height, int threads);
    void (*attention)(const float *query, const float *key, const float *value, float *output,
                      int size, int count, int heads, int threads);
};

const Loops &loops();            // -O3 -march=native
const Loops &fast_math_loops();  // -ffast-math too: sums in any order, powers in vectors

}  // namespace tessera::bench
