#include "program/reach.h"
#include "program/steps.h"
#include <algorithm>
#include <set>

namespace tessera::program {
namespace {

// Collects the directives of functions, each with the order in which it was given.
class Collector {
public:
    Collector(const std::vector<FunctionRef> &outputs, Levels levels)
        : reached(reach(outputs)), levels(levels) {}

    Schedule run() {
        for (const FunctionRef &f : reached.all) add(f);
        std::ranges::sort(found, {}, &Found::order);
        Schedule schedule;
        for (Found &f : found) schedule.steps.push_back(std::move(f.step));
        return schedule;
    }

private:
    struct Found {
        uint64_t order;
        Step step;
    };

    void add(const FunctionRef &function) {
        const FunctionContents &f = *function;
        // A clone brings along what was said of the function until then.
        const uint64_t from = f.made_by == MadeBy::CloneIn ? f.made : 0;
        for (size_t i = 0; i < f.stages.size(); i++) add_stage(f, int(i), *f.stages[i], {}, from);
        add_levels(f, from);
        add_wrappers(function);
    }

    void add_stage(const FunctionContents &f, int stage, const Definition &d,
                   const std::vector<size_t> &path, uint64_t from) {
        for (const auto &w : d.schedule.directives) {
            if (w.order > from) found.push_back({w.order, {f.name, StageStep{stage, path, w}}});
        }
        for (size_t i = 0; i < d.specializations.size(); i++) {
            if (!d.specializations[i].definition) continue;
            std::vector<size_t> inner = path;
            inner.push_back(i);
            add_stage(f, stage, *d.specializations[i].definition, inner, from);
        }
    }

    void add_levels(const FunctionContents &f, uint64_t from) {
        const bool late = levels == Levels::Late;
        const FuncSchedule schedule = late ? f.schedule : with_levels_of_now(f.schedule);
        for (size_t i = 0; i < schedule.directives.size(); i++) {
            const auto &w = schedule.directives[i];
            if (w.order <= from) continue;
            FuncStep step{w, {}};
            for (const FuncSchedule::Late &l : schedule.late_levels) {
                if (l.directive == i) step.late = l.level;
            }
            found.push_back({w.order, {f.name, step}});
        }
    }

    void add_wrappers(const FunctionRef &f) {
        std::set<Symbol> seen;
        for (const auto &[key, name] : f->wrappers) {
            if (!reached.is_reached(key) || !seen.insert(name).second) continue;
            const FunctionRef w = f.relative(name);
            WrapStep step{{}, name, w->made_by == MadeBy::CloneIn, w->written};
            for (const auto &[consumer, other] : f->wrappers) {
                const bool is_known = consumer.defined() && reached.is_reached(consumer);
                if (other == name && is_known) step.consumers.push_back(consumer);
            }
            found.push_back({w->made, {f->name, step}});
        }
    }

    const Reached reached;
    const Levels levels;
    std::vector<Found> found;
};

}  // namespace

Schedule schedule_of(const std::vector<FunctionRef> &outputs, Levels levels) {
    return Collector(outputs, levels).run();
}

}  // namespace tessera::program
