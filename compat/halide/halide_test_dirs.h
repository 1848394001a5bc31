#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

// Programs put files here that they need for a while: in TEST_TMPDIR if that is set.
namespace Halide::Internal {

inline std::string get_test_tmp_dir() {
    const char *dir = std::getenv("TEST_TMPDIR");
    return (dir ? std::string(dir) : std::filesystem::temp_directory_path().string()) + "/";
}

}  // namespace Halide::Internal
