#include "lower/storage/sliding_window.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "lower/storage/folds.h"
#include "lower/storage/slides.h"
#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// Says what is to become of a statement.
struct Changes {
    std::unordered_map<Symbol, Expr> values;  // of lets
    // The condition under which a production computes anything, and ends of its region that only
    // the production itself is to know.
    std::unordered_map<const ProducerConsumer *, Expr> needed;
    std::unordered_map<const ProducerConsumer *, Substitution> own_values;
    // Regions of which each iteration of a loop, but the first, computes what follows on what the
    // one before has computed. The keys are the symbols of their first points.
    struct Continued {
        Symbol max, loop;
        Expr first;  // whether it is the first iteration
    };
    std::unordered_map<Symbol, Continued> continued;
    // An end that the production alone takes to be `own`, while others go by `required`.
    struct Told {
        Expr required, own;
        bool is_min;
        std::unordered_set<Symbol> made_of;  // the lets that `required` is made of
    };
    std::unordered_map<Symbol, Told> told;
};

// Finds the new bounds of the region of one production.
class SlideWindow {
public:
    SlideWindow(const Production &production, Changes &changes)
        : production(production), path(production.path), slides(production), changes(changes) {}

    void along_all_loops() {
        const size_t outermost = first_loop();
        for (size_t i = path.entries.size(); i-- > outermost;) {
            if (!path.entries[i].is_loop()) continue;
            if (std::optional<Slide> slide = slides.along(i)) apply(*slide);
        }
    }

private:
    // Storage that is folded for the sake of a loop that the user chose is not kept for those
    // around it.
    size_t first_loop() const {
        if (!asks_for_fold(production.storage.storage)) return 0;
        size_t first = 0;
        for (const Fold &fold : find_folds(production)) first = std::max(first, fold.place);
        return first;
    }

    void apply(const Slide &slide) {
        const PathEntry &l = path.entries[slide.loop];
        const Expr v = Variable::make(Int(32), l.name);
        if (slide.kind == Slide::Kind::Fixed) {
            const Expr first = v == l.value;
            Expr &needed = changes.needed[&production.computed];
            needed = needed.defined() ? needed && first : first;
            return;
        }
        const auto *first_point = production.range(slide.dim).min.as<Variable>();
        const auto *last_point = production.range(slide.dim).max.as<Variable>();
        if (!is_let(first_point) || !is_let(last_point)) return;
        const Symbol min = first_point->name, max = last_point->name;
        const bool forward = slide.kind == Slide::Kind::Forward;
        const Symbol end = forward ? min : max;
        const Expr rest = near(slide.end, forward ? max : min);
        const Expr first = first_of(slide);
        const Expr value = select(first, path.let_value(end), likely_if_innermost(rest));
        if (has_unrolled_loop() && !is_bounded(forward ? production.range(slide.dim).max - value
                                                       : value - production.range(slide.dim).min)) {
            return;
        }
        if (slide.goes_on) changes.continued[min] = {max, l.name, first};
        if (slide.is_rounded && tells_of(min, max)) {
            changes.own_values[&production.computed][end] = value;
            const Expr required = path.let_value(end);
            changes.told[end] = {required, value, forward, lets_within(required)};
        } else {
            changes.values[end] = value;
        }
    }

    // Returns true if loops of the production are unrolled. They get as many copies as an iteration
    // may need, so that this number has to be bounded.
    bool has_unrolled_loop() const {
        bool found = false;
        for_each_node(production.computed.body,
                      [&](const For &loop) { found |= loop.loop_kind == LoopKind::Unrolled; });
        return found;
    }
    bool is_bounded(const Expr &extent) const {
        return algebra::constant_upper_bound(simplify(path.expand(remove_likely(extent))))
            .has_value();
    }

    // Returns true if a let of the path binds it.
    bool is_let(const Variable *v) const {
        return v && std::ranges::any_of(path.entries, [&](const PathEntry &e) {
                   return e.kind == PathEntry::Kind::Let && e.name == v->name;
               });
    }

    // Returns whether nothing has been computed yet of what the slide takes for known. A loop over
    // the region of another function, which slides along the loop around that, goes on where it has
    // ended.
    Expr first_of(const Slide &slide) const {
        const PathEntry &l = path.entries[slide.loop];
        Expr first = Variable::make(Int(32), l.name) == l.value;
        const auto *min = l.value.as<Variable>();
        auto region = min ? changes.continued.find(min->name) : changes.continued.end();
        if (slide.kind != Slide::Kind::Forward || region == changes.continued.end()) return first;
        size_t outer = slide.loop;
        do {
            if (outer-- == 0) return first;
        } while (!path.entries[outer].is_loop() || !path.repeats(outer));
        const Expr max = Variable::make(Int(32), region->second.max);
        const bool goes_on = path.entries[outer].name == region->second.loop &&
                             outer >= first_loop() &&
                             !path.shared_loops.contains(region->second.loop) &&
                             is_zero(simplify(l.loop_extent - (max - l.value + 1))) &&
                             slides.moves_only_by(slide.loop, outer, slide.dim);
        return goes_on ? first && region->second.first : first;
    }

