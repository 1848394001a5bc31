#include "autoscheduler/knob_space.h"
#include "autoscheduler/test/support.h"
#include "program/print_schedule.h"
#include <filesystem>
#include <fstream>
#include <set>
#include <tessera_tune.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

// Three points across, then three down.
struct Blur {
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
    Func in{"in"}, across{"across"}, blur{"blur"};
    Blur() {
        in(x, y) = cast<float>((x * 7 + y * 3) % 32);
        across(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
        blur(x, y) = across(x, y) + across(x, y + 1) + across(x, y + 2);
        blur.set_estimates({{0, 256}, {0, 64}});
    }
};

// A limit of the time that a test may take, and no noise of threads.
TuneOptions few(int trials, const std::string &log = "") {
    return {.trials = trials, .seed = 3, .log = log, .parallelism = 1};
}

TemplateResult tuned(const Blur &b, const ScheduleTemplate &schedule, const TuneOptions &options) {
    return tune_template(b.blur, schedule, get_jit_target_from_environment(), options);
}

std::string block_of(const Pipeline &p) {
    const std::vector<program::FunctionRef> outputs = autoscheduler::outputs_of(p);
    return program::print_schedule_block(program::Algorithm(outputs),
                                         program::schedule_of(outputs));
}

struct LogFile {
    std::string path =
        str(std::filesystem::temp_directory_path().string(), "/tessera_template_", getpid());
    LogFile() { std::filesystem::remove(path); }
    ~LogFile() { std::filesystem::remove(path); }
    size_t records() const {
        std::ifstream in(path);
        size_t count = 0;
        for (std::string line; std::getline(in, line);) count += !line.empty();
        return count;
    }
};

std::string refusal_of(const ScheduleTemplate &schedule) {
    Blur b;
    b.across.compute_root();
    const std::string before = Pipeline(b.blur).schedule_as_cpp();
    try {
        tuned(b, schedule, few(4));
    } catch (const CompileError &e) {
        CHECK(Pipeline(b.blur).schedule_as_cpp() == before);
        return e.what();
    }
    return "";
}

}  // namespace

