#pragma once
#include "autoscheduler/search.h"
#include <span>

namespace tessera::autoscheduler {

// One of several searches under one budget.
struct TuningTask {
    Search *search = nullptr;
    double weight = 1;  // how often its pipeline runs, beside the others
    double least = 0;   // milliseconds below which it cannot get, as estimated
    bool is_done = false;

    std::vector<double> history;  // the best time after each batch, in milliseconds
};

// The task whose next batch is expected to save the most time: by what its last batches saved, or
// what is left above the machine's limit (the gradient of Zheng et al., Ansor, 2020, section 6).
// Each task has a batch first. -1: all are done.
int next_task(std::span<const TuningTask> tasks);

}  // namespace tessera::autoscheduler
