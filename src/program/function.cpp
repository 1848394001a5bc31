#include "program/function.h"
#include "base/error.h"

namespace tessera::program {

Definition::Definition(const StageDefinition &d) {
    args = d.args;
    values = d.values;
    reduction = d.reduction;
    predicate = d.predicate;
    written = d.written;
}

DefinitionRef Definition::shallow_copy() const {
    auto d = make_ref<Definition>(static_cast<const StageDefinition &>(*this));
    d->schedule = schedule;
    d->specializations = specializations;
    return d;
}

DefinitionRef Definition::copy() const {
    DefinitionRef d = shallow_copy();
    for (Specialization &s : d->specializations) {
        if (s.definition) s.definition = s.definition->copy();
    }
    return d;
}

void FunctionTable::add(FunctionContents &f) {
    f.table = Ref<FunctionTable>(this);
    functions[f.name] = &f;
}

FunctionContents *FunctionTable::find(Symbol name) const {
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

FunctionRef::FunctionRef(FunctionContents *f) : owner(f ? f->owner : nullptr), function(f) {}

Expr call(const FunctionRef &f, std::vector<Expr> args, int index) {
    if (f->table) {  // which has it
        return ir::Call::make(f->types[size_t(index)], f->name, CallKind::Func, index,
                              std::move(args));
    }
    // A wrapper is owned by what it wraps, so that is what a call has to keep alive.
    Ref<ir::Referent> keeps(f->owner ? f->owner : f.get());
    return ir::Call::make(f->types[size_t(index)], f->name, CallKind::Func, index, std::move(args),
                          std::move(keeps));
}

}  // namespace tessera::program
