#include "program/saved_schedule.h"
#include "program/changes.h"
#include "program/reach.h"

namespace tessera::program {

SavedSchedule::SavedSchedule(const std::vector<FunctionRef> &outputs) {
    for (const FunctionRef &f : reach(outputs).all) {
        SavedFunction &s = functions.emplace_back();
        s.of = f;
        for (const DefinitionRef &d : f->stages) s.stages.push_back(save(d));
        s.schedule = f->schedule;
        s.wrappers = f->wrappers;
        s.frozen = f->frozen;
    }
}

SavedSchedule::SavedStage SavedSchedule::save(const DefinitionRef &d) {
    SavedStage s;
    s.of = d;
    s.saved = make_ref<Definition>();
    s.saved->args = d->args;
    s.saved->values = d->values;
    s.saved->reduction = d->reduction;
    s.saved->predicate = d->predicate;
    s.saved->schedule = d->schedule;
    s.saved->specializations = d->specializations;
    s.saved->algorithm = d->algorithm;
    for (const Specialization &version : d->specializations) {
        if (version.definition) s.specializations.push_back(save(version.definition));
    }
    return s;
}

void SavedSchedule::restore(const SavedStage &s) {
    s.of->args = s.saved->args;
    s.of->values = s.saved->values;
    s.of->reduction = s.saved->reduction;
    s.of->predicate = s.saved->predicate;
    s.of->schedule = s.saved->schedule;
    s.of->specializations = s.saved->specializations;
    s.of->algorithm = s.saved->algorithm;
    for (const SavedStage &version : s.specializations) restore(version);
}

void SavedSchedule::restore() const {
    for (const SavedFunction &s : functions) {
        for (const SavedStage &stage : s.stages) restore(stage);
        s.of->schedule = s.schedule;
        s.of->wrappers = s.wrappers;
        s.of->frozen = s.frozen;
    }
    note_change();
}

}  // namespace tessera::program
