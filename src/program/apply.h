#pragma once
#include "program/function.h"

// Recording directives. Each is checked where it is written: if it cannot work, CompileError with
// the line says why and what would be right, and the schedule is as it was.
namespace tessera::program {

// A stage of a function, or a specialization of one, whose schedule is being written.
struct StageRef {
    FunctionRef function;
    int stage = 0;             // 0: the pure definition; then the updates
    std::string name;          // for messages: "f.update(0)"
    std::vector<size_t> path;  // into specializations of specializations; empty: the stage itself

    // Returns the stage as it is now.
    Definition &definition() const;
};

StageRef stage_of(const FunctionRef &f, int stage);

void apply(const StageRef &stage, const StageDirective &directive, const Location &at);
// Does all of them in their order, or none if one is refused.
void apply(const StageRef &stage, const std::vector<StageDirective> &directives,
           const Location &at);
// `late`: the directive's level, if it may still become another.
void apply(FunctionContents &f, const FuncDirective &directive, const Location &at,
           const Ref<LateLevel> &late = {});

// Applies the other part of SpecializeDirective: returns the copy of the stage for when the
// condition holds. The same condition again gives the same copy.
StageRef specialize(const StageRef &stage, const Expr &condition, const Location &at);

// A loop of the stage by its variable; null if there is none.
const Loop *find_loop(const StageSchedule &schedule, const Symbol &var);
// The same; throws "split: no loop named xo in stage f.update(0); its loops are x, y (...)".
const Loop &require_loop(const StageSchedule &schedule, const std::string &stage_name,
                         const char *directive, const Symbol &var, const Location &at);

// The name of a directive as it is written: "split", "compute_at", ...
std::string directive_name(const StageDirective &directive);
std::string directive_name(const FuncDirective &directive);

}  // namespace tessera::program
