#include "autoscheduler/report.h"
#include "autoscheduler/report_text.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::autoscheduler {
namespace {

std::string_view what_bounds(const StageCost &c) {
    const double compute = c.share * c.compute, near = c.share * c.memory,
                 far = std::max(c.share, c.far_share) * c.far;
    const double most = std::max({compute, near, far, c.overhead});
    if (most == compute) return "instructions";
    if (most == near) return "caches";
    return most == far ? "memory" : "loops, tasks and allocations";
}

}  // namespace

ProgressLine::ProgressLine(std::ostream &out, double seconds, double least)
    : out(out), limit(seconds), least(least) {}

void ProgressLine::operator()(const SearchProgress &so_far) {
    std::string line(so_far.doing);
    if (so_far.trials > 0) line += str(", trial ", so_far.measured, " of ", so_far.trials);
    if (so_far.milliseconds > 0) {
        const double left = so_far.seconds / double(so_far.measured) *
                            std::max(0.0, double(so_far.trials) - double(so_far.measured));
        line += str(", best ", number("%.4g ms", so_far.milliseconds), " (",
                    number("%.0f %%", 100 * least / so_far.milliseconds), " of the limit), ",
                    number("%.0f s", std::clamp(limit - so_far.seconds, 0.0, left)), " left");
    }
    const size_t before = std::exchange(width, line.size());
    out << '\r' << line << std::string(before > width ? before - width : 0, ' ') << std::flush;
}

void ProgressLine::finish() {
    if (width > 0) out << '\n';
}

std::vector<PartOfTime> explanation(const program::Algorithm &algorithm,
                                    const program::Schedule &schedule, const Machine &machine) {
    const Graph graph(algorithm, schedule);
    LoopTree tree(graph, program::apply(algorithm, schedule));
    const Cost cost = estimate_cost(tree, machine);
    std::vector<PartOfTime> all;
    for (size_t s = 0; s < cost.stages.size(); s++) {
        const StageCost &c = cost.stages[s];
        const double part = c.cycles() / std::max(cost.cycles, 1.0);
        if (part < 0.01) continue;
        const StageNode &stage = graph.stages[s];
        all.push_back({str(graph.functions[size_t(stage.function)].name,
                           stage.number > 0 ? str(".update(", stage.number - 1, ")") : ""),
                       part, what_bounds(c), c.operations, c.bytes});
    }
    std::ranges::stable_sort(all, std::greater<>(), &PartOfTime::part);
    return all;
}

}  // namespace tessera::autoscheduler
