#include "cpu/implementation.h"
#include "cpu/libraries.h"

namespace tessera::bench {

std::vector<Implementation> library_implementations(const std::shared_ptr<Data> &data) {
    std::vector<Implementation> all = loop_implementations(data);
#ifdef TESSERA_BENCH_ONEDNN
    for (auto &i : onednn_implementations(data)) all.push_back(std::move(i));
#endif
#ifdef TESSERA_BENCH_OPENBLAS
    for (auto &i : openblas_implementations(data)) all.push_back(std::move(i));
#endif
#ifdef TESSERA_BENCH_OPENCV
    for (auto &i : opencv_implementations(data)) all.push_back(std::move(i));
#endif
    return all;
}

}  // namespace tessera::bench
