#include "lang/device_interface.h"
#include "base/error.h"
#include "base/str.h"
#include "runtime/tessera_runtime_cuda.h"

namespace tessera {

const tessera_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api, const Target &target, const Location &at) {
    const auto *found = get_device_interface_for_device_api(api, target);
    if (found) return found;
    if (!target.has_gpu_feature())
        throw RuntimeError(at, str("a GPU is asked for, and the target ", target, " has none"));
    throw RuntimeError(at, "there are no other GPUs than CUDA's (DeviceAPI::CUDA) so far");
}

const tessera_device_interface_t *get_device_interface_for_device_api(DeviceAPI api,
                                                                      const Target &target) {
    const bool is_cuda = api == DeviceAPI::CUDA || api == DeviceAPI::Default_GPU;
    if (!is_cuda || !target.has_feature(Target::CUDA)) return nullptr;
    return tessera_cuda_device_interface();
}

}  // namespace tessera
