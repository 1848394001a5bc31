// For files that define a pipeline of `apps` again, in `tessera::theirs`, with the structure that
// the GPU schedule of Halide's own app of that kind has, and then include the app's generator by
//
//     #define apps theirs
//
// which so finds that pipeline, and is registered as <app>_theirs. They are programs of Halide, and
// of Tessera.
#pragma once

#include <tessera_generator.h>

#undef TESSERA_REGISTER_GENERATOR
#ifdef HALIDE_REGISTER_GENERATOR
#define TESSERA_REGISTER_GENERATOR(type, name) HALIDE_REGISTER_GENERATOR(type, name##_theirs)
#else
#define TESSERA_REGISTER_GENERATOR(type, name) TESSERA_REGISTER_WITHOUT_STUB(type, name##_theirs)
#endif

namespace tessera::apps {}

namespace tessera::theirs {

using namespace apps;

}
