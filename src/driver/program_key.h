#pragma once
#include "base/target.h"
#include "program/program.h"

namespace tessera::driver {

// A number for a program, its schedule and the target: equal for the same program compiled again,
// different (but for a chance of 2^-64) as soon as a definition, a directive, a constraint of a
// buffer or the target changes. Programs built anew have new symbols and so another key.
uint64_t key_of(const program::Program &program, const Target &target);

}  // namespace tessera::driver
