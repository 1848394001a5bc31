#include "cpu/libraries.h"

#include <cblas-openblas.h>

namespace tessera::bench {

std::vector<Implementation> openblas_implementations(const std::shared_ptr<Data> &data) {
    if (data->problem.generator != "gemm") return {};
    Buffer<> a = data->input("a"), b = data->input("b"), c = data->new_output();
    const bool transpose_a = is_set(data->problem, "transpose_a"),
               transpose_b = is_set(data->problem, "transpose_b");
    const int m = c.dim(1).extent(), n = c.dim(0).extent(), k = a.dim(transpose_a ? 1 : 0).extent();
    auto run = [=]() mutable {
        cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                    transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1,
                    static_cast<const float *>(a.data()), a.dim(0).extent(),
                    static_cast<const float *>(b.data()), b.dim(0).extent(), 0,
                    static_cast<float *>(c.data()), n);
    };
    return {{"OpenBLAS", run, openblas_set_num_threads, [c] { return c; }}};
}

}  // namespace tessera::bench
