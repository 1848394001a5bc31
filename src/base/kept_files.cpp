#include "base/kept_files.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <vector>

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t most_bytes = uint64_t(512) << 20;
// The folder is looked through when a process keeps its first file, and then each time that it has
// kept so many.
constexpr unsigned files_between_looks = 64;

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

// Returns true for what a process that was killed has left of a file that it wrote.
bool is_left_over(const fs::path &path, fs::file_time_type written) {
    const auto age = fs::file_time_type::clock::now() - written;
    return path.filename().native().starts_with(".tessera-") && age > std::chrono::hours(1);
}

struct KeptFile {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes = 0;
};

std::vector<KeptFile> kept_files(const fs::path &folder) {
    std::vector<KeptFile> files;
    std::error_code failed;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, failed)) {
        const fs::path ending = entry.path().extension();
        // Another process may remove it meanwhile.
        std::error_code gone;
        const auto used = entry.last_write_time(gone);
        const uint64_t bytes = gone ? 0 : entry.file_size(gone);
        if (gone) continue;
        if (ending == kept_kernels || ending == kept_pipeline)
            files.push_back({entry.path(), used, bytes});
        else if (is_left_over(entry.path(), used))
            fs::remove(entry.path(), gone);
    }
    return files;
}

}  // namespace

std::string kept_folder() {
    if (std::getenv("TESSERA_CACHE_DIR")) return variable("TESSERA_CACHE_DIR");
    const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
    if (!cache.empty()) return fs::path(cache) / "tessera";
    return home.empty() ? "" : fs::path(home) / ".cache" / "tessera";
}

std::optional<std::string> find_kept(const std::string &name) {
    const std::string folder = kept_folder();
    if (folder.empty()) return std::nullopt;
    const fs::path path = fs::path(folder) / name;
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (bytes.empty()) return std::nullopt;
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return bytes;
}

void keep(const std::string &name, std::string_view bytes) {
    const std::string folder = kept_folder();
    if (folder.empty()) return;
    std::error_code failed;
    // Code that will run is for this user alone to write.
    if (fs::create_directories(folder, failed)) chmod(folder.c_str(), 0700);
    try {
        write_file(fs::path(folder) / name, bytes);
    } catch (const RuntimeError &) {
        return;
    }
    static std::atomic<unsigned> kept = 0;
    if (kept++ % files_between_looks == 0) limit_kept(most_bytes);
}

void limit_kept(uint64_t bytes) {
    const std::string folder = kept_folder();
    if (folder.empty()) return;
    std::vector<KeptFile> files = kept_files(folder);
    std::ranges::sort(files, std::ranges::greater(), &KeptFile::used);
    uint64_t total = 0;
    for (const KeptFile &file : files) {
        total += file.bytes;
        std::error_code ignored;
        if (total > bytes) fs::remove(file.path, ignored);
    }
}

}  // namespace tessera
