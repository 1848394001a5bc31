#pragma once
#include "lang/extern.h"
#include "lang/func.h"
#include "lang/pipeline.h"

namespace tessera {

// What a Pipeline is a handle to.
struct PipelineContents {
    program::Program program;
    JITHandlers handlers;
    std::map<std::string, JITExtern> externs;
};

}  // namespace tessera
