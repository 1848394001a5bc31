#pragma once
#include "argument_text.h"
#include "files/array.h"

namespace tessera::run {

// Arrays of what an input's text says, with the first coordinates `mins`.
files::Array filled_array(tessera_type_t type, const std::vector<int> &mins,
                          const std::vector<int> &extents, const InputText &text);

}  // namespace tessera::run
