#pragma once
#include "program/steps.h"

// Schedules as JSON, for programs to write and read:
//
//     {"tessera_schedule": 1,
//      "functions": [{"name": "f", "args": ["x", "y"], "rvars": [["r$x"]]}],
//      "loops": {"xi_1": "xi"},
//      "steps": [{"split": "x", "outer": "x", "inner": "xi", "factor": "8", "tail": "Auto",
//                 "stage_of": "f", "stage": 0, "written": "blur.cpp:12"},
//                {"loop": "xi", "kind": "Vectorized", "stage_of": "f", "stage": 0},
//                {"compute": {"func": "g", "loop": "y", "stage": -1}, "of": "f"},
//                {"wrap": "f", "consumers": ["g"], "clone": false, "makes": "f_in_g"}]}
//
// "functions": the algorithm, producers first; "rvars" has a list per update. "loops": what was
// made by directives and has no name of its own, and how it is called. "steps": the directives in
// an order in which they can be done again, each an object whose first word says what it is; stage
// 0 is the pure definition, 1 the first update; "specialization": [0, 1] is the second
// specialization of the first one of the stage. Expressions are texts as ir/parser.h reads them,
// and name parameters. The source of a fetch (prefetch, stream_loads) is a function, "f", or an
// image, {"image": "input"}. The line where the user wrote it is for messages, and may be missing.
namespace tessera::program {

constexpr int schedule_json_version = 1;

// Returns the schedule with the lines where it was written.
std::string schedule_to_json(const Algorithm &algorithm, const Schedule &schedule);

// The schedule that the text is of the algorithm, every step of it checked as a directive is:
// CompileError if the text cannot be read, is for another algorithm, or has a step that cannot be
// done. `more`: see below.
Schedule schedule_from_json(const Algorithm &algorithm, const std::string &json,
                            const std::vector<ParameterRef> &more, const Location &at);

// Applies a schedule that was written for the same algorithm, through the checks that every
// directive goes through. CompileError, with the schedule as it was before, if the text cannot be
// read, is for another algorithm, or has a step that cannot be done. `more` are parameters that
// the schedule mentions and the algorithm does not.
void apply_json_schedule(const std::vector<FunctionRef> &outputs, const std::string &json,
                         const std::vector<ParameterRef> &more, const Location &at);

}  // namespace tessera::program
