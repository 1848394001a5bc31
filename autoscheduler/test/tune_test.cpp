#include "autoscheduler/mutate.h"
#include "autoscheduler/plan_json.h"
#include "autoscheduler/test/support.h"
#include "autoscheduler/tune/task_scheduler.h"
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <signal.h>
#include <sstream>
#include <sys/wait.h>
#include <tessera_generator.h>
#include <unistd.h>

using namespace tessera;
using namespace std::chrono_literals;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

class SmallBlurGenerator : public Generator<SmallBlurGenerator> {
public:
    Input<Buffer<float, 2>> in{"in"};
    Output<Buffer<float, 2>> out{"out"};

    void generate() override {
        Var x("x"), y("y");
        Func across("across");
        across(x, y) = in(x, y) + in(x + 1, y);
        out(x, y) = across(x, y) + across(x, y + 1);
        out.set_estimates({{0, 256}, {0, 128}});
        if (!using_autoscheduler()) out.parallel(y);
    }
};
class PointsGenerator : public Generator<PointsGenerator> {
public:
    Input<Buffer<float, 1>> in{"in"};
    Output<Buffer<float, 1>> out{"out"};

    void generate() override {
        Var x("x");
        out(x) = in(x) * 2;
        out.set_estimates({{0, 4096}});
    }
};

class UnestimatedGenerator : public Generator<UnestimatedGenerator> {
public:
    Output<Buffer<float, 1>> out{"out"};
    void generate() override {
        Var x("x");
        out(x) = cast<float>(x);
    }
};