    // The expression as the value of a let plus a constant, if it is that: then what the let is
    // made of need not be computed again. Markers of the loops around belong to them.
    Expr near(const Expr &e, Symbol let) const {
        Expr distance = simplify(e - path.expand(Variable::make(Int(32), let)));
        return is_const(distance) ? path.let_value(let) + distance : simplify(remove_likely(e));
    }

    // Returns true if the region of another function is made of these ends of this one, which for
    // its part counts on what is required of it, and not on what is left of that.
    bool tells_of(Symbol min, Symbol max) const {
        return std::ranges::any_of(path.entries, [&](const PathEntry &e) {
            const auto told = [&](const Expr &of) {
                return of.defined() && (uses_symbol(of, min) || uses_symbol(of, max));
            };
            return told(e.value) || told(e.loop_extent);
        });
    }

    // The lets of the path that the expression is made of.
    std::unordered_set<Symbol> lets_within(const Expr &e) const {
        std::unordered_set<Symbol> found;
        std::vector<Expr> parts{e};
        for (size_t i = path.entries.size(); i-- > 0;) {
            const PathEntry &let = path.entries[i];
            const auto names_it = [&](const Expr &part) { return uses_symbol(part, let.name); };
            if (let.kind != PathEntry::Kind::Let || !std::ranges::any_of(parts, names_it)) continue;
            found.insert(let.name);
            parts.push_back(let.value);
        }
        return found;
    }

    const Production &production;
    const ProductionPath &path;
    Slides slides;
    Changes &changes;
};

// Others know a region that holds what a production computes on its own, as long as that does not
// change. If a window further in slides, less is required than was counted on:
//
//     for x:                              let g.min = select(x == 0, x, x + 2)
//         let g.min = x                   let f.min = min(g.min, select(x == 0, g.min, x))
//         let f.min = g.min          ->   compute what f reads, from f.min on
//         compute what f reads            produce f:  let own = select(x == 0, g.min, x)
//         produce f, produce g            produce g
void tell_of_own_values(Changes &changes) {
    const auto is_changed = [&](const Changes::Told &told) {
        return std::ranges::any_of(told.made_of,
                                   [&](Symbol s) { return changes.values.contains(s); });
    };
    for (bool again = true; std::exchange(again, false);) {
        for (const auto &[end, told] : changes.told) {
            if (changes.values.contains(end) || !is_changed(told)) continue;
            changes.values[end] =
                told.is_min ? min(told.required, told.own) : max(told.required, told.own);
            again = true;
        }
    }
}

class MakeChanges final : public Mutator {
public:
    explicit MakeChanges(const Changes &changes) : changes(changes) {}

private:
    Stmt visit(const LetStmt &let) override {
        auto found = changes.values.find(let.name);
        if (found == changes.values.end()) return let.with<&LetStmt::body>((*this)(let.body));
        return let.with<&LetStmt::value, &LetStmt::body>(found->second, (*this)(let.body));
    }
    Stmt visit(const Provide &p) override { return Stmt(&p); }
    Stmt visit(const AssertStmt &a) override { return Stmt(&a); }
    Stmt visit(const Evaluate &e) override { return Stmt(&e); }
    Stmt visit(const ProducerConsumer &p) override {
        auto own = changes.own_values.find(&p);
        auto needed = changes.needed.find(&p);
        Stmt body = (*this)(p.body);
        if (own != changes.own_values.end()) body = with_own_values(own->second, body);
        if (needed != changes.needed.end()) body = IfThenElse::make(needed->second, body);
        Produced produced = p.produced;
        produced.ranges.clear();
        return p.with<&ProducerConsumer::body, &ProducerConsumer::produced>(body, produced);
    }
    static Stmt with_own_values(const Substitution &values, Stmt body) {
        for (const auto &[end, value] : values) {
            const Symbol own = Symbol::fresh(end.text());
            body = substitute(end, Variable::make(Int(32), own), body);
            body = LetStmt::make(own, value, body);
        }
        return body;
    }
    const Changes &changes;
};

}  // namespace

Stmt sliding_window(const Stmt &s, const Context &) {
    Changes changes;
    for_each_production(s, [&](const Production &p) { SlideWindow(p, changes).along_all_loops(); });
    tell_of_own_values(changes);
    return MakeChanges(changes)(s);
}

}  // namespace tessera::lower
