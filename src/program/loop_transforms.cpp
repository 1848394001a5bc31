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
    using Loops = std::vector<Symbol>;
    return std::visit(overloaded{[](const Split &s) -> Loops { return {s.old}; },
                                 [](const Fuse &f) -> Loops { return {f.inner, f.outer}; },
                                 [](const Rename &r) -> Loops { return {r.old}; }},
                      transform);
}

std::vector<Symbol> loops_made(const LoopTransform &transform) {
    using Loops = std::vector<Symbol>;
    return std::visit(overloaded{[](const Split &s) -> Loops { return {s.inner, s.outer}; },
                                 [](const Fuse &f) -> Loops { return {f.fused}; },
                                 [](const Rename &r) -> Loops { return {r.new_name}; }},
                      transform);
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

}  // namespace tessera::program
