#include "program/reach.h"
#include "program/environment.h"
#include <algorithm>

namespace tessera::program {
namespace {

// Finds what the pipeline consists of when wrappers are in place: those for functions that are not
// part of it are not, either.
void find_names(const std::vector<FunctionRef> &outputs, Reached &reached) {
    std::vector<FunctionRef> all;
    auto add = [&](const std::vector<FunctionRef> &roots) {
        for (const FunctionRef &f : find_transitive_calls(roots).order) {
            if (reached.names.insert(f->name).second) all.push_back(f);
        }
    };
    add(outputs);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all.size(); i++) {
            for (const auto &[consumer, w] : all[i]->wrappers) {
                if (!reached.is_reached(consumer) || reached.names.count(w)) continue;
                more = true;
                add({all[i].relative(w)});
            }
        }
    }
}

// The same, and what the wrappers wrap, in order.
void collect(const std::vector<FunctionRef> &from, Reached &reached, std::set<Symbol> &known) {
    for (const FunctionRef &f : find_transitive_calls(from).order) {
        if (!known.insert(f->name).second) continue;
        reached.all.push_back(f);
        for (const auto &[consumer, w] : f->wrappers) {
            if (reached.is_reached(consumer)) collect({f.relative(w)}, reached, known);
        }
    }
}

// The functions that directives of the stage and of its specializations have made.
void find_made(const Definition &d, std::set<Symbol> &found) {
    for (const auto &w : d.schedule.directives) {
        if (const Symbol made = made_by(w.directive); made.defined()) found.insert(made);
    }
    for (const Specialization &s : d.specializations) {
        if (s.definition) find_made(*s.definition, found);
    }
}

}  // namespace

Reached reach(const std::vector<FunctionRef> &outputs) {
    Reached reached;
    find_names(outputs, reached);
    std::set<Symbol> known, made;
    collect(outputs, reached, known);
    for (const FunctionRef &f : reached.all) {
        for (const DefinitionRef &d : f->stages) find_made(*d, made);
    }
    std::ranges::copy_if(reached.all, std::back_inserter(reached.algorithm),
                         [&](const FunctionRef &f) {
                             return f->made_by == MadeBy::Definition && !made.count(f->name);
                         });
    return reached;
}

}  // namespace tessera::program
