#include "program/function.h"
#include "base/error.h"

namespace tessera::program {

DefinitionRef Definition::copy() const {
    auto d = make_ref<Definition>();
    d->args = args;
    d->values = values;
    d->reduction = reduction;
    d->predicate = predicate;
    d->schedule = schedule;
    d->specializations = specializations;
    for (Specialization &s : d->specializations) {
        if (s.definition) s.definition = s.definition->copy();
    }
    d->written = written;
    d->algorithm = algorithm;
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
    Ref<const ir::Referent> keeps(f->owner ? f->owner : f.get());
    return ir::Call::make(f->types[size_t(index)], f->name, CallKind::Func, index, std::move(args),
                          std::move(keeps));
}

}  // namespace tessera::program
