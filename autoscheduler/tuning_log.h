#pragma once
#include "autoscheduler/bundle/log_lines.h"
#include "autoscheduler/fastest.h"
#include "autoscheduler/measure.h"
#include <map>
#include <set>
#include <string>

namespace tessera::autoscheduler {

// Says whether measurements will be written to a log, or what it has is asked for alone.
enum class LogUse : uint8_t { Write, Read };

// Measurements in a file of JSON lines, one per schedule:
//
//     {"version": 1, "compiler": "1.0", "algorithm": "1f2e...", "family": "09ab...",
//      "shape": "1536x2560", "target": "x86-64-linux-...", "cores": 2, "schedule": "77ab...",
//      "outcome": "measured", "ms": 1.25, "steps": {"tessera_schedule": ...}, "sketch": "...",
//      "plan": [...], "choices": {"rows": "8"}}
//
// Those that ran in turns have "in_turns": true, and a record of their first measurement besides.
// A record is appended by one write, so that whoever is killed loses no more than the one that is
// being written; lines that cannot be read are passed over.
class TuningLog {
public:
    // Reads what the file has for this workload; a file that is not there is empty, and is made if
    // it will be written. RuntimeError if it cannot be read or written, or is no log
    // (read_records()). No path: an empty log, which only makes records.
    // `cores`: those that measurements are made with; others are of no use.
    TuningLog(const std::string &path, const Workload &workload, int cores,
              LogUse use = LogUse::Write);

    void warn_of_damage() const { lines.warn_of_damage(path); }
    // Says why no schedule comes of it, where nothing will be measured. Empty if one does.
    std::string why_of_no_use() const;

    // Returns the first measurement of a schedule, so that a search that goes on decides as it did
    // before; null if there is none.
    const Measurement *find(const program::Schedule &schedule) const;
    // Returns what it took when it last ran in turns with others (Times::in_turns).
    double in_turns(const program::Schedule &schedule) const;
    // The choices that a template made a schedule from.
    using Choices = std::map<std::string, std::string>;
    // Says what a schedule was made from: a sketch and its plan (as JSON), a template, or neither.
    struct Origin {
        std::string sketch, plan;
        Choices choices;
    };
    void add(const program::Schedule &schedule, const Measurement &m, const Origin &from);
    // Adds the measurement of one that ran in turns with others.
    void add_in_turns(const program::Schedule &schedule, const Measurement &m, const Origin &from);
    // The fastest schedule that is known, with its time (fastest_of()), of those that have what the
    // user has scheduled by hand now. Nothing if there is none.
    std::optional<std::pair<program::Schedule, double>> best() const;
    // The fastest schedule of other shapes of the same algorithm, or of one that differs in its
    // constants alone: those of the nearest shape first.
    struct Near {
        std::string shape, sketch, plan;
        double milliseconds = 0;
    };
    std::vector<Near> near_shapes() const;
    // The choices of templates that were measured, the fastest first.
    std::vector<Choices> best_choices() const;
    size_t size() const { return known.size(); }
    // Lines of the file that are no records.
    size_t damaged_lines() const { return lines.damaged; }

    // A record without its "outcome" and "ms", for whoever measures elsewhere.
    std::string record_of(const program::Schedule &schedule, const Origin &from) const;

private:
    struct Known {
        Measurement first;
        Times times;  // alone: the least
        std::string steps;
        Choices choices;  // none: it is not of a template
    };
    enum class Run : uint8_t { Alone, InTurns };
    void add(const program::Schedule &schedule, const Measurement &m, const Origin &from, Run how);
    class Reader;  // of records
    void note_near(const Near &n);
    void note(uint64_t hash, const Measurement &m, Run how, const std::string &steps,
              const Choices &choices);

    std::string path;
    const Workload &workload;
    std::string algorithm, family, shape, target;
    int cores = 0;
    std::map<uint64_t, Known> known;    // by the schedules' hashes
    std::map<std::string, Near> nears;  // by shape
    LogLines lines;
    // The records that are of this pipeline, also of its size, also for this target, and so on.
    struct {
        size_t pipeline = 0, size = 0, target = 0, cores = 0;
        std::set<int> numbers_of_cores;  // of those for this target
    } like;
};

}  // namespace tessera::autoscheduler
