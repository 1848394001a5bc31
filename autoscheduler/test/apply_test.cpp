#include "autoscheduler/test/support.h"
#include <algorithm>
#include <filesystem>
#include <unistd.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

std::string source_of(const Func &f, const AutoschedulerParams &params) {
    return Pipeline(f)
        .apply_autoscheduler(get_jit_target_from_environment(), params)
        .schedule_source;
}

std::string refusal_of(const AutoschedulerParams &params) {
    try {
        source_of(small_blur(), params);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_SUITE("autoscheduler, by its names") {
    TEST_CASE("schedules by rules compute what the pipeline computes") {
        Func plain = small_blur(), tuned = small_blur();
        const std::string source = source_of(tuned, {"simple"});
        CHECK(source.find(".vectorize(") != std::string::npos);
        const Buffer<float> a = plain.realize({256, 128}), b = tuned.realize({256, 128});
        float largest = 0;
        for (int y = 0; y < 128; y++) {
            for (int x = 0; x < 256; x++) largest = std::max(largest, std::abs(a(x, y) - b(x, y)));
        }
        CHECK(largest < 1e-4f);
    }
    TEST_CASE("the default measures") {
        Func tuned = small_blur();
        const std::string source = source_of(tuned, {"", {{"trials", "4"}, {"seed", "3"}}});
        CHECK(source.find("Func blur") != std::string::npos);
        CHECK_NOTHROW(tuned.realize({256, 128}));
    }
    TEST_CASE("programs that ask for Halide's get ours, with a warning of what has no meaning") {
        std::string warned;
        const WarningHandler before =
            set_warning_handler([&](const std::string &text) { warned += text; });
        for (const char *name : {"Mullapudi2016", "Adams2019", "Li2018"}) {
            CHECK(source_of(small_blur(), {name, {{"parallelism", "16"}}}) != "");
            CHECK(warned == "");
        }
        source_of(small_blur(), {"Adams2019", {{"beam_size", "32"}}});
        set_warning_handler(before);
        CHECK(warned.find("the autoscheduler Adams2019 has no use for beam_size") !=
              std::string::npos);
    }
    TEST_CASE("an output without estimates is named, with its dimension") {
        Var x("x"), y("y");
        Func f("no_estimates");
        f(x, y) = x + y;
        f.set_estimate(x, 0, 100);
        CHECK_THROWS_WITH_AS(
            source_of(f, {"simple"}),
            doctest::Contains("the size of the output no_estimates has to be estimated: call "
                              "set_estimate(y, min, extent) for its dimension 1"),
            CompileError);
    }
    TEST_CASE("a size that is no positive number is refused, with its place") {
        Var x("x");
        Func f("sized");
        f(x) = x;
        CHECK_THROWS_WITH_AS(f.set_estimate(x, 0, 0), doctest::Contains("apply_test.cpp:"),
                             CompileError);
        CHECK_THROWS_WITH_AS(f.set_estimate(x, 0, -3),
                             doctest::Contains("set_estimate: the extent -3 of the dimension x of "
                                               "sized is not positive"),
                             CompileError);
        CHECK_THROWS_WITH_AS(f.output_buffer().dim(0).set_estimate(0, 0),
                             doctest::Contains("set_estimate: the extent 0 of the dimension 0 of "),
                             CompileError);
        const auto refusal = [&] {
            try {
                source_of(f, {"simple"});
            } catch (const CompileError &e) {
                return std::string(e.what());
            }
            return std::string();
        };
        Param<int> n("n");
        f.set_estimate(x, 0, n * 2);
        const std::string unknown = refusal();
        CAPTURE(unknown);
        CHECK(unknown.starts_with("apply_test.cpp:"));
        CHECK(unknown.find("the estimated extent of x (dimension 0 of the output sized) has to be "
                           "a number, but it is n * 2: the Param n has no estimate") !=
              std::string::npos);
        n.set_estimate(0);
        const std::string none = refusal();
        CHECK(none.starts_with("apply_test.cpp:"));
        CHECK(none.find("the estimated extent of x (dimension 0 of the output sized) has to be "
                        "positive, not 0") != std::string::npos);
        n.set_estimate(50);
        CHECK(refusal() == "");
    }
    TEST_CASE("without parameters, the default is meant") {
        Pipeline::set_default_autoscheduler_name("simple");
        Func blur = small_blur();
        const AutoSchedulerResults r =
            Pipeline(blur).apply_autoscheduler(get_jit_target_from_environment());
        Pipeline::set_default_autoscheduler_name("tessera");
        CHECK(r.schedule_source.find(".vectorize(") != std::string::npos);
    }
    TEST_CASE("the schedule is a block, which can be pasted behind what has the same names") {
        const std::string source = source_of(small_blur(), {"simple"});
        CHECK(source.starts_with("// The schedule of blur, for a Pipeline `pipeline` of the same "
                                 "algorithm.\n{\n    Func "));
        CHECK(source.ends_with(";\n}\n"));
        CHECK(source.find("\n    blur.set_estimate(") != std::string::npos);
        CHECK(source.find("\n        .split(") != std::string::npos);
    }
    TEST_CASE("options that are none, or no numbers, are refused") {
        CHECK(refusal_of({"simple", {{"paralelism", "2"}}})
                  .find("the autoscheduler simple has no option paralelism; did you mean "
                        "parallelism?") != std::string::npos);
        CHECK(refusal_of({"tessera", {{"trials", "many"}}})
                  .find("autoscheduler.trials is a number of at least 0, not 'many'") !=
              std::string::npos);
        CHECK(refusal_of({"tesera"}).find("did you mean tessera?") != std::string::npos);
        // Here the pipeline asks for the autoscheduler.
        for (const AutoschedulerParams &params :
             {AutoschedulerParams("simple", {{"paralelism", "2"}}),
              AutoschedulerParams("tessera", {{"trials", "many"}}),
              AutoschedulerParams("tessera", {{"trials", "-1"}}), AutoschedulerParams("tesera")})
            CHECK(refusal_of(params).starts_with("apply_test.cpp:"));
    }
    TEST_CASE("what is estimated and measured has the schedule that the user gave to a Func") {
        Var x("x"), y("y");
        Func by_hand("by_hand"), out("out");
        by_hand(x, y) = x * y;
        out(x, y) = by_hand(x, y) + by_hand(x + 1, y);
        by_hand.compute_root().unroll(x, 2);
        out.set_estimates({{0, 256}, {0, 256}});
        const Problem problem(out);
        const program::Schedule schedule = to_schedule(problem.graph, plain_plan(problem.graph), 8);
        CHECK(problem.graph.is_fixed == std::vector<bool>{true, false});
        const LoopTree tree(problem.graph, program::apply(problem.algorithm, schedule));
        CHECK_FALSE(tree.functions[0].is_inlined);
        CHECK(std::ranges::count(tree.loops, LoopKind::Unrolled, &TreeLoop::kind) == 1);
    }
    TEST_CASE("what cannot be of use is said, and nothing is measured") {
        const std::string log = str(std::filesystem::temp_directory_path().string(),
                                    "/tessera_apply_", getpid(), ".jsonl");
        SUBCASE("a target that this machine cannot run") {
            const Warnings warnings;
            Pipeline(small_blur())
                .apply_autoscheduler(Target("arm-64-linux"),
                                     {"tessera", {{"trials", "4"}, {"log", log}}});
            CHECK(warnings.text() ==
                  "nothing is measured, since this machine cannot run what is compiled for "
                  "arm-64-linux\nthe log of measurements " +
                      log + " does not exist\n");
        }
        SUBCASE("a schedule by hand of each Func") {
            Var x("x"), y("y");
            ImageParam in(Float(32), 2, "in");
            Func f("f"), out("out");
            f(x, y) = in(x, y) * 2;
            out(x, y) = f(x, y) + f(x + 1, y);
            f.compute_at(out, y);
            out.vectorize(x, 8).set_estimates({{0, 256}, {0, 256}});
            const Warnings warnings;
            source_of(out, {"tessera", {{"trials", "4"}, {"log", log}}});
            CHECK(warnings.text().starts_with(
                "nothing is measured, since each Func is scheduled already; "));
        }
        SUBCASE("a log that does not exist") {
            const Warnings warnings;
            source_of(small_blur(), {"tessera", {{"trials", "0"}, {"log", log}}});
            CHECK(warnings.text() == "the log of measurements " + log + " does not exist\n");
        }
        CHECK_FALSE(std::filesystem::exists(log));
    }
    TEST_CASE("a target with a GPU gets kernels by rules, whichever autoscheduler is asked for") {
        const Target target("x86-64-linux-avx2-cuda");
        for (const AutoschedulerParams &params :
             {AutoschedulerParams("simple"), AutoschedulerParams("tessera"),
              AutoschedulerParams("tessera", {{"trials", "0"}}),
              AutoschedulerParams("Mullapudi2016")}) {
            Warnings warnings;
            Func f = small_blur();
            const auto found = Pipeline(f).apply_autoscheduler(target, params);
            CHECK(found.schedule_source.find(".gpu_blocks(") != std::string::npos);
            CHECK(found.trials == 0);
            CHECK(warnings.text() == "");
        }
        const Warnings warnings;
        Func f = small_blur();
        Pipeline(f).apply_autoscheduler(target, {"tessera", {{"trials", "20"}}});
        CHECK(warnings.text() ==
              "nothing is measured, since schedules for GPUs are made by rules; without the "
              "options trials, seconds, log and report that is what is asked for\n");
    }
    TEST_CASE("more cores than the machine has are warned of") {
        for (const AutoschedulerParams &params :
             {AutoschedulerParams("simple", {{"parallelism", "100000"}}),
              AutoschedulerParams("tessera", {{"parallelism", "100000"}, {"trials", "0"}})}) {
            Warnings warnings;
            CHECK(source_of(small_blur(), params) != "");
            CHECK(warnings.text().starts_with("parallelism=100000 asks for 100000 cores, and this "
                                              "machine has "));
        }
    }
    TEST_CASE("what the compiler refuses under any schedule is refused, with its reason") {
        Var x("x");
        ImageParam in(Float(32), 1, "in"), where(Int(32), 1, "where");
        Func out("out");
        out(x) = in(where(x));  // anywhere
        out.set_estimates({{0, 256}});
        in.dim(0).set_estimate(0, 256);
        for (const AutoschedulerParams &params :
             {AutoschedulerParams("simple"), AutoschedulerParams("tessera", {{"trials", "0"}})}) {
            CHECK_THROWS_WITH_AS(source_of(out, params),
                                 doctest::Contains("has no bound; clamp() the index"),
                                 CompileError);
        }
    }
    TEST_CASE("a schedule of the log that the compiler refuses is not handed back") {
        const std::string log = str(std::filesystem::temp_directory_path().string(),
                                    "/tessera_refused_", getpid(), ".jsonl");
        Func blur = small_blur();
        {
            const Problem problem(blur, get_host_target());
            // Two loops of one name.
            program::Schedule bad = problem.scheduled(plain_plan(problem.graph));
            const FunctionNode &last = problem.graph.functions.back();
            const Symbol x = last.function->args[0];
            const program::Split split = {x, x, Symbol::interned("xi"), 8, TailStrategy::Auto};
            const program::Step step = {last.function->name,
                                        program::StageStep{0, {}, {split, {}}}};
            bad.steps.push_back(step);
            bad.steps.push_back(step);
            CHECK(problem.workload.why_refused(problem.scheduled(plain_plan(problem.graph))) == "");
            CHECK(problem.workload.why_refused(bad).find("xi") != std::string::npos);
            TuningLog(log, problem.workload, 2).add(bad, {Outcome::Measured, 1e-6, ""}, {});
        }
        const Warnings warnings;
        Pipeline(blur).apply_autoscheduler(
            get_host_target(), {"tessera", {{"trials", "0"}, {"log", log}, {"parallelism", "2"}}});
        std::filesystem::remove(log);
        CHECK(warnings.text().starts_with("none of the 1 records of " + log));
        CHECK_NOTHROW(blur.realize({256, 128}));
    }
    TEST_CASE("no seconds are no trials") {
        CHECK(source_of(small_blur(), {"tessera", {{"seconds", "0"}}}) ==
              source_of(small_blur(), {"tessera", {{"trials", "0"}}}));
    }
    TEST_CASE("a Func that is scheduled by hand stays as it is") {
        Var x("x"), y("y");
        Func by_hand("by_hand"), out("out");
        by_hand(x, y) = x * y;
        out(x, y) = by_hand(x, y) + by_hand(x + 1, y);
        by_hand.compute_root().unroll(x, 2);
        out.set_estimates({{0, 256}, {0, 256}});
        const std::string source = source_of(out, {"simple"});
        CHECK(source.find("by_hand.compute_root()\n        .split(x, ") != std::string::npos);
        CHECK_NOTHROW(out.realize({256, 256}));
    }
}
