#include "program/environment.h"
#include "program/reach.h"
#include "program/steps.h"
#include <algorithm>
#include <set>

namespace tessera::program {
namespace {

class ScheduleWriter {
public:
    explicit ScheduleWriter(const std::vector<FunctionRef> &outputs);
    Schedule run();

private:
    bool is_reached(Symbol consumer) const { return reached.is_reached(consumer); }
    bool make_wrappers(const FunctionRef &f);
    bool stages_ready(const FunctionRef &f) const;
    void write_stages(const FunctionRef &f);
    void write_stage(const FunctionRef &f, int stage, const Definition &d,
                     const std::vector<size_t> &path, size_t from, size_t to);
    bool write_before_clone(const FunctionRef &f, const FunctionContents &clone);
    bool exists(Symbol f) const { return made.count(f) > 0; }

    Schedule schedule;
    Reached reached;
    std::set<Symbol> made, done;
    std::map<std::pair<Symbol, int>, size_t> written;  // directives of a stage, the first so many
};

ScheduleWriter::ScheduleWriter(const std::vector<FunctionRef> &outputs) : reached(reach(outputs)) {
    for (const FunctionRef &f : reached.algorithm) made.insert(f->name);
}

// Returns how many directives of the stage a clone of it has brought along: those up to the last
// one that makes a function, which both of them use.
size_t inherited(const FunctionContents &f, const FunctionContents &clone, size_t stage) {
    const auto &own = f.stages[stage]->schedule.directives;
    const auto &theirs = clone.stages[stage]->schedule.directives;
    size_t count = 0;
    for (size_t i = 0; i < std::min(own.size(), theirs.size()); i++) {
        const Symbol made = made_by(own[i].directive);
        if (made.defined() && made == made_by(theirs[i].directive)) count = i + 1;
    }
    return count;
}

// False if an earlier clone, which has less, must be made first.
bool ScheduleWriter::write_before_clone(const FunctionRef &f, const FunctionContents &clone) {
    for (size_t i = 0; i < f->stages.size(); i++) {
        size_t count = inherited(*f, clone, i);
        for (const auto &[key, other] : f->wrappers) {
            bool earlier = is_reached(key) && !other->wrapped && inherited(*f, *other, i) < count;
            if (earlier && !exists(other->name)) return false;
        }
    }
    for (size_t i = 0; i < f->stages.size(); i++) {
        size_t &count = written[{f->name, int(i)}];
        size_t wanted = inherited(*f, clone, i);
        write_stage(f, int(i), *f->stages[i], {}, count, wanted);
        count = std::max(count, wanted);
        written[{clone.name, int(i)}] = wanted;
    }
    return true;
}

bool ScheduleWriter::make_wrappers(const FunctionRef &f) {
    bool progress = false;
    for (const auto &[key, w] : f->wrappers) {
        if (exists(w->name) || !is_reached(key)) continue;
        WrapStep step{{}, w->name, w->wrapped == nullptr, w->written};
        bool ready = true;
        for (const auto &[consumer, other] : f->wrappers) {
            if (other != w || !consumer.defined() || !is_reached(consumer)) continue;
            step.consumers.push_back(consumer);
            ready &= exists(consumer);
        }
        if (!ready || (step.is_clone && !write_before_clone(f, *w))) continue;
        schedule.steps.push_back({f->name, step});
        made.insert(w->name);
        progress = true;
    }
    return progress;
}

// A clone is made of a function that has no schedule yet, but for what makes functions: it brings
// its own.
bool ScheduleWriter::stages_ready(const FunctionRef &f) const {
    for (const auto &[key, w] : f->wrappers) {
        if (is_reached(key) && !exists(w->name)) return false;
    }
    return exists(f->name) && !done.count(f->name);
}

void ScheduleWriter::write_stage(const FunctionRef &f, int stage, const Definition &d,
                                 const std::vector<size_t> &path, size_t from, size_t to) {
    size_t specialization = 0;
    for (size_t i = from; i < to; i++) {
        const auto &w = d.schedule.directives[i];
        schedule.steps.push_back({f->name, StageStep{stage, path, w}});
        if (const Symbol f = made_by(w.directive); f.defined()) made.insert(f);
        if (std::holds_alternative<SpecializeFail>(w.directive)) specialization++;
        if (!std::holds_alternative<SpecializeDirective>(w.directive)) continue;
        std::vector<size_t> inner = path;
        inner.push_back(specialization);
        const Definition &version = *d.specializations[specialization++].definition;
        write_stage(f, stage, version, inner, 0, version.schedule.directives.size());
    }
}

void ScheduleWriter::write_stages(const FunctionRef &f) {
    for (size_t i = 0; i < f->stages.size(); i++) {
        const Definition &d = *f->stages[i];
        write_stage(f, int(i), d, {}, written[{f->name, int(i)}], d.schedule.directives.size());
    }
    done.insert(f->name);
}

Schedule ScheduleWriter::run() {
    bool progress = true;
    while (progress) {
        progress = false;
        for (const FunctionRef &f : reached.all) {
            if (exists(f->name)) progress |= make_wrappers(f);
            if (!stages_ready(f)) continue;
            write_stages(f);
            progress = true;
        }
    }
    // Levels name functions and loops: last, when all of them are there.
    for (const FunctionRef &f : reached.all) {
        for (const auto &w : with_levels_of_now(f->schedule).directives) {
            schedule.steps.push_back({f->name, FuncStep{w}});
        }
    }
    return schedule;
}

}  // namespace

Schedule schedule_of(const std::vector<FunctionRef> &outputs) {
    return ScheduleWriter(outputs).run();
}

}  // namespace tessera::program
