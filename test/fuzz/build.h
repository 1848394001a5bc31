#pragma once
#include "plan.h"
#include <lang/image_param.h>
#include <lang/param.h>
#include <map>

namespace tessera::fuzz {

// A plan built with the language.
struct Built {
    std::vector<Func> funcs;         // those of the plan, then those that directives make
    std::vector<ImageParam> params;  // by the number of the input; others are not defined
    std::vector<Buffer<>> images;    // of inputs that are no parameters
    Param<int> parameter{"p"};
    Pipeline pipeline;
};

// `scheduled`: with the plan's directives. Throws CompileError where the language refuses it.
Built build(const Plan &plan, bool scheduled);

// An input with this shape, and the strides of its plan.
Buffer<> make_image(const InputPlan &input, const std::vector<int> &size,
                    const std::vector<int> &min, const std::string &name);
// The same number for the same element; if it is not a wide input, small enough to compute with.
void fill_input(Buffer<> &image, int input, const InputPlan &plan);

// Returns what extern stages call, by name: sums of in(p) + in(p + one step of the first
// dimension).
const std::map<std::string, void *> &extern_functions();

}  // namespace tessera::fuzz
