#pragma once
#include "autoscheduler/fastest.h"
#include "autoscheduler/measure.h"
#include "autoscheduler/simple.h"
#include "autoscheduler/sketch.h"
#include "autoscheduler/tuning_log.h"
#include "lang/autoscheduler.h"
#include <limits>

namespace tessera::autoscheduler {

struct SearchResult;

struct SearchOptions {
    int trials = 64;         // schedules that are measured; 0: none
    bool uses_model = true;  // to choose without any measurement; else the rules decide
    double seconds = 1e9;    // after which no more are begun
    uint64_t seed = 1;
    MeasureOptions measure;    // but for its stop
    TuningLog *log = nullptr;  // what is measured is written to it, and what it has is not measured
    std::function<bool(const Sketch &)> takes;  // which sketches; none: all
    SearchControl control;
};

// One schedule that was measured.
struct Trial {
    size_t sketch = 0;  // of SearchResult::sketches
    Plan plan;
    program::Schedule schedule;
    double expected = 0;  // milliseconds, before it was measured
    Measurement measurement;
    double in_turns = 0;  // milliseconds, if it was among the fastest (Times)

    Times times() const;
};

struct SearchResult {
    program::Schedule schedule;
    double milliseconds = 0;  // in turns with others where it was; 0: not measured
    std::vector<Trial> trials;
    std::vector<Sketch> sketches;
    bool is_stopped = false;  // on request; without a trial that has a time, there is no schedule
};

// Looks for the fastest schedule: those by rules first; then by evolution, where plans that were
// measured to be fast are changed at random over a few generations, the learned cost says which
// are promising, and these are measured, which it learns from. With no measurement at all, the
// model that ships decides. The result is never slower than the rule-based schedule, as measured,
// and is no schedule that the compiler refuses: one that nobody has measured is lowered.
// The same for the same seed and measurements.
//
// Throws CompileError if no schedule is legal, with the compiler's reason, and RuntimeError if the
// pipeline cannot be run without one.
class Search {
public:
    // All of these must live as long.
    Search(const Workload &workload, const Machine &machine, const SearchOptions &options);
    ~Search();
    Search(const Search &) = delete;

    // Measures one batch more, of at most so many. Returns false, with nothing done, if the trials
    // or the time are used up, or nothing is left to try; or if a stop was requested.
    bool step(size_t most = std::numeric_limits<size_t>::max());
    // Runs the fastest in turns, if this search has measured anything, which decides among them:
    // behind the last step.
    void finish();
    const SearchResult &result() const;

private:
    class Run;
    std::unique_ptr<Run> run;
};

// All of a search at once.
SearchResult search(const Workload &workload, const Machine &machine, const SearchOptions &options);

}  // namespace tessera::autoscheduler
