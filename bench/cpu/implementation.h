// An implementation computes a problem: ours, a library, another compiler.
#pragma once

#include "cpu/problem.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {

struct Implementation {
    std::string name;
    std::function<void()> run;
    std::function<void(int)> set_threads;
    std::function<Buffer<>()> result;  // as the problem describes its output
};

// The problem's pipeline with its own schedule or that of an autoscheduler. Throws CompileError.
Pipeline pipeline_of(const Problem &problem, const AutoschedulerParams &scheduler = {});

// The same, scheduled automatically for the sizes of the data. Throws CompileError.
Pipeline scheduled_pipeline(Data &data, const AutoschedulerParams &scheduler);

// Ours, compiled in this process, with its own schedule or that of an autoscheduler. Throws
// CompileError.
Implementation tessera_implementation(const std::shared_ptr<Data> &data,
                                      const AutoschedulerParams &scheduler = {});

// Those of the shared libraries that `list`, a file with a path in each line, names; none without
// such a file. An implementation that fails when it is first run is left out, with a line on
// stderr.
std::vector<Implementation> peer_implementations(const std::shared_ptr<Data> &data,
                                                 const std::string &list);

// Those of libraries that the benchmark was linked with, oneDNN, OpenBLAS, OpenCV, and plain loops.
std::vector<Implementation> library_implementations(const std::shared_ptr<Data> &data);

}  // namespace tessera::bench
