#include "gpu/card.h"

#include "tessera_runtime_cuda.h"

namespace tessera::bench {

std::string name_of_card() {
    const auto find = [](const char *name) { return tessera_cuda_get_symbol(nullptr, name); };
    const auto get_device = reinterpret_cast<int (*)(int *, int)>(find("cuDeviceGet"));
    const auto get_name = reinterpret_cast<int (*)(char *, int, int)>(find("cuDeviceGetName"));
    const auto get_version = reinterpret_cast<int (*)(int *)>(find("cuDriverGetVersion"));
    int device = 0, version = 0;
    char name[128] = "";
    if (!get_device || !get_name || !get_version) return "";
    if (get_device(&device, tessera_get_gpu_device(nullptr)) || get_version(&version) ||
        get_name(name, sizeof name, device)) {
        return "";
    }
    return std::string(name) + ", driver for CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
}

}  // namespace tessera::bench
