#include "autoscheduler/report.h"
#include "autoscheduler/report_text.h"
#include "base/atomic_file.h"
#include "driver/compile.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

// A search as a page of HTML.
namespace tessera::autoscheduler {
namespace {

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

constexpr const char *search_heading = "<h2>The search</h2>\n";

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

bool has_measurements(const SearchResult &result) {
    return std::ranges::any_of(result.trials,
                               [](const Trial &t) { return t.measurement.is_valid(); });
}
bool is_trial(const Workload &workload, const SearchResult &result) {
    const uint64_t hash = result.schedule.hash(workload.algorithm());
    return std::ranges::any_of(result.trials, [&](const Trial &t) {
        return t.schedule.hash(workload.algorithm()) == hash;
    });
}

// The names of the page's parts are few: one style for all.
constexpr const char *head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>)";
constexpr const char *style = R"(</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { background: #f4f4f4; padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere }
table { border-collapse: collapse; max-width: 100% }
td, th { padding: .15rem .4rem; text-align: right; overflow-wrap: anywhere }
td:first-child, th:first-child { text-align: left } tr { border-bottom: 1px solid #ddd }
svg { border: 1px solid #ccc; width: 100%; max-width: 800px } circle { fill: #888 } circle.best { fill: #c22 }
line { stroke: #2a2; stroke-width: 2 }
polyline { fill: none; stroke: #26c; stroke-width: 2 } text { font-size: 12px; fill: #444 }
</style></head><body>
)";

// The margins leave room for numbers with their units.
constexpr double width = 800, height = 320, left = 90, bottom = 30;

std::string begin_picture() { return str("<svg viewBox=\"0 0 ", width, " ", height, "\">\n"); }
// The labels belong to the axis to the left.
std::string number_at(double y, const std::string &text) {
    return str("<text text-anchor=\"end\" x=\"", left - 8, "\" y=\"", number("%.1f", y + 4), "\">",
               text, "</text>\n");
}
std::string below(const std::string &text) {
    return str("<text text-anchor=\"middle\" x=\"", (left + width) / 2, "\" y=\"", height - 8,
               "\">", text, "</text>\n");
}

// Each trial as a point, by the time that counts, and the best so far as a line; times are on a
// logarithmic scale.
std::string curve(const std::vector<Trial> &trials) {
    double least = 1e300, most = 0;
    for (const Trial &t : trials) {
        const double ms = t.times().counted();
        if (ms <= 0) continue;
        least = std::min(least, ms);
        most = std::max(most, ms);
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
        if (const double ms = trials[i].times().counted(); ms > 0) {
            const bool is_best = ms < best;
            best = std::min(best, ms);
            points += str("<circle", is_best ? " class=\"best\"" : "", " cx=\"",
                          number("%.1f", x(i)), "\" cy=\"", number("%.1f", y(ms)),
                          "\" r=\"3\"><title>", number("%.4g ms", ms), "</title></circle>\n");
        }
        if (best < 1e300) {
            line += str(number("%.1f", x(i)), ",", number("%.1f", y(best)), " ");
        }
    }
    std::string labels;
    for (double ms : {least, std::sqrt(least * most), most})
        labels += number_at(y(ms), number("%.3g ms", ms));
    return str(
        begin_picture(), "<polyline points=\"", line, "\"/>\n", points, labels, below("trial"),
        "</svg>\n<p>Each trial by its time: of the fastest, that which they took when they "
        "ran in turns, with their buffers in several places of memory, which decides; of the "
        "others, that of their first measurement.</p>\n");
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

// Operations and bytes of memory that a schedule is estimated to need.
struct Work {
    double operations = 0, bytes = 0;
};
Work work_of(const Graph &graph, const program::Algorithm &algorithm, const Machine &machine,
             const program::Schedule &schedule) {
    LoopTree tree(graph, program::apply(algorithm, schedule));
    Work w;
    for (const StageCost &c : estimate_cost(tree, machine).stages) {
        w.operations += c.operations;
        w.bytes += c.bytes.back();
    }
    return w;
}

// The operations that the algorithm needs, whatever a schedule computes again.
double operations_needed(const Graph &graph) {
    double sum = 0;
    for (const StageNode &s : graph.stages)
        sum += points_in(graph.spans_of(s)) * s.operations.total();
    return sum;
}

// Each trial by its operations for each byte of memory and by how many it does a second, below what
// the machine could do (Williams, Waterman, Patterson, Roofline, 2009); both scales are
// logarithmic.
std::string roofline(const Workload &workload, const Machine &machine, const SearchResult &result) {
    const double needed = operations_needed(workload.graph()), hertz = 1e3 * cycles_per_millisecond,
                 peak = machine.cores * 2.0 * machine.vector_bytes / 4 * hertz,
                 stream = machine.caches.back().bytes_per_cycle * hertz *
                          std::min<double>(machine.cores, machine.memory_sharing);
    if (needed <= 0) return "";
    struct Point {
        double intensity, speed, milliseconds;
    };
    std::vector<Point> points;
    for (const Trial &t : result.trials) {
        const double ms = t.times().counted();
        if (ms <= 0 || t.sketch >= result.sketches.size()) continue;
        const Work w =
            work_of(*result.sketches[t.sketch].graph, workload.algorithm(), machine, t.schedule);
        points.push_back({needed / std::max(1.0, w.bytes), 1e3 * needed / ms, ms});
    }
    if (points.empty()) return "";
    double low = 1e300, high = 0, slow = 1e300;
    for (const Point &p : points) {
        low = std::min(low, p.intensity / 2);
        high = std::max(high, p.intensity * 2);
        slow = std::min(slow, p.speed / 2);
    }
    low = std::min(low, 0.5 * peak / stream);
    high = std::max(high, 2 * peak / stream);
    auto scaled = [](double v, double from, double to) {
        return (std::log(v) - std::log(from)) / (std::log(to) - std::log(from));
    };
    auto x = [&](double intensity) {
        return left + (width - left - 10) * scaled(intensity, low, high);
    };
    auto y = [&](double speed) {
        return height - bottom - (height - bottom - 10) * scaled(speed, slow, 2 * peak);
    };
    auto line = [&](double x1, double y1, double x2, double y2) {
        return str("<line x1=\"", number("%.1f", x(x1)), "\" y1=\"", number("%.1f", y(y1)),
                   "\" x2=\"", number("%.1f", x(x2)), "\" y2=\"", number("%.1f", y(y2)), "\"/>\n");
    };
    const double ridge = peak / stream, first = std::max(low, slow / stream);
    std::string text = str(begin_picture(), line(first, first * stream, ridge, peak),
                           line(ridge, peak, high, peak));
    for (const Point &p : points) {
        const bool is_best = p.milliseconds == result.milliseconds;
        text += str("<circle", is_best ? " class=\"best\"" : "", " cx=\"",
                    number("%.1f", x(p.intensity)), "\" cy=\"", number("%.1f", y(p.speed)),
                    "\" r=\"3\"><title>", number("%.4g ms", p.milliseconds), "</title></circle>\n");
    }
    for (double speed : {slow, peak}) text += number_at(y(speed), number("%.3g G/s", speed / 1e9));
    return str(text,
               below(str("operations for each byte that comes from memory, as estimated: ",
                         number("%.2g", low), " to ", number("%.2g", high))),
               "</svg>\n",
               "<p>Each measured schedule by its operations a second, which are those that the "
               "algorithm needs, and by those for each byte that it is estimated to read from "
               "memory: schedules that read the same bytes stand above one another. The line is "
               "what memory and the instructions could do at most.</p>\n");
}

// A table of stages that is no wider than the page.
std::string parts(const std::vector<PartOfTime> &all) {
    std::string rows;
    for (const PartOfTime &p : all) {
        rows += str("<tr><td>", escaped(p.stage), "</td><td>", number("%.0f %%", 100 * p.part),
                    "</td><td>", p.bound_by, "</td><td>", amount(p.operations), "</td>");
        for (double bytes : p.bytes) rows += str("<td>", amount(bytes), "</td>");
        rows += "</tr>\n";
    }
    return str("<table><tr><th>stage</th><th>time</th><th>bound by</th><th>operations</th>"
               "<th>bytes into the first cache</th><th>the second</th><th>the third, from "
               "memory</th></tr>\n",
               rows, "</table>\n");
}

// Reports how fast it is, and how it was found.
std::string of_search(const Workload &workload, const Machine &machine,
                      const SearchResult &result) {
    std::string text;
    if (result.milliseconds > 0 && !is_trial(workload, result)) {
        text += str(" The schedule is of the log, which says that it takes ",
                    number("%.4g ms", result.milliseconds), ".");
    }
    if (!has_measurements(result)) return text + " Nothing was measured now.</p>\n";
    const double by_rules = result.trials[0].times().counted();
    double best = 0;
    for (const Trial &t : result.trials) {
        if (t.schedule == result.schedule) best = t.times().counted();
    }
    if (best > 0) {
        text += str(" The fastest of ", result.trials.size(), " schedules takes ",
                    number("%.4g ms", best));
    }
    if (best > 0 && by_rules > 0) {
        text += str("; that of the rules takes ", number("%.4g ms", by_rules));
    }
    text += str(".</p>\n", search_heading, curve(result.trials), outcomes(result.trials));
    const std::string roof = roofline(workload, machine, result);
    if (!roof.empty()) text += "<h2>Beside the machine's limits</h2>\n" + roof;
    return text;
}

}  // namespace

std::string to_html(const Workload &workload, const Machine &machine, const SearchResult &result,
                    const std::string &title) {
    std::string names;
    for (const FunctionNode &f : workload.graph().functions) {
        if (f.is_output) names += str(names.empty() ? "" : ", ", f.name);
    }
    const std::string heading = escaped(title.empty() ? names : title);
    return str(head, heading, ": its schedule", style, "<h1>", heading, "</h1>\n<p>For ",
               escaped(workload.target().to_string()), ", ", machine.cores,
               machine.cores == 1 ? " core." : " cores.", of_search(workload, machine, result),
               "<h2>Where its time goes, as estimated</h2>\n",
               parts(explanation(workload.algorithm(), result.schedule, machine)),
               "<h2>The schedule</h2>\n<pre>",
               escaped(program::print_schedule(workload.algorithm(), result.schedule)),
               "</pre>\n<h2>Its loops</h2>\n<pre>",
               escaped(driver::loop_nest(
                   workload.with(program::apply(workload.algorithm(), result.schedule)),
                   workload.target())),
               "</pre>\n</body></html>\n");
}

bool write_report(const std::string &path, const std::string &page, const SearchResult &result) {
    if (!has_measurements(result)) {
        std::ifstream before(path);
        const std::string text{std::istreambuf_iterator<char>(before), {}};
        if (text.find(search_heading) != std::string::npos) return false;
    }
    write_file(path, page, Durability::Synced);
    return true;
}

}  // namespace tessera::autoscheduler
