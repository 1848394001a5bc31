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
// REFUSED one that must end in an error of Halide's.
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
#define REFUSED(name)                                                                              \
    static void name##_body();                                                                     \
    [[maybe_unused]] static const bool name##_is_there =                                           \
        add_program(#name, [] { return name##_body(), 0; });                                       \
    static void name##_body()
