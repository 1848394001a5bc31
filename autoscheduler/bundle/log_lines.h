#pragma once
#include <cstddef>
#include <string>

namespace tessera::autoscheduler {

// Describes the lines of a log of measurements.
struct LogLines {
    bool is_there = false;  // the file
    size_t records = 0, damaged = 0;
    bool is_cut_off = false;  // the last one, as where a program was killed; it counts as damaged

    // Warns of lines that are no records; one that was cut off is nothing unusual.
    void warn_of_damage(const std::string &path) const;
};

}  // namespace tessera::autoscheduler
