#pragma once
#include "build.h"
#include <algorithm>
#include <string>

// The kernel of the generator `scaled`.
inline const std::string scaled_kernel = R"(
// The arguments are numbers, and last the addresses: `in`, `out`, and somewhere the table.
static void run(const FakeLaunch &launch) {
    const int expected_table[] = {0, 10, 20, 30};
    int *buffers[2] = {}, *table = nullptr;
    for (int i = ARGUMENTS - 3, n = 0; i < ARGUMENTS; i++) {
        auto *p = static_cast<int *>(
            fake_cuda()->memory(*static_cast<uint64_t *>(launch.args[i])));
        if (p && !std::memcmp(p, expected_table, sizeof(expected_table))) {
            table = p;
        } else if (p && n < 2) {
            buffers[n++] = p;
        }
    }
    for (unsigned i = 0; i < launch.blocks[0] * launch.threads[0]; i++) {
        buffers[1][i] = buffers[0][i] * 2 + table[i % 4] + 1;
    }
})";

// The driver of tests as the library driver.so, with the one kernel of a PTX: what it does is a
// function `run`. When a program ends that has used it, it writes what has run; its GPU has the
// compute capability $CAPABILITY.
inline void write_gpu_driver(const std::string &ptx, const std::string &kernel = scaled_kernel) {
    const std::string entry = ".visible .entry ";
    const size_t at = ptx.find(entry);
    REQUIRE_MESSAGE(at != std::string::npos, ptx);
    const size_t name = at + entry.size(), end = ptx.find('(', name);
    const std::string list = ptx.substr(end, ptx.find(')', end) - end);
    write("driver.cpp", R"(
#include "fake_cuda.h"
#include "tessera_runtime_cuda.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
)" + kernel + R"(
[[gnu::constructor]] static void begin() {
    if (const char *capability = std::getenv("CAPABILITY")) {
        fake_cuda()->set_capability(std::atoi(capability));
    }
    fake_cuda()->add_kernel({KERNEL, ARGUMENTS, run});
}
[[gnu::destructor]] static void end() {
    const int launches = fake_cuda()->calls("cuLaunchKernel");
    const bool is_code = std::strstr(fake_cuda()->last_image(), "ELF");
    if (launches) std::printf("%d launches of %s\n", launches, is_code ? "machine code" : "PTX");
    if (fake_cuda()->live_bytes()) std::printf("memory is left on the device\n");
})");
    const auto arguments = std::ranges::count(list, ',') + 1;
    run(cxx_compiler + include_runtime +
        "-shared -fPIC driver.cpp -o driver.so -I'" FAKE_CUDA_HEADERS "' '-DKERNEL=\"" +
        ptx.substr(name, end - name) + "\"' -DARGUMENTS=" + std::to_string(arguments) +
        " '" FAKE_CUDA "' -Wl,-rpath,$(dirname '" FAKE_CUDA "')");
}

inline const std::string on_fake_gpu = "TESSERA_CUDA_DRIVER=$PWD/driver.so ";

inline bool has_ptxas() {
    return std::system("PATH=$PATH:/usr/local/cuda/bin ptxas --version > /dev/null 2>&1") == 0;
}
