#include "codegen/nvptx/ptxas.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/kept_files.h"
#include "base/scratch_folder.h"
#include "base/str.h"
#include "base/subprocess.h"
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>
#include <unistd.h>

namespace tessera::codegen {
namespace {

namespace fs = std::filesystem;

std::string variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

// The path of a program of CUDA's toolkit, or "". `chosen`: a variable that has the path.
std::string find_tool(const char *name, const char *chosen) {
    if (getenv(chosen)) return variable(chosen);
    std::vector<fs::path> folders;
    if (const std::string home = variable("CUDA_HOME"); !home.empty())
        folders.push_back(fs::path(home) / "bin");
    const std::string path = variable("PATH");
    for (size_t at = 0; at <= path.size();) {
        const size_t end = std::min(path.find(':', at), path.size());
        folders.emplace_back(path.substr(at, end - at));
        at = end + 1;
    }
    folders.emplace_back("/usr/local/cuda/bin");
    for (const fs::path &folder : folders) {
        const fs::path found = folder / name;
        if (access(found.c_str(), X_OK) == 0) return found.string();
    }
    return "";
}

// Returns a text that tells releases of the assembler apart.
std::string version_of(const std::string &assembler) {
    return run_process({assembler, "--version"}).output;
}

std::string content_hash(std::initializer_list<std::string> parts) {
    llvm::SHA256 hash;
    for (const std::string &part : parts) {
        hash.update(llvm::StringRef(str(part.size(), ":")));
        hash.update(llvm::StringRef(part));
    }
    return llvm::toHex(hash.final(), true);
}

std::optional<std::vector<char>> read_file(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (bytes.empty()) return std::nullopt;
    return bytes;
}

std::vector<char> run_assembler(const std::string &assembler, const std::string &ptx,
                                const std::string &arch) {
    const ScratchFolder folder;
    const fs::path source = folder.path / "kernels.ptx", result = folder.path / "kernels.cubin";
    tessera::write_file(source, ptx);
    const ProcessResult process =
        run_process({assembler, "-arch=" + arch, source.string(), "-o", result.string()});
    const auto code = read_file(result);
    if (process.code == 0 && code) return *code;
    throw CompileError(str("ptxas (", assembler, ") cannot assemble the kernels for ", arch, ": ",
                           process.output));
}

}  // namespace

std::optional<std::vector<char>> assemble_ptx(const std::string &ptx, const std::string &arch) {
    const std::string assembler = find_tool("ptxas", "TESSERA_PTXAS");
    if (assembler.empty()) return std::nullopt;
    std::string kept;
    if (!kept_folder().empty()) {
        kept = content_hash({ptx, arch, version_of(assembler)}) + kept_kernels;
        if (const auto code = find_kept(kept)) return std::vector<char>(code->begin(), code->end());
    }
    std::vector<char> code = run_assembler(assembler, ptx, arch);
    if (!kept.empty()) keep(kept, {code.data(), code.size()});
    return code;
}

std::string assembler_on_disk() {
    const std::string path = find_tool("ptxas", "TESSERA_PTXAS");
    std::error_code failed;
    const auto written = fs::last_write_time(path, failed);
    return failed ? path : str(path, " ", written.time_since_epoch().count());
}

std::optional<std::string> disassemble(const std::vector<char> &code) {
    std::vector<std::string> command = {find_tool("nvdisasm", "TESSERA_NVDISASM"), "-c"};
    if (command[0].empty()) command = {find_tool("cuobjdump", "TESSERA_CUOBJDUMP"), "-sass"};
    if (command[0].empty()) return std::nullopt;
    const ScratchFolder folder;
    const fs::path file = folder.path / "kernels.cubin";
    tessera::write_file(file, {code.data(), code.size()});
    command.push_back(file.string());
    const ProcessResult process = run_process(command);
    if (process.code == 0) return process.output;
    throw CompileError(str(command[0], " cannot read the kernels: ", process.output));
}

}  // namespace tessera::codegen
