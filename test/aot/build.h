#pragma once
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

// Files that are written are compiled and linked by the C and C++ compilers that the tests were
// built with, and run as programs of their own.

namespace fs = std::filesystem;

// An empty folder for files, in which the process stands as long as this lives.
class Folder {
public:
    Folder() : before(fs::current_path()) {
        std::string path = (fs::temp_directory_path() / "tessera_files_XXXXXX").string();
        REQUIRE(mkdtemp(path.data()));
        here = path;
        fs::current_path(here);
    }
    ~Folder() {
        fs::current_path(before);
        fs::remove_all(here);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

private:
    fs::path before, here;
};

inline std::string contents_of(const std::string &path) {
    std::ifstream file(path);
    REQUIRE_MESSAGE(file, path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

inline void write(const std::string &path, const std::string &text) { std::ofstream(path) << text; }

inline std::string run(const std::string &command, bool succeeds = true) {
    INFO(command);
    int status = std::system((command + " > output.txt 2>&1").c_str());
    std::string output = contents_of("output.txt");
    INFO(output);
    CHECK((status == 0) == succeeds);
    return output;
}

inline const std::string c_compiler = "'" C_COMPILER "' ", cxx_compiler = "'" CXX_COMPILER "' ",
                         include_runtime = " -I'" RUNTIME_SOURCES "' ";

// Compiles main.c with the header and links it with the libraries; then runs it.
inline std::string build_and_run(const std::string &main, const std::string &libraries) {
    write("main.c", main);
    run(c_compiler + "-std=c99 -Wall -Wextra -Werror -pedantic -c main.c -o main.o" +
        include_runtime);
    run(cxx_compiler + "main.o " + libraries + " -o main -lpthread -ldl");
    return run("./main");
}
