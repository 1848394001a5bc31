// Products of matrices by cuBLAS, through its C interface: libcublas.so.13 or .12 is loaded where
// it is found. All matrices are row-major and dense; addresses are the device's.
#pragma once

#include <cstdint>

namespace tessera::bench {

class Cublas {
public:
    // A context has to be current.
    Cublas();
    bool is_there() const { return handle; }

    // out (m x n) = a (m x k) * b, which is stored k x n, or with `transposed` n x k. Float16 with
    // sums in float32.
    void gemm_f16(int m, int n, int k, uint64_t a, uint64_t b, bool transposed, uint64_t out);
    // The same in float32, without tensor cores.
    void gemm_f32(int m, int n, int k, uint64_t a, uint64_t b, bool transposed, uint64_t out);

private:
    void gemm(int type, int m, int n, int k, uint64_t a, uint64_t b, bool transposed, uint64_t out);
    using GemmEx = int (*)(void *, int, int, int, int, int, const void *, const void *, int, int,
                           const void *, int, int, const void *, void *, int, int, int, int);
    void *handle = nullptr;
    GemmEx gemm_ex = nullptr;
};

}  // namespace tessera::bench
