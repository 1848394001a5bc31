#include "codegen/nvptx/device_image.h"
#include "codegen/nvptx/ptx.h"
#include "codegen/nvptx/ptxas.h"
#include <algorithm>

namespace tessera::codegen {

namespace {

bool has_kernels(const ir::Module &module) {
    return std::ranges::any_of(module.functions, [](const ir::LoweredFunction &f) {
        return f.kind == ir::FunctionKind::Kernel;
    });
}

// Machine code is of one major number.
bool runs_here(const DeviceImage &code) {
    const int here = host_cuda_capability();
    return code.capability / 10 == here / 10 && code.capability <= here;
}

}  // namespace

std::vector<DeviceImage> device_images(const ir::Module &module, const Target &target) {
    std::vector<DeviceImage> images;
    if (!has_kernels(module)) return images;
    const std::vector<int> capabilities = target.cuda_capabilities();
    for (int capability : capabilities) {
        const bool exact = is_exact(module, capability);
        auto code = assemble_ptx(to_ptx(module, target, capability), gpu_name(capability, exact));
        if (code) images.push_back({capability, false, exact, std::move(*code)});
    }
    if (target.has_feature(Target::JIT) && std::ranges::any_of(images, runs_here)) return images;
    const int lowest = *std::ranges::min_element(capabilities);
    const std::string ptx = to_ptx(module, target, lowest);
    std::vector<char> text(ptx.begin(), ptx.end());
    text.push_back(0);
    images.push_back({lowest, true, is_exact(module, lowest), std::move(text)});
    return images;
}

}  // namespace tessera::codegen
