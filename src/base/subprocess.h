#pragma once
#include <string>
#include <vector>

namespace tessera {

struct ProcessResult {
    int code = -1;       // its exit code; -1: it could not be started, or was killed
    std::string output;  // what it wrote to stdout and stderr
};

// Runs a program, which is looked for in PATH, and waits for its end. Standard input is empty.
ProcessResult run_process(const std::vector<std::string> &arguments);

}  // namespace tessera
