#pragma once
#include "base/error.h"
#include <cstdlib>
#include <filesystem>

namespace tessera {

// A folder of this object's own, for files that other programs read and write; it goes with it.
class ScratchFolder {
public:
    // Throws RuntimeError if there can be none.
    ScratchFolder() {
        const std::filesystem::path all = std::filesystem::temp_directory_path();
        std::string name = (all / "tessera-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw RuntimeError(str("cannot make a folder for a moment in ", all.string()));
        path = name;
    }
    ScratchFolder(const ScratchFolder &) = delete;
    ScratchFolder &operator=(const ScratchFolder &) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }

    std::filesystem::path path;
};

}  // namespace tessera
