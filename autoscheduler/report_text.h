#pragma once
#include <cstdio>
#include <string>

namespace tessera::autoscheduler {

// A number as printf's format has it.
inline std::string number(const char *format, double v) {
    char text[64];
    std::snprintf(text, sizeof(text), format, v);
    return text;
}

}  // namespace tessera::autoscheduler
