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

DeviceCode device_code(const ir::Module &module, const Target &target) {
    DeviceCode made;
    if (!has_kernels(module)) return made;
    const std::vector<int> capabilities = target.cuda_capabilities();
    auto ptx_of = [&](int capability) { return to_ptx(module, target, capability, made.reports); };
    for (int capability : capabilities) {
        const bool exact = is_exact(module, capability);
        auto code = assemble_ptx(ptx_of(capability), gpu_name(capability, exact));
        if (!code) continue;
        const bool waits = waits_for_kernels(target, capability);
        made.images.push_back({capability, false, exact, waits, std::move(*code)});
    }
    if (target.has_feature(Target::JIT) && std::ranges::any_of(made.images, runs_here)) return made;
    const int lowest = *std::ranges::min_element(capabilities);
    const std::string ptx = ptx_of(lowest);
    std::vector<char> text(ptx.begin(), ptx.end());
    text.push_back(0);
    made.images.push_back({lowest, true, is_exact(module, lowest),
                           waits_for_kernels(target, lowest), std::move(text)});
    return made;
}

}  // namespace tessera::codegen
