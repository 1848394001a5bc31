#include "library.h"
#include "base/error.h"
#include "symbol_names.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tessera::run {
namespace {

namespace fs = std::filesystem;

// A folder that is gone when this is.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::error_code error;
        fs::path parent = fs::temp_directory_path(error);
        path = ((error ? "/tmp" : parent) / "tessera_run_XXXXXX").string();
        if (!mkdtemp(path.data())) {
            throw RuntimeError(str("no temporary folder can be made: ", std::strerror(errno)));
        }
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    std::string operator/(const char *name) const { return path + "/" + name; }

private:
    std::string path;
};

enum class Kind { Archive, Object, Shared };

Kind kind_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw RuntimeError(std::strerror(errno));
    char head[18] = {};
    file.read(head, sizeof(head));
    if (std::memcmp(head, "!<arch>\n", 8) == 0) return Kind::Archive;
    if (file && std::memcmp(head, ELFMAG, SELFMAG) == 0) {
        if (head[EI_CLASS] != ELFCLASS64) throw RuntimeError("it is not for a machine of 64 bits");
        if (head[16] == ET_REL) return Kind::Object;
        if (head[16] == ET_DYN) return Kind::Shared;
    }
    throw RuntimeError("it is no library");
}

std::string contents_of(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Runs a program; its output goes into a file. Returns true if it succeeded.
bool run_program(const std::vector<std::string> &words, const std::string &output) {
    std::vector<char *> argv;
    for (const std::string &w : words) argv.push_back(const_cast<char *>(w.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = 0;
    int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        throw RuntimeError(str("the C compiler '", words[0], "' does not start: ",
                               std::strerror(error), "; CC may name another"));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void link_shared(const std::string &library, const std::string &shared, const std::string &log) {
    const char *named = std::getenv("CC");
    std::string compiler = named && *named ? named : "cc";
    std::istringstream parts(compiler);  // CC may have flags
    std::vector<std::string> words(std::istream_iterator<std::string>(parts), {});
    words.insert(words.end(), {"-shared", "-o", shared, "-Wl,--whole-archive", library,
                               "-Wl,--no-whole-archive", "-lm"});
    if (!run_program(words, log)) {
        throw RuntimeError(
            str("the C compiler '", compiler, "' cannot link it: ", contents_of(log)));
    }
}

void *open_shared(const std::string &path) {
    // A path without a slash would be searched for where the system's libraries are.
    void *handle = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        throw RuntimeError(reason ? reason : "it cannot be loaded");
    }
    return handle;
}

}  // namespace

void *Library::symbol(const std::string &name) const { return dlsym(handle, name.c_str()); }

Library::Library(const std::string &path) {
    try {
        TemporaryFolder folder;
        std::string shared = path;
        if (kind_of(path) != Kind::Shared) {
            shared = folder / "library.so";
            link_shared(fs::absolute(path).string(), shared, folder / "log.txt");
        }
        handle = open_shared(shared);
        std::vector<std::string> names = symbol_names(shared);
        std::ranges::sort(names);
        const std::string ending = "_metadata";
        for (const std::string &name : names) {
            if (!name.ends_with(ending)) continue;
            std::string function = name.substr(0, name.size() - ending.size());
            using Metadata = const tessera_filter_metadata_t *();
            using Argv = int(void *const *);
            auto *metadata = reinterpret_cast<Metadata *>(symbol(name));
            auto *argv = reinterpret_cast<Argv *>(symbol(function + "_argv"));
            if (metadata && argv) found.push_back({argv, metadata()});
        }
        if (found.empty()) {
            throw RuntimeError("it describes no function: there is no name_metadata() with a "
                               "name_argv() beside it");
        }
        for (const Function &f : found) {
            if (f.metadata->version == TESSERA_FILTER_METADATA_VERSION) continue;
            throw RuntimeError(str("its metadata is of version ", f.metadata->version,
                                   ", but that of this program is ",
                                   int(TESSERA_FILTER_METADATA_VERSION)));
        }
    } catch (const RuntimeError &e) {
        throw RuntimeError(str("cannot load the library ", path, ": ", e.what()));
    }
}

}  // namespace tessera::run
