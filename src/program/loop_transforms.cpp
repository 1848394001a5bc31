#include "program/loop_transforms.h"
#include <algorithm>

namespace tessera::program {
namespace {

// Puts the others in the place of these, if one of them is there.
void replace(std::vector<Symbol> &loops, const std::vector<Symbol> &these,
             const std::vector<Symbol> &others) {
    const auto is_one = [&](Symbol s) { return std::ranges::count(these, s) > 0; };
    if (std::erase_if(loops, is_one) == 0) return;
    for (Symbol s : others) {
        if (!std::ranges::count(loops, s)) loops.push_back(s);
    }
}

}  // namespace

std::vector<Symbol> loops_taken(const LoopTransform &transform) {
    return model_of(transform)->taken();
}

std::vector<Symbol> loops_made(const LoopTransform &transform) {
    return model_of(transform)->made();
}

std::vector<Symbol> made_from(const LoopTransform &transform, Symbol loop) {
    const std::vector<Symbol> made = loops_made(transform);
    return std::ranges::count(made, loop) ? loops_taken(transform) : std::vector<Symbol>();
}

std::vector<Symbol> roots_of_loop(const StageSchedule &schedule, Symbol loop) {
    std::vector<Symbol> roots{loop};
    for (auto t = schedule.transforms.rbegin(); t != schedule.transforms.rend(); ++t) {
        replace(roots, loops_made(t->directive), loops_taken(t->directive));
    }
    return roots;
}

std::vector<Symbol> leaves_of_loops(const StageSchedule &schedule, std::vector<Symbol> loops,
                                    size_t first) {
    for (size_t t = first; t < schedule.transforms.size(); t++) {
        const LoopTransform &transform = schedule.transforms[t].directive;
        replace(loops, loops_taken(transform), loops_made(transform));
    }
    return loops;
}

namespace {

// The last of the first `count` transforms that makes the loop.
std::optional<Maker> maker_of(const StageSchedule &schedule, Symbol loop, size_t count) {
    while (count-- > 0) {
        auto model = model_of(schedule.transforms[count].directive);
        const std::vector<Symbol> made = model->made();
        const auto place = std::ranges::find(made, loop);
        if (place == made.end()) continue;
        return Maker{std::move(model), count, size_t(place - made.begin())};
    }
    return std::nullopt;
}

}  // namespace

std::vector<Maker> makers_of(const StageSchedule &schedule, Symbol loop, size_t count) {
    std::vector<Maker> all;
    while (std::optional<Maker> maker = maker_of(schedule, loop, count)) {
        loop = maker->model->taken()[maker->model->ends_with(maker->loop)];
        count = maker->transform;
        all.push_back(std::move(*maker));
    }
    return all;
}

LoopFacts facts_of_loop(const StageSchedule &schedule, Symbol loop, size_t count) {
    const std::optional<Maker> maker = maker_of(schedule, loop, count);
    if (!maker) return {};
    std::vector<LoopFacts> taken;
    for (Symbol old : maker->model->taken()) {
        taken.push_back(facts_of_loop(schedule, old, maker->transform));
    }
    return maker->model->facts_made(taken)[maker->loop];
}

}  // namespace tessera::program
