#pragma once
#include "codegen/compile.h"
#include <optional>
#include <string_view>

namespace tessera::driver {

// A program compiled for this process, before it is linked.
struct PipelineCode {
    codegen::JitObjects objects;
    // `sources` says for each argument of the code which of those of CompiledPipeline::call it is,
    // and `wanted` how many there are of these.
    std::vector<uint64_t> sources;
    uint64_t wanted = 0;
};

// Code on disk (base/kept_files.h). `key`: the program, its target, and all else that decides what
// the code is; this build of the compiler counts besides.
std::optional<PipelineCode> find_kept_code(const std::string &key);
void keep_code(const std::string &key, const PipelineCode &code);

}  // namespace tessera::driver
