#include "gpu/schedules.h"

#include <tessera_generator.h>

namespace tessera::bench {

namespace {

bool begins_with(const std::string &name, const std::string &app) {
    return name.rfind(app + "_", 0) == 0;
}

// The longest name of an app that `generator` begins with: blur_f32_wide is no schedule of blur.
std::string app_of(const std::string &generator, const std::vector<Problem> &all) {
    std::string app;
    for (const Problem &p : all) {
        if (generator == p.generator) return generator;
        if (begins_with(generator, p.generator) && p.generator.size() > app.size())
            app = p.generator;
    }
    return app;
}

}  // namespace

std::vector<std::string> schedules_of(const Problem &problem, const std::vector<Problem> &all) {
    std::vector<std::string> names = {problem.generator};
    for (const std::string &name : GeneratorRegistry::names()) {
        if (name != problem.generator && app_of(name, all) == problem.generator)
            names.push_back(name);
    }
    return names;
}

Problem with_schedule(Problem problem, const std::string &generator) {
    problem.generator = generator;
    return problem;
}

Problem made_small(Problem problem, int width, int height) {
    const Shape &input = problem.inputs[0];
    const size_t x = input.extents.size() == 4 ? 1 : 0;  // pictures of channels, or channels of
    const int less[2] = {input.extents[x] - width, input.extents[x + 1] - height};
    const int least = 64;  // of pictures: whatever is smaller is a filter
    if (less[0] < 0 || less[1] < 0) return problem;
    std::vector<Shape *> shapes = {&problem.output};
    for (Shape &shape : problem.inputs) shapes.push_back(&shape);
    for (Shape *shape : shapes) {
        std::vector<int> &extents = shape->extents;
        if (extents.size() < x + 2 || extents[x] < least || extents[x + 1] < least) continue;
        for (size_t d : {0, 1}) extents[x + d] -= less[d];
        if (x == 1) extents[3] = 1;
    }
    if (const auto factor = problem.scalars.find("factor"); factor != problem.scalars.end()) {
        problem.output.extents[0] = int(width * factor->second);
        problem.output.extents[1] = int(height * factor->second);
    }
    return problem;
}

}  // namespace tessera::bench
