#include "autoscheduler/test/support.h"
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sched.h>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

enum class Behaviour { Good, Crash, Illegal, Exit, Hang, Leak, Wrong };
Behaviour behaviour = Behaviour::Good;

}  // namespace

// A candidate does this when it runs, as the test has set it.
extern "C" int32_t autoscheduler_test_probe(int32_t x) {
    switch (behaviour) {
    case Behaviour::Good: return x;
    case Behaviour::Crash: raise(SIGSEGV); return x;
    case Behaviour::Illegal: raise(SIGILL); return x;
    case Behaviour::Exit: _exit(0);
    case Behaviour::Hang: sleep(1000); return x;
    case Behaviour::Leak:
        for (;;) {
            constexpr size_t bytes = size_t(64) << 20;
            auto *p = static_cast<volatile char *>(std::malloc(bytes));
            if (!p) std::abort();
            for (size_t i = 0; i < bytes; i += 4096) p[i] = 1;
        }
    case Behaviour::Wrong: return x + 1;
    }
    return x;
}

TesseraExtern_1(int32_t, autoscheduler_test_probe, int32_t);

namespace {

Func probed() {
    Var x("x");
    Func f("probed");
    f(x) = autoscheduler_test_probe(x);
    f.set_estimate(x, 0, 4);
    return f;
}

// Runs it in a process that is the first of a namespace of its own, as the only one of a container
// is. Nothing if this machine does not let one be made.
std::optional<bool> is_true_in_first_process(const std::function<bool()> &what) {
    const pid_t outer = fork();
    if (outer == 0) {
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(2);
        const pid_t first = fork();
        if (first == 0) _exit(getpid() == 1 && what() ? 0 : 1);
        int status = 0;
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    int status = 0;
    waitpid(outer, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return std::nullopt;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The first value is infinite.
Func probed_beside_infinity() {
    Var x("x");
    Func f("probed");
    f(x) = 1.0f / cast<float>(x) + cast<float>(autoscheduler_test_probe(x));
    f.set_estimate(x, 0, 4);
    return f;
}

Measurement measured_with(Behaviour b, const MeasureOptions &options, const Func &f = probed()) {
    behaviour = Behaviour::Good;
    const Problem problem(f);
    const program::Schedule plain = problem.scheduled(plain_plan(problem.graph));
    Measurer measurer(problem.workload, plain, options);
    REQUIRE(measurer.reference().outcome == Outcome::Measured);
    behaviour = b;
    const std::vector<Measurement> all = measurer({plain});
    behaviour = Behaviour::Good;
    // The next one is measured, whatever the one did.
    CHECK(measurer({plain})[0].outcome == Outcome::Measured);
    return all.at(0);
}

}  // namespace

TEST_SUITE("autoscheduler, measurement") {
    TEST_CASE("the first process of a container measures like any other") {
        const auto result = is_true_in_first_process([] {
            const Problem problem(small_blur());
            const program::Schedule plain = problem.scheduled(plain_plan(problem.graph));
            const Measurer measurer(problem.workload, plain);
            return measurer.reference().is_valid();
        });
        if (!result) MESSAGE("this machine makes no namespaces of processes");
        CHECK(result.value_or(true));
    }
    TEST_CASE("what a candidate does, costs that candidate alone") {
        const MeasureOptions options = {.threads = 1, .seconds = 20, .run_seconds = 0.01};
        CHECK(measured_with(Behaviour::Good, options).outcome == Outcome::Measured);
        const Measurement crash = measured_with(Behaviour::Crash, options);
        CHECK(crash.outcome == Outcome::Crashed);
        CHECK(crash.message == "the process was ended by Segmentation fault");
        CHECK(measured_with(Behaviour::Illegal, options).message ==
              "the process was ended by Illegal instruction");
        CHECK(measured_with(Behaviour::Exit, options).message ==
              "the process was ended by its own exit");
        const Measurement wrong = measured_with(Behaviour::Wrong, options);
        CHECK(wrong.outcome == Outcome::Wrong);
        CHECK(wrong.message == "its results are not those of the reference");
    }
    TEST_CASE("beside infinite values, others are compared as ever") {
        const MeasureOptions options = {.threads = 1, .seconds = 20, .run_seconds = 0.01};
        const Func f = probed_beside_infinity();
        CHECK(measured_with(Behaviour::Good, options, f).outcome == Outcome::Measured);
        CHECK(measured_with(Behaviour::Wrong, options, f).outcome == Outcome::Wrong);
    }
    TEST_CASE("a few are run in turns, and what fails is left behind") {
        behaviour = Behaviour::Good;
        const Problem problem(probed());
        const program::Schedule plain = problem.scheduled(plain_plan(problem.graph));
        Measurer measurer(problem.workload, plain, {.threads = 1, .run_seconds = 0.01});
        for (const Measurement &m : measurer.in_turns({plain, plain, plain})) {
            CHECK(m.outcome == Outcome::Measured);
            CHECK(m.milliseconds > 0);
        }
        for (const auto &[bad, outcome] : {std::pair(Behaviour::Crash, Outcome::Crashed),
                                           std::pair(Behaviour::Wrong, Outcome::Wrong)}) {
            behaviour = bad;
            for (const Measurement &m : measurer.in_turns({plain, plain}))
                CHECK(m.outcome == outcome);
        }
        behaviour = Behaviour::Good;
    }
    TEST_CASE("in turns, the median of the times in several placements counts") {
        const auto prepare = [](std::array<int, placements> milliseconds) {
            return [milliseconds] {
                auto now = std::make_shared<int>(0);
                Runnable r;
                r.run = [now, milliseconds] {
                    std::this_thread::sleep_for(
                        std::chrono::milliseconds(milliseconds[size_t(*now)]));
                };
                r.place = [now](int placement) { *now = placement; };
                return r;
            };
        };
        MeasuringProcesses processes(0, {.run_seconds = 0.001});
        processes.run_reference(prepare({1, 1, 1}));
        // The first one is the faster one when it is measured at first.
        const std::vector<Measurement> all =
            processes.in_turns({prepare({2, 20, 30}), prepare({10, 10, 10})});
        CHECK(all[0].milliseconds >= 20);
        CHECK(all[0].milliseconds < 30);
        CHECK(all[1].milliseconds >= 10);
        CHECK(all[1].milliseconds < 20);
    }
    TEST_CASE("while one runs on all cores, others do not compile") {
        // Counts what the second one, which never comes to an end, has done so far.
        auto *work = static_cast<volatile uint64_t *>(mmap(
            nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        const auto sleep = [](int milliseconds) {
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        };
        const MeasuringProcesses::Prepare runs = [&] {
            while (*work == 0) sleep(1);
            return Runnable{[&] {
                                sleep(5);
                                const uint64_t before = *work;
                                sleep(20);
                                if (*work != before) throw RuntimeError("another one compiles");
                            },
                            {},
                            {}};
        };
        const MeasuringProcesses::Prepare compiles = [&]() -> Runnable {
            for (;;) *work = *work + 1;
        };
        MeasuringProcesses processes(0, {.seconds = 2});
        CHECK(processes.run_reference([] { return Runnable{[] {}, {}, {}}; }).is_valid());
        const std::vector<Measurement> all = processes({runs, compiles}, 1e300, {});
        CHECK(all[0].message == "");
        CHECK(all[0].outcome == Outcome::Measured);
        CHECK(all[1].outcome == Outcome::TimedOut);
        munmap(const_cast<uint64_t *>(work), sizeof(uint64_t));
    }
    TEST_CASE("results in half precision are compared, up to what rounding makes of them") {
        const auto measured = [](const auto &expected, const auto &found, uint8_t code) {
            const auto prepare = [code](const auto &values) {
                return [code, &values] {
                    const tessera_type_t type = {code, 16, 1};
                    return Runnable{
                        [] {},
                        {{type, reinterpret_cast<const uint8_t *>(values.data()), sizeof(values)}},
                        {}};
                };
            };
            MeasuringProcesses processes(sizeof(expected), {.run_seconds = 0.001});
            processes.run_reference(prepare(expected));
            return processes({prepare(found)}, 1e300, {})[0].outcome;
        };
        const auto check = [&](auto number, uint8_t code) {
            using T = decltype(number);
            const std::array<T, 3> expected = {T(1.0f), T(100.0f), T(-64.0f)};
            CHECK(measured(expected, expected, code) == Outcome::Measured);
            const std::array<T, 3> rounded = {T(1.0f), T(100.5f), T(-64.0f)};
            CHECK(measured(expected, rounded, code) == Outcome::Measured);
            const std::array<T, 3> exchanged = {T(100.0f), T(1.0f), T(-64.0f)};
            CHECK(measured(expected, exchanged, code) == Outcome::Wrong);
        };
        check(float16_t(), tessera_type_float);
        check(bfloat16_t(), tessera_type_bfloat);
    }
    TEST_CASE("random inputs in half precision differ from one another") {
        std::array<uint16_t, 1000> values;
        for (const uint8_t code : {tessera_type_float, tessera_type_bfloat}) {
            fill_with_random_values(reinterpret_cast<uint8_t *>(values.data()), sizeof(values),
                                    {code, 16, 1}, 1);
            const auto zeros = std::ranges::count(values, uint16_t(0));
            CHECK(zeros > 800);
            CHECK(zeros < 950);
            CHECK(std::set<uint16_t>(values.begin(), values.end()).size() == 3);
        }
    }
    TEST_CASE("one that hangs is ended after its time") {
        const Measurement m =
            measured_with(Behaviour::Hang, {.threads = 1, .seconds = 1, .run_seconds = 0.01});
        CHECK(m.outcome == Outcome::TimedOut);
        CHECK(m.message == "running it took too long");
    }
    TEST_CASE("one that takes all memory is ended before it has it") {
        const Measurement m =
            measured_with(Behaviour::Leak,
                          {.threads = 1, .seconds = 20, .run_seconds = 0.01, .memory = 3ull << 30});
        CHECK_FALSE(m.is_valid());
        CHECK(m.message == "the process was ended by Aborted");
    }
    TEST_CASE("a schedule that the compiler refuses is refused, with what it says") {
        const Problem problem(small_blur());
        const program::Schedule plain = problem.scheduled(plain_plan(problem.graph));
        program::Schedule twice = plain;
        const Symbol x = problem.graph.functions.back().function->args[0];
        const program::Split split = {x, x, Symbol::interned("xi"), 8, TailStrategy::Auto};
        const Symbol blur = problem.graph.functions.back().function->name;
        const program::Step step = {blur, program::StageStep{0, {}, {split, {}}}};
        twice.steps.push_back(step);
        twice.steps.push_back(step);
        Measurer measurer(problem.workload, plain, {.threads = 1, .run_seconds = 0.01});
        const std::vector<Measurement> all = measurer({twice, plain});
        CHECK(all[0].outcome == Outcome::Refused);
        CHECK(all[0].message.find("xi") != std::string::npos);
        CHECK(all[1].outcome == Outcome::Measured);
        CHECK(all[1].milliseconds > 0);
    }
}
