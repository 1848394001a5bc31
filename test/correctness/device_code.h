// The PTX that a pipeline's kernels become, and what can be found out of it without a GPU.
#pragma once
#include "lang/func.h"
#include "lang/module.h"
#include "lang/pipeline.h"
#include <cstdio>
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

// Checks that ptxas, where there is one, takes it for a GPU such as "sm_90a". Returns all that it
// says of registers, memory and instructions; nothing where there is none.
inline std::string assembled(const std::string &ptx, const std::string &gpu) {
    if (std::string(PTXAS).empty()) return "";
    std::string folder = (std::filesystem::temp_directory_path() / "ptx_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    const std::string path = folder + "/kernels.ptx";
    std::ofstream(path) << ptx;
    const std::string command =
        std::string(PTXAS) + " -v -arch=" + gpu + " " + path + " -o " + path + ".cubin 2>&1";
    std::string said;
    FILE *told = popen(command.c_str(), "r");
    for (int c = fgetc(told); c != EOF; c = fgetc(told)) said += char(c);
    CAPTURE(said);
    CHECK(pclose(told) == 0);
    std::filesystem::remove_all(folder);
    return said;
}

// Checks that ptxas takes it, where there is one.
inline void check_assembled(const std::string &ptx, int capability) {
    assembled(ptx, "sm_" + std::to_string(capability));
}

// Checks, where there is a ptxas, that no instruction of wgmma waits for the one before it and no
// register of a kernel is in memory.
inline void check_fast(const std::string &ptx, const std::string &gpu = "sm_90a") {
    const std::string said = assembled(ptx, gpu);
    if (said.empty()) return;
    CAPTURE(said);
    CHECK(count_of(said, "C75") == 0);
    CHECK(count_of(said, "setmaxnreg ignored") == 0);
    CHECK(count_of(said, " 0 bytes spill stores, 0 bytes spill loads") == count_of(ptx, ".entry"));
}

}  // namespace tessera::test
