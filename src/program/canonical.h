#pragma once
#include "program/environment.h"

namespace tessera::program {

// One expression that says all that matters to a compiler: definitions, schedules (what the
// directives amount to, and their lines, which messages name), parameters and their constraints.
// Symbols are numbered in the order in which they are met, so two programs have equal forms
// (ir::equal, and the same hash) if they are the same but for the choice of symbols: code compiled
// for one serves the other.
Expr canonical_form(const ProgramCopy &program);

// Returns true if both amount to the same: the same loops, levels, bounds and storage.
bool same_schedule(const StageSchedule &a, const StageSchedule &b);
bool same_schedule(const FuncSchedule &a, const FuncSchedule &b);
bool same_schedule(const FunctionContents &a, const FunctionContents &b);

}  // namespace tessera::program
