// A contender computes a problem on the GPU: ours, a library, another compiler. A call only begins
// the work.
#pragma once

#include "cpu/problem.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {

struct Contender {
    std::string name;
    std::function<void()> run, wait;
    std::function<Buffer<>()> result;  // on the host, as the problem describes its output
};

// Ours, compiled in this process, with the schedule of the problem's generator. Throws
// CompileError.
Contender tessera_for(const char *target, const std::shared_ptr<Data> &data,
                      const AutoschedulerParams &scheduler = {});
Contender tessera_on_gpu(const std::shared_ptr<Data> &data);
// Ours with the schedule that the autoscheduler's rules make for the data, in place of the
// generator's: "by rules".
Contender rules_on_gpu(const std::shared_ptr<Data> &data);

// Those of the shared libraries that `list` names, a path in each line: programs of Halide.
std::vector<Contender> peers_on_gpu(const std::shared_ptr<Data> &data, const std::string &list);
std::vector<std::string> names_of_peers(const std::string &list);  // of all that these may have

// cuBLAS for products in float32, where it is found, and a copy by the driver of as many bytes as
// the problem reads and writes: no contender, as it computes nothing.
std::vector<Contender> libraries_on_gpu(const std::shared_ptr<Data> &data);
Contender copy_on_gpu(const std::shared_ptr<Data> &data);

// Returns what plain code on the CPU computes: ours, compiled for `host`.
Buffer<> expected_result(const std::shared_ptr<Data> &data);

struct GpuTiming {
    std::string name;
    double microseconds = 0;  // of one call in a row of calls: the median over the rounds
    double ratio = 1;         // of this time over ours: the median over the rounds
    double off = 0;           // difference from what is expected
    std::string failure;      // why there are no times
};

struct Tolerance {
    double ours, peers;
};

// Runs it once, and throws std::runtime_error if it differs by more than `tolerance` from what is
// expected. The difference.
double check_result(const Contender &contender, const Buffer<> &expected, double tolerance);

// Takes times in turns; the first contender is ours. A contender that fails, or computes something
// else than `expected`, gets only the reason, also on stderr; ours throws an exception
// (std::runtime_error). `copy` is compared with nothing.
std::vector<GpuTiming> measure_on_gpu(const std::vector<Contender> &contenders,
                                      const Contender &copy, const Buffer<> &expected,
                                      const Tolerance &tolerance, int rounds);

}  // namespace tessera::bench