TEST_SUITE("autoscheduler, templates") {
    TEST_CASE("all combinations are tried where they fit, also of knobs that others ask for") {
        Blur b;
        const TemplateResult best = tuned(
            b,
            [&](Knobs &k) {
                b.blur.vectorize(b.x, k.choose("vector", {4, 8}));
                if (!k.choose("inline", {false, true})) {
                    b.across.compute_at(b.blur, b.y);
                    b.across.vectorize(b.x, k.choose("inner", {4, 8, 16}));
                }
            },
            few(20));
        CHECK(best.trials.size() == 2 * (3 + 1));
        for (const TemplateTrial &t : best.trials) {
            CHECK(t.message == "");
            CHECK(t.milliseconds >= best.milliseconds);
            CHECK(t.choices.contains("inner") == (t.choices.at("inline") == "false"));
        }
        CHECK(best.milliseconds > 0);
    }
    TEST_CASE("the best schedule stays, and is the one that is told as C++") {
        Blur b, plain;
        const TemplateResult best = tuned(
            b, [&](Knobs &k) { b.across.compute_root().vectorize(b.x, k.choose("v", {4, 8})); },
            few(4));
        CHECK(best.schedule_source == block_of(Pipeline(b.blur)));
        CHECK(best.schedule_source.find("compute_root()") != std::string::npos);
        CHECK(best.schedule_source.find(", " + best.choices.at("v")) != std::string::npos);
        const Buffer<float> now = b.blur.realize({32, 8}), then = plain.blur.realize({32, 8});
        for (int y = 0; y < 8; y++) {
            for (int x = 0; x < 32; x++) CHECK(now(x, y) == then(x, y));
        }
    }
    TEST_CASE("each candidate begins with the schedule that the Funcs had") {
        Blur b;
        b.across.compute_root();
        std::vector<std::string> schedules;
        tuned(
            b,
            [&](Knobs &k) {
                schedules.push_back(Pipeline(b.blur).schedule_as_cpp());
                // All kinds of steps: functions that directives make, and specializations.
                Func copied = b.across.in(b.blur);
                copied.compute_at(b.blur, b.y);
                b.blur.vectorize(b.x, k.choose("v", {4, 8}))
                    .specialize(b.blur.output_buffer().dim(0).extent() >= 8);
            },
            few(4));
        REQUIRE(schedules.size() == 3);
        CHECK(schedules[0].find("across.compute_root()") != std::string::npos);
        CHECK(schedules[0].find("vectorize") == std::string::npos);
        CHECK(schedules[1] == schedules[0]);
        CHECK(schedules[2] == schedules[0]);
    }
    TEST_CASE("a reduction that rfactor has changed is put back") {
        Var x("x"), u("u");
        RDom r(0, 64, "r");
        RVar ro("ro"), ri("ri");
        Func f("f"), sum("sum");
        f(x) = x;
        sum(x) = 0;
        sum(x) += f(x + r);
        sum.set_estimate(x, 0, 16);
        const TemplateResult best = tune_template(
            sum,
            [&](Knobs &k) {
                f.compute_root();
                sum.update().split(r, ro, ri, k.choose("parts", {4, 8})).rfactor(ro, u);
            },
            get_jit_target_from_environment(), few(4));
        CHECK(best.trials.size() == 2);
        CHECK(best.milliseconds > 0);
        const Buffer<int> values = sum.realize({16});
        for (int i = 0; i < 16; i++) CHECK(values(i) == 64 * i + 63 * 32);
    }
    TEST_CASE(
        "of many combinations some are tried at random, each once, then changes of the best") {
        Blur b;
        const std::vector<int> sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        const TemplateResult best = tuned(
            b,
            [&](Knobs &k) {
                b.blur.split(b.y, b.y, b.yi, k.choose("rows", sizes));
                b.blur.unroll(b.x, k.choose("columns", sizes));
            },
            few(20));
        std::set<std::map<std::string, std::string>> different;
        for (const TemplateTrial &t : best.trials) different.insert(t.choices);
        CHECK(best.trials.size() == 20);
        CHECK(different.size() == 20);
    }
    TEST_CASE("choices that make no legal schedule are told, and take no trial") {
        Blur b;
        const TemplateResult best = tuned(
            b,
            [&](Knobs &k) {
                const bool wrong = k.choose("wrong", {true, false});
                b.blur.unroll(wrong ? b.xi : b.x, 4);
            },
            few(1));
        CHECK(best.choices.at("wrong") == "false");
        REQUIRE(best.trials.size() == 2);
        CHECK(best.trials[0].message.find("no loop named xi") != std::string::npos);
    }
    TEST_CASE("what a log has is not measured again, and is there without a trial") {
        const LogFile log;
        const auto choose = [](Blur &b) {
            return [&b](Knobs &k) { b.blur.vectorize(b.x, k.choose("v", {4, 8, 16})); };
        };
        Blur first, second, third;
        const TemplateResult before = tuned(first, choose(first), few(8, log.path));
        CHECK(log.records() == 3);
        const TemplateResult after = tuned(second, choose(second), few(8, log.path));
        CHECK(log.records() == 3);
        CHECK(after.milliseconds == before.milliseconds);
        CHECK(after.choices == before.choices);
        const Warnings warnings;
        const TemplateResult replayed = tuned(third, choose(third), few(0, log.path));
        CHECK(warnings.text() == "");
        CHECK(replayed.milliseconds == before.milliseconds);
        CHECK(replayed.choices == before.choices);
        CHECK(replayed.schedule_source == before.schedule_source);
    }
    TEST_CASE("without trials and log, the first choices are taken") {
        Blur b;
        const TemplateResult r =
            tuned(b, [&](Knobs &k) { b.blur.vectorize(b.x, k.choose("v", {8, 4})); }, few(0));
        CHECK(r.choices == std::map<std::string, std::string>{{"v", "8"}});
        CHECK(r.milliseconds == 0);
    }
    TEST_CASE("a template is an autoscheduler by its name") {
        add_template("rows", [](const Pipeline &p, Knobs &k) {
            Func f = p.outputs()[0];
            f.vectorize(f.args()[0], k.choose("vector", {4, 8}));
        });
        Blur b;
        const AutoSchedulerResults r = Pipeline(b.blur).apply_autoscheduler(
            get_jit_target_from_environment(), {"rows", {{"trials", "2"}, {"parallelism", "1"}}});
        CHECK(r.schedule_source.find(".vectorize(") != std::string::npos);
        CHECK(r.schedule_source == block_of(Pipeline(b.blur)));
        CHECK_THROWS_WITH_AS(
            Pipeline(b.blur).apply_autoscheduler(get_host_target(), {"rows", {{"trails", "2"}}}),
            doctest::Contains("the autoscheduler rows has no option trails; did "
                              "you mean trials?"),
            CompileError);
    }
    TEST_CASE("choices that were found can be given to the template without a search") {
        Blur b;
        Knobs found({{"v", "8"}, {"unroll", "true"}});
        CHECK(found.choose("v", {4, 8}) == 8);
        CHECK(found.choose("unroll", {false, true}));
        CHECK(found.choose("other", {3, 5}) == 3);
        CHECK(Knobs({{"rows", "16"}}).choose("rows", {8, 16}) == 16);  // one alone
        CHECK(Knobs(std::map<std::string, std::string>{{"v", "8"}}).choose("v", {4, 8}) == 8);
        CHECK_THROWS_WITH_AS(found.choose("v", {2, 4}),
                             doctest::Contains("the knob v has no choice 8; it has 2, 4"),
                             CompileError);
    }
    TEST_CASE("templates that cannot work are refused in a sentence, with the schedule as it was") {
        CHECK(refusal_of([](Knobs &k) {
                  k.choose("rows", std::vector<int>());
              }).find("the knob rows has no choices; give it at least one") != std::string::npos);
        CHECK(refusal_of([](Knobs &k) {
                  if (k.choose("a", {1, 2}) == 1)
                      k.choose("b", {1, 2});
                  else
                      k.choose("b", {1, 3});
              })
                  .find("the knob b is asked for with the choices 1, 3, and before it had 1, 2; a "
                        "knob has the same choices wherever it is asked for") != std::string::npos);
        const std::string nothing = refusal_of([&](Knobs &k) {
            k.choose("a", {1, 2});
            throw CompileError("there is no such loop");
        });
        CHECK(nothing == "the template has no schedule that works among the 2 that were tried; the "
                         "first, a=1, refused: there is no such loop");
    }
    TEST_CASE("a schedule for a parameter that the algorithm does not have is refused") {
        Param<int> mode("mode");
        Blur b;
        CHECK_THROWS_WITH_AS(tuned(
                                 b, [&](Knobs &) { b.blur.specialize(mode > 3); }, few(2)),
                             doctest::Contains("the schedule asks for the parameter mode, which "
                                               "the algorithm does not have"),
                             CompileError);
    }
    TEST_CASE("a template of another machine's pipeline is not measured") {
        Blur b;
        CHECK_THROWS_WITH_AS(
            tune_template(
                b.blur, [](Knobs &) {}, Target("arm-64-linux"), few(4)),
            doctest::Contains("are measured, which this machine cannot do for the target arm-64"),
            CompileError);
    }
    TEST_CASE("combinations come one after the other, those of the last knob first") {
        Chosen c = {{{"a", "", 0, 2}, {"b", "", 1, 2}}};
        REQUIRE(advance(c));
        REQUIRE(c.knobs.size() == 1);
        CHECK(c.knobs[0].place == 1);
        CHECK_FALSE(advance(c));
    }
}
