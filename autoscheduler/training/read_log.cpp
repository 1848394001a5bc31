#include "autoscheduler/machine_probe.h"
#include "autoscheduler/training/log.h"
#include "autoscheduler/tuning_problem.h"
#include "program/schedule_json.h"
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace tessera::autoscheduler::training {

using nlohmann::json;

namespace {

// The records of one pipeline, measured with so many cores.
using Key = std::tuple<uint64_t, int, std::string>;

std::map<Key, std::vector<json>> grouped(const std::vector<std::string> &paths) {
    std::map<Key, std::vector<json>> groups;
    for (const std::string &path : paths) {
        std::ifstream file(path);
        if (!file) throw RuntimeError(str("the log ", path, " cannot be read"));
        for (std::string line; std::getline(file, line);) {
            json record = json::parse(line, nullptr, false);
            if (record.is_discarded()) continue;
            groups[{record.at("seed"), record.at("cores"), record.at("target")}].push_back(
                std::move(record));
        }
    }
    return groups;
}

class GroupReader {
public:
    GroupReader(uint64_t seed, int cores, const std::string &target)
        : sample(random_sample(seed)), algorithm(outputs_of(sample.pipeline)),
          graph(algorithm, program::schedule_of(outputs_of(sample.pipeline))), target(target),
          machine(known_machine(this->target, cores)) {}

    // Null if the record is of another pipeline.
    std::optional<LearnedProgram> operator()(const json &record, int group) {
        if (record.at("algorithm") != algorithm.hash()) return std::nullopt;
        if (record.contains("machine")) {
            machine = machine_from_json(record.at("machine").dump(), target).value_or(machine);
        }
        try {
            const program::Schedule schedule =
                program::schedule_from_json(algorithm, record.at("steps").dump(), {}, {});
            // Steps that make functions make another graph.
            std::optional<Graph> own;
            const bool makes_functions =
                std::ranges::any_of(schedule.steps, [](const program::Step &step) {
                    return program::made_by(step).defined();
                });
            if (makes_functions) own.emplace(algorithm, schedule);
            LoopTree tree(own ? *own : graph, program::apply(algorithm, schedule));
            const Cost cost = estimate_cost(tree, machine);
            return LearnedProgram{features_of(tree, cost, machine), record.at("ms"), group};
        } catch (const CompileError &) {
            return std::nullopt;
        }
    }

private:
    const Sample sample;
    const program::Algorithm algorithm;
    const Graph graph;
    const Target target;
    Machine machine;
};

}  // namespace

TrainingLog read_log(const std::vector<std::string> &paths) {
    TrainingLog log;
    for (const auto &[key, records] : grouped(paths)) {
        const auto &[seed, cores, target] = key;
        GroupReader read(seed, cores, target);
        const size_t before = log.programs.size();
        for (const json &record : records) {
            auto program = read(record, int(log.seeds.size()));
            if (program) {
                log.programs.push_back(std::move(*program));
            } else {
                log.dropped++;
            }
        }
        if (log.programs.size() > before) log.seeds.push_back(seed);
    }
    return log;
}

}  // namespace tessera::autoscheduler::training
