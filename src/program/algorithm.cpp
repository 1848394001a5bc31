#include "program/algorithm.h"
#include "ir/mutator.h"
#include "program/define.h"
#include "program/environment.h"
#include "program/reach.h"

namespace tessera::program {
namespace {

class WithoutReferents final : public ir::Mutator {
private:
    Expr visit(const ir::Call &c) override {
        Expr e = Mutator::visit(c);
        if (c.call_kind != CallKind::Func || !c.referent) return e;
        return e.as<ir::Call>()->with<&ir::Call::referent>(Ref<ir::Referent>());
    }
};

Ref<const StageDefinition> without_referents(const StageDefinition &d) {
    WithoutReferents strip;
    auto bare = make_ref<StageDefinition>();
    for (const Expr &e : d.args) bare->args.push_back(strip(e));
    for (const Expr &e : d.values) bare->values.push_back(strip(e));
    bare->reduction = d.reduction;
    bare->predicate = strip(d.predicate);
    bare->written = d.written;
    return bare;
}

}  // namespace

Ref<FunctionContents> without_schedule(const FunctionContents &f) {
    const Ref<FunctionContents> bare = copy(f);
    for (auto &d : bare->definitions) d = without_referents(*d);
    bare->frozen = true;
    begin_schedule(*bare);
    return bare;
}

Algorithm::Algorithm(const std::vector<FunctionRef> &outputs, const Location &at)
    : family(make_ref<FunctionFamily>(FunctionFamily::Kind::Program)) {
    for (const FunctionRef &f : reach(outputs).algorithm) {
        family->add(without_schedule(*f));
        all.push_back(find(f->name));
    }
    for (const FunctionRef &f : all) {
        if (!f->extern_definition) continue;
        for (ExternFuncArgument &a : f->extern_definition->args) {
            if (a.func) a.func = find(a.func->name).without_family();
        }
    }
    for (const FunctionRef &f : outputs) {
        of_outputs.push_back(find(f->name));
        if (of_outputs.back()) continue;
        throw CompileError(at, str(f->name,
                                   " is made by in() or clone_in(), and is a part of the schedule "
                                   "of another Func: it is no algorithm by itself"));
    }
}

FunctionRef Algorithm::find(Symbol name) const {
    const Ref<FunctionContents> found = family ? family->find(name) : Ref<FunctionContents>();
    return found ? FunctionRef(family, found) : FunctionRef();
}

}  // namespace tessera::program
