#include "autoscheduler/report.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

namespace tessera::autoscheduler {
namespace {

std::string number(const char *format, double v) {
    char text[64];
    std::snprintf(text, sizeof(text), format, v);
    return text;
}

std::string escaped(const std::string &text) {
    std::string result;
    for (char c : text) {
        switch (c) {
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '&': result += "&amp;"; break;
        default: result += c;
        }
    }
    return result;
}

const char *what_bounds(const StageCost &c) {
    const double compute = c.share * c.compute, near = c.share * c.memory,
                 far = std::max(c.share, c.far_share) * c.far;
    const double most = std::max({compute, near, far, c.overhead});
    if (most == compute) return "instructions";
    if (most == near) return "caches";
    return most == far ? "memory" : "loops, tasks and allocations";
}

// The names of the page's parts are few: one style for all.
constexpr const char *head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Search for a schedule</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto }
table { border-collapse: collapse } td, th { padding: .15rem .8rem; text-align: right }
td:first-child, th:first-child { text-align: left } tr { border-bottom: 1px solid #ddd }
svg { border: 1px solid #ccc } circle { fill: #888 } circle.best { fill: #c22 }
polyline { fill: none; stroke: #26c; stroke-width: 2 } text { font-size: 12px; fill: #444 }
</style></head><body>
)";

// Each trial as a point, and the best time so far as a line; times are on a logarithmic scale.
std::string curve(const std::vector<Trial> &trials) {
    constexpr double width = 800, height = 320, left = 60, bottom = 30;
    double least = 1e300, most = 0;
    for (const Trial &t : trials) {
        if (!t.measurement.is_valid()) continue;
        least = std::min(least, t.measurement.milliseconds);
        most = std::max(most, t.measurement.milliseconds);
    }
    if (most <= 0) return "<p>Nothing could be measured.</p>\n";
    const double low = std::log(least * 0.9), high = std::log(most * 1.1);
    auto x = [&](size_t i) {
        return left +
               (width - left - 10) * double(i) / std::max<double>(1, double(trials.size() - 1));
    };
    auto y = [&](double ms) {
        return 10 + (height - bottom - 10) * (high - std::log(ms)) / (high - low);
    };
    std::string points, line;
    double best = 1e300;
    for (size_t i = 0; i < trials.size(); i++) {
        const Measurement &m = trials[i].measurement;
        if (m.is_valid()) {
            const bool is_best = m.milliseconds < best;
            best = std::min(best, m.milliseconds);
            points +=
                str("<circle", is_best ? " class=\"best\"" : "", " cx=\"", number("%.1f", x(i)),
                    "\" cy=\"", number("%.1f", y(m.milliseconds)), "\" r=\"3\"><title>",
                    number("%.4g ms", m.milliseconds), "</title></circle>\n");
        }
        if (best < 1e300) {
            line += str(number("%.1f", x(i)), ",", number("%.1f", y(best)), " ");
        }
    }
    std::string labels;
    for (double ms : {least, std::sqrt(least * most), most}) {
        labels += str("<text x=\"4\" y=\"", number("%.1f", y(ms) + 4), "\">", number("%.3g ms", ms),
                      "</text>\n");
    }
    return str("<svg width=\"", width, "\" height=\"", height, "\">\n<polyline points=\"", line,
               "\"/>\n", points, labels, "<text x=\"", width / 2, "\" y=\"", height - 8,
               "\">trial</text>\n</svg>\n");
}

std::string outcomes(const std::vector<Trial> &trials) {
    std::map<std::string_view, int> count;
    for (const Trial &t : trials) count[name_of(t.measurement.outcome)]++;
    std::string text = "<table><tr><th>outcome</th><th>trials</th></tr>\n";
    for (const auto &[name, times] : count) {
        text += str("<tr><td>", name, "</td><td>", times, "</td></tr>\n");
    }
    return text + "</table>\n";
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
                    what_bounds(cost.stages[s]), "\n");
    }
    return text;
}

std::string to_html(const Workload &workload, const Machine &machine, const SearchResult &result) {
    std::string names;
    for (const FunctionNode &f : workload.graph().functions) {
        if (f.is_output) names += str(names.empty() ? "" : ", ", f.name);
    }
    const bool is_measured = !result.trials.empty() && result.milliseconds > 0;
    const Measurement by_rules = is_measured ? result.trials[0].measurement : Measurement();
    std::string text = str(head, "<h1>", escaped(names), "</h1>\n<p>For ",
                           escaped(workload.target().to_string()), ".");
    if (is_measured) {
        text += str(" The fastest of ", result.trials.size(), " schedules takes ",
                    number("%.4g ms", result.milliseconds));
        if (by_rules.is_valid()) {
            text += str("; that of the rules takes ", number("%.4g ms", by_rules.milliseconds));
        }
        text += ".</p>\n<h2>The search</h2>\n" + curve(result.trials) + outcomes(result.trials);
    } else {
        text += " Nothing was measured.</p>\n";
    }
    text += str("<h2>Where its time goes, as estimated</h2>\n<pre>",
                escaped(explanation(workload.algorithm(), result.schedule, machine)),
                "</pre>\n<h2>The schedule</h2>\n<pre>",
                escaped(program::print_schedule(workload.algorithm(), result.schedule)),
                "</pre>\n</body></html>\n");
    return text;
}

}  // namespace tessera::autoscheduler
