#include "autoscheduler/training/quality.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::autoscheduler::training {
namespace {

struct Pair {
    double expected, measured;
};

double part_in_order(const std::vector<Pair> &all) {
    size_t right = 0, count = 0;
    for (size_t i = 0; i < all.size(); i++) {
        for (size_t j = i + 1; j < all.size(); j++) {
            const double ratio = all[i].measured / all[j].measured;
            if (ratio < 1.05 && ratio > 1 / 1.05) continue;
            count++;
            right += (all[i].expected < all[j].expected) == (ratio < 1);
        }
    }
    return count ? double(right) / double(count) : 1;
}

double best_of_first(const std::vector<Pair> &sorted, size_t first) {
    double best = 1e300, best_of_all = 1e300;
    for (size_t i = 0; i < sorted.size(); i++) {
        if (i < first) best = std::min(best, sorted[i].measured);
        best_of_all = std::min(best_of_all, sorted[i].measured);
    }
    return best / best_of_all;
}

}  // namespace

Quality quality_of(const BoostedTrees &model, const std::vector<LearnedProgram> &programs) {
    const LearnedCost cost(model);
    std::map<int, std::vector<Pair>> groups;
    for (const LearnedProgram &p : programs)
        groups[p.group].push_back({cost.milliseconds(p.features), p.milliseconds});
    Quality q;
    q.programs = programs.size();
    q.groups = groups.size();
    for (auto &[group, all] : groups) {
        q.pairs_in_order += part_in_order(all);
        std::ranges::sort(all, {}, &Pair::expected);
        for (size_t i = 0; i < 3; i++)
            q.best_of[i] += std::log(best_of_first(all, std::array<size_t, 3>{1, 5, 10}[i]));
    }
    const double count = std::max(1.0, double(groups.size()));
    q.pairs_in_order /= count;
    for (double &b : q.best_of) b = std::exp(b / count);
    return q;
}

}  // namespace tessera::autoscheduler::training
