#include "autoscheduler/report.h"
#include "autoscheduler/report_text.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::autoscheduler {
namespace {

const char *what_bounds(const StageCost &c) {
    const double compute = c.share * c.compute, near = c.share * c.memory,
                 far = std::max(c.share, c.far_share) * c.far;
    const double most = std::max({compute, near, far, c.overhead});
    if (most == compute) return "instructions";
    if (most == near) return "caches";
    return most == far ? "memory" : "loops, tasks and allocations";
}

// A number of operations or bytes, to three digits.
std::string amount(double v) {
    const char *units[] = {"", " k", " M", " G", " T"};
    size_t u = 0;
    while (v >= 1000 && u + 1 < std::size(units)) {
        v /= 1000;
        u++;
    }
    return number("%.3g", v) + units[u];
}

std::string amounts(const StageCost &c) {
    return str(amount(c.operations),
               " operations; bytes into the first cache: ", amount(c.bytes[0]),
               ", into the second: ", amount(c.bytes[1]),
               ", into the third, from memory: ", amount(c.bytes[2]));
}

}  // namespace

ProgressLine::ProgressLine(std::ostream &out, int trials, double seconds, double least)
    : out(out), trials(trials), limit(seconds), least(least) {}

void ProgressLine::operator()(const SearchResult &so_far, double seconds) {
    const size_t done = so_far.trials.size();
    const double per_trial = done > 0 ? seconds / double(done) : 0;
    const double left =
        std::min(limit - seconds, per_trial * std::max(0.0, double(trials) - double(done)));
    out << '\r' << "trial " << done << " of " << trials << ", best "
        << number("%.4g ms", so_far.milliseconds) << " ("
        << number("%.0f %%", so_far.milliseconds > 0 ? 100 * least / so_far.milliseconds : 0)
        << " of the limit), " << number("%.0f s", std::max(0.0, left)) << " left   " << std::flush;
    is_begun = true;
}

void ProgressLine::finish() {
    if (is_begun) out << '\n';
}

std::string explanation(const program::Algorithm &algorithm, const program::Schedule &schedule,
                        const Machine &machine) {
    const Graph graph(algorithm, schedule);
    LoopTree tree(graph, program::apply(algorithm, schedule));
    const Cost cost = estimate_cost(tree, machine);
    std::vector<size_t> order(cost.stages.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](size_t s) { return cost.stages[s].cycles(); });
    std::string text;
    for (size_t s : order) {
        const double part = cost.stages[s].cycles() / std::max(cost.cycles, 1.0);
        if (part < 0.01) continue;
        const StageNode &stage = graph.stages[s];
        text += str(graph.functions[size_t(stage.function)].name,
                    stage.number > 0 ? str(".update(", stage.number - 1, ")") : "", ": ",
                    number("%.0f %%", 100 * part), " of the time, bound by ",
                    what_bounds(cost.stages[s]), "; ", amounts(cost.stages[s]), "\n");
    }
    return text;
}

}  // namespace tessera::autoscheduler
