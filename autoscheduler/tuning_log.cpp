#include "autoscheduler/tuning_log.h"
#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/plan_json.h"
#include "program/schedule_json.h"
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <fcntl.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

#ifndef TESSERA_VERSION  // the build says it
#define TESSERA_VERSION "of nobody knows when"
#endif

namespace tessera::autoscheduler {

using nlohmann::json;
using program::Schedule;

namespace {

std::string hex(uint64_t v) {
    char text[20];
    std::snprintf(text, sizeof(text), "%016" PRIx64, v);
    return text;
}

std::string shape_of(const Graph &graph) {
    std::string text;
    for (const FunctionNode &f : graph.functions) {
        if (!f.is_output) continue;
        if (!text.empty()) text += "+";
        for (size_t d = 0; d < f.estimated.size(); d++) {
            text += str(d ? "x" : "", f.estimated[d].extent());
        }
    }
    return text;
}

std::vector<double> extents_of(const std::string &shape) {
    std::vector<double> extents;
    double v = 0;
    for (std::istringstream in(shape); in >> v; in.get()) extents.push_back(v);
    return extents;
}

// Returns how far apart two shapes are: the sum of their extents' ratios, as logarithms.
double distance(const std::string &a, const std::string &b) {
    const std::vector<double> x = extents_of(a), y = extents_of(b);
    if (x.size() != y.size()) return 1e9;
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++)
        sum += std::abs(std::log2(std::max(1.0, x[i]) / std::max(1.0, y[i])));
    return sum;
}

}  // namespace

class TuningLog::Reader {
public:
    // Counts in `damaged` what is no record after all.
    Reader(TuningLog &log, size_t &damaged) : log(log), damaged(damaged) {}

    void operator()(const json &record) {
        const bool of_pipeline = record.at("algorithm") == log.algorithm,
                   of_size = of_pipeline && record.at("shape") == log.shape,
                   of_target = record.at("target") == log.target,
                   of_cores = record.at("cores") == log.cores,
                   of_compiler = record.at("compiler") == TESSERA_VERSION;
        auto &like = log.like;
        like.pipeline += of_pipeline;
        like.size += of_size;
        like.target += of_size && of_target;
        like.cores += of_size && of_target && of_cores;
        if (of_size && of_target) like.numbers_of_cores.insert(record.at("cores").get<int>());
        const auto outcome = outcome_of(record.at("outcome").get<std::string>());
        if (!of_target || !of_cores || !of_compiler || !outcome) return;
        if (record.at("family") != log.family) return;
        try {
            const Measurement m = {*outcome, record.at("ms"), ""};
            of_size ? note(record, m) : note_near(record, m);
        } catch (const std::exception &) {
            damaged++;
        }
    }

private:
    void note(const json &record, const Measurement &m) {
        const uint64_t hash = std::stoull(record.at("schedule").get<std::string>(), nullptr, 16);
        log.note(hash, m, record.value("in_turns", false) ? Run::InTurns : Run::Alone,
                 record.at("steps").dump(), record.value("choices", Choices()));
    }
    void note_near(const json &record, const Measurement &m) {
        if (!m.is_valid() || record.at("plan").is_null()) return;
        log.note_near(
            {record.at("shape"), record.at("sketch"), record.at("plan").dump(), m.milliseconds});
    }

    TuningLog &log;
    size_t &damaged;
};

TuningLog::TuningLog(const std::string &path, const Workload &workload, int cores, LogUse use)
    : path(path), workload(workload), algorithm(hex(workload.algorithm().hash())),
      family(hex(family_of(workload.graph()))), shape(shape_of(workload.graph())),
      target(workload.target().to_string()), cores(cores) {
    if (path.empty()) return;
    size_t damaged = 0;
    lines = read_records(path, Reader(*this, damaged));
    lines.damaged += damaged;
    if (use == LogUse::Read) return;
    const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (out < 0) throw RuntimeError(str("the log of measurements ", path, " cannot be written"));
    close(out);
}

std::string TuningLog::why_of_no_use() const {
    if (path.empty() || best()) return "";
    if (!lines.is_there) return str("the log of measurements ", path, " does not exist");
    if (lines.records == 0) return str("the log of measurements ", path, " is empty");
    const std::string none = str("none of the ", lines.records, " records of ", path, " is ");
    if (like.pipeline == 0) return none + "of this pipeline";
    if (like.size == 0) return none + "of this pipeline with outputs of the size " + shape;
    if (like.target == 0) return none + "of this pipeline for the target " + target;
    if (like.cores == 0) {
        return str(none, "of this pipeline for ", cores, cores == 1 ? " core" : " cores",
                   "; there are some for ", join(like.numbers_of_cores));
    }
    if (known.empty()) return none + "of this pipeline and this version of the compiler";
    return none + "of this pipeline, with a time and what is scheduled by hand now";
}

