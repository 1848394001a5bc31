#include "codegen/nvptx/device_text.h"
#include "base/str.h"
#include "codegen/nvptx/device_image.h"
#include "codegen/nvptx/ptx.h"
#include "codegen/nvptx/ptxas.h"
#include "lower/gpu/outline_kernels.h"
#include <algorithm>

namespace tessera::codegen {

namespace {

std::vector<DeviceImage> images_of(const ir::Module &module, const Target &target) {
    return device_code(lower::outline_kernels(module), target.without_feature(Target::JIT)).images;
}

// PTX ends in 0.
std::string ptx_of(const DeviceImage &image) { return image.bytes.data(); }

std::string machine_code_of(const DeviceImage &image) {
    if (auto text = disassemble(image.bytes)) return *text;
    return str(image.bytes.size(), " bytes, which nvdisasm or cuobjdump could show; neither is "
                                   "found (CUDA_HOME, PATH, /usr/local/cuda/bin)\n");
}

// Comments of comments would end it.
std::string as_comment(std::string text) {
    for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at)) {
        text.replace(at, 2, "* /");
    }
    return "/*\n" + text + "*/\n";
}

}  // namespace

std::string to_device_code(const ir::Module &module, const Target &target) {
    const ir::Module outlined = lower::outline_kernels(module);
    const bool has_kernels = std::ranges::any_of(
        outlined.functions, [](const auto &f) { return f.kind == ir::FunctionKind::Kernel; });
    if (!has_kernels) return str("// ", module.name, " has no kernels for ", target, "\n");
    KernelReports reports;
    return to_ptx(outlined, target, std::ranges::min(target.cuda_capabilities()), reports);
}

std::string device_comment(const ir::Module &module, const Target &target) {
    std::string all;
    for (const DeviceImage &image : images_of(module, target)) {
        all += as_comment(str(image.is_ptx ? "PTX" : "Machine code", " for compute capability ",
                              image.capability / 10, ".", image.capability % 10, ":\n",
                              image.is_ptx ? ptx_of(image) : machine_code_of(image)));
    }
    return all;
}

}  // namespace tessera::codegen
