#include "driver/link_shared.h"
#include "base/error.h"
#include "base/subprocess.h"
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace tessera::driver {
namespace {

using Words = std::vector<std::string>;

// Returns true if a program of this name is in PATH, or is a path of one.
bool is_program(const std::string &name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
    }
    return false;
}

Words compilers_for(const Target &target) {
    const Target here = get_host_target();
    if (target.arch == here.arch && target.bits == here.bits) return {"cc", "gcc", "clang"};
    if (target.arch == Target::ARM) return {"aarch64-linux-gnu-gcc"};
    return {"x86_64-linux-gnu-gcc"};
}

// Returns the words that a command of the compiler begins with.
Words find_compiler(const std::string &library, const Target &target) {
    const char *given = std::getenv("CC");
    std::istringstream stream(given ? given : "");
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    const Words known = compilers_for(target);
    if (words.empty()) {
        for (const std::string &name : known) {
            if (is_program(name)) return {name};
        }
        throw RuntimeError(str(library,
                               " cannot be linked into a shared library: that wants a C "
                               "compiler, and PATH has no ",
                               join(known, ", no "),
                               "; install one, or let the environment variable CC name one"));
    }
    if (is_program(words[0])) return words;
    throw RuntimeError(str(library, " cannot be linked into a shared library: there is no program ",
                           words[0], ", which the environment variable CC names"));
}

}  // namespace

void link_shared(const std::string &library, const std::string &output, const Target &target) {
    Words command = find_compiler(library, target);
    const std::string name = std::filesystem::path(output).filename().string();
    // The library calls its own runtime, whatever others the process has.
    for (const std::string &word :
         {std::string("-shared"), std::string("-o"), output, "-Wl,-soname," + name,
          std::string("-Wl,-Bsymbolic"), std::string("-Wl,--whole-archive"), library,
          std::string("-Wl,--no-whole-archive"), std::string("-lstdc++"), std::string("-lm"),
          std::string("-lpthread"), std::string("-ldl")})
        command.push_back(word);
    const ProcessResult done = run_process(command);
    if (done.code == 0) return;
    throw RuntimeError(
        str("the C compiler ", command[0], " cannot link ", library, ": ", done.output));
}

}  // namespace tessera::driver
