#include "autoscheduler/learned_cost.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::autoscheduler {
namespace {

double weight_of(double milliseconds, double best) { return best / milliseconds + 0.05; }

// The squared error of the logarithm of a program's time, by the values of its stages.
class Loss {
public:
    Loss(std::span<const LearnedProgram> programs, std::span<const std::vector<float>> offsets)
        : programs(programs), offsets(offsets) {
        for (const LearnedProgram &p : programs) {
            auto [best, is_new] = bests.try_emplace(p.group, p.milliseconds);
            best->second = std::min(best->second, p.milliseconds);
        }
    }

    void operator()(std::span<const float> values, std::span<float> first,
                    std::span<float> second) const {
        size_t row = 0;
        for (size_t i = 0; i < programs.size(); i++) {
            const LearnedProgram &p = programs[i];
            const size_t stages = p.features.stages.size();
            std::vector<double> parts(stages);
            double sum = 0;
            for (size_t s = 0; s < stages; s++) {
                const double known = offsets.empty() ? 0 : double(offsets[i][s]);
                parts[s] = p.features.milliseconds[s] * std::exp(known + double(values[row + s]));
                sum += parts[s];
            }
            const double error = std::log(sum / p.milliseconds),
                         weight = weight_of(p.milliseconds, bests.at(p.group));
            // The second derivative is bounded by the part that the stage has of the sum.
            for (size_t s = 0; s < stages; s++) {
                first[row + s] = float(weight * error * parts[s] / sum);
                second[row + s] = float(weight * std::max(1e-6, parts[s] / sum));
            }
            row += stages;
        }
    }

private:
    std::span<const LearnedProgram> programs;
    std::span<const std::vector<float>> offsets;
    std::map<int, double> bests;
};

}  // namespace

BoostedTrees train_cost(std::span<const LearnedProgram> programs, const BoostingOptions &options,
                        std::span<const std::vector<float>> offsets) {
    std::vector<float> rows;
    for (const LearnedProgram &p : programs) {
        for (const Features &f : p.features.stages) rows.insert(rows.end(), f.begin(), f.end());
    }
    return train(rows, feature_count, Loss(programs, offsets), options);
}

std::vector<float> LearnedCost::shipped_values(const ProgramFeatures &program) const {
    std::vector<float> values;
    for (const Features &f : program.stages) values.push_back(shipped(f));
    return values;
}

double LearnedCost::milliseconds(const ProgramFeatures &program) const {
    double sum = 0;
    for (size_t s = 0; s < program.stages.size(); s++) {
        const Features &f = program.stages[s];
        sum += program.milliseconds[s] * std::exp(double(shipped(f) + own(f)));
    }
    return factor * sum;
}

void LearnedCost::add(ProgramFeatures program, double measured) {
    known_values.push_back(shipped_values(program));
    known.push_back({std::move(program), measured, 0});
}

void LearnedCost::refit() {
    if (known.empty()) return;
    own = BoostedTrees();
    factor = 1;
    double best = known[0].milliseconds;
    for (const LearnedProgram &p : known) best = std::min(best, p.milliseconds);
    double errors = 0, weights = 0;
    for (const LearnedProgram &p : known) {
        const double weight = weight_of(p.milliseconds, best);
        errors += weight * std::log(p.milliseconds / milliseconds(p.features));
        weights += weight;
    }
    factor = std::exp(errors / weights);
    if (known.size() < 8 || !can_train()) return;
    std::vector<std::vector<float>> offsets = known_values;
    for (auto &of : offsets) {
        for (float &v : of) v += float(std::log(factor));
    }
    own =
        train_cost(known, {.rounds = 40, .depth = 4, .rate = 0.2, .regularization = 0.5}, offsets);
}

}  // namespace tessera::autoscheduler