struct TemporaryFolder {
    std::string path =
        str(std::filesystem::temp_directory_path().string(), "/tessera_tune_", getpid());
    TemporaryFolder() { std::filesystem::create_directories(path); }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    std::string file(const char *name) const { return path + "/" + name; }
    std::string text(const char *name) const {
        std::ifstream in(file(name));
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

// Holds what a generator's executable prints, and what it complains about.
struct Answer {
    int status = 0;
    std::string out, errors;
};
Answer answer_to(const std::vector<std::string> &arguments) {
    std::ostringstream out, errors;
    Answer a;
    a.status = run_generator_command(arguments, out, errors);
    a.out = out.str();
    a.errors = errors.str();
    return a;
}

TuningTask task(std::vector<double> history, double least = 0, double weight = 1) {
    TuningTask t;
    t.history = std::move(history);
    t.least = least;
    t.weight = weight;
    return t;
}

}  // namespace

TESSERA_REGISTER_GENERATOR(SmallBlurGenerator, tuned_blur)
TESSERA_REGISTER_GENERATOR(PointsGenerator, tuned_points)
TESSERA_REGISTER_GENERATOR(UnestimatedGenerator, tuned_unestimated)

TEST_SUITE("autoscheduler, tuning") {
    TEST_CASE("each task has a batch, then that which can still gain the most") {
        CHECK(next_task(std::vector{task({1}), task({})}) == 1);
        // A longer one, or one that runs more often.
        CHECK(next_task(std::vector{task({1}), task({10})}) == 1);
        CHECK(next_task(std::vector{task({1}, 0, 100), task({10})}) == 0);
        // At the machine's limit there is nothing to gain.
        CHECK(next_task(std::vector{task({1}), task({10}, 10)}) == 0);
        // The one that gets faster goes on.
        CHECK(next_task(std::vector{task({4, 4, 4, 4}), task({12, 8, 6, 4})}) == 1);
        std::vector<TuningTask> done = {task({1})};
        done[0].is_done = true;
        CHECK(next_task(done) == -1);
    }
    TEST_CASE("a plan is the same after it was written and read, and no other graph's") {
        const Problem problem(small_blur());
        std::mt19937_64 random(3);
        Plan plan = schedule_simply(problem.graph, problem.machine).plan;
        for (int i = 0; i < 20; i++) {
            plan = mutated(problem.graph, plan, problem.machine, random);
            CHECK(plan_from_json(to_json(plan), problem.graph) == plan);
        }
        CHECK_FALSE(plan_from_json("[]", problem.graph));
        CHECK_FALSE(plan_from_json("{", problem.graph));
        CHECK_FALSE(plan_from_json(R"([{"place": 9, "at": -1, "stages": []}])", problem.graph));
        plan.functions[0].place = Place::Root;
        for (int nowhere : {int(plan.functions.size()), 1000, -2}) {
            plan.functions[0].at = nowhere;
            CHECK_FALSE(plan_from_json(to_json(plan), problem.graph));
        }
    }
    TEST_CASE("pipelines that differ in their constants are of one family") {
        const auto of = [](float weight, bool adds) {
            Var x("x");
            Func f("f");
            f(x) = adds ? cast<float>(x) + weight : cast<float>(x) * weight;
            f.set_estimates({{0, 100}});
            return family_of(Problem(f).graph);
        };
        CHECK(of(1, true) == of(2, true));
        CHECK(of(1, true) != of(1, false));
    }
    TEST_CASE("for a GPU rules make the schedules, and the report lists the kernels") {
        const TemporaryFolder folder;
        const Answer a = answer_to({"--tune", "-g", "tuned_blur", "-g", "tuned_points", "-o",
                                    folder.path, "--target", "x86-64-linux-cuda"});
        CAPTURE(a.errors);
        REQUIRE(a.status == 0);
        CHECK(a.out.find("tuned_blur: tiles, ") != std::string::npos);
        CHECK(a.out.find("registers  shared occupancy") != std::string::npos);
        CHECK(a.errors == "");
        CHECK(folder.text("tuned_blur.schedule.h").find(".gpu_blocks(") != std::string::npos);
        CHECK(folder.text("tuned_blur.kernels.txt").find("bound by") != std::string::npos);
        for (const char *option : {"--export", "--trials", "--log"}) {
            const Answer b = answer_to({"--tune", "-g", "tuned_blur", "-o", folder.path, option,
                                        "5", "--target", "x86-64-linux-cuda"});
            CHECK(b.status != 0);
            CHECK(b.errors.find("leave") != std::string::npos);
        }
    }
    TEST_CASE("generators are tuned under one budget, and written as C++ with reports") {
        const TemporaryFolder folder;
        const std::string log = folder.file("log.jsonl");
        const Answer a =
            answer_to({"--tune", "-g", "tuned_blur", "-g", "tuned_points:2", "-o", folder.path,
                       "--log", log, "--trials", "12", "--parallelism", "1"});
        CAPTURE(a.errors);
        REQUIRE(a.status == 0);
        CHECK(a.out.find("tuned_blur ") != std::string::npos);
        CHECK(a.out.find("tuned_points ") != std::string::npos);
        // The budget is that of both, and is kept.
        std::istringstream table(a.out.substr(a.out.find('\n') + 1));
        int trials = 0;
        for (std::string line; std::getline(table, line);)
            trials += std::stoi(line.substr(line.rfind(' ')));
        CHECK(trials == 12);
        CHECK(folder.text("tuned_blur.schedule.h")
                  .starts_with("// The schedule of tuned_blur, for a Pipeline `pipeline` of the "
                               "same algorithm.\n"));
        CHECK(folder.text("tuned_blur.schedule.h").find("pipeline.get_func(") != std::string::npos);
        CHECK(folder.text("tuned_points.html").find("</html>") != std::string::npos);
        SUBCASE("what was found is there without a search") {
            setenv("TESSERA_TUNING_LOG", log.c_str(), 1);
            const Answer b = answer_to({"-g", "tuned_blur", "-o", folder.path, "-e", "schedule",
                                        "-n", "replayed", "target=host", "autoscheduler=tessera",
                                        "autoscheduler.trials=0", "autoscheduler.parallelism=1"});
            unsetenv("TESSERA_TUNING_LOG");
            CAPTURE(b.errors);
            REQUIRE(b.status == 0);
            const std::string tuned = folder.text("tuned_blur.schedule.h"),
                              replayed = folder.text("replayed.schedule.h");
            auto directives = [](const std::string &text) {
                const size_t at = text.find("\nout.");
                return at == std::string::npos ? text : text.substr(at, text.find(';', at) - at);
            };
            CHECK(directives(tuned).find(".vectorize(") != std::string::npos);
            for (const char *part : {".vectorize(", ".split("}) {
                const size_t at = tuned.find(part);
                if (at == std::string::npos) continue;
                CHECK(replayed.find(tuned.substr(at, tuned.find(')', at) - at)) !=
                      std::string::npos);
            }
        }
    }
    TEST_CASE("each pipeline has a part of few trials, and one that has none is named") {
        const TemporaryFolder folder;
        const auto trials_of = [&](const char *trials, std::vector<int> &all) {
            const Answer a = answer_to({"--tune", "-g", "tuned_blur", "-g", "tuned_points", "-o",
                                        folder.path, "--log", folder.file("log.jsonl"), "--trials",
                                        trials, "--parallelism", "1", "--no-reports"});
            CAPTURE(a.errors);
            REQUIRE(a.status == 0);
            std::istringstream table(a.out.substr(a.out.find('\n') + 1));
            for (std::string line; std::getline(table, line);)
                all.push_back(std::stoi(line.substr(56)));
        };
        Warnings warnings;
        std::vector<int> nine, one;
        trials_of("9", nine);
        REQUIRE(nine.size() == 2);
        CHECK(nine[0] + nine[1] == 9);
        // The search decides which of them has more, by what was gained on this machine.
        CHECK(nine[0] >= 1);
        CHECK(nine[1] >= 1);
        CHECK(warnings.text() == "");
        trials_of("1", one);
        CHECK(one == std::vector<int>{1, 0});
        CHECK(warnings.text() ==
              "tuned_points: nothing is measured, since the trials or the time are used up\n");
    }
    TEST_CASE("without measuring, schedules come from the model alone") {
        const TemporaryFolder folder;
        const Answer a = answer_to(
            {"--tune", "-g", "tuned_points", "-o", folder.path, "--no-measure", "--no-reports"});
        CAPTURE(a.errors);
        CHECK(a.status == 0);
        CHECK(folder.text("tuned_points.schedule.h").find(".vectorize(") != std::string::npos);
        CHECK_FALSE(std::filesystem::exists(folder.file("tuned_points.html")));
        CHECK_FALSE(std::filesystem::exists(folder.file("log.jsonl")));
    }
    TEST_CASE("what is not known is no 0, and a time of the log is said to be one") {
        const TemporaryFolder folder;
        const std::vector<std::string> command = {
            "--tune", "-g", "tuned_points", "-o", folder.path, "--parallelism", "1"};
        auto answer = [&](std::vector<std::string> more) {
            more.insert(more.begin(), command.begin(), command.end());
            return answer_to(more);
        };
        const std::string model = answer({"--no-measure"}).out;
        CHECK(model.find("tuned_points                      -          -         -        0\n") !=
              std::string::npos);
        const std::string log = folder.file("log.jsonl");
        REQUIRE(answer({"--log", log, "--trials", "2"}).status == 0);
        CHECK(folder.text("tuned_points.html").find("<h1>tuned_points</h1>") != std::string::npos);
        Warnings warnings;
        const std::string replayed = answer({"--log", log, "--no-measure"}).out;
        CHECK(replayed.find("  the best is of the log\n") != std::string::npos);
        CHECK(replayed.find("tuned_points.html stays, since it has measurements") !=
              std::string::npos);
        CHECK(warnings.text() == "");
        CHECK(answer({"--log", log, "--no-measure", "-g", "tuned_blur"}).status == 0);
        CHECK(warnings.text().starts_with("tuned_blur: none of the "));
        CHECK(warnings.text().ends_with(" records of " + log + " is of this pipeline\n"));
    }
    TEST_CASE("of several pipelines one that fails is named, and the others go on") {
        const TemporaryFolder folder;
        const Warnings warnings;
        const Answer a = answer_to({"--tune", "-g", "tuned_unestimated", "-g", "tuned_points", "-o",
                                    folder.path, "--no-measure", "--no-reports"});
        CHECK(a.status == 1);
        CHECK(a.errors == "error: 1 of 2 pipelines failed: tuned_unestimated\n");
        CHECK(warnings.text().starts_with("tuned_unestimated: "));
        CHECK(warnings.text().find("the size of the output out has to be estimated") !=
              std::string::npos);
        CHECK(folder.text("tuned_points.schedule.h").find(".vectorize(") != std::string::npos);
        CHECK(answer_to({"--tune", "-g", "tuned_unestimated", "-o", folder.path, "--no-measure"})
                  .errors.starts_with("error: tuned_unestimated: "));
    }
    TEST_CASE("mistakes on the command line are told in a sentence") {
        CHECK(answer_to({"--tune", "-g", "nothing"}).errors.find("nothing") != std::string::npos);
        CHECK(answer_to({"--tune", "--trials", "none"}).errors ==
              "error: --trials wants a number of at least 1, not none\n");
        CHECK(answer_to({"--tune", "--log"}).errors == "error: --log wants a value after it\n");
        CHECK(answer_to({"--tune", "--what"}).errors ==
              "error: \"--what\" is no option and no name=value; see --tune --help\n");
        CHECK(answer_to({"--tune", "--help"}).out.find("usage: generator --tune") == 0);
        CHECK(answer_to({"--help"}).out.find("--tune") != std::string::npos);
        CHECK(answer_to({"--help"}).out.find("  simple ") != std::string::npos);
        CHECK(answer_to({"--help"}).out.find("parallelism=") != std::string::npos);
    }
    TEST_CASE("what was found for another size is among the first that are measured") {
        const TemporaryFolder folder;
        const std::string path = folder.file("log.jsonl");
        SearchOptions options;
        options.trials = 12;
        options.measure = {.threads = 1, .run_seconds = 0.005};
        std::string plan;
        {
            const Problem problem(small_blur(256));
            TuningLog log(path, problem.workload, 2);
            options.log = &log;
            search(problem.workload, problem.machine, options);
        }
        const Problem larger(small_blur(384));
        TuningLog log(path, larger.workload, 2);
        REQUIRE(log.near_shapes().size() == 1);
        plan = log.near_shapes()[0].plan;
        CHECK(log.near_shapes()[0].shape == "256x128");
        options.log = &log;
        options.trials = 3;
        const SearchResult result = search(larger.workload, larger.machine, options);
        bool is_there = false;
        for (const Trial &t : result.trials) is_there |= to_json(t.plan) == plan;
        const bool is_by_rules =
            to_json(schedule_simply(larger.graph, larger.machine).plan) == plan;
        CHECK((is_there || is_by_rules));
    }
    TEST_CASE("a search that is killed at any moment loses nothing of what it had measured") {
        const TemporaryFolder folder;
        const std::string path = folder.file("log.jsonl");
        const Problem problem(small_blur());
        std::mt19937_64 random(7);
        size_t before = 0;
        for (int kills = 0; kills < 50; kills++) {
            const pid_t process = fork();
            REQUIRE(process >= 0);
            if (process == 0) {
                TuningLog log(path, problem.workload, 2);
                SearchOptions options;
                options.trials = 1000;
                options.measure = {.threads = 1, .run_seconds = 0.001};
                options.log = &log;
                search(problem.workload, problem.machine, options);
                _exit(0);
            }
            // A random moment after it has gone on.
            const auto begin = std::chrono::steady_clock::now();
            auto size = [&] {
                std::error_code none;
                const auto bytes = std::filesystem::file_size(path, none);
                return none ? 0 : bytes;
            };
            const auto old = size();
            while (size() == old && std::chrono::steady_clock::now() - begin < 100s) usleep(500);
            usleep(useconds_t(random() % 20'000));
            kill(process, SIGKILL);
            waitpid(process, nullptr, 0);
            const TuningLog log(path, problem.workload, 2);
            CHECK(log.size() >= before);
            CHECK(log.damaged_lines() <= size_t(kills + 1));
            before = log.size();
        }
        CHECK(before >= 40);  // each went on where the one before was
    }
}
