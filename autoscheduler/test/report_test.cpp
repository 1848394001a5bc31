#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/report.h"
#include "autoscheduler/test/support.h"
#include "support/full_disk.h"
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

// Trials of the plain schedule that took these times; 0: it crashed.
SearchResult result_of(const Problem &problem, const std::vector<double> &times) {
    SearchResult result;
    result.schedule = problem.scheduled(plain_plan(problem.graph));
    result.sketches = make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
    for (double ms : times) {
        Trial t{0, plain_plan(problem.graph), result.schedule, 0, {}};
        t.measurement = {ms > 0 ? Outcome::Measured : Outcome::Crashed, ms, ""};
        result.trials.push_back(t);
        if (ms > 0 && (result.milliseconds == 0 || ms < result.milliseconds)) {
            result.milliseconds = ms;
        }
    }
    return result;
}

}  // namespace

TEST_SUITE("autoscheduler, reports") {
    TEST_CASE("a page has a point for each measured trial, what became of all, and the schedule") {
        const Problem problem(small_blur());
        const std::string page =
            to_html(problem.workload, problem.machine, result_of(problem, {4, 2, 0, 3, 1}));
        // The curve and the roofline have circles; on the first, each was the best so far.
        CHECK(count_of(page, "<circle") == 4 + 4);
        CHECK(count_of(page, "<circle class=\"best\"") == 3 + 1);
        CHECK(count_of(page, "<line ") == 2);  // the roof
        CHECK(page.find("produce across:") != std::string::npos);
        CHECK(page.find("The fastest of 5 schedules takes 1 ms; that of the rules takes 4 ms.") !=
              std::string::npos);
        CHECK(page.find("<td>crashed</td><td>1</td>") != std::string::npos);
        CHECK(page.find("across.compute_root()") != std::string::npos);
        CHECK(page.find("http") == std::string::npos);  // it needs no other file
    }
    TEST_CASE("a page of a search that measured nothing says so") {
        const Problem problem(small_blur());
        const std::string page = to_html(problem.workload, problem.machine, result_of(problem, {}));
        CHECK(page.find("Nothing was measured now.") != std::string::npos);
        CHECK(to_html(problem.workload, problem.machine, result_of(problem, {0}))
                  .find("Nothing was measured now.") != std::string::npos);
        SearchResult of_log = result_of(problem, {});
        of_log.milliseconds = 0.7126;
        CHECK(to_html(problem.workload, problem.machine, of_log, "small<blur>")
                  .find("<h1>small&lt;blur&gt;</h1>") != std::string::npos);
        CHECK(to_html(problem.workload, problem.machine, of_log)
                  .find("The schedule is of the log, which says that it takes 0.7126 ms. Nothing "
                        "was measured now.") != std::string::npos);
    }
    TEST_CASE("a page with measurements is not replaced by one without") {
        const std::string path = str(std::filesystem::temp_directory_path().string(),
                                     "/tessera_report_kept_", getpid(), ".html");
        const Problem problem(small_blur());
        const auto is_written = [&](const SearchResult &r) {
            return write_report(path, to_html(problem.workload, problem.machine, r), r);
        };
        CHECK(is_written(result_of(problem, {})));
        CHECK(is_written(result_of(problem, {2, 1})));
        CHECK_FALSE(is_written(result_of(problem, {})));
        CHECK(is_written(result_of(problem, {3})));
        std::filesystem::remove(path);
    }
    TEST_CASE("the explanation names each stage with its part of the time, the largest first") {
        const Problem problem(small_blur());
        const std::vector<PartOfTime> all = explanation(
            problem.algorithm, problem.scheduled(plain_plan(problem.graph)), problem.machine);
        REQUIRE(all.size() == 2);
        CHECK(all[0].part >= all[1].part);
        CHECK(all[0].part + all[1].part == doctest::Approx(1));
        const auto has = [&](const char *name) {
            return std::ranges::count(all, name, &PartOfTime::stage) == 1;
        };
        CHECK(has("across"));
        CHECK(has("blur"));
        // The page has it as well: as a table, whose cells break, with no lines wider than it.
        const std::string page =
            to_html(problem.workload, problem.machine, result_of(problem, {2, 1}), "small");
        CHECK(page.find("<tr><td>across</td><td>") != std::string::npos);
        CHECK(page.find("white-space: pre-wrap") != std::string::npos);
        CHECK(page.find("<title>small: its schedule</title>") != std::string::npos);
    }
    TEST_CASE("the curve has the times that the text has") {
        const Problem problem(small_blur());
        SearchResult result = result_of(problem, {4, 2, 3});
        // The second one was lucky, and the third one is the fastest in turns.
        result.trials[1].in_turns = 3.5;
        result.trials[2].in_turns = 2.5;
        const std::string page = to_html(problem.workload, problem.machine, result);
        CHECK(page.find("<title>2.5 ms</title>") != std::string::npos);
        CHECK(page.find("<title>2 ms</title>") == std::string::npos);
        CHECK(page.find(">4 ms</text>") != std::string::npos);
        CHECK(page.find(">2.5 ms</text>") != std::string::npos);
        CHECK(count_of(page, "<text") == count_of(page, "<text text-anchor="));
    }
    TEST_CASE("progress is one line that is written again") {
        std::ostringstream out;
        ProgressLine line(out, 1e9, 1);
        line({"choosing", 0, 10, 0, 0.5});
        line({"measuring", 2, 10, 2, 1});
        line({"comparing", 3, 10, 1, 1.5});
        line.finish();
        CHECK(out.str() ==
              "\rchoosing, trial 0 of 10"
              "\rmeasuring, trial 2 of 10, best 2 ms (50 % of the limit), 4 s left"
              "\rcomparing, trial 3 of 10, best 1 ms (100 % of the limit), 4 s left\n");
        std::ostringstream shorter;
        ProgressLine again(shorter, 1e9, 1);
        again({"measuring", 0, 0, 0, 0});
        again({"done", 0, 0, 0, 0});
        CHECK(shorter.str() == "\rmeasuring\rdone     ");
    }
    TEST_CASE("progress is told of before anything is measured, and of each measurement") {
        const Problem problem(small_blur());
        for (int trials : {2, 11}) {
            SearchOptions options;
            options.trials = trials;
            options.measure = {.threads = 1, .run_seconds = 0.005};
            std::vector<size_t> told;
            options.control.progress = [&](const SearchProgress &p) {
                if (told.empty()) CHECK(p.doing == "choosing by rules");
                if (told.empty() || told.back() != p.measured) told.push_back(p.measured);
            };
            search(problem.workload, problem.machine, options);
            REQUIRE(told.size() == size_t(trials) + 1);
            for (size_t i = 0; i < told.size(); i++) CHECK(told[i] == i);
        }
    }
    TEST_CASE("a report is written where it is asked for") {
        const std::string path = str(std::filesystem::temp_directory_path().string(),
                                     "/tessera_report_", getpid(), ".html");
        Pipeline(small_blur())
            .apply_autoscheduler(get_jit_target_from_environment(),
                                 {"tessera", {{"trials", "2"}, {"report", path}}});
        std::stringstream page;
        page << std::ifstream(path).rdbuf();
        std::filesystem::remove(path);
        CHECK(page.str().find("<h1>blur</h1>") != std::string::npos);
        CHECK(page.str().find("</html>") != std::string::npos);
    }
    TEST_CASE("what cannot be written leaves reports and logs as they are") {
        const std::string path = str("report.", getpid(), ".txt");
        std::ofstream(path) << "before\n";
        {
            const FullDisk full(8);
            CHECK_THROWS_WITH_AS(append_record(path, "a record that does not fit"),
                                 doctest::Contains("cannot be written: File too large"),
                                 RuntimeError);
            CHECK_THROWS_WITH_AS(write_report(path, "a page that does not fit", {}),
                                 doctest::Contains("cannot write the file "), RuntimeError);
        }
        std::ifstream after(path);
        const std::string text{std::istreambuf_iterator<char>(after), {}};
        CHECK(text == "before\n");
        std::filesystem::remove(path);
    }
}
