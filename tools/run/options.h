#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::run {

// The command line.
struct Options {
    std::string library;                        // its path; not where functions are linked in
    std::string name;                           // of the function
    std::map<std::string, std::string> values;  // of arguments
    bool describe = false, quiet = false, verbose = false, parsable = false;
    bool benchmark = false, track_memory = false;
    double benchmark_min_time = 0.1;
    int benchmark_min_iterations = 1, benchmark_max_iterations = 1000000000;
    // For arguments that have no value; none: they have to have one.
    std::optional<std::string> default_scalars, default_buffers;
    // "[100,200]", "estimate" or "auto", for the outputs of a name, or "" for all others.
    std::map<std::string, std::string> output_extents;
    // Files of what outputs should be, by the output's name.
    std::map<std::string, std::string> checks;
    double tolerance = 0, relative_tolerance = 0;
};

// Options; or an exit code where the program is done already, for it was asked for help. Throws
// RuntimeError.
struct ParsedOptions {
    Options options;
    std::optional<int> exit_code;
};
ParsedOptions parse_options(int argc, char **argv, bool wants_library);

}  // namespace tessera::run
