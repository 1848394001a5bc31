#pragma once
#include "base/target.h"
#include "lang/location.h"
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// Schedules that a function finds, one of the program's own or of a plugin.
namespace tessera {

class Pipeline;

// Says how far a search is.
struct SearchProgress {
    std::string_view doing;   // what takes time now
    size_t measured = 0;      // schedules
    size_t trials = 0;        // the most that will be measured
    double milliseconds = 0;  // of the fastest of them; 0: none has a time yet
    double seconds = 0;       // since the beginning
};

// Measures the candidates of a bundle, a folder (docs/autoscheduler.md), in another process or on
// another machine, and calls `told` with each line of what tessera-measure writes. Throws
// RuntimeError if it cannot; what else it throws ends the search. Returns soon after a stop is
// requested.
using BundleMeasurer = std::function<void(
    const std::string &folder, const std::function<void(const std::string &record)> &told,
    const std::stop_token &stop)>;

// Lets a program follow a search, measure for it and end it while it runs.
struct SearchControl {
    // Called on the thread that searches, whenever the search begins something else, and after each
    // measurement. What it throws ends the search, which leaves the schedule as it was.
    std::function<void(const SearchProgress &)> progress;
    // When a stop is requested, on whichever thread, the search ends soon with the best so far.
    std::stop_token stop;
    // Who measures; none: copies of this process (fork), each of which compiles a candidate.
    BundleMeasurer measurer;
    // How many candidates are measured before others are chosen by what they took: more, where
    // several machines measure.
    size_t batch = 8;
};

// Names an autoscheduler and its options.
struct AutoschedulerParams {
    std::string name;
    std::map<std::string, std::string> extra;
    SearchControl control;  // is no part of results
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
    std::string schedule_source;  // as C++
    std::vector<uint8_t> featurization;
    std::string schedule_python;  // the same as Python
    std::string report;       // a page of HTML: the search's curve, the schedule, where time goes
    double milliseconds = 0;  // that the schedule takes; 0: it was not measured
    size_t trials = 0;        // schedules that were measured
    bool is_stopped = false;  // on request; no schedule yet: schedule_source is empty
};

// A function that schedules a pipeline: Pipeline::add_autoscheduler().
using AutoSchedulerFn = std::function<void(const Pipeline &, const Target &,
                                           const AutoschedulerParams &, AutoSchedulerResults *)>;

// Loads a shared library for good, whose static objects add autoschedulers or generators. A name
// without a dot is that of a library that the system finds: best is libbest.so. CompileError if it
// cannot be loaded.
void load_plugin(const std::string &name, Location at = Here::current());

}  // namespace tessera