void TuningLog::note_near(const Near &n) {
    auto [best, is_new] = nears.try_emplace(n.shape, n);
    if (!is_new && n.milliseconds < best->second.milliseconds) best->second = n;
}

std::vector<TuningLog::Near> TuningLog::near_shapes() const {
    std::vector<Near> all;
    for (const auto &[of, n] : nears) all.push_back(n);
    std::ranges::stable_sort(all, {}, [&](const Near &n) { return distance(n.shape, shape); });
    return all;
}

const Measurement *TuningLog::find(const Schedule &schedule) const {
    auto found = known.find(schedule.hash(workload.algorithm()));
    return found == known.end() ? nullptr : &found->second.first;
}

double TuningLog::in_turns(const Schedule &schedule) const {
    auto found = known.find(schedule.hash(workload.algorithm()));
    return found == known.end() ? 0 : found->second.times.in_turns;
}

void TuningLog::note(uint64_t hash, const Measurement &m, Run how, const std::string &steps,
                     const Choices &choices) {
    Times &times = known.try_emplace(hash, Known{m, {}, steps, choices}).first->second.times;
    if (how == Run::InTurns) {
        times.in_turns = m.is_valid() ? m.milliseconds : std::numeric_limits<double>::infinity();
    } else if (m.is_valid() && (times.alone <= 0 || m.milliseconds < times.alone)) {
        times.alone = m.milliseconds;
    }
}

void TuningLog::add(const Schedule &schedule, const Measurement &m, const Origin &from) {
    add(schedule, m, from, Run::Alone);
}

void TuningLog::add_in_turns(const Schedule &schedule, const Measurement &m, const Origin &from) {
    add(schedule, m, from, Run::InTurns);
}

std::string TuningLog::record_of(const Schedule &schedule, const Origin &from) const {
    json record = {
        {"version", log_version},
        {"compiler", TESSERA_VERSION},
        {"algorithm", algorithm},
        {"family", family},
        {"shape", shape},
        {"target", target},
        {"cores", cores},
        {"schedule", hex(schedule.hash(workload.algorithm()))},
        {"steps", json::parse(program::schedule_to_json(workload.algorithm(), schedule))},
        {"sketch", from.sketch},
        {"plan", from.plan.empty() ? json() : json::parse(from.plan)}};
    if (!from.choices.empty()) record["choices"] = from.choices;
    return record.dump();
}

void TuningLog::add(const Schedule &schedule, const Measurement &m, const Origin &from, Run how) {
    json record = json::parse(record_of(schedule, from));
    note(schedule.hash(workload.algorithm()), m, how, record["steps"].dump(), from.choices);
    if (how == Run::InTurns) record["in_turns"] = true;
    record["outcome"] = std::string(name_of(m.outcome));
    record["ms"] = m.milliseconds;
    append_record(path, record.dump());
}

std::vector<TuningLog::Choices> TuningLog::best_choices() const {
    std::vector<const Known *> all;
    for (const auto &[hash, k] : known) {
        if (k.times.alone > 0 && !k.choices.empty()) all.push_back(&k);
    }
    std::ranges::stable_sort(all, {}, [](const Known *k) { return k->times.alone; });
    std::vector<Choices> choices;
    for (const Known *k : all) choices.push_back(k->choices);
    return choices;
}

namespace {

// Returns nothing if the steps cannot be performed, such as those of another version of the
// compiler, if they do not begin with what the user has scheduled by hand, or if lowering refuses
// them.
std::optional<Schedule> usable(const Workload &workload, const std::string &steps) {
    const auto &by_hand = workload.graph().by_hand.steps;
    try {
        Schedule s = program::schedule_from_json(workload.algorithm(), steps, {}, {});
        const bool is_of_this = s.steps.size() >= by_hand.size() &&
                                std::equal(by_hand.begin(), by_hand.end(), s.steps.begin());
        return is_of_this && workload.why_refused(s).empty() ? std::optional(std::move(s))
                                                             : std::nullopt;
    } catch (const CompileError &) {
        return std::nullopt;
    }
}

}  // namespace

std::optional<std::pair<Schedule, double>> TuningLog::best() const {
    std::vector<const Known *> all;
    std::vector<Times> times;
    for (const auto &[hash, k] : known) {
        all.push_back(&k);
        times.push_back(k.times);
    }
    while (const std::optional<size_t> best = fastest_of(times)) {
        if (auto s = usable(workload, all[*best]->steps))
            return std::pair(std::move(*s), times[*best].counted());
        times[*best] = {};
    }
    return std::nullopt;
}

}  // namespace tessera::autoscheduler
