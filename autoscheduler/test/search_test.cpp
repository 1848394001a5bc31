#include "autoscheduler/test/support.h"
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <unistd.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

// A file that is gone after the test.
struct TemporaryFile {
    std::string path =
        str(std::filesystem::temp_directory_path().string(), "/tessera_log_", getpid(), ".jsonl");
    TemporaryFile() { std::filesystem::remove(path); }
    ~TemporaryFile() { std::filesystem::remove(path); }
};

SearchOptions quick(int trials, TuningLog *log = nullptr) {
    SearchOptions options;
    options.trials = trials;
    options.measure = {.threads = 1, .run_seconds = 0.005};
    options.log = log;
    return options;
}

}  // namespace

TEST_SUITE("autoscheduler, search") {
    TEST_CASE("the result is among what was measured, and none was faster in turns with it") {
        const Problem problem(small_blur());
        const SearchResult result = search(problem.workload, problem.machine, quick(10));
        REQUIRE(result.trials.size() == 10);
        // The six fastest, and what is chosen by rules and by the model.
        const auto in_turns =
            std::ranges::count_if(result.trials, [](const Trial &t) { return t.in_turns > 0; });
        CHECK(in_turns >= 2);
        CHECK(in_turns <= 8);
        CHECK(result.trials[0].in_turns >= result.milliseconds);
        bool found = false;
        for (const Trial &t : result.trials) {
            if (t.in_turns > 0) CHECK(result.milliseconds <= t.in_turns);
            if (!(t.schedule == result.schedule)) continue;
            found = true;
            CHECK(result.milliseconds == t.in_turns);
        }
        CHECK(found);
    }
    TEST_CASE("what a schedule takes in turns with others decides, and not a lucky run") {
        std::vector<Times> all = {{30, 0}, {31, 0}, {32, 0}, {0, 0}};
        CHECK(fastest_of(all) == 0);
        all = {{30, 60}, {31, 30}, {32, 0}, {0, 0}};
        CHECK(fastest_of(all) == 1);
        CHECK(all[1].counted() == 30);
        // One that was faster when it was tried has yet to run so.
        all[2].alone = 29;
        CHECK(fastest_of(all) == 2);
        all[2].in_turns = std::numeric_limits<double>::infinity();
        CHECK(fastest_of(all) == 1);
        CHECK(all[2].counted() == 0);
        CHECK_FALSE(fastest_of({{0, 0}, {0, 0}}));
    }
    TEST_CASE("the log tells a search that goes on what ran in turns") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        SearchResult first;
        {
            TuningLog log(file.path, problem.workload, 2);
            first = search(problem.workload, problem.machine, quick(8, &log));
            CHECK(log.best()->first == first.schedule);
            // The schedule now looks as if it had been lucky.
            log.add_in_turns(first.schedule, {Outcome::Measured, 1e6, ""}, {});
            CHECK_FALSE(log.best()->first == first.schedule);
        }
        TuningLog log(file.path, problem.workload, 2);
        CHECK(log.in_turns(first.schedule) == 1e6);
        const SearchResult again = search(problem.workload, problem.machine, quick(8, &log));
        CHECK_FALSE(again.schedule == first.schedule);
        CHECK(log.best()->first == again.schedule);
        CHECK(log.best()->second == again.milliseconds);
    }
    TEST_CASE("no schedule is measured twice") {
        const Problem problem(small_blur());
        const SearchResult result = search(problem.workload, problem.machine, quick(12));
        std::set<uint64_t> hashes;
        for (const Trial &t : result.trials) {
            CHECK(hashes.insert(t.schedule.hash(problem.algorithm)).second);
        }
    }
    TEST_CASE("what the log has is not measured again, and a damaged line is passed over") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        std::vector<double> first;
        {
            TuningLog log(file.path, problem.workload, 2);
            const SearchResult result = search(problem.workload, problem.machine, quick(8, &log));
            for (const Trial &t : result.trials) first.push_back(t.measurement.milliseconds);
            CHECK(log.size() == 8);
        }
        // The log now looks as if the program had been killed while it wrote.
        std::ofstream(file.path, std::ios::app) << "{\"version\": 1, \"algorithm\": \"12";
        TuningLog log(file.path, problem.workload, 2);
        CHECK(log.size() == 8);
        CHECK(log.damaged_lines() == 1);
        const SearchResult again = search(problem.workload, problem.machine, quick(8, &log));
        std::vector<double> second;
        for (const Trial &t : again.trials) second.push_back(t.measurement.milliseconds);
        CHECK(first == second);
        CHECK(log.best()->second == again.milliseconds);
        CHECK(log.best()->first == again.schedule);
        // More is measured behind the damaged line, and is read again.
        const SearchResult more = search(problem.workload, problem.machine, quick(10, &log));
        CHECK(TuningLog(file.path, problem.workload, 2).size() >= 10);
        CHECK(more.trials.size() == 10);
    }
    TEST_CASE("a log of another pipeline, or of another size, says nothing") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        {
            TuningLog log(file.path, problem.workload, 2);
            search(problem.workload, problem.machine, quick(2, &log));
        }
        const Problem larger(small_blur(512));
        CHECK(TuningLog(file.path, larger.workload, 2).size() == 0);
        CHECK_FALSE(TuningLog(file.path, larger.workload, 2).best());
        CHECK_THROWS_WITH_AS(TuningLog("/nowhere/log.jsonl", problem.workload, 2),
                             "the log of measurements /nowhere/log.jsonl cannot be written",
                             RuntimeError);
    }
    TEST_CASE(
        "a search that its log knows all of measures nothing, though plans make one schedule") {
        const TemporaryFile file;
        Var x("x"), y("y");
        ImageParam in(Float(32), 2, "in");
        Func across("across"), blur("blur");
        across(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
        blur(x, y) = across(x, y) + across(x, y + 1) + across(x, y + 2);
        blur.set_estimates({{0, 512}, {0, 256}});
        const Problem problem(blur);
        auto records = [&] {
            std::ifstream log(file.path);
            size_t lines = 0;
            for (std::string line; std::getline(log, line);) lines++;
            return lines;
        };
        std::vector<size_t> counts;
        for (int i = 0; i < 2; i++) {
            TuningLog log(file.path, problem.workload, 2);
            const SearchResult r = search(problem.workload, problem.machine, quick(20, &log));
            std::set<uint64_t> hashes;
            for (const Trial &t : r.trials) hashes.insert(t.schedule.hash(problem.algorithm));
            CHECK(hashes.size() == 20);
            counts.push_back(records());
        }
        CHECK(counts[0] == counts[1]);
    }
    TEST_CASE("a file that is no log is refused, and stays as it is") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        const std::string notes = "buy milk\n{\"version\": 1}\n";
        std::ofstream(file.path) << notes;
        for (LogUse use : {LogUse::Write, LogUse::Read}) {
            CHECK_THROWS_WITH_AS(
                TuningLog(file.path, problem.workload, 2, use),
                doctest::Contains((file.path + " is no log of measurements").c_str()),
                RuntimeError);
        }
        std::stringstream after;
        after << std::ifstream(file.path).rdbuf();
        CHECK(after.str() == notes);
        // A program that was killed over its first record leaves a log.
        std::ofstream(file.path) << "{\"algorithm\": \"12";
        CHECK_NOTHROW(TuningLog(file.path, problem.workload, 2));
    }
    TEST_CASE("lines that are no measurements are warned of, but not one that was cut off") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        {
            TuningLog log(file.path, problem.workload, 2);
            search(problem.workload, problem.machine, quick(2, &log));
        }
        std::ofstream(file.path, std::ios::app) << "{\"algorithm\": \"12";
        Warnings warnings;
        TuningLog(file.path, problem.workload, 2).warn_of_damage();
        CHECK(warnings.text() == "");
        std::ofstream(file.path, std::ios::app) << "\nbuy milk\n{\"algorithm\": \"12";
        TuningLog(file.path, problem.workload, 2).warn_of_damage();
        CHECK(warnings.text() == "2 lines of " + file.path + " are no measurements\n");
    }
    TEST_CASE("a log has no empty lines") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        for (int trials : {2, 4}) {
            TuningLog log(file.path, problem.workload, 2);
            search(problem.workload, problem.machine, quick(trials, &log));
        }
        std::stringstream text;
        text << std::ifstream(file.path).rdbuf();
        CHECK(text.str().starts_with("{"));
        CHECK(text.str().find("\n\n") == std::string::npos);
    }
    TEST_CASE("a log that has nothing for a pipeline says what it lacks") {
        const TemporaryFile file;
        const Problem problem(small_blur());
        auto lack = [&](const Problem &of, int cores) {
            return TuningLog(file.path, of.workload, cores, LogUse::Read).why_of_no_use();
        };
        CHECK(lack(problem, 2) == "the log of measurements " + file.path + " does not exist");
        CHECK_FALSE(std::filesystem::exists(file.path));
        {
            TuningLog log(file.path, problem.workload, 2);
            CHECK(lack(problem, 2) == "the log of measurements " + file.path + " is empty");
            search(problem.workload, problem.machine, quick(1, &log));
        }
        CHECK(lack(problem, 2) == "");
        const std::string none = "none of the 1 records of " + file.path + " is of this pipeline";
        CHECK(lack(Problem(product_of_images(32)), 2) == none);
        CHECK(lack(Problem(small_blur(512)), 2) == none + " with outputs of the size 512x128");
        CHECK(lack(problem, 4) == none + " for 4 cores; there are some for 2");
        const Target other("arm-64-linux");
        CHECK(lack(Problem(small_blur(), other), 2) ==
              none + " for the target " +
                  Problem(small_blur(), other).workload.target().to_string());
    }
    TEST_CASE("without a measurement, the same schedule comes out each time") {
        const Problem problem(small_blur());
        const SearchResult a = search(problem.workload, problem.machine, quick(0));
        const SearchResult b = search(problem.workload, problem.machine, quick(0));
        CHECK(a.trials.empty());
        CHECK(a.schedule == b.schedule);
    }
    TEST_CASE("what is chosen without a measurement is among the first that are measured") {
        const Problem problem(small_blur());
        const SearchResult chosen = search(problem.workload, problem.machine, quick(0)),
                           measured = search(problem.workload, problem.machine, quick(2));
        REQUIRE(measured.trials.size() == 2);
        CHECK((measured.trials[0].schedule == chosen.schedule ||
               measured.trials[1].schedule == chosen.schedule));
    }
}
