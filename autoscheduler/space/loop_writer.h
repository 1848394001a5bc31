#pragma once
#include "program/steps.h"
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::autoscheduler {

// Writes the directives of one stage as steps, and finds names for the loops that they make.
class LoopWriter {
public:
    LoopWriter(const program::FunctionContents &function, int stage,
               std::vector<program::Step> &steps);
    // Schedules a function that the steps make; `taken`: names that its loops have.
    LoopWriter(Symbol function, int stage, std::vector<program::Step> &steps,
               std::set<std::string> taken)
        : function(function), number(stage), steps(steps), taken(std::move(taken)) {}

    // The directives from here on are those of the stage's first specialization.
    void begin_specialization(const ir::Expr &condition) {
        add(program::SpecializeDirective{condition});
        path = {0};
    }
    template<typename Directive> void add(Directive directive) {
        steps.push_back({function, program::StageStep{number, path, {std::move(directive), {}}}});
    }
    // Splits the loop; returns the outer one and the inner one.
    std::pair<Symbol, Symbol> split(Symbol loop, int64_t factor, TailStrategy tail,
                                    const char *outer, const char *inner);
    // Returns the loop over both.
    Symbol fuse(Symbol inner, Symbol outer);
    // Fuses the outermost of these loops, innermost first, until a grid has a dimension for each.
    void fuse_to_grid(std::vector<Symbol> &loops);
    void reorder(const std::vector<Symbol> &innermost_first);
    void set_kind(Symbol loop, LoopKind kind) { add(program::SetLoopKind{loop, kind}); }
    // Makes the loop of a reduction a dimension of partial results, a function of that name.
    void rfactor(Symbol loop, Symbol dimension, Symbol partial) {
        add(program::Rfactor{{{loop, dimension}}, partial});
    }
    // Makes a loop of one iteration around all others.
    Symbol around_all(const char *name);
    program::LoopLevel at(Symbol loop) const {
        return program::LoopLevel::at(function, loop, number);
    }
    // Returns a name that no loop of the stage has: this one, or one like it.
    Symbol new_name(const std::string &wanted);

private:
    const Symbol function;
    const int number;
    std::vector<size_t> path;
    std::vector<program::Step> &steps;
    std::set<std::string> taken;
};

// Adds a directive of a function.
template<typename Directive>
void add_directive(std::vector<program::Step> &steps, Symbol function, Directive directive) {
    steps.push_back({function, program::FuncStep{{std::move(directive), {}}}});
}

}  // namespace tessera::autoscheduler
