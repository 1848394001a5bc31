#include "cpu/libraries.h"

#include <cblas-openblas.h>

namespace tessera::bench {

std::vector<Implementation> openblas_implementations(const std::shared_ptr<Data> &data) {
    if (data->problem.generator != "gemm") return {};
    Buffer<> a = data->input("a"), b = data->input("b"), c = data->new_output();
    const int m = c.dim(1).extent(), n = c.dim(0).extent(), k = a.dim(0).extent();
    auto run = [=]() mutable {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1,
                    static_cast<const float *>(a.data()), k, static_cast<const float *>(b.data()),
                    n, 0, static_cast<float *>(c.data()), n);
    };
    return {{"OpenBLAS", run, openblas_set_num_threads, [c] { return c; }}};
}

}  // namespace tessera::bench
