// This file has what the generators of the apps need of Halide's.
#pragma once

#include <tessera.h>

#define TESSERA_REGISTER_GENERATOR(...) HALIDE_REGISTER_GENERATOR(__VA_ARGS__)

namespace tessera {

// Halide's finds generate() by its name: here there is one that the apps can override.
template<typename T> class Generator : public Halide::Generator<T> {
public:
    virtual void generate() = 0;

#ifndef HALIDE_VERSION_MAJOR  // 14, whose headers do not tell their version
    bool using_autoscheduler() const { return this->auto_schedule; }
#endif
};

}  // namespace tessera
