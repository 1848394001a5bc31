// Products of matrices by cuBLASLt, through its C interface: libcublasLt.so.13 or .12 is loaded
// where it is found. All matrices are row-major and dense; addresses are the device's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::bench {

enum class MatrixType { F32, F16, BF16, S8, S32, E4M3 };

// out (m x n) = a (m x k) * b (k x n), for each of a batch.
struct MatrixProduct {
    int m, n, k, batch = 1;
    bool a_by_columns = false, b_by_columns = false;  // stored k x m, and n x k
    MatrixType operand = MatrixType::F16, result = MatrixType::F16;
    bool bias_gelu = false;  // of the sums and a bias for each column
    bool relu = false;
};

class CublasLt {
public:
    // A context has to be current.
    CublasLt();
    bool is_there() const { return handle; }

    // A call computes it with the algorithm that the library's heuristic puts first, on the stream.
    using Call =
        std::function<void(uint64_t a, uint64_t b, uint64_t bias, uint64_t out, void *stream)>;
    // Throws std::runtime_error if the library has no algorithm for it.
    Call prepare(const MatrixProduct &p);

private:
    struct Functions;
    void *handle = nullptr;
    const Functions *functions = nullptr;
    uint64_t workspace = 0;
};

}  // namespace tessera::bench
