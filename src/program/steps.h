#pragma once
#include "program/algorithm.h"
#include <map>
#include <variant>

namespace tessera::program {

// A directive of a stage.
struct StageStep {
    int stage = 0;             // 0: the pure definition; then the updates
    std::vector<size_t> path;  // into specializations of specializations; empty: the stage itself
    Written<StageDirective> written;
};
struct FuncStep {
    Written<FuncDirective> written;
    Ref<LateLevel> late = {};  // its level, where that may still become another
};
// in(), or clone_in(): makes a function.
struct WrapStep {
    std::vector<Symbol> consumers;  // none: all
    Symbol made;
    bool is_clone = false;
    Location at;
};
struct Step {
    Symbol function;
    std::variant<StageStep, FuncStep, WrapStep> what;
    // The same step, wherever it was written.
    friend bool operator==(const Step &a, const Step &b);
};

// A schedule as a value: steps that, done in their order to an algorithm, give a scheduled program.
// Steps name functions of the algorithm and those that steps before them make; what they fetch or
// stream may be another, which lowering refuses. Two are equal if their steps are, wherever they
// were written.
struct Schedule {
    std::vector<Step> steps;

    friend bool operator==(const Schedule &a, const Schedule &b);
    // The same in every process for equal schedules of equal algorithms, whatever functions and
    // loops are called.
    uint64_t hash(const Algorithm &algorithm) const;
};

// Says whether a level that may be set later counts as it is now, or stays one that may be set.
enum class Levels : uint8_t { Now, Late };

// The schedule that the functions which these outputs reach have now, as steps for
// Algorithm(outputs), in the order in which they were written.
Schedule schedule_of(const std::vector<FunctionRef> &outputs, Levels levels = Levels::Now);

// Gives the functions that the outputs reach this schedule in place of their own. Handles to stages
// and to functions that both schedules make are good before and after.
void replace_schedule(const std::vector<FunctionRef> &outputs, const Schedule &schedule);

// The function that the step makes; undefined if it makes none.
Symbol made_by(const Step &step);

// The schedule without what it says to fetch or stream that is no part of the algorithm and made by
// none of its steps: that has no name where a schedule is written as text.
Schedule without_unknown_fetches(const Algorithm &algorithm, const Schedule &schedule);

// Functions by the names that steps have for them: those of an algorithm, and those that steps have
// made so far.
using Functions = std::map<Symbol, FunctionRef>;

// All functions that the outputs reach, their wrappers included.
Functions functions_of(const std::vector<FunctionRef> &outputs);

// Does the step to its function, through the checks that every directive goes through; adds what it
// makes to the functions. CompileError, with nothing changed, if it cannot be done.
void perform(const Step &step, Functions &functions);

// A copy of an algorithm with a schedule of its own, which lives as long as one of its copies does.
class ScheduledProgram {
public:
    ScheduledProgram() = default;
    // It has no schedule yet.
    explicit ScheduledProgram(const Algorithm &algorithm);

    // Does one more step; see above.
    void perform(const Step &step);

    const std::vector<FunctionRef> &outputs() const { return contents->outputs; }
    const Functions &functions() const { return contents->functions; }

private:
    struct Contents {
        Functions functions;
        std::vector<FunctionRef> outputs;
    };
    std::shared_ptr<Contents> contents;
};

// The algorithm with this schedule. Neither is changed, and any number of threads may do that at
// once. CompileError if a step cannot be done.
ScheduledProgram apply(const Algorithm &algorithm, const Schedule &schedule);

}  // namespace tessera::program
