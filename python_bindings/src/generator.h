#pragma once
#include "bindings.h"
#include <tessera_generator.h>

namespace tessera::python {

// Returns what an input is given: Funcs, images, arrays or numbers. `is_array_of`: a list of them.
// Throws TypeError.
InputValues to_input_values(nb::handle given, const std::string &input, bool is_array_of);
// Returns the value of a parameter, which tessera._generator has made a text of or left a
// LoopLevel.
ParamValue to_param_value(nb::handle value);

}  // namespace tessera::python
