#pragma once
#include "HalideRuntime.h"

// There is no such device.
static inline __attribute__((unused)) const struct halide_device_interface_t *halide_vulkan_device_interface(void) { return NULL; }
