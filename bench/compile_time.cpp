// Print how long pipelines take to compile: `compile_time [--passes] [--small] [NAME]...`, all
// cases by default. `--passes` prints what takes a hundredth or more of a case's time, too;
// `--small` makes small what has a size, to see that it works at all.
#include "codegen/compile.h"
#include "lower/lower.h"
#include "program/steps.h"

#include "common/timing.h"
#include "stages.h"

#include <tessera_generator.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;
using namespace tessera::apps;

namespace {

struct Case {
    const char *name;
    const char *what;
    int size;  // what `make` is given; 0: it has one size only
    std::function<Func(int)> make;
};

// One expression in which every step uses the one before it twice: a tree of it would never end.
Func shared(int nodes) {
    Var x("x");
    Func f("shared");
    Expr e = x;
    for (int i = 0; i < nodes / 5; i++) e = e * 3 + e / 7 + i;
    f(x) = e;
    return f;
}

// The output of an app's generator, with the schedule that it has by hand.
std::function<Func(int)> app(const char *name) {
    return [name](int) {
        GeneratorContext context(get_jit_target_from_environment());
        return GeneratorStub(name, context).output("output");
    };
}

const Case cases[] = {
    {"chain", "2,000 stages at the root", 2000, bench::chain},
    {"stages_20", "20 stencils under sliding windows", 20,
     [](int n) { return bench::sliding(bench::stencils(n), 128); }},
    {"sliding", "64 stencils under sliding windows", 64,
     [](int n) { return bench::sliding(bench::stencils(n), 128); }},
    {"shared", "10,000 shared nodes", 10000, shared},
    {"sliding_tiles", "32 stencils under sliding windows, tiled", 32, bench::sliding_tiles},
    {"local_laplacian", "about 100 stages", 0, app("local_laplacian")},
    {"camera_pipe", "demosaicing under sliding windows", 0, app("camera_pipe")},
    {"stencil_chain", "32 stencils, eight in a sweep", 0, app("stencil_chain")},
    {"interpolate", "a pyramid of ten levels", 0, app("interpolate")},
    {"blur", "two stages, one tile in registers", 0, app("blur")},
    {"gemm", "one tile of sums in registers", 0, app("gemm")},
    {"conv_layer", "one tile of sums in registers", 0, app("conv_layer")},
};

struct Options {
    bool passes = false, small = false;
};

struct CompileTime {
    double build = 0, nests = 0, lower = 0, llvm = 0;  // milliseconds; `lower` has that of `nests`
    double total() const { return lower + llvm; }
};

struct Step {
    std::string name;
    double milliseconds;
};

CompileTime compile(const Case &wanted, int size, std::vector<Step> *steps = nullptr) {
    Target target = get_jit_target_from_environment();
    program::Program program;
    program.name = "pipeline";
    CompileTime time;
    time.build = milliseconds([&] { program.outputs = {wanted.make(size).function()}; });
    lower::LowerOptions lowering;
    codegen::Options generation;
    auto last = std::chrono::steady_clock::now();
    if (steps) {
        lowering.trace = [&](std::string_view pass, const ir::Stmt &) {
            auto now = std::chrono::steady_clock::now();
            std::chrono::duration<double, std::milli> passed = now - last;
            steps->push_back({std::string(pass), passed.count()});
            last = now;
        };
        generation.report_time = [&](std::string_view phase, double milliseconds) {
            steps->push_back({std::string(phase), milliseconds});
        };
    }
    lower::Lowering l;
    time.nests = milliseconds([&] { l = lower::nests(program, target, lowering); });
    time.lower = time.nests + milliseconds([&] {
                     l = lower::lowered(lower::flat(lower::conceptual(std::move(l))));
                 });
    const ir::Module module = std::move(l).module();
    time.llvm = milliseconds([&] { codegen::JitModule code(module, target, {}, generation); });
    return time;
}

void print_heading() {
    std::printf("%-16s %9s %9s %9s %9s %9s %7s\n", "milliseconds", "build", "nests", "lower",
                "LLVM", "compile", "growth");
}

// `growth` is how many times as long as one of half the size a case takes to compile: 2 if the
// time is linear.
void run(const Case &wanted, const Options &options) {
    std::vector<Step> steps;
    int size = options.small ? std::min(wanted.size, 8) : wanted.size;
    double half = size > 0 ? compile(wanted, size / 2).total() : 0;
    CompileTime time = compile(wanted, size, options.passes ? &steps : nullptr);
    std::printf("%-16s %9.1f %9.1f %9.1f %9.1f %9.1f ", wanted.name, time.build, time.nests,
                time.lower, time.llvm, time.total());
    if (half > 0) {
        std::printf("%7.2f", time.total() / half);
    } else {
        std::printf("%7s", "");
    }
    std::printf("   %s\n", wanted.what);
    for (const Step &step : steps) {
        if (step.milliseconds < time.total() / 100) continue;
        std::printf("    %-28s %9.1f\n", step.name.c_str(), step.milliseconds);
    }
    std::fflush(stdout);
}

// Does what a user waits for at least: a process that compiles one small Func and runs it.
int first_result() {
    Var x("x");
    Func f("first");
    f(x) = x * x;
    Buffer<int> result = f.realize({8});
    return result(7) == 49 ? 0 : 1;
}

// Returns how many programs a second a search can make of one algorithm and its schedules.
double schedules_a_second(const program::Algorithm &algorithm, const program::Schedule &schedule,
                          int threads, bool small) {
    const int each = small ? 1 : 1000;
    const double time = milliseconds([&] {
        std::vector<std::jthread> running;
        for (int t = 0; t < threads; t++) {
            running.emplace_back([&] {
                for (int i = 0; i < each; i++) program::apply(algorithm, schedule);
            });
        }
    });
    return threads * each / time * 1000;
}

void run_apply(bool small) {
    const Func f = bench::sliding(bench::stencils(20), 128);
    const program::Algorithm algorithm({f.function()});
    const program::Schedule schedule = program::schedule_of({f.function()});
    for (int threads : {1, 2}) {
        std::printf("%-16s %9.0f   schedules of stages_20 (%zu steps) applied a second, by %d "
                    "thread%s\n",
                    "apply", schedules_a_second(algorithm, schedule, threads, small),
                    schedule.steps.size(), threads, threads > 1 ? "s" : "");
    }
}

void run_first_result(const std::string &program) {
    int code = 0;
    double time = milliseconds([&] { code = std::system((program + " --first-result").c_str()); });
    std::printf("%-16s %49.1f   from the start of a process to its first result%s\n",
                "first_result", time, code == 0 ? "" : " (failed)");
}

}  // namespace

int main(int argc, char **argv) {
    std::vector<std::string> names(argv + 1, argv + argc);
    if (!names.empty() && names[0] == "--first-result") return first_result();
    Options options;
    options.passes = std::erase(names, "--passes") > 0;
    options.small = std::erase(names, "--small") > 0;
    auto wanted = [&](const char *name) {
        return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    };
    first_result();  // so that no case below pays for the start of the compiler
    int failed = 0;
    print_heading();
    for (const Case &each : cases) {
        if (!wanted(each.name)) continue;
        try {
            run(each, options);
        } catch (const std::exception &error) {
            std::printf("%-16s failed: %s\n", each.name, error.what());
            failed = 1;
        }
    }
    if (wanted("apply")) run_apply(options.small);
    if (wanted("first_result")) run_first_result(argv[0]);
    return failed;
}
