#include "program/snapshot.h"
#include "program/changes.h"

namespace tessera::program {

Snapshot::Snapshot(const std::vector<FunctionRef> &all) {
    for (const FunctionRef &f : all) {
        functions.push_back({f, f->stages, f->schedule, f->wrappers, f->frozen});
        for (const DefinitionRef &d : f->stages) save(d);
    }
}

void Snapshot::save(const DefinitionRef &d) {
    definitions.push_back({d, d->copy(), d->specializations});
    for (const Specialization &s : d->specializations) {
        if (s.definition) save(s.definition);
    }
}

void Snapshot::restore() const {
    for (const SavedFunction &saved : functions) {
        saved.function->stages = saved.stages;
        saved.function->schedule = saved.schedule;
        saved.function->wrappers = saved.wrappers;
        saved.function->frozen = saved.frozen;
    }
    for (const SavedDefinition &saved : definitions) {
        Definition &d = *saved.definition;
        d.args = saved.copy->args;
        d.values = saved.copy->values;
        d.reduction = saved.copy->reduction;
        d.predicate = saved.copy->predicate;
        d.schedule = saved.copy->schedule;
        d.specializations = saved.specializations;
    }
    note_change();
}

}  // namespace tessera::program
