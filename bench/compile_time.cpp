// Print how long pipelines take to compile: `compile_time [NAME]...`, all cases by default.
#include "blur/pipeline.h"
#include "camera_pipe/pipeline.h"
#include "common/timing.h"
#include "conv_layer/pipeline.h"
#include "gemm/pipeline.h"
#include "local_laplacian/pipeline.h"

#include <tessera.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::apps;

namespace {

struct Case {
    const char *name;
    const char *what;
    std::function<Func()> make;
};

// 2,000 stages, each computed in full before the next.
Func chain() {
    Var x("x");
    Func previous("stage_0");
    previous(x) = x;
    for (int i = 1; i < 2000; i++) {
        Func next("stage_" + std::to_string(i));
        next(x) = previous(x) + i;
        previous.compute_root();
        previous = next;
    }
    return previous;
}

// 64 stencils, each row computed as the stages below it come to need it.
Func sliding() {
    Var x("x"), y("y"), strip("strip");
    std::vector<Func> stages = {Func("stencil_0")};
    stages[0](x, y) = x + y;
    for (int i = 1; i <= 64; i++) {
        Func next("stencil_" + std::to_string(i));
        const Func &last = stages.back();
        next(x, y) = last(x, y - 1) + last(x, y) * 2 + last(x, y + 1);
        stages.push_back(next);
    }
    Func output = stages.back();
    output.split(y, strip, y, 128, TailStrategy::GuardWithIf).vectorize(x, 8);
    stages.pop_back();
    for (Func &stage : stages)
        stage.store_at(output, strip).compute_at(output, y).vectorize(x, 8);
    return output;
}

// One expression whose 10,000 nodes are each used twice: a tree of it would never end.
Func shared() {
    Var x("x");
    Func f("shared");
    Expr value = x;
    for (int i = 0; i < 5000; i++)
        value = value + (value ^ i);
    f(x) = value;
    return f;
}

// The output of an app with the schedule that it has by hand.
template<typename App, typename... Args> Func scheduled(Args... args) {
    App app(args...);
    app.schedule(get_jit_target_from_environment());
    return app.output;
}

const Case cases[] = {
    {"chain", "2,000 stages at the root", chain},
    {"sliding", "64 stencils under sliding windows", sliding},
    {"shared", "10,000 shared nodes", shared},
    {"local_laplacian", "about 100 stages", [] { return scheduled<LocalLaplacian>(8); }},
    {"camera_pipe", "demosaicing under sliding windows", [] { return scheduled<CameraPipe>(); }},
    {"blur", "two stages, one tile in registers", [] { return scheduled<Blur>(); }},
    {"gemm", "one tile of sums in registers", [] { return scheduled<Gemm>(); }},
    {"conv_layer", "one tile of sums in registers", [] { return scheduled<ConvLayer>(128); }},
};

void run(const Case &wanted) {
    Func output;
    double building = milliseconds([&] { output = wanted.make(); });
    double compiling = milliseconds([&] { output.compile_jit(); });
    std::printf("%-16s %8.1f ms to build %10.1f ms to compile   %s\n", wanted.name, building,
                compiling, wanted.what);
    std::fflush(stdout);
}

// What a user waits for at least: a process that compiles one small Func and runs it.
int first_result() {
    Var x("x");
    Func f("first");
    f(x) = x * x;
    Buffer<int> result = f.realize({8});
    return result(7) == 49 ? 0 : 1;
}

void run_first_result(const std::string &program) {
    int code = 0;
    double time = milliseconds([&] { code = std::system((program + " --first-result").c_str()); });
    std::printf("%-16s %8s %17.1f ms from the start of a process to its first result%s\n",
                "first_result", "", time, code == 0 ? "" : " (failed)");
}

}  // namespace

int main(int argc, char **argv) {
    std::vector<std::string> names(argv + 1, argv + argc);
    if (!names.empty() && names[0] == "--first-result") return first_result();
    auto wanted = [&](const char *name) {
        return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    };
    first_result();  // so that no case below pays for the start of the compiler
    int failed = 0;
    for (const Case &each : cases) {
        if (!wanted(each.name)) continue;
        try {
            run(each);
        } catch (const std::exception &error) {
            std::printf("%-16s failed: %s\n", each.name, error.what());
            failed = 1;
        }
    }
    if (wanted("first_result")) run_first_result(argv[0]);
    return failed;
}
