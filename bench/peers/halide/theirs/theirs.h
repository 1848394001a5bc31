// For files that define a pipeline of `apps` again, in `tessera::theirs`, with the structure that
// the GPU schedule of Halide's own app of that kind has, and then include the app's generator by
//
//     #define apps theirs
//
// which so finds that pipeline, and is registered as <app>_theirs.
#pragma once

#include <tessera_generator.h>

#undef TESSERA_REGISTER_GENERATOR
#define TESSERA_REGISTER_GENERATOR(type, name) HALIDE_REGISTER_GENERATOR(type, name##_theirs)

namespace tessera::apps {}

namespace tessera::theirs {

using namespace apps;

}
