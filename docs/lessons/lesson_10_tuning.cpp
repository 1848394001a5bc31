// Lesson 10: tuning.
//
// Which schedule is the fastest depends on the machine. A template is a function that schedules a
// pipeline and asks for what it leaves open; the tuner measures the choices.
#include "check.h"
#include <iostream>
#include <tessera_tune.h>

using namespace tessera;

int main() {
    Buffer<uint8_t> photo(512, 384);
    photo.fill([](int i, int j) { return uint8_t((i * 7 + j * j) % 251); });
    Var x("x"), y("y"), xi("xi"), yi("yi");
    Func image = BoundaryConditions::repeat_edge(photo), blur_x("blur_x"), out("out");
    blur_x(x, y) = (u16(image(x - 1, y)) + image(x, y) + image(x + 1, y)) / 3;
    out(x, y) = u8((blur_x(x, y - 1) + blur_x(x, y) + blur_x(x, y + 1)) / 3);
    const Buffer<uint8_t> expected = out.realize({512, 384});

    // The tuner has to know how large outputs are.
    out.set_estimates({{0, 512}, {0, 384}});

    // Each candidate is measured in a process of its own, and has to compute what the pipeline
    // computes without it. What is refused, or crashes, costs that candidate alone.
    const TemplateResult best = tune_template(
        out,
        [&](Knobs &k) {
            const int rows = k.choose("rows", {8, 32});
            out.tile(x, y, xi, yi, 128, rows).vectorize(xi, k.choose("vector", {8, 16}));
            if (k.choose("parallel", {true, false})) out.parallel(y);
            blur_x.compute_at(out, x).vectorize(x, 16);
        },
        get_host_target(), {.trials = 6});
    std::cout << best.milliseconds << " ms\n" << best.schedule_source;
    check(best.milliseconds > 0);
    check(best.choices.count("rows") == 1);
    check(!best.trials.empty() && best.trials.size() <= 6);

    // The Funcs have the best schedule now, and it is there as C++, to be written into the program.
    check(best.schedule_source.find("vectorize") != std::string::npos);
    const Buffer<uint8_t> result = out.realize({512, 384});
    result.for_each_element([&](int i, int j) { check(result(i, j) == expected(i, j)); });
}
