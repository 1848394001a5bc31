// For files of this folder: other GPU schedules of an app, to be timed beside its own. Each is a
// namespace with a struct of the name of the app's pipeline, which the app's generator then finds:
//
//     namespace tessera::rows_of_four {
//     using namespace apps;
//     struct Blur : apps::Blur {
//         using apps::Blur::Blur;
//         void schedule(const Target &) { ... }
//     };
//     }
//     #define apps rows_of_four
//     #include "blur/generator.cpp"
//     #undef apps
//
// It is registered as blur_rows_of_four. The app's "reference.h" is to be included first. A
// schedule that wins moves to the app, and the file goes.
#pragma once

#include <tessera_generator.h>

#undef TESSERA_REGISTER_GENERATOR
#define TESSERA_REGISTER_GENERATOR(type, name) TESSERA_REGISTER_SCHEDULE(type, name, apps)
#define TESSERA_REGISTER_SCHEDULE(type, name, schedule)                                            \
    TESSERA_REGISTER_NAMED_SCHEDULE(type, name, schedule)
#define TESSERA_REGISTER_NAMED_SCHEDULE(type, name, schedule)                                      \
    TESSERA_REGISTER_WITHOUT_STUB(type, name##_##schedule)

namespace tessera::apps {}
