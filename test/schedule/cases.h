#pragma once
#include <tessera.h>

// Pipelines with schedules that together use every directive.
namespace schedule_cases {

using Build = tessera::Pipeline (*)(bool scheduled);

struct Case {
    const char *name;  // also of the function of the generated C++
    Build build;       // the same algorithm each time, with or without its schedule
};

const std::vector<Case> &all();

// What schedule_as_cpp() printed when this test was built, in a function per case.
using Pasted = void (*)(tessera::Pipeline pipeline);
const std::vector<Pasted> &pasted();

}  // namespace schedule_cases
