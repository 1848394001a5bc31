#include "autoscheduler/bundle/object_file.h"
#include "base/error.h"
#include "base/str.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tessera;
using namespace tessera::autoscheduler;

namespace {

// An object of some C, as compilers write it for shared libraries.
struct CObject {
    std::string folder =
        str(std::filesystem::temp_directory_path().string(), "/tessera_object_", getpid());
    std::string path = folder + "/c.o";
    explicit CObject(const std::string &source) {
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/c.c") << source;
        const std::string command =
            str(C_COMPILER, " -w -O1 -fPIC -c -o ", path, " ", folder, "/c.c");
        REQUIRE(std::system(command.c_str()) == 0);
    }
    ~CObject() { std::filesystem::remove_all(folder); }

    int call(int argument) const {
        return reinterpret_cast<int (*)(int)>(load_object(path, "f"))(argument);
    }
    std::string refusal(const std::string &function) const {
        try {
            load_object(path, function);
        } catch (const RuntimeError &e) {
            return e.what();
        }
        return "";
    }
};

}  // namespace

TEST_SUITE("autoscheduler, objects") {
    TEST_CASE("an object is loaded with its code, its data, and what it calls") {
        if (!loads_objects) return;
        const CObject object(R"(
            #include <stdlib.h>
            #include <string.h>
            extern char **environ;
            static int begun = 1;
            int zeros[5000], own = 7;
            static int square(int x) { return x * x; }
            int (*const functions[])(int) = {abs, square};
            static const char *const texts[] = {"a", "three"};
            __attribute__((constructor)) static void begin(void) { begun = 1000; }
            int other(int x) { return x + own; }
            int f(int x) {
                zeros[4999] += begun;
                return functions[0](-x) + functions[1](10) + zeros[4999] + other(0) +
                       (int)strlen(texts[1]) + (environ ? 0 : 100000);
            })");
        CHECK(object.call(3) == 3 + 100 + 1000 + 7 + 5);
        // Each time it is loaded anew.
        CHECK(object.call(4) == 4 + 100 + 1000 + 7 + 5);
    }
    TEST_CASE("what is no object, or calls what is not there, is told") {
        if (!loads_objects) return;
        const CObject object("int nowhere(void); int f(int x) { return nowhere(); }");
        CHECK(object.refusal("f") == object.path + " calls nowhere, which is not there");
        const CObject other("int f(int x) { return x; }");
        CHECK(other.refusal("g") == other.path + " has no function g");
        CHECK(other.call(5) == 5);
        for (const char *bytes : {"", "text",
                                  "\x7f"
                                  "ELF and no more"}) {
            std::ofstream(other.path) << bytes;
            CHECK(other.refusal("f") == other.path + " is no object of this machine");
        }
    }
    TEST_CASE("an object that was cut off is told") {
        if (!loads_objects) return;
        const CObject object("int own = 3; int f(int x) { return x + own; }");
        std::ifstream in(object.path, std::ios::binary);
        const std::string all{std::istreambuf_iterator<char>(in), {}};
        for (size_t bytes = 0; bytes < all.size(); bytes += 16) {
            std::ofstream(object.path, std::ios::binary) << all.substr(0, bytes);
            CHECK(object.refusal("f") == object.path + " is no object of this machine");
        }
    }
}
