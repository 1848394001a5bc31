#pragma once
#include "Halide.h"
#include "expect.h"
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

// Programs as a user of Halide writes them, many to a file: PROGRAM is one that runs and returns 0,
// REFUSED one that must end in an error of Halide's, whose message has this part.
using namespace Halide;

using Program = int (*)();
inline std::map<std::string, Program> &programs() {
    static std::map<std::string, Program> all;
    return all;
}
inline bool add_program(const char *name, Program p) { return programs().emplace(name, p).second; }

#define PROGRAM(name)                                                                              \
    static int name();                                                                             \
    [[maybe_unused]] static const bool name##_is_there = add_program(#name, name);                 \
    static int name()

// What the error of each REFUSED has to say.
inline std::map<std::string, std::string> &messages() {
    static std::map<std::string, std::string> all;
    return all;
}
inline bool add_refused(const char *name, Program p, const char *part) {
    return messages().emplace(name, part).second && add_program(name, p);
}
#define REFUSED(name, part)                                                                        \
    static void name##_body();                                                                     \
    [[maybe_unused]] static const bool name##_is_there =                                           \
        add_refused(#name, [] { return name##_body(), 0; }, part);                                 \
    static void name##_body()
