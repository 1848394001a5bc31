#pragma once
#include "runtime/tessera_runtime.h"

namespace tessera::interpret {

// The device that the oracle has in place of a GPU, for functions in C that use the buffers which
// they get by the runtime's functions for devices. Its memory is the host's: addresses are
// pointers.
const tessera_device_interface_t *oracle_device();

}  // namespace tessera::interpret
