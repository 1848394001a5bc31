// Trains the cost model that ships with Tessera: README.md.
#include "autoscheduler/training/log.h"
#include "autoscheduler/training/quality.h"
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::training;

namespace {

struct FitOptions {
    std::vector<std::string> logs;
    std::string out;
    BoostingOptions boosting = {.rounds = 200,
                                .depth = 6,
                                .rate = 0.1,
                                .regularization = 4,
                                .least_child = 2,
                                .columns = 0.7,
                                .rows = 0.8};
};

// One pipeline of ten is not learned from, and shows what a model knows of those it has not seen.
bool is_held_out(uint64_t seed) { return seed % 10 == 0; }

std::vector<LearnedProgram> part_of(const TrainingLog &log, bool held_out) {
    std::vector<LearnedProgram> part;
    for (const LearnedProgram &p : log.programs) {
        if (is_held_out(log.seeds[size_t(p.group)]) == held_out) part.push_back(p);
    }
    return part;
}

void print(const char *what, const Quality &q) {
    std::printf("%-34s %6zu programs of %4zu pipelines: %.3f of pairs in order; the best of the "
                "first 1, 5, 10 takes %.2f, %.2f, %.2f times the least\n",
                what, q.programs, q.groups, q.pairs_in_order, q.best_of[0], q.best_of[1],
                q.best_of[2]);
}

// Returns the part of the pairs of pipelines that are held out which the model has in order.
double evaluate(const TrainingLog &log, const BoostedTrees &model) {
    double in_order = 1;
    for (bool held_out : {false, true}) {
        const std::vector<LearnedProgram> part = part_of(log, held_out);
        const char *of = held_out ? "held out" : "learned from";
        print(str("estimated, ", of).c_str(), quality_of(BoostedTrees(), part));
        const Quality of_model = quality_of(model, part);
        print(str("model, ", of).c_str(), of_model);
        if (held_out) in_order = of_model.pairs_in_order;
    }
    const std::vector<int> uses = model.uses(feature_count);
    std::printf("splits by feature:");
    for (size_t i = 0; i < uses.size(); i++)
        std::printf(" %s %d", std::string(feature_names()[i]).c_str(), uses[i]);
    std::printf("\n");
    return in_order;
}

// Says how good the shipped model must be; evaluate_shipped() returns false if it is not.
struct EvaluateOptions {
    std::vector<std::string> logs;
    double pairs = 0;     // the least part of the pairs that are held out to be in order
    size_t programs = 0;  // the least number that the logs have
};

TrainingLog read(const std::vector<std::string> &paths) {
    TrainingLog log = read_log(paths);
    std::printf("%zu programs of %zu pipelines; %d records are of other pipelines\n",
                log.programs.size(), log.seeds.size(), log.dropped);
    return log;
}

bool evaluate_shipped(const EvaluateOptions &options) {
    const TrainingLog log = read(options.logs);
    const double in_order = evaluate(log, LearnedCost::shipped_model());
    return log.programs.size() >= options.programs && in_order >= options.pairs;
}

void fit(const FitOptions &options) {
    const TrainingLog log = read(options.logs);
    const BoostedTrees model = train_cost(part_of(log, false), options.boosting);
    evaluate(log, model);
    std::ofstream file(options.out);
    file << model.to_json(feature_names()) << "\n";
    if (!file.flush()) throw RuntimeError(str(options.out, " cannot be written"));
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app("Trains the auto-scheduler's cost model");
    app.require_subcommand(1);
    CollectOptions collecting;
    FitOptions fitting;
    CLI::App *collect_command = app.add_subcommand("collect", "measure random pipelines");
    collect_command->add_option("--log", collecting.log, "append to this file")->required();
    collect_command->add_option("--first", collecting.first, "the first pipeline");
    collect_command->add_option("--last", collecting.last, "the one behind the last");
    collect_command->add_option("--schedules", collecting.per_pipeline, "of each pipeline");
    collect_command->add_option("--jobs", collecting.jobs, "pipelines at once");
    collect_command->add_option("--threads", collecting.threads, "of a run");
    collect_command->add_option("--seconds", collecting.seconds, "after which none is begun");
    CLI::App *fit_command = app.add_subcommand("fit", "train a model");
    fit_command->add_option("--log", fitting.logs, "what was measured")->required();
    fit_command->add_option("--out", fitting.out, "write the model to this file")->required();
    fit_command->add_option("--rounds", fitting.boosting.rounds, "trees");
    fit_command->add_option("--depth", fitting.boosting.depth, "of a tree");
    fit_command->add_option("--rate", fitting.boosting.rate, "by which each tree is believed");
    fit_command->add_option("--lambda", fitting.boosting.regularization, "of XGBoost");
    CLI::App *evaluate_command = app.add_subcommand("evaluate", "how good the shipped model is");
    EvaluateOptions evaluating;
    evaluate_command->add_option("--log", evaluating.logs, "what was measured")->required();
    evaluate_command->add_option("--least-pairs", evaluating.pairs,
                                 "fail if a smaller part of those held out is in order");
    evaluate_command->add_option("--least-programs", evaluating.programs,
                                 "fail if the logs have fewer that can be read");
    CLI11_PARSE(app, argc, argv);
    try {
        if (*collect_command) collect(collecting);
        if (*fit_command) fit(fitting);
        if (*evaluate_command && !evaluate_shipped(evaluating)) {
            std::cerr << "the model is not as good, or the logs have not as many programs, as is "
                         "asked for\n";
            return 1;
        }
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
