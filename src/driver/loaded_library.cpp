#include "driver/loaded_library.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "base/small_array.h"
#include "driver/link_shared.h"
#include "driver/shared_symbols.h"
#include <algorithm>
#include <array>
#include <cctype>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace tessera::driver {

LoadedFunction::LoadedFunction(const tessera_filter_metadata_t &metadata,
                               int (*argv)(void *const *), const LoadedRuntime &runtime)
    : metadata(&metadata), argv(argv), runtime(&runtime),
      takes_context(metadata.num_arguments > 0 &&
                    metadata.arguments[0].name == std::string("__user_context")) {}

std::span<const tessera_filter_argument_t> LoadedFunction::arguments() const {
    return std::span(metadata->arguments, size_t(metadata->num_arguments))
        .subspan(takes_context ? 1 : 0);
}

int LoadedFunction::call(JITUserContext *context, std::span<void *const> args) const {
    constexpr size_t most_on_the_stack = 32;
    const size_t first = takes_context ? 1 : 0;
    SmallArray<void *, most_on_the_stack> passed(args.size() + first);
    SmallArray<PassedBuffer, most_on_the_stack> buffers(args.size());
    if (takes_context) passed[0] = &context;
    size_t count = 0;
    for (size_t i = 0; i < args.size(); i++) {
        passed[first + i] = args[i];
        const int kind = arguments()[i].kind;
        if (kind != tessera_argument_kind_input_scalar)
            buffers[count++] = {static_cast<tessera_buffer_t *>(args[i]),
                                kind == tessera_argument_kind_input_buffer};
    }
    return runtime->call(context, argv, passed.first(passed.size()), buffers.first(count),
                         uses_devices);
}

namespace {

namespace fs = std::filesystem;

// Lets libraries without a runtime find that of this process, which may have been loaded for itself
// alone.
void show_runtime() {
    Dl_info own;
    if (dladdr(reinterpret_cast<void *>(&tessera_error), &own) && own.dli_fname)
        dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

void *open_now(const std::string &path) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::string why = library ? "" : dlerror();
    if (!library && why.find("undefined symbol: tessera_") != why.npos) {
        show_runtime();
        library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) why = str(dlerror(), ": it was compiled with no_runtime");
    }
    if (library) return library;
    throw RuntimeError(str("cannot load the library ", why));
}

// Tells files apart that stand at one path, one after another.
using FileIdentity = std::array<uint64_t, 5>;

FileIdentity identity_of(const std::string &path) {
    struct stat s{};
    if (stat(path.c_str(), &s)) throw RuntimeError(str("cannot read the library ", path));
    return {s.st_dev, s.st_ino, uint64_t(s.st_size), uint64_t(s.st_mtim.tv_sec),
            uint64_t(s.st_mtim.tv_nsec)};
}

// The system takes a library for the one that it has loaded from this path before, even if it was
// compiled anew since: then a copy is loaded.
void *open_library(const std::string &path) {
    static std::mutex mutex;
    static auto *paths = new std::set<std::string>;
    static auto *libraries = new std::map<FileIdentity, void *>;
    const std::string absolute = fs::absolute(path);
    std::lock_guard lock(mutex);
    void *&library = (*libraries)[identity_of(absolute)];
    if (library) return library;
    if (!paths->contains(absolute)) {
        library = open_now(absolute);
        paths->insert(absolute);
        return library;
    }
    const ScratchFolder folder;
    const fs::path copy = folder.path / fs::path(absolute).filename();
    std::error_code failed;
    if (!fs::copy_file(absolute, copy, failed))
        throw RuntimeError(str("cannot copy the library ", path, ": ", failed.message()));
    return library = open_now(copy);
}

// Returns what a target is called within the name of a function.
std::string as_name(std::string target) {
    std::ranges::replace_if(target, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return target;
}

// Leaves out code for one of several targets, which the function that chooses calls.
std::vector<LoadedFunction> without_variants(const std::vector<LoadedFunction> &all) {
    std::vector<LoadedFunction> kept;
    for (const LoadedFunction &f : all) {
        const bool is_variant = std::ranges::any_of(all, [&](const LoadedFunction &whole) {
            return f.name() == whole.name() + "_" + as_name(f.target());
        });
        if (!is_variant) kept.push_back(f);
    }
    return kept;
}

std::vector<LoadedFunction> functions_of(void *library, const std::string &path,
                                         const std::set<std::string> &names) {
    std::vector<LoadedFunction> functions;
    constexpr std::string_view end = "_metadata";
    for (const std::string &name : names) {
        if (!name.ends_with(end)) continue;
        const std::string function = name.substr(0, name.size() - end.size());
        if (!names.contains(function + "_argv")) continue;
        const auto metadata =
            reinterpret_cast<const tessera_filter_metadata_t *(*)()>(dlsym(library, name.c_str()));
        const auto argv =
            reinterpret_cast<int (*)(void *const *)>(dlsym(library, (function + "_argv").c_str()));
        if (!metadata || !argv) continue;
        if (metadata()->version != TESSERA_FILTER_METADATA_VERSION)
            throw RuntimeError(str("the library ", path, " describes ", function, " in version ",
                                   metadata()->version, ", and ",
                                   int(TESSERA_FILTER_METADATA_VERSION), " is known here"));
        functions.emplace_back(*metadata(), argv, LoadedRuntime::of(library));
    }
    return functions;
}

}  // namespace

std::vector<LoadedFunction> load_library(const std::string &path) {
    std::optional<ScratchFolder> folder;
    std::string shared = path;
    if (library_kind(path) != LibraryKind::Shared) {
        shared = folder.emplace().path / "library.so";
        link_shared(path, shared, get_host_target());
    }
    const std::set<std::string> names = shared_symbols(shared);
    std::vector<LoadedFunction> all = functions_of(open_library(shared), path, names);
    if (all.empty())
        throw RuntimeError(str("the library ", path,
                               " describes no function: it has no "
                               "NAME_metadata with a NAME_argv beside it"));
    const bool uses_devices = std::ranges::any_of(
        all, [](const LoadedFunction &f) { return Target(f.target()).has_gpu_feature(); });
    for (LoadedFunction &f : all) f.uses_devices = uses_devices;
    return without_variants(all);
}

}  // namespace tessera::driver
