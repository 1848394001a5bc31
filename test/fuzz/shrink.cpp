#include "tensor_check.h"
#include "terms.h"
#include <algorithm>
#include <chrono>

namespace tessera::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

class Shrinker {
public:
    Shrinker(Plan plan, std::string kind, int seconds)
        : best(std::move(plan)), kind(std::move(kind)),
          end(Clock::now() + std::chrono::seconds(seconds)) {}

    Plan run() {
        bool smaller = true;
        while (smaller && Clock::now() < end) {
            smaller = drop_directives();
            smaller |= drop_updates();
            smaller |= simplify_terms();
            smaller |= drop_funcs();
            smaller |= simplify_externs();
            smaller |= simplify_inputs();
            smaller |= simplify_domains();
            smaller |= make_small();
        }
        return best;
    }

private:
    bool accept(Plan candidate) {
        if (Clock::now() >= end || check(candidate, 20).kind != kind) return false;
        best = std::move(candidate);
        return true;
    }

    bool drop_directives() {
        bool any = false;
        for (size_t length = best.directives.size(); length >= 1; length /= 2) {
            for (size_t at = 0; at < best.directives.size();) {
                Plan candidate = best;
                auto first = candidate.directives.begin() + long(at);
                size_t n = std::min(length, candidate.directives.size() - at);
                candidate.directives.erase(first, first + long(n));
                if (accept(std::move(candidate))) {
                    any = true;
                } else {
                    at += length;
                }
            }
        }
        return any;
    }

    bool drop_updates() {
        bool any = false;
        for (size_t f = 0; f < best.funcs.size(); f++) {
            for (size_t u = best.funcs[f].updates.size(); u-- > 0;) {
                Plan candidate = best;
                auto &updates = candidate.funcs[f].updates;
                updates.erase(updates.begin() + long(u));
                std::vector<Directive> kept;
                for (Directive d : candidate.directives) {
                    if (d.func == int(f) && d.update == int(u)) continue;
                    if (d.func == int(f) && d.update > int(u)) d.update--;
                    kept.push_back(d);
                }
                candidate.directives = kept;
                any |= accept(std::move(candidate));
            }
        }
        return any;
    }

    // The n-th term of a function, in the order of for_each_term; null if there are fewer.
    static Term *nth_term(FuncPlan &func, size_t n) {
        Term *found = nullptr;
        for_each_root(func, [&](Term &root) {
            for_each_term(root, [&](Term &t) {
                if (n-- == 0) found = &t;
            });
        });
        return found;
    }

    bool simplify_terms() {
        bool any = false;
        for (size_t f = best.funcs.size(); f-- > 0;) {
            for (size_t n = 0;; n++) {
                Term *t = nth_term(best.funcs[f], n);
                if (!t) break;
                bool leaf =
                    t->op == Op::Number || t->op == Op::Coordinate || t->op == Op::Reduction;
                if (!leaf) any |= simplify_term(f, n, *t);
                if (Clock::now() >= end) return any;
            }
        }
        return any;
    }

    bool simplify_term(size_t f, size_t n, const Term &t) {
        std::vector<Term> instead;
        for (const Term &arg : t.args) {
            if (arg.type == t.type) instead.push_back(arg);
        }
        instead.push_back(number(t.type, 1));
        for (Term &replacement : instead) {
            Plan candidate = best;
            Term *place = nth_term(candidate.funcs[f], n);
            // The facts about the function's values stay: the tolerance of the comparison.
            replacement.low = t.low;
            replacement.high = t.high;
            replacement.error = t.error;
            *place = replacement;
            if (accept(std::move(candidate))) return true;
        }
        return false;
    }

    bool drop_funcs() {
        bool any = false;
        if (best.outputs.size() > 1) {
            for (size_t k = 0; k < best.outputs.size() && best.outputs.size() > 1; k++) {
                Plan candidate = best;
                candidate.outputs.erase(candidate.outputs.begin() + long(k));
                any |= accept(std::move(candidate));
            }
        }
        for (size_t f = best.funcs.size(); f-- > 0;) {
            Plan candidate = best;
            if (remove_func(candidate, int(f))) any |= accept(std::move(candidate));
        }
        return any;
    }

