#pragma once
#include "autoscheduler/learned_cost.h"
#include "autoscheduler/training/pipelines.h"
#include <string>

namespace tessera::autoscheduler::training {

struct CollectOptions {
    uint64_t first = 0, last = 1'000'000;  // seeds of pipelines
    int per_pipeline = 24;                 // schedules of each
    int jobs = 1;                          // pipelines at once
    int threads = 1;                       // of a run
    double seconds = 60;                   // after which no pipeline is begun
    std::string log;                       // what is measured is appended to it, as JSON lines
};

// Measures random schedules of random pipelines on this machine.
void collect(const CollectOptions &options);

struct TrainingLog {
    std::vector<LearnedProgram> programs;  // grouped by pipeline
    std::vector<uint64_t> seeds;           // of each group
    int dropped = 0;                       // records that today's pipelines and schedules are not
};

// Reads what was measured and takes the features of each schedule.
TrainingLog read_log(const std::vector<std::string> &paths);

}  // namespace tessera::autoscheduler::training
