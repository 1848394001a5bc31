#include "autoscheduler/tuning_log.h"
#include "program/schedule_json.h"
#include <cinttypes>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tessera::autoscheduler {

using nlohmann::json;
using program::Schedule;

namespace {

constexpr int format_version = 1;

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

std::optional<Outcome> outcome_of(const std::string &name) {
    for (Outcome o : {Outcome::Measured, Outcome::Refused, Outcome::Failed, Outcome::Wrong,
                      Outcome::Crashed, Outcome::TimedOut}) {
        if (name == name_of(o)) return o;
    }
    return std::nullopt;
}

}  // namespace

TuningLog::TuningLog(const std::string &path, const Workload &workload)
    : path(path), workload(workload), algorithm(hex(workload.algorithm().hash())),
      shape(shape_of(workload.graph())), target(workload.target().to_string()) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.empty()) read_line(line);
    }
    const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (out < 0) throw RuntimeError(str("the log of measurements ", path, " cannot be written"));
    close(out);
}

void TuningLog::read_line(const std::string &line) {
    const json record = json::parse(line, nullptr, false);
    try {
        if (record.is_discarded() || record.at("version") != format_version) {
            damaged++;
            return;
        }
        const bool is_ours = record.at("algorithm") == algorithm && record.at("shape") == shape &&
                             record.at("target") == target;
        const auto outcome = outcome_of(record.at("outcome"));
        if (!is_ours || !outcome) return;
        const uint64_t hash = std::stoull(record.at("schedule").get<std::string>(), nullptr, 16);
        known[hash] = {{*outcome, record.at("ms"), ""}, record.at("steps").dump()};
    } catch (const std::exception &) {
        damaged++;
    }
}

const Measurement *TuningLog::find(const Schedule &schedule) const {
    auto found = known.find(schedule.hash(workload.algorithm()));
    return found == known.end() ? nullptr : &found->second.measurement;
}

void TuningLog::add(const Schedule &schedule, const Measurement &m) {
    const uint64_t hash = schedule.hash(workload.algorithm());
    const std::string steps = program::schedule_to_json(workload.algorithm(), schedule);
    known[hash] = {m, steps};
    const json record = {{"version", format_version},
                         {"algorithm", algorithm},
                         {"shape", shape},
                         {"target", target},
                         {"schedule", hex(hash)},
                         {"outcome", std::string(name_of(m.outcome))},
                         {"ms", m.milliseconds},
                         {"steps", json::parse(steps)}};
    // After a record that was cut off, this one is still a line of its own.
    const std::string line = "\n" + record.dump() + "\n";
    const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    const bool is_written =
        out >= 0 && write(out, line.data(), line.size()) == ssize_t(line.size());
    if (out >= 0) close(out);
    if (!is_written)
        throw RuntimeError(str("the log of measurements ", path, " cannot be written"));
}

std::optional<std::pair<Schedule, double>> TuningLog::best() const {
    const Known *fastest = nullptr;
    for (const auto &[hash, k] : known) {
        const bool is_faster =
            !fastest || k.measurement.milliseconds < fastest->measurement.milliseconds;
        if (k.measurement.is_valid() && is_faster) fastest = &k;
    }
    if (!fastest) return std::nullopt;
    return std::pair(program::schedule_from_json(workload.algorithm(), fastest->steps, {}, {}),
                     fastest->measurement.milliseconds);
}

}  // namespace tessera::autoscheduler
