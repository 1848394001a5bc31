// Finds schedules for a pipeline in two ways: by the autoscheduler, and by a template, which is a
// schedule of one's own with choices. Prints the schedules as C++, and their times.
//
//     autotune [--trials=64] [--log=tuning.jsonl] [--size=1536x2560]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <tessera_tune.h>

using namespace tessera;

namespace {

// Corners: the products of the derivatives, summed over squares of 3x3.
struct Corners {
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
    Func across{"across"}, down{"down"}, corners{"corners"};

    Corners(const Buffer<float> &in, int width, int height) {
        across(x, y) = in(x + 2, y + 1) - in(x, y + 1);
        down(x, y) = in(x + 1, y + 2) - in(x + 1, y);
        const RDom r(0, 3, 0, 3);
        const Expr xx = across(x + r.x, y + r.y), yy = down(x + r.x, y + r.y);
        corners(x, y) = sum(xx * xx) * sum(yy * yy) - sum(xx * yy) * sum(xx * yy);
        corners.set_estimates({{0, width}, {0, height}});
    }
};

struct Options {
    std::string trials = "64", log = "tuning.jsonl";
    int width = 1536, height = 2560;
};

Options parse(int argc, char **argv) {
    Options o;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        const std::string value = word.substr(std::min(word.size(), word.find('=') + 1));
        if (word.starts_with("--trials=")) {
            o.trials = value;
        } else if (word.starts_with("--log=")) {
            o.log = value;
        } else if (word.starts_with("--size=") && value.find('x') < value.size()) {
            o.width = std::stoi(value);
            o.height = std::stoi(value.substr(value.find('x') + 1));
        } else {
            throw CompileError("usage: autotune [--trials=64] [--log=file] [--size=1536x2560]");
        }
    }
    return o;
}

// The least of several runs, in milliseconds; the first one compiles.
double time_of(Func f, const Options &o) {
    Buffer<float> out(o.width, o.height);
    double best = 1e300;
    for (int i = 0; i < 10; i++) {
        const auto begin = std::chrono::steady_clock::now();
        f.realize(out);
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - begin;
        if (i > 0) best = std::min(best, passed.count());
    }
    return best;
}

void print(const char *name, double milliseconds, const std::string &schedule = "") {
    std::printf("%-13s %9.3f ms\n%s", name, milliseconds, schedule.c_str());
}

void run(const Options &o) {
    const Target target = get_host_target();
    Buffer<float> in(o.width + 4, o.height + 4);
    in.for_each_element([&](int x, int y) { in(x, y) = float((x * 7 + y * 3) % 64); });

    Corners plain(in, o.width, o.height);
    print("unscheduled", time_of(plain.corners, o));

    // Rules and estimated costs, without measuring.
    Corners simple(in, o.width, o.height);
    Pipeline(simple.corners).apply_autoscheduler(target, {"simple"});
    print("by rules", time_of(simple.corners, o));

    // Measured schedules. The log keeps them: the next run begins where this one ends.
    Corners tuned(in, o.width, o.height);
    const AutoSchedulerResults found =
        Pipeline(tuned.corners)
            .apply_autoscheduler(target, {"tessera", {{"trials", o.trials}, {"log", o.log}}});
    print("autoscheduler", time_of(tuned.corners, o), found.schedule_source);

    // A schedule of one's own, with choices.
    Corners own(in, o.width, o.height);
    const auto by_strips = [&](Knobs &k) {
        const int vector = k.choose("vector", {4, 8, 16});
        own.corners.split(own.y, own.y, own.yi, k.choose("rows", {8, 16, 32, 64}))
            .vectorize(own.x, vector)
            .parallel(own.y);
        if (k.choose("keep derivatives", {true, false})) {
            own.across.compute_at(own.corners, own.yi).vectorize(own.x, vector);
            own.down.compute_at(own.corners, own.yi).vectorize(own.x, vector);
            if (!k.choose("slide", {true, false})) return;
            own.across.store_at(own.corners, own.y);
            own.down.store_at(own.corners, own.y);
        }
    };
    const TemplateResult best = tune_template(own.corners, by_strips, target,
                                              {.trials = std::stoi(o.trials), .log = o.log});
    for (const auto &[knob, choice] : best.choices)
        std::printf("%s: %s\n", knob.c_str(), choice.c_str());
    print("template", time_of(own.corners, o), best.schedule_source);
}

}  // namespace

int main(int argc, char **argv) try { run(parse(argc, argv)); } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
