#include "autoscheduler/blas.h"
#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>

namespace tessera::bench {
namespace {

constexpr int row_major = 101, no_transpose = 111, transpose = 112;
using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);

template<typename F>
F function_of(void *library, const char *name) {
    return reinterpret_cast<F>(dlsym(library, name));
}

}  // namespace

std::vector<Implementation> blas_implementations(const std::shared_ptr<Data> &data,
                                                 const std::string &library) {
    if (library.empty() || data->problem.generator != "gemm") return {};
    void *loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!loaded) throw std::runtime_error(dlerror());
    const auto sgemm = function_of<Sgemm>(loaded, "cblas_sgemm");
    if (!sgemm) throw std::runtime_error(library + " has no cblas_sgemm");
    const auto set_threads = function_of<void (*)(int)>(loaded, "openblas_set_num_threads");
    Buffer<> a = data->input("a"), b = data->input("b"), c = data->new_output();
    const bool of_a = is_set(data->problem, "transpose_a"),
               of_b = is_set(data->problem, "transpose_b");
    const int m = c.dim(1).extent(), n = c.dim(0).extent(), k = a.dim(of_a ? 1 : 0).extent();
    auto run = [=]() mutable {
        sgemm(row_major, of_a ? transpose : no_transpose, of_b ? transpose : no_transpose, m, n, k,
              1, static_cast<const float *>(a.data()), a.dim(0).extent(),
              static_cast<const float *>(b.data()), b.dim(0).extent(), 0,
              static_cast<float *>(c.data()), n);
    };
    return {{std::filesystem::path(library).stem().string(), run,
             [set_threads](int threads) {
                 if (set_threads) set_threads(threads);
             },
             [c] { return c; }}};
}

}  // namespace tessera::bench
