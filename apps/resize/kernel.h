#pragma once

namespace tessera::apps {

// Says how the values around a place of a picture are weighted.
enum class ResizeKernel { Box, Linear, Cubic, Lanczos };

constexpr ResizeKernel resize_kernels[] = {ResizeKernel::Box, ResizeKernel::Linear,
                                           ResizeKernel::Cubic, ResizeKernel::Lanczos};

inline const char *name_of(ResizeKernel kernel) {
    constexpr const char *names[] = {"box", "linear", "cubic", "lanczos"};
    return names[int(kernel)];
}

// The values that matter lie nearer than this, in pixels of the coarser picture.
inline float reach_of(ResizeKernel kernel) {
    constexpr float reaches[] = {0.5f, 1, 2, 3};
    return reaches[int(kernel)];
}

}  // namespace tessera::apps
