#pragma once
#include "base/target.h"
#include "lang/location.h"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

// Schedules that a function finds, one of the program's own or of a plugin.
namespace tessera {

class Pipeline;

// Names an autoscheduler and its options.
struct AutoschedulerParams {
    std::string name;
    std::map<std::string, std::string> extra;
    AutoschedulerParams() = default;
    AutoschedulerParams(const std::string &name,
                        const std::map<std::string, std::string> &extra = {})
        : name(name), extra(extra) {}
    // Returns the options of a generator's command line: "autoscheduler=name
    // autoscheduler.option=value".
    std::string to_string() const;
};

// The request to an autoscheduler, and its report.
struct AutoSchedulerResults {
    Target target;
    AutoschedulerParams autoscheduler_params;
    std::string schedule_source;
    std::vector<uint8_t> featurization;
};

// A function that schedules a pipeline: Pipeline::add_autoscheduler().
using AutoSchedulerFn = std::function<void(const Pipeline &, const Target &,
                                           const AutoschedulerParams &, AutoSchedulerResults *)>;

// Loads a shared library for good, whose static objects add autoschedulers or generators. A name
// without a dot is that of a library that the system finds: best is libbest.so. CompileError if it
// cannot be loaded.
void load_plugin(const std::string &name, Location at = Here::current());

}  // namespace tessera
