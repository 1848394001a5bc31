#include "algebra/facts.h"
#include "ir/visitor.h"

namespace tessera::algebra {

Facts facts_about(const Expr &e, const Facts &all) {
    Facts about;
    about.known_true = all.known_true;
    std::vector<Expr> todo = {e};
    const auto add = [&](Symbol name) {
        const auto alignment = all.alignments.find(name);
        if (alignment != all.alignments.end()) about.alignments.insert(*alignment);
        const auto range = all.intervals.find(name);
        if (range == all.intervals.end() || !about.intervals.insert(*range).second) return;
        todo.push_back(range->second.min);
        todo.push_back(range->second.max);
    };
    while (!todo.empty()) {
        const Expr next = todo.back();
        todo.pop_back();
        if (next.defined()) ir::for_each_node(next, [&](const ir::Variable &v) { add(v.name); });
    }
    return about;
}

}  // namespace tessera::algebra
