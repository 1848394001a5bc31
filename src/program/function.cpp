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

const char *name_of(MadeBy made_by) {
    switch (made_by) {
    case MadeBy::Definition: return "";
    case MadeBy::In: return "in";
    case MadeBy::CloneIn: return "clone_in";
    }
    return "";
}

FunctionFamily::FunctionFamily(Kind kind) : kind(kind) {}
FunctionFamily::~FunctionFamily() = default;

void FunctionFamily::add(const Ref<FunctionContents> &f) { members[f->name] = f; }
void FunctionFamily::remove(Symbol name) { members.erase(name); }

Ref<FunctionContents> FunctionFamily::find(Symbol name) const {
    const auto found = members.find(name);
    return found == members.end() ? Ref<FunctionContents>() : found->second;
}

FunctionRef::FunctionRef(const Ref<FunctionFamily> &family, const Ref<FunctionContents> &f)
    : family(family), function(f) {}

FunctionRef::FunctionRef(const Ref<FunctionContents> &f)
    : FunctionRef(make_ref<FunctionFamily>(FunctionFamily::Kind::OfFunction), f) {
    family->add(f);
}

FunctionRef FunctionRef::relative(Symbol name) const {
    Ref<FunctionContents> found = family ? family->find(name) : Ref<FunctionContents>();
    return found ? FunctionRef(family, found) : FunctionRef();
}

FunctionRef FunctionRef::make_relative(Symbol name) const {
    const auto made = make_ref<FunctionContents>();
    made->name = name;
    made->dialect = function->dialect;
    family->add(made);
    return FunctionRef(family, made);
}

FunctionRef called_function(const ir::Call &call) {
    const auto *called = dynamic_cast<const CalledFunction *>(call.referent.get());
    return called ? called->function : FunctionRef();
}

Expr call(const FunctionRef &f, std::vector<Expr> args, int index) {
    if (f.is_of_program()) return call_of_relative(*f, std::move(args), index);
    return ir::Call::make(f->types[size_t(index)], f->name, CallKind::Func, index, std::move(args),
                          make_ref<CalledFunction>(f));
}

Expr call_of_relative(const FunctionContents &f, std::vector<Expr> args, int index) {
    return ir::Call::make(f.types[size_t(index)], f.name, CallKind::Func, index, std::move(args));
}

}  // namespace tessera::program
