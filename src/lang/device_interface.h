#pragma once
#include "base/target.h"
#include "lang/location.h"
#include "runtime/tessera_runtime.h"

namespace tessera {

// The runtime's functions for a kind of device, of those that the target has; Default_GPU is CUDA.
// RuntimeError, at the line given, for a device that the target has not, or that is not CUDA's.
const tessera_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api, const Target &target, const Location &at);
// Null instead of an error, unless it is said who asks; then a CompileError that names it.
const tessera_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api,
                                    const Target &target = get_jit_target_from_environment(),
                                    const char *who_asks = nullptr, Location at = Here::current());

}  // namespace tessera
