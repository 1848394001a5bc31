// These compute the same in a library; none for a problem that it has no function for.
#pragma once

#include "cpu/implementation.h"

namespace tessera::bench {

std::vector<Implementation> onednn_implementations(const std::shared_ptr<Data> &data);
std::vector<Implementation> openblas_implementations(const std::shared_ptr<Data> &data);
std::vector<Implementation> opencv_implementations(const std::shared_ptr<Data> &data);
std::vector<Implementation> loop_implementations(const std::shared_ptr<Data> &data);

}  // namespace tessera::bench
