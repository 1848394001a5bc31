#pragma once
#include "autoscheduler/measure.h"
#include <map>
#include <string>

namespace tessera::autoscheduler {

// Measurements in a file of JSON lines, one per schedule:
//
//     {"version": 1, "algorithm": "1f2e...", "shape": "1536x2560", "target": "x86-64-linux-...",
//      "schedule": "77ab...", "outcome": "measured", "ms": 1.25, "steps": {"tessera_schedule":
//      ...}}
//
// A record is appended by one write, so that whoever is killed loses no more than the one that is
// being written; lines that cannot be read are passed over.
class TuningLog {
public:
    // Reads what the file has for this workload; a file that is not there is empty. RuntimeError if
    // it cannot be read or written.
    TuningLog(const std::string &path, const Workload &workload);

    // Returns the measurement of a schedule; null if there is none.
    const Measurement *find(const program::Schedule &schedule) const;
    void add(const program::Schedule &schedule, const Measurement &m);
    // The fastest schedule that is known, with its time. Nothing if there is none.
    std::optional<std::pair<program::Schedule, double>> best() const;
    size_t size() const { return known.size(); }
    // Lines of the file that are no records.
    size_t damaged_lines() const { return damaged; }

private:
    void read_line(const std::string &line);

    std::string path;
    const Workload &workload;
    std::string algorithm, shape, target;
    struct Known {
        Measurement measurement;
        std::string steps;
    };
    std::map<uint64_t, Known> known;  // by the schedules' hashes
    size_t damaged = 0;
};

}  // namespace tessera::autoscheduler
