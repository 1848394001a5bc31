// The command line that all apps share.
#pragma once

#include <functional>
#include <string>

namespace tessera::apps {

struct Options {
    std::string app;
    std::string input;   // a PNG to read
    std::string output;  // a PNG to write; none if empty
    int width = 0;       // resize the input to this; 0: leave it as it is
    int height = 0;
    bool check = false;  // compare with the plain C++ reference
    int repeat = 1;      // how often to run for the time printed
};

// Says what an app asks of its command line.
struct AppInfo {
    std::string name;
    std::string description;
    bool needs_input = true;
    std::string default_size = {};  // as --size takes it; empty: the input's own
};

// Parse the command line, run `body`, and print what went wrong if anything did.
// Returns the exit code of the process.
int run_app(const AppInfo &info, int argc, char **argv,
            const std::function<void(const Options &)> &body);

}  // namespace tessera::apps
