// The target of the machine that this runs on, with what its processor can do.
#pragma once

#include <Halide.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

inline bool has_avx512_fp16() {
    unsigned d = 0;
#ifdef __x86_64__
    unsigned a = 0, b = 0, c = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
#endif
    return d >> 23 & 1;
}

// Halide 14 takes some processors for a Sapphire Rapids that lack its instructions for half
// precision.
inline Halide::Target host_target() {
    Halide::Target target = Halide::get_host_target();
    if (has_avx512_fp16()) return target;
    return target.without_feature(Halide::Target::AVX512_SapphireRapids);
}
