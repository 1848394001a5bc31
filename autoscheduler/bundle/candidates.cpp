#include "autoscheduler/bundle/candidates.h"
#include "autoscheduler/evolution.h"
#include <algorithm>
#include <iterator>

namespace tessera::autoscheduler {

std::vector<PlannedCandidate> candidates_to_measure(const Workload &workload,
                                                    const Machine &machine, size_t count,
                                                    uint64_t seed, const TuningLog &log) {
    Evolution evolution(workload, machine, seed);
    // A candidate that may be refused when it runs is no use to a machine that makes no others.
    auto is_useless = [](const Candidate &c) { return may_refuse_sizes(c.plan); };
    std::vector<Candidate> all = evolution.by_rules();
    all.insert(all.begin() + 1, evolution.choose(all));
    std::vector<Candidate> children =
        evolution.generations(6, 300, as_parents(all), &Candidate::by_model);
    std::erase_if(all, is_useless);
    std::erase_if(children, is_useless);
    // No more than a quarter is by rules.
    all.resize(std::min(all.size(), std::max<size_t>(4, count / 4)));
    const size_t rules = all.size();
    std::ranges::move(children, std::back_inserter(all));

    std::vector<PlannedCandidate> chosen;
    std::set<uint64_t> hashes;
    for (size_t i = 0; i < all.size() && chosen.size() < count; i++) {
        // One in eight comes from anywhere in the better half of what is left.
        const size_t left = all.size() - i;
        if (i >= rules && i % 8 == 7)
            std::swap(all[i], all[i + evolution.random_number() % ((left + 1) / 2)]);
        Candidate &c = all[i];
        const bool is_new = hashes.insert(c.schedule.hash(workload.algorithm())).second;
        if (!is_new || log.find(c.schedule)) continue;
        chosen.push_back({c.schedule, evolution.sketches()[c.sketch].name, std::move(c.plan)});
    }
    return chosen;
}

}  // namespace tessera::autoscheduler
