#pragma once
#include "lang/extern.h"
#include <atomic>

// Counts how often an expression is evaluated.
namespace tessera::test {

inline std::atomic<int> calls{0};

template<typename F> int calls_during(F f) {
    calls = 0;
    f();
    return calls;
}

}  // namespace tessera::test

extern "C" inline int counted(int value) {
    tessera::test::calls++;
    return value;
}
TesseraExtern_1(int, counted, int)
