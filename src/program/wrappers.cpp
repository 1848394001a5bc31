#include "program/wrappers.h"
#include "base/warning.h"
#include "ir/mutator.h"
#include "program/define.h"
#include "program/environment.h"

namespace tessera::program {
namespace {

void require_defined(const FunctionContents &f, const char *directive, const Location &at) {
    if (f.defined()) return;
    throw CompileError(at, str(directive, ": ", f.name, " is not defined yet"));
}

void require_consumers(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                       const char *directive, const Location &at) {
    require_defined(*f, directive, at);
    for (const FunctionRef &c : consumers) {
        require_defined(*c, directive, at);
        if (c != f) continue;
        throw CompileError(at, str(directive, ": ", f->name,
                                   " inside of itself; name a Func that "
                                   "uses it"));
    }
}

// The wrapper that all of the consumers have; null if none of them has one.
FunctionRef existing(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                     const char *directive, const Location &at) {
    std::vector<Symbol> keys;
    for (const FunctionRef &c : consumers) keys.push_back(c->name);
    if (keys.empty()) keys.push_back(Symbol());
    FunctionRef found;
    size_t met = 0;
    for (Symbol key : keys) {
        auto w = f->wrappers.find(key);
        if (w == f->wrappers.end()) continue;
        if (found && found->name != w->second) met = keys.size() + 1;
        found = f.relative(w->second);
        met++;
    }
    if (met == 0) return {};
    size_t sharing = 0;
    for (const auto &[key, w] : f->wrappers) sharing += w == found->name;
    if (met == keys.size() && sharing == keys.size()) return found;
    const bool is_of_first_alone = met == 1 && sharing == 1 && f->wrappers.contains(keys[0]);
    if (f->dialect == Dialect::Halide && is_of_first_alone) {
        warn(at, str(directive, ": ", consumers[0]->name, " already uses ", found->name,
                     " instead of ", f->name,
                     ", which the other consumers go on reading; give all "
                     "of them one wrapper before, if they are to share it"));
        return found;
    }
    throw CompileError(at, str(directive, ": some of these consumers already use ", found->name,
                               " instead of ", f->name,
                               ", others do not; each group of consumers "
                               "has one wrapper"));
}

void install(const FunctionRef &f, const FunctionRef &wrapper, MadeBy made_by,
             const std::vector<FunctionRef> &consumers) {
    if (consumers.empty()) f->wrappers[Symbol()] = wrapper->name;
    for (const FunctionRef &c : consumers) f->wrappers[c->name] = wrapper->name;
    wrapper->made_by = made_by;
    wrapper->made = next_order();
    f->version.note_change();
}

// Returns what becomes the function of this name that a directive makes of `f`.
FunctionRef undefined_relative(const FunctionRef &f, const FunctionRef &into, Symbol name) {
    if (!into) return f.make_relative(name);
    if (into.is_relative_of(f)) return into;
    throw InternalError(str(into->name, " is no relative of ", f->name));
}

// Calls of `from` (by itself: without a referent) become calls of `to`.
class RenameCalls final : public ir::Mutator {
public:
    RenameCalls(Symbol from, Symbol to) : from(from), to(to) {}

private:
    Expr visit(const ir::Call &c) override {
        Expr e = Mutator::visit(c);
        if (c.call_kind != CallKind::Func || c.callee != from) return e;
        const auto &call = *e.as<ir::Call>();
        return ir::Call::make(call.type, to, call.call_kind, call.value_index, call.args);
    }
    Symbol from, to;
};

void rename_calls(Definition &d, RenameCalls &rename) {
    for (Expr &e : d.args) e = rename(e);
    for (Expr &e : d.values) e = rename(e);
    d.predicate = rename(d.predicate);
    for (Specialization &s : d.specializations) {
        s.condition = rename(s.condition);
        if (s.definition) rename_calls(*s.definition, rename);
    }
}

// Makes `c` a deep copy of f which calls itself where f does.
void become_copy(FunctionContents &c, const FunctionContents &f) {
    copy_into(c, f);
    c.output_buffers.clear();
    c.frozen = false;
    RenameCalls rename(f.name, c.name);
    for (const DefinitionRef &d : c.stages) rename_calls(*d, rename);
    for (Ref<const StageDefinition> &d : c.definitions) {
        const auto own = make_ref<Definition>(*d);
        rename_calls(*own, rename);
        d = own;
    }
}

std::vector<ParameterRef> copies_for(const FunctionContents &f,
                                     const std::vector<ParameterRef> &buffers) {
    std::vector<ParameterRef> copies;
    for (const ParameterRef &b : buffers) {
        copies.push_back(
            make_buffer_parameter(Symbol::fresh(f.name.text()), b->type, b->dimensions));
    }
    return copies;
}

}  // namespace

FunctionRef wrap(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                 const Location &at, const FunctionRef &into) {
    require_consumers(f, consumers, "in", at);
    if (FunctionRef found = existing(f, consumers, "in", at)) {
        if (found->made_by == MadeBy::In) return found;
        throw CompileError(at, str("in: ", consumers[0]->name, " already uses ", found->name,
                                   ", a clone, instead of ", f->name, "; wrap that one"));
    }
    std::string text = str(f->name, "_in");
    for (const FunctionRef &c : consumers) text += str("_", c->name);
    const FunctionRef w = undefined_relative(f, into, Symbol::fresh(text));
    std::vector<Expr> args, values;
    for (Symbol s : f->args) args.push_back(ir::Variable::make(Int(32), s));
    for (size_t i = 0; i < f->types.size(); i++) {
        values.push_back(call_of_relative(*f, args, int(i)));
    }
    w->wrapped = f->name;
    define_pure(w, f->args, values, at);
    w->dialect = f->dialect;
    w->frozen = f->dialect == Dialect::Halide;
    f->frozen = true;
    install(f, w, MadeBy::In, consumers);
    return w;
}

FunctionRef clone(const FunctionRef &f, const std::vector<FunctionRef> &consumers,
                  const Location &at, const FunctionRef &into) {
    require_consumers(f, consumers, "clone_in", at);
    if (consumers.empty()) throw CompileError(at, "clone_in: name the Funcs that use the clone");
    if (FunctionRef found = existing(f, consumers, "clone_in", at)) {
        if (found->made_by == MadeBy::CloneIn) return found;
        throw CompileError(at, str("clone_in: ", consumers[0]->name, " already uses ", found->name,
                                   ", a wrapper, instead of ", f->name,
                                   "; name that one as the Func that uses the clone"));
    }
    const FunctionRef c = undefined_relative(f, into, Symbol::fresh(str(f->name, "_clone")));
    become_copy(*c, *f);
    c->written = at;
    c->output_buffers = copies_for(*c, f->output_buffers);
    f->frozen = true;
    install(f, c, MadeBy::CloneIn, consumers);
    return c;
}

FunctionRef copy_as(Symbol name, const FunctionRef &f) {
    const FunctionRef c = f.make_relative(name);
    become_copy(*c, *f);
    return c;
}

void redirect_calls(FunctionContents &caller, Symbol from, const FunctionRef &to) {
    RenameCalls rename(from, to->name);
    for (const DefinitionRef &d : caller.stages) rename_calls(*d, rename);
    if (!caller.extern_definition) return;
    for (ExternFuncArgument &a : caller.extern_definition->args) {
        if (a.func && a.func->name == from) a.func = to.without_family();
        if (a.scalar.defined()) a.scalar = rename(a.scalar);
    }
}

}  // namespace tessera::program
