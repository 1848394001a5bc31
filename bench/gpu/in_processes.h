// Rows of measurements in processes of their own, since a kernel that fails takes its process's
// context with it, and one that waits for ever takes the rest of the table.
#pragma once

#include <functional>
#include <vector>

namespace tessera::bench {

// Returns what `question` answers in a process of its own.
bool can_run_in_process(const std::function<bool()> &question);

// Calls run(first, done) in a new process, which calls done(row, result) for each row from `first`
// on; if it ends early, or a row takes longer than `seconds`, again for the rows after the one that
// failed, whose result stays 0.
void run_in_processes(
    int rows, int seconds,
    const std::function<void(int first, const std::function<void(int, double)> &done)> &run,
    std::vector<double> &results);

}  // namespace tessera::bench
