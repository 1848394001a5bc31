#include "lang/device_interface.h"
#include "base/error.h"
#include "base/str.h"
#include "runtime/tessera_runtime_cuda.h"

namespace tessera {

namespace {

std::string why_none(const Target &target) {
    if (target.has_gpu_feature())
        return "there are no other GPUs than CUDA's (DeviceAPI::CUDA) so far";
    return str("a GPU is asked for, and the target ", target, " has none");
}

}  // namespace

const tessera_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api, const Target &target, const Location &at) {
    const auto *found = get_device_interface_for_device_api(api, target);
    if (!found) throw RuntimeError(at, why_none(target));
    return found;
}

const tessera_device_interface_t *get_device_interface_for_device_api(DeviceAPI api,
                                                                      const Target &target,
                                                                      const char *who_asks,
                                                                      Location at) {
    const bool is_cuda = api == DeviceAPI::CUDA || api == DeviceAPI::Default_GPU;
    if (is_cuda && target.has_feature(Target::CUDA)) return tessera_cuda_device_interface();
    if (who_asks) throw CompileError(at, str(who_asks, ": ", why_none(target)));
    return nullptr;
}

}  // namespace tessera
