#pragma once
#include "cpu/implementation.h"

namespace tessera::bench {

// Products by a shared library that has cblas_sgemm, such as libopenblas.so; none for other
// problems. Throws std::runtime_error if it is no such library.
std::vector<Implementation> blas_implementations(const std::shared_ptr<Data> &data,
                                                 const std::string &library);

}  // namespace tessera::bench
