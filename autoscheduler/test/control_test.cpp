#include "autoscheduler/test/support.h"
#include "base/warning.h"
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/mman.h>
#include <tessera_tune.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace tessera;
using namespace std::chrono_literals;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

using Clock = std::chrono::steady_clock;

SearchOptions quick(int trials) {
    SearchOptions options;
    options.trials = trials;
    options.measure = {.threads = 1, .run_seconds = 0.005};
    return options;
}

// Temporary files of this process are in a folder of their own while it lives.
struct TemporaryFolder {
    TemporaryFolder() {
        std::filesystem::create_directories(path);
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~TemporaryFolder() {
        unsetenv("TMPDIR");
        std::filesystem::remove_all(path);
    }
    const std::string path =
        (std::filesystem::temp_directory_path() / str("tessera_control_test_", getpid())).string();
};

// Requests a stop of a search from another thread once so many schedules are measured.
class StopAfter {
public:
    explicit StopAfter(size_t measured, bool starts_program = false) {
        control.stop = source.get_token();
        control.progress = [this, measured](const SearchProgress &p) {
            most = std::max(most, p.measured);
            if (p.measured >= measured) enough = true;
        };
        if (starts_program) control.measurer = measure_by_program(TESSERA_MEASURE);
        thread = std::thread([this] {
            while (!enough) std::this_thread::sleep_for(1ms);
            requested = Clock::now();
            source.request_stop();
        });
    }
    ~StopAfter() {
        enough = true;
        thread.join();
    }
    // The time that the search has taken to end.
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(Clock::now() - requested.load()).count();
    }
    SearchControl control;
    size_t most = 0;

private:
    std::stop_source source;
    std::atomic<bool> enough{false};
    std::atomic<Clock::time_point> requested{Clock::now()};
    std::thread thread;
};

// Another machine may be busy: what is meant is that nothing waits for a candidate of 20 s, or for
// all 10,000 trials.
constexpr double soon = 2000;

int files_in(const std::string &folder, const std::string &prefix) {
    int count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        count += entry.path().filename().string().starts_with(prefix);
    return count;
}

}  // namespace

