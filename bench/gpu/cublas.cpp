#include "gpu/cublas.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace tessera::bench {

namespace {

// These are constants of library_types.h and cublas_api.h.
constexpr int type_f32 = 0, type_f16 = 2, compute_32f_pedantic = 69, compute_32f = 68;
constexpr int default_algorithm = -1;

}  // namespace

Cublas::Cublas() {
    void *library = nullptr;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12"}) {
        if (!library) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!library) return;
    const auto create = reinterpret_cast<int (*)(void **)>(dlsym(library, "cublasCreate_v2"));
    gemm_ex = reinterpret_cast<GemmEx>(dlsym(library, "cublasGemmEx"));
    if (!create || !gemm_ex || create(&handle) != 0) handle = nullptr;
}

void Cublas::gemm_f16(int m, int n, int k, uint64_t a, uint64_t b, bool transposed, uint64_t out) {
    gemm(type_f16, m, n, k, a, b, transposed, out);
}

void Cublas::gemm_f32(int m, int n, int k, uint64_t a, uint64_t b, bool transposed, uint64_t out) {
    gemm(type_f32, m, n, k, a, b, transposed, out);
}

void Cublas::gemm(int type, int m, int n, int k, uint64_t a, uint64_t b, bool transposed,
                  uint64_t out) {
    const float one = 1, zero = 0;
    const auto p = [](uint64_t v) { return reinterpret_cast<void *>(v); };
    const int compute = type == type_f32 ? compute_32f_pedantic : compute_32f;
    const int failed =
        gemm_ex(handle, transposed ? 1 : 0, 0, n, m, k, &one, p(b), type, transposed ? k : n, p(a),
                type, k, &zero, p(out), type, n, compute, default_algorithm);
    if (failed) throw std::runtime_error("cublasGemmEx returns " + std::to_string(failed));
}

}  // namespace tessera::bench
