#include "autoscheduler/test/support.h"
#include <filesystem>
#include <fstream>
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
    TEST_CASE("the result is among what was measured, and none was faster") {
        const Problem problem(small_blur());
        const SearchResult result = search(problem.workload, problem.machine, quick(10));
        REQUIRE(result.trials.size() == 10);
        bool found = false;
        for (const Trial &t : result.trials) {
            if (!t.measurement.is_valid()) continue;
            CHECK(result.milliseconds <= t.measurement.milliseconds);
            found |= t.schedule == result.schedule;
        }
        CHECK(found);
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
        // As if the program had been killed while it wrote.
        std::ofstream(file.path, std::ios::app) << "{\"version\": 1, \"algorithm\": \"12";
        TuningLog log(file.path, problem.workload, 2);
        CHECK(log.size() == 8);
        CHECK(log.damaged_lines() == 1);
        const SearchResult again = search(problem.workload, problem.machine, quick(8, &log));
        std::vector<double> second;
        for (const Trial &t : again.trials) second.push_back(t.measurement.milliseconds);
        CHECK(first == second);
        // What was refused took no time.
        std::erase(second, 0.0);
        CHECK(log.best()->second == *std::ranges::min_element(second));
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
    TEST_CASE("without a measurement, the same schedule comes out each time") {
        const Problem problem(small_blur());
        const SearchResult a = search(problem.workload, problem.machine, quick(0));
        const SearchResult b = search(problem.workload, problem.machine, quick(0));
        CHECK(a.trials.empty());
        CHECK(a.schedule == b.schedule);
    }
}
