#pragma once
#include "autoscheduler/workload.h"
#include <string>
#include <vector>

namespace tessera::autoscheduler {

// Writes the files of a bundle (export_bundle.h). Needs nothing of the workload that it is made
// from later: it may outlive the graph.
class BundleWriter {
public:
    // `linker`: see ExportOptions. CompileError if the pipeline cannot be compiled for a file,
    // RuntimeError if the target wants a linker that is not named.
    BundleWriter(const Workload &workload, const std::string &folder, const std::string &linker);

    // Compiles the program with a schedule, and returns the name of the file: an object, or, with a
    // linker or for another machine, a shared library. From
    // several threads at once, too. Throws CompileError if the schedule is refused, RuntimeError if
    // a file cannot be written or linked.
    std::string write(const program::Schedule &schedule, const std::string &name) const;

    struct Entry {
        std::string library, record;
    };
    // How candidates are to be measured; all but the first two are for bundles that one search
    // makes.
    struct How {
        double seconds = 20, run_seconds = 0.15;
        double hopeless = 1e300;
        bool in_turns = false;
        // The next bundle lies in this folder, too, and has the same reference.
        bool keeps_reference = false;
    };
    void write_manifest(int cores, const std::string &reference, const std::vector<Entry> &entries,
                        const How &how) const;

private:
    const Workload workload;  // whose graph may be gone
    const std::string folder, linker;
    Target target;
    std::string inputs, outputs;  // as JSON
};

}  // namespace tessera::autoscheduler
