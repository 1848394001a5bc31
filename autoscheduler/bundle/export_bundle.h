#pragma once
#include "autoscheduler/machine.h"
#include "autoscheduler/tuning_log.h"

namespace tessera::autoscheduler {

struct ExportOptions {
    std::string folder;
    size_t candidates = 64;
    uint64_t seed = 1;
    // Makes shared libraries of objects, for the target's machine. Empty: there are objects, which
    // tessera-measure loads by itself, or, where it knows none, cc makes them.
    std::string linker;
};

// Writes a bundle, for tessera-measure to measure where there is no compiler: an object or a shared
// library of the pipeline without a schedule and of each candidate, and manifest.json:
//
//     {"version": 2, "target": "x86-64-linux-...", "cores": 2, "reference": "reference.o",
//      "seconds": 20, "run_seconds": 0.15,
//      "inputs": [{"name": "in", "type": [2, 32], "dims": [[0, 258, 1], ...], "alignment": 1,
//                  "seed": 1}, {"name": "factor", "bits": 1065353216}],
//      "outputs": [{"type": ..., "dims": ..., "alignment": ...}],
//      "candidates": [{"library": "candidate_0.o", "record": {...}}, ...]}
//
// Bundles of a search that goes on may have "in_turns": true, "hopeless" (milliseconds), and
// "keeps_reference": true (BundleWriter::How).
//
// "record" is one of a TuningLog, without its outcome and time. Returns the number of candidates;
// those that the log has are left out. CompileError if the pipeline cannot be compiled for a file,
// RuntimeError if a file cannot be written or linked, or the target wants a linker that is not
// named.
size_t export_bundle(const Workload &workload, const Machine &machine, const TuningLog &log,
                     const ExportOptions &options);

}  // namespace tessera::autoscheduler
