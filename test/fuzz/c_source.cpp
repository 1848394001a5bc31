#include "c_source.h"
#include <base/str.h>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <program/parameter.h>
#include <sstream>

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

// A folder that is gone when this is.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "tessera_fuzz_XXXXXX").string();
        if (!mkdtemp(name.data())) throw RuntimeError("no folder for C source");
        path = name;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    fs::path path;
};

std::string contents_of(const fs::path &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string last_message;

}  // namespace

void run_c_source(Pipeline pipeline, const std::vector<tessera_buffer_t *> &outputs,
                  tessera_trace_t trace) {
    Folder folder;
    std::string source = (folder.path / "f.c").string(), library = (folder.path / "f.so").string(),
                log = (folder.path / "log").string();
    std::vector<Argument> args = pipeline.infer_arguments();
    pipeline.compile_to_c(source, args, "c_function");
    // The functions that it calls, of the runtime and of extern stages, are in this program.
    // The compiler warns of what a loop without iterations would read of an array without elements.
    std::string command =
        str("'" C_COMPILER "' -std=c11 -O1 -Wall -Wextra -Werror -Wno-array-bounds -pedantic -fPIC "
            "-shared -I'" RUNTIME_SOURCES "' ",
            source, " -o ", library, " -lm > ", log, " 2>&1");
    if (std::system(command.c_str()) != 0) {
        throw RuntimeError("C source does not compile: " + contents_of(log));
    }
    void *code = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!code) throw RuntimeError(str("C source is not linked: ", dlerror()));
    auto function = reinterpret_cast<int (*)(void *const *)>(dlsym(code, "c_function_argv"));
    std::vector<void *> pointers;
    for (const Argument &a : args) {
        auto &p = const_cast<program::Parameter &>(*a.parameter);
        pointers.push_back(p.is_buffer ? static_cast<void *>(p.buffer) : &p.scalar_bits);
    }
    pointers.insert(pointers.end(), outputs.begin(), outputs.end());
    last_message.clear();
    tessera_set_custom_trace(trace);
    tessera_error_handler_t before =
        tessera_set_error_handler([](void *, const char *text) { last_message = text; });
    int result = function(pointers.data());
    tessera_set_error_handler(before);
    tessera_set_custom_trace(nullptr);
    if (result != 0) throw RuntimeError(str(last_message, " (", result, ")"));
}

}  // namespace tessera::fuzz
