#include "build.h"
#include <tessera.h>

using namespace tessera;

// What ships within a static library.
namespace {

Var x("x"), y("y");

// Computes x + scale * y by rows in parallel, as <name>.a and <name>.h.
void write_library(const std::string &name, int scale, const Target &target) {
    Func f("f"), g(name);
    f(x, y) = x + scale * y;
    g(x, y) = f(x, y);
    f.compute_root().parallel(y);
    g.parallel(y);
    g.compile_to_static_library(name, {}, name, target);
}

const std::string call_library = R"(
#include "tessera_runtime.h"
static int wrong(int (*f)(tessera_buffer_t *), int scale) {
    static thread_local int32_t data[64 * 64];
    tessera_dimension_t dims[2] = {{0, 64, 1, 0}, {0, 64, 64, 0}};
    tessera_buffer_t b = {};
    b.host = reinterpret_cast<uint8_t *>(data);
    b.type.code = tessera_type_int;
    b.type.bits = 32;
    b.type.lanes = 1;
    b.dimensions = 2;
    b.dim = dims;
    int count = f(&b) != 0;
    for (int i = 0; i < 64 * 64; i++) count += data[i] != i % 64 + scale * (i / 64);
    return count;
}
)";

uintmax_t size_of(const std::string &path) { return fs::file_size(path); }

}  // namespace

TEST_SUITE("the runtime in a library") {
    TEST_CASE("two libraries with a runtime each are linked into one program") {
        Folder folder;
        write_library("one", 3, Target("host"));
        write_library("two", 5, Target("host"));
        write("main.cpp", call_library + R"(
#include "one.h"
#include "two.h"
#include <thread>
int main() {
    int a = 0, b = 0;
    std::thread first([&] { for (int i = 0; i < 20; i++) a += wrong(one, 3); });
    for (int i = 0; i < 20; i++) b += wrong(two, 5);
    first.join();
    return a + b != 0;
})");
        run(cxx_compiler + "main.cpp one.a two.a -o main -lpthread -ldl" + include_runtime);
        run("./main");
    }
    TEST_CASE("two shared libraries with a runtime each are loaded and unloaded again") {
        Folder folder;
        for (auto [name, scale] : {std::pair("one", 3), std::pair("two", 5)}) {
            write_library(name, scale, Target("host"));
            run(cxx_compiler + "-shared -Wl,--whole-archive " + name +
                ".a -Wl,--no-whole-archive -o lib" + name + ".so -lpthread -ldl");
        }
        write("main.cpp", call_library + R"(
#include <dlfcn.h>
#include <thread>
typedef int (*function)(tessera_buffer_t *);
int main() {
    int a = 0, b = 0;
    for (int i = 0; i < 40; i++) {
        int mode = RTLD_NOW | (i % 2 ? RTLD_LOCAL : RTLD_GLOBAL);
        void *one = dlopen("./libone.so", mode), *two = dlopen("./libtwo.so", mode);
        if (!one || !two) return 2;
        function f = (function)dlsym(one, "one"), g = (function)dlsym(two, "two");
        std::thread first([&] { a += wrong(f, 3); });
        b += wrong(g, 5);
        first.join();
        dlclose(i % 3 ? one : two);
        dlclose(i % 3 ? two : one);
    }
    return a + b != 0;
})");
        run(cxx_compiler + "main.cpp -o main -lpthread -ldl" + include_runtime);
        for (const char *threads : {"1", "2", "16"}) {
            run(std::string("TESSERA_NUM_THREADS=") + threads + " ./main");
        }
    }
    TEST_CASE("it is small") {
        Folder folder;
        write_library("with", 3, Target("host"));
        write_library("without", 3, Target("host-no_runtime"));
        CHECK(size_of("with.a") - size_of("without.a") < 470 * 1024);
        run(cxx_compiler + "-shared -Wl,--whole-archive with.a -Wl,--no-whole-archive -s -o all.so "
                           "-lpthread -ldl");
        CHECK(size_of("all.so") < 300 * 1024);
        MESSAGE("with ", size_of("with.a"), " bytes, without ", size_of("without.a"),
                ", linked whole ", size_of("all.so"));
    }
    TEST_CASE("a process that was forked from one with threads ends") {
        Folder folder;
        write_library("one", 3, Target("host"));
        write("main.cpp", call_library + R"(
#include "one.h"
#include <atomic>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
static int wrong_forked() {
    if (pid_t child = fork()) {
        int status = 1;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    exit(wrong(one, 3) != 0);
}
int main() {
    tessera_set_num_threads(8);
    int failures = 0;
    for (int i = 0; i < 100; i++) failures += wrong(one, 3) + wrong_forked();
    std::atomic<bool> ends{false};
    int others = 0;
    std::thread other([&] { while (!ends) others += wrong(one, 3); });
    for (int i = 0; i < 100; i++) failures += wrong_forked();
    ends = true;
    other.join();
    return failures + others != 0;
})");
        run(cxx_compiler + "main.cpp one.a -o main -lpthread -ldl" + include_runtime);
        run("timeout 60 ./main");
    }
}
