#include "autoscheduler/space/loop_writer.h"
#include "ir/operators.h"
#include "program/define.h"

namespace tessera::autoscheduler {

using namespace program;

LoopWriter::LoopWriter(const FunctionContents &function, int stage, std::vector<Step> &steps)
    : function(function.name), number(stage), steps(steps) {
    for (Symbol arg : function.args) taken.insert(arg.text());
    const Definition &definition = *function.stages[size_t(stage)];
    for (const ReductionVariable &r : definition.reduction) taken.insert(r.var.text());
    for (const Loop &l : definition.schedule.loops) taken.insert(l.var.text());
    for (const auto &t : definition.schedule.transforms) {
        if (const auto *s = std::get_if<Split>(&t.directive)) taken.insert(s->old.text());
        if (const auto *f = std::get_if<Fuse>(&t.directive))
            taken.insert({f->inner.text(), f->outer.text()});
        if (const auto *r = std::get_if<Rename>(&t.directive)) taken.insert(r->old.text());
    }
}

Symbol LoopWriter::new_name(const std::string &wanted) {
    std::string name = wanted;
    for (int n = 2; !taken.insert(name).second; n++) name = wanted + std::to_string(n);
    return Symbol::interned(name);
}

std::pair<Symbol, Symbol> LoopWriter::split(Symbol loop, int64_t factor, TailStrategy tail,
                                            const char *outer, const char *inner) {
    const Symbol o = new_name(loop.text() + outer), i = new_name(loop.text() + inner);
    add(Split{loop, o, i, Expr(int32_t(factor)), tail});
    return {o, i};
}

Symbol LoopWriter::fuse(Symbol inner, Symbol outer) {
    const Symbol fused = new_name(inner.text() + "_" + outer.text());
    add(Fuse{inner, outer, fused});
    return fused;
}

void LoopWriter::fuse_to_grid(std::vector<Symbol> &loops) {
    constexpr size_t dimensions_of_grid = 3;
    while (loops.size() > dimensions_of_grid) {
        const Symbol outer = loops.back();
        loops.pop_back();
        loops.back() = fuse(loops.back(), outer);
    }
}

void LoopWriter::reorder(const std::vector<Symbol> &innermost_first) {
    if (innermost_first.size() > 1) add(Reorder{innermost_first});
}

Symbol LoopWriter::around_all(const char *name) {
    const Symbol made = new_name(name), all = outermost_loop();
    add(Split{all, all, made, Expr(1), TailStrategy::RoundUp});
    return made;
}

}  // namespace tessera::autoscheduler