    // Removes the function if nothing uses it.
    static bool remove_func(Plan &plan, int gone) {
        bool used = std::count(plan.outputs.begin(), plan.outputs.end(), gone) > 0;
        auto renumber = [&](int &i) { i -= i > gone; };
        auto visit = [&](Term &root) {
            for_each_term(root, [&](Term &t) {
                if (t.op != Op::Call) return;
                used |= t.index == gone;
                renumber(t.index);
            });
        };
        for (size_t f = 0; f < plan.funcs.size(); f++) {
            FuncPlan &func = plan.funcs[f];
            if (int(f) == gone) continue;
            for_each_root(func, visit);
            for (ExternSource &s : func.reads) {
                if (s.is_input) continue;
                used |= s.index == gone;
                renumber(s.index);
            }
            if (func.source_is_input) continue;
            used |= func.source == gone;
            renumber(func.source);
        }
        if (used) return false;
        std::vector<Directive> kept;
        for (Directive d : plan.directives) {
            if (d.func == gone || d.other == gone) continue;
            renumber(d.func);
            renumber(d.other);
            renumber(d.creates);
            kept.push_back(d);
        }
        plan.directives = kept;
        for (int &output : plan.outputs) renumber(output);
        plan.funcs.erase(plan.funcs.begin() + gone);
        return true;
    }

    bool make_small() {
        bool any = false;
        for (size_t d = 0; d < best.size.size(); d++) {
            if (is_updated_at_points(best, d)) continue;
            for (int size : {1, best.size[d] / 2, best.size[d] - 1}) {
                if (size < 1 || size >= best.size[d]) continue;
                Plan candidate = best;
                resize(candidate, d, size);
                any |= accept(std::move(candidate));
            }
            any |= move_to_zero(d, &Plan::min);
            any |= move_to_zero(d, &Plan::base);
        }
        return any;
    }

    bool move_to_zero(size_t d, std::vector<int> Plan::*what) {
        if ((best.*what)[d] == 0) return false;
        Plan candidate = best;
        for (Directive &directive : candidate.directives) {
            if (is_promise(best, directive, d)) directive.offset -= (best.*what)[d];
        }
        (candidate.*what)[d] = 0;
        return accept(std::move(candidate));
    }

    bool simplify_externs() {
        bool any = false;
        for (size_t f = 0; f < best.funcs.size(); f++) {
            if (best.funcs[f].read_limit > 0 && !needs_limit(best.funcs[f])) {
                Plan candidate = best;
                candidate.funcs[f].read_limit = 0;
                any |= accept(std::move(candidate));
            }
            for (size_t k = best.funcs[f].reads.size(); k-- > 0;) {
                if (best.funcs[f].reads.size() == 1) break;
                Plan candidate = best;
                auto &reads = candidate.funcs[f].reads;
                reads.erase(reads.begin() + long(k));
                any |= accept(std::move(candidate));
            }
        }
        return any;
    }

    // A Buffer is no larger than it is.
    bool needs_limit(const FuncPlan &func) const {
        return std::any_of(func.reads.begin(), func.reads.end(), [&](const ExternSource &s) {
            return s.is_input && !best.inputs[size_t(s.index)].is_param;
        });
    }

    bool simplify_inputs() {
        bool any = false;
        for (size_t i = 0; i < best.inputs.size(); i++) {
            if (best.inputs[i].layout == InputLayout::Dense) continue;
            Plan candidate = best;
            candidate.inputs[i].layout = InputLayout::Dense;
            any |= accept(std::move(candidate));
        }
        return any;
    }

    bool simplify_domains() {
        bool any = false;
        for (size_t i = 0; i < best.domains.size(); i++) {
            if (!best.domains[i].where.empty()) {
                Plan candidate = best;
                candidate.domains[i].where.clear();
                any |= accept(std::move(candidate));
            }
            for (size_t d = 0; d < best.domains[i].box.size(); d++) {
                auto [min, extent] = best.domains[i].box[d];
                for (int fewer : {1, extent / 2, extent - 1}) {
                    if (fewer >= 1 && fewer < extent) any |= set_box(i, d, {min, fewer});
                }
                if (min != 0) any |= set_box(i, d, {0, best.domains[i].box[d].second});
            }
        }
        return any;
    }

    bool set_box(size_t domain, size_t d, std::pair<int, int> range) {
        Plan candidate = best;
        candidate.domains[domain].box[d] = range;
        return accept(std::move(candidate));
    }

    static void resize(Plan &plan, size_t d, int size) {
        for (Directive &directive : plan.directives) {
            if (is_promise(plan, directive, d)) directive.factor = size;
        }
        plan.size[d] = size;
    }

    // Returns true for a promise of how large an output is.
    static bool is_promise(const Plan &plan, const Directive &directive, size_t d) {
        bool bounds = directive.verb == Verb::Bound || directive.verb == Verb::BoundExtent;
        bool of_output = std::count(plan.outputs.begin(), plan.outputs.end(), directive.func);
        return bounds && of_output && directive.names[0][0] == "xyzw"[d];
    }

    Plan best;
    std::string kind;
    Clock::time_point end;
};

}  // namespace

Plan shrink(const Plan &plan, const std::string &kind, int seconds) {
    if (plan.tensor.is_drawn) {
        Plan smaller = plan;
        smaller.tensor = shrink(plan.tensor, kind, seconds);
        return smaller;
    }
    return Shrinker(plan, kind, seconds).run();
}

}  // namespace tessera::fuzz
