#include "codegen/nvptx/libdevice.h"
#include "base/error.h"
#include "base/str.h"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <string_view>

namespace tessera::codegen {
namespace {

namespace fs = std::filesystem;

constexpr const char *prefix = "__nv_";

// Those that intrinsics of ours and programs call.
constexpr std::string_view functions[] = {
    "sin",   "cos",   "tan",   "asin",  "acos", "atan",  "atan2", "sinh",   "cosh",  "tanh",
    "asinh", "acosh", "atanh", "exp",   "exp2", "exp10", "expm1", "log",    "log2",  "log10",
    "log1p", "pow",   "cbrt",  "hypot", "fmod", "erf",   "erfc",  "tgamma", "lgamma"};

std::string path_of_library() {
    std::vector<fs::path> candidates;
    if (const char *given = getenv("TESSERA_LIBDEVICE")) return given;
    if (const char *home = getenv("CUDA_HOME")) candidates.emplace_back(home);
    candidates.emplace_back("/usr/local/cuda");
    for (const fs::path &toolkit : candidates) {
        const fs::path file = toolkit / "nvvm" / "libdevice" / "libdevice.10.bc";
        if (fs::exists(file)) return file.string();
    }
    return "";
}

std::unique_ptr<llvm::Module> read_library(llvm::LLVMContext &context) {
    const std::string path = path_of_library();
    auto bytes = llvm::MemoryBuffer::getFile(path);
    if (path.empty() || !bytes) {
        throw CompileError(
            "a kernel calls a function of mathematics, and libdevice.10.bc of the CUDA "
            "toolkit is not found; say where it is with TESSERA_LIBDEVICE, or where "
            "the toolkit is with CUDA_HOME");
    }
    auto library = llvm::parseBitcodeFile((*bytes)->getMemBufferRef(), context);
    if (library) return std::move(*library);
    throw CompileError(str("cannot read ", path, ": ", llvm::toString(library.takeError())));
}

}  // namespace

std::string libdevice_on_disk() {
    const std::string path = path_of_library();
    std::error_code failed;
    const auto written = fs::last_write_time(path, failed);
    return failed ? path : str(path, " ", written.time_since_epoch().count());
}

std::string libdevice_name(const std::string &c_function) {
    std::string_view plain = c_function;
    if (std::ranges::find(functions, plain) == std::end(functions) && plain.ends_with('f'))
        plain.remove_suffix(1);
    return std::ranges::find(functions, plain) == std::end(functions) ? "" : prefix + c_function;
}

void link_libdevice(llvm::Module &module) {
    const bool any = std::ranges::any_of(module, [](const llvm::Function &f) {
        return f.isDeclaration() && f.getName().starts_with(prefix);
    });
    if (!any) return;
    auto library = read_library(module.getContext());
    library->setTargetTriple(module.getTargetTriple());
    library->setDataLayout(module.getDataLayout());
    const auto keep_kernels = [](llvm::Module &m, const llvm::StringSet<> &) {
        llvm::internalizeModule(
            m, [](const llvm::GlobalValue &v) { return !v.getName().starts_with(prefix); });
    };
    if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded,
                                  keep_kernels)) {
        throw InternalError("LLVM cannot link libdevice");
    }
    // Subnormal numbers count.
    module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
}

}  // namespace tessera::codegen
