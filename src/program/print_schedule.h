#pragma once
#include "program/expr_as_source.h"
#include "program/steps.h"

namespace tessera::program {

// The schedule as C++ that compiles after the algorithm, given a Pipeline of its outputs of the
// name `pipeline`:
//     Func blur = pipeline.get_func(1);
//     Var x("x"), xi("xi");
//     blur.split(x, x, xi, 8, TailStrategy::ShiftInwards)
//         .vectorize(xi);
// Parameters of the algorithm are looked up by name, pipeline.get_param("p"); one that the schedule
// alone mentions is taken to be a variable of its name. Or as Python that runs so:
//     import tessera as ts
//     blur = pipeline.get_func(1)
//     x = ts.Var("x")
//     xi = ts.Var("xi")
//     blur.split(x, x, xi, 8, ts.TailStrategy.ShiftInwards)
//     blur.vectorize(xi)
std::string print_schedule(const Algorithm &algorithm, const Schedule &schedule,
                           const std::string &pipeline = "pipeline",
                           Language language = Language::Cpp);

// The same as a block that can stand anywhere behind the algorithm, whatever is declared there:
//     // The schedule of blur, for a Pipeline `pipeline` of the same algorithm.
//     {
//         Func blur = pipeline.get_func(1);
//         ...
//     }
std::string print_schedule_block(const Algorithm &algorithm, const Schedule &schedule);

}  // namespace tessera::program
