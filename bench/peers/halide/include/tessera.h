// The language of the apps, as far as Halide has it: their pipelines compile as programs of Halide.
#pragma once

#include <Halide.h>

namespace tessera {

using namespace Halide;

}  // namespace tessera
