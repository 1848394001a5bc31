// A program that compiles one pipeline and runs it once: `first_result blur`, on a GPU with
// `TESSERA_JIT_TARGET=host-cuda`. Compiled as a program of other compilers, too.
#include "blur/pipeline.h"
#include "gemm/pipeline.h"
#include "local_laplacian/pipeline.h"

#ifdef TESSERA_BENCH_HALIDE
#include "host_target.h"
#endif

#include <cstdio>
#include <cstring>

using namespace tessera;

namespace {

Target target() {
#ifdef TESSERA_BENCH_HALIDE
    return host_target();
#else
    return get_jit_target_from_environment();
#endif
}

template<typename T> Buffer<T> filled(const std::vector<int> &sizes) {
    Buffer<T> b(sizes);
    for (size_t i = 0; i < b.number_of_elements(); i++) b.data()[i] = T(i % 100);
    return b;
}

// The sum tells that the programs compute the same.
template<typename T> int print_sum(tessera::Func output, const std::vector<int> &sizes) {
    Buffer<T> result = output.realize(sizes, target());
    double sum = 0;
    for (size_t i = 0; i < result.number_of_elements(); i++) sum += double(result.data()[i]);
    std::printf("%.0f\n", sum);
    return 0;
}

int blur() {
    ImageParam input(UInt(16), 2, "input");
    input.set(filled<uint16_t>({642, 482}));
    apps::Blur blur(input);
    blur.schedule(target());
    return print_sum<uint16_t>(blur.output, {640, 480});
}

int gemm() {
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    a.set(filled<float>({256, 256}));
    b.set(filled<float>({256, 256}));
    apps::Gemm gemm(a, b, {});
    gemm.schedule(target());
    return print_sum<float>(gemm.output, {256, 256});
}

int local_laplacian() {
    ImageParam input(UInt(16), 3, "input");
    input.set(filled<uint16_t>({320, 240, 3}));
    apps::LocalLaplacian filter(input, 8, 1.0f / 7, 1.0f, 8);
    filter.schedule(target());
    return print_sum<uint16_t>(filter.output, {320, 240, 3});
}

}  // namespace

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!std::strcmp(name, "blur")) return blur();
    if (!std::strcmp(name, "gemm")) return gemm();
    if (!std::strcmp(name, "local_laplacian")) return local_laplacian();
    std::fprintf(stderr, "usage: first_result blur|gemm|local_laplacian\n");
    return 1;
}
