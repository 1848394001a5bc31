#pragma once
#include "autoscheduler/boosted_trees.h"
#include "autoscheduler/features.h"

namespace tessera::autoscheduler {

// A measured program to learn from. Those of one group, the schedules of one pipeline, are to be
// told apart.
struct LearnedProgram {
    ProgramFeatures features;
    double milliseconds = 0;  // measured
    int group = 0;
};

// Boosts the estimated cost: a program takes the sum over its stages of their estimated
// milliseconds, each times e to the power of what the trees say about the stage. The loss is the
// square of the logarithm's error; fast programs of a group weigh more. `offsets`: what is known
// of each stage before; may be empty.
BoostedTrees train_cost(std::span<const LearnedProgram> programs, const BoostingOptions &options,
                        std::span<const std::vector<float>> offsets = {});

// The expected time of schedules of one pipeline: what the shipped model says, and what
// measurements of this pipeline add to that.
class LearnedCost {
public:
    // `shipped`: must live as long.
    explicit LearnedCost(const BoostedTrees &shipped = shipped_model()) : shipped(shipped) {}

    double milliseconds(const ProgramFeatures &program) const;
    void add(ProgramFeatures program, double measured);  // milliseconds
    // Learns from all that was added.
    void refit();

    // Returns the model that is trained on random pipelines (training/README.md).
    static const BoostedTrees &shipped_model();

private:
    std::vector<float> shipped_values(const ProgramFeatures &program) const;

    const BoostedTrees &shipped;
    BoostedTrees own;
    double factor = 1;  // of all programs
    std::vector<LearnedProgram> known;
    std::vector<std::vector<float>> known_values;  // the shipped model's
};

}  // namespace tessera::autoscheduler
