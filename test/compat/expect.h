#pragma once
#include <cstdio>

// Ends the function with 1 unless the condition holds.
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            return 1;                                                                              \
        }                                                                                          \
    } while (false)
