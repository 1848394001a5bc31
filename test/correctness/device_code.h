// The PTX that a pipeline's kernels become, and what can be found out of it without a GPU.
#pragma once
#include "lang/func.h"
#include "lang/module.h"
#include "lang/pipeline.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#ifndef PTXAS
#define PTXAS ""
#endif

namespace tessera::test {

// `capability`: of the GPU, as in 80.
inline std::string ptx_of(Func f, int capability) {
    const Target target("x86-64-linux-cuda-cuda_capability_" + std::to_string(capability));
    const Module m = Pipeline(f).compile_to_module(f.infer_arguments(), "f", target);
    const Buffer<uint8_t> code = m.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

inline size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

// Checks that ptxas takes it, where there is one. `is_exact`: for GPUs of this capability alone.
inline void check_assembled(const std::string &ptx, int capability, bool is_exact = false) {
    if (std::string(PTXAS).empty()) return;
    std::string folder = (std::filesystem::temp_directory_path() / "ptx_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    const std::string path = folder + "/kernels.ptx";
    std::ofstream(path) << ptx;
    const std::string command = std::string(PTXAS) + " -arch=sm_" + std::to_string(capability) +
                                (is_exact ? "a " : " ") + path + " -o " + path + ".cubin 2>&1";
    CHECK(std::system(command.c_str()) == 0);
    std::filesystem::remove_all(folder);
}

}  // namespace tessera::test
