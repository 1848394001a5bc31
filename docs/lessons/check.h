#pragma once
#include <cstdio>
#include <cstdlib>
#include <source_location>

// Ends the lesson with its line if what it says is not so.
inline void check(bool holds, std::source_location at = std::source_location::current()) {
    if (holds) return;
    std::fprintf(stderr, "%s:%u: this does not hold\n", at.file_name(), unsigned(at.line()));
    std::exit(1);
}
