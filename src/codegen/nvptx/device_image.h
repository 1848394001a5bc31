#pragma once
#include "base/target.h"
#include "codegen/nvptx/kernel_reports.h"
#include <vector>

namespace tessera::codegen {

// Code of the kernels of a module, as it becomes a tessera_cuda_image_t of the runtime.
struct DeviceImage {
    int capability;  // 90: compute capability 9.0
    bool is_ptx;     // a text that ends in 0, which the driver compiles
    bool is_exact;   // runs on that capability alone, such as 9.0a
    bool waits;      // its kernels do, for those before them (waits_for_kernels in ptx.h)
    std::vector<char> bytes;
};

// The name of the table of images in a module of a host.
constexpr const char *kernels_symbol = "tessera_kernels";

struct DeviceCode {
    std::vector<DeviceImage> images;
    KernelReports reports;
};

// Machine code for each compute capability of the target, if ptxas is found, and PTX of the lowest;
// in a program that compiles just in time PTX only where no machine code is for its GPU. None if
// the module has no kernels.
DeviceCode device_code(const ir::Module &module, const Target &target);

}  // namespace tessera::codegen