TEST_SUITE("autoscheduler, control") {
    TEST_CASE("a search is stopped from another thread, and gives the best so far") {
        const Problem problem(small_blur());
        for (const bool starts_program : {false, true}) {
            CAPTURE(starts_program);
            SearchOptions options = quick(10'000);
            StopAfter stop(3, starts_program);
            options.control = stop.control;
            const SearchResult found = search(problem.workload, problem.machine, options);
            CHECK(stop.milliseconds() < soon);
            CHECK(found.is_stopped);
            CHECK(found.trials.size() >= 3);
            CHECK(found.trials.size() < 100);
            double least = 1e300;
            for (const Trial &t : found.trials) {
                CHECK(t.measurement.outcome != Outcome::Crashed);
                if (t.measurement.is_valid()) least = std::min(least, t.measurement.milliseconds);
            }
            CHECK(found.milliseconds == least);
            CHECK_FALSE(found.schedule.steps.empty());
        }
    }
    TEST_CASE("a search that is stopped before a measurement has no schedule") {
        std::stop_source source;
        source.request_stop();
        const Func f = small_blur();
        AutoschedulerParams params("tessera", {{"trials", "100"}});
        params.control.stop = source.get_token();
        const AutoSchedulerResults r =
            Pipeline(f).apply_autoscheduler(get_jit_target_from_environment(), params);
        CHECK(r.is_stopped);
        CHECK(r.schedule_source == "");
        CHECK(Pipeline(f).schedule_as_cpp().find("vectorize") == std::string::npos);
    }
    TEST_CASE("the pipeline has the best schedule of a search that was stopped") {
        const Func f = small_blur();
        StopAfter stop(2);
        AutoschedulerParams params("tessera", {{"trials", "10000"}, {"parallelism", "1"}});
        params.control = stop.control;
        const AutoSchedulerResults r =
            Pipeline(f).apply_autoscheduler(get_jit_target_from_environment(), params);
        CHECK(r.is_stopped);
        CHECK(r.milliseconds > 0);
        CHECK(r.trials >= 2);
        CHECK(r.schedule_source.find("vectorize") != std::string::npos);
        CHECK(r.schedule_python.find("ts.Var(") != std::string::npos);
        CHECK(r.report.find("</html>") != std::string::npos);
        CHECK_FALSE(r.autoscheduler_params.control.progress);
        CHECK(Pipeline(f).schedule_as_cpp().find("vectorize") != std::string::npos);
    }
    TEST_CASE("a template is stopped, and leaves the best so far, or what was there") {
        Var x("x"), y("y");
        for (const size_t measured : {size_t(2), size_t(0)}) {
            Func f("f");
            f(x, y) = cast<float>(x * y);
            f.set_estimates({{0, 512}, {0, 64}});
            StopAfter stop(measured);
            int calls = 0;
            const TemplateResult r = tune_template(
                f,
                [&](Knobs &k) {
                    calls++;
                    f.split(x, x, Var("xi"), k.choose("n", {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
                    f.unroll(Var("xi")).split(y, y, Var("yi"), k.choose("m", {1, 2, 3, 4, 5, 6}));
                },
                get_jit_target_from_environment(),
                {.trials = 60, .parallelism = 1, .control = stop.control});
            CHECK(stop.milliseconds() < soon);
            CHECK(r.is_stopped);
            CHECK(r.trials.size() < 60);
            const bool has_best = r.milliseconds > 0;
            CHECK((has_best || measured == 0));
            CHECK((Pipeline(f).schedule_as_cpp().find("unroll") != std::string::npos) == has_best);
            CHECK((r.schedule_python.find(".unroll(xi)") != std::string::npos) == has_best);
        }
    }
    TEST_CASE("progress says how many of how many, and the best time so far") {
        const Problem problem(small_blur());
        SearchOptions options = quick(5);
        std::vector<SearchProgress> told;
        options.control.progress = [&](const SearchProgress &p) { told.push_back(p); };
        const SearchResult found = search(problem.workload, problem.machine, options);
        REQUIRE(told.size() >= 6);
        double best = 0;
        for (const SearchProgress &p : told) {
            CHECK(p.trials == 5);
            if (best > 0) CHECK(p.milliseconds <= best);
            best = p.milliseconds;
        }
        CHECK(best > 0);
        CHECK(told.back().measured == 5);
        CHECK(found.trials.size() == 5);
    }
    TEST_CASE("what the progress function throws ends the search, and the schedule is as it was") {
        for (const bool starts_program : {false, true}) {
            const Func f = small_blur();
            AutoschedulerParams params("tessera", {{"trials", "10000"}, {"parallelism", "1"}});
            params.control.progress = [](const SearchProgress &p) {
                if (p.measured == 2) throw std::out_of_range("mine");
            };
            if (starts_program) params.control.measurer = measure_by_program(TESSERA_MEASURE);
            CHECK_THROWS_AS(
                Pipeline(f).apply_autoscheduler(get_jit_target_from_environment(), params),
                std::out_of_range);
            CHECK(Pipeline(f).schedule_as_cpp().find("vectorize") == std::string::npos);
        }
    }
    TEST_CASE("handlers are not called in processes that measure") {
        // Both count the calls in whichever process.
        auto *calls = static_cast<std::atomic<int> *>(mmap(nullptr, sizeof(std::atomic<int>),
                                                           PROT_READ | PROT_WRITE,
                                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        new (calls) std::atomic<int>(0);
        const WarningHandler warnings = set_warning_handler([&](const std::string &) { ++*calls; });
        const ErrorObserver errors = set_error_observer([&](const std::string &) { ++*calls; });
        warn(Location(), "here");
        CHECK(*calls == 1);
        MeasuringProcesses processes(0, {.run_seconds = 0.001});
        const MeasuringProcesses::Prepare warns = []() -> Runnable {
            warn(Location(), "there");
            throw CompileError(Location(), "there");
        };
        CHECK(processes.run_reference(warns).outcome == Outcome::Refused);
        CHECK(*calls == 1);
        set_warning_handler(warnings);
        set_error_observer(errors);
        munmap(calls, sizeof(std::atomic<int>));
    }
    TEST_CASE("a started program measures as copies of this process do") {
        const Problem problem(small_blur());
        const program::Schedule plain = problem.scheduled(plain_plan(problem.graph)),
                                simple = schedule_simply(problem.graph, problem.machine).schedule;
        const TemporaryFolder own;
        const std::string &folders = own.path;
        const int before = files_in(folders, "tessera_search_");
        {
            Measurer measurer(problem.workload, plain, {.threads = 1, .run_seconds = 0.01},
                              measure_by_program(TESSERA_MEASURE));
            REQUIRE(measurer.reference().is_valid());
            CHECK(measurer.reference().milliseconds > 0);
            size_t told = 0;
            const std::vector<Measurement> all =
                measurer({plain, simple}, 1e300, [&](size_t, const Measurement &) { told++; });
            REQUIRE(all.size() == 2);
            CHECK(told == 2);
            CHECK(all[0].is_valid());
            CHECK(all[1].is_valid());
            CHECK(all[1].milliseconds < all[0].milliseconds);
            const std::vector<Measurement> turns = measurer.in_turns({plain, simple});
            REQUIRE(turns.size() == 2);
            CHECK(turns[1].is_valid());
            CHECK(turns[1].milliseconds < turns[0].milliseconds);
            CHECK(files_in(folders, "tessera_search_") == before + 1);
        }
        CHECK(files_in(folders, "tessera_search_") == before);
    }
    TEST_CASE("what cannot be measured by a program is told") {
        const Problem problem(small_blur());
        const program::Schedule plain = problem.scheduled(plain_plan(problem.graph));
        const auto reference = [&](const BundleMeasurer &m) {
            return Measurer(problem.workload, plain, {.threads = 1}, m).reference();
        };
        const Measurement missing = reference(measure_by_program("/nowhere/tessera-measure"));
        CHECK(missing.outcome == Outcome::Failed);
        CHECK(missing.message ==
              "/nowhere/tessera-measure cannot be run: No such file or directory");
        const Measurement killed =
            reference([](const std::string &folder, const auto &told, const std::stop_token &stop) {
                std::filesystem::remove(folder + "/manifest.json");
                measure_by_program(TESSERA_MEASURE)(folder, told, stop);
            });
        CHECK(killed.message.find("no manifest.json") != std::string::npos);
    }
    TEST_CASE("a search by another measurer gets what that tells, and the rest counts as failed") {
        const Problem problem(small_blur());
        SearchOptions options = quick(4);
        int bundles = 0;
        bool is_lost = false;  // the second candidate of the first bundle that has one
        // The first bundle is the reference alone.
        options.control.measurer = [&](const std::string &folder, const auto &told,
                                       const std::stop_token &stop) {
            if (bundles++ == 0) return measure_by_program(TESSERA_MEASURE)(folder, told, stop);
            int lines = 0;
            measure_by_program(TESSERA_MEASURE)(
                folder,
                [&](const std::string &line) {
                    if (++lines == 3 && !std::exchange(is_lost, true)) return;
                    told(line);
                },
                stop);
            told("this is no record");
        };
        const SearchResult found = search(problem.workload, problem.machine, options);
        CHECK(found.trials.size() == 4);
        CHECK(std::ranges::count_if(found.trials, [](const Trial &t) {
                  return t.measurement.message == "nothing was told of it";
              }) == 1);
        CHECK(found.milliseconds > 0);
    }
}
