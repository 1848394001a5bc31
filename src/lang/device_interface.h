#pragma once
#include "base/target.h"
#include "lang/location.h"
#include "runtime/tessera_runtime.h"

namespace tessera {

// The runtime's functions for a kind of device, of those that the target has; Default_GPU is CUDA.
// RuntimeError, at the line given, for a device that the target has not, or that is not CUDA's.
const tessera_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api, const Target &target, const Location &at);
// The same, for the target of the environment; null instead of an error.
const tessera_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api,
                                    const Target &target = get_jit_target_from_environment());

}  // namespace tessera
