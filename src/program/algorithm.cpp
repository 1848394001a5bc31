#include "program/algorithm.h"
#include "ir/mutator.h"
#include "program/define.h"
#include "program/reach.h"

namespace tessera::program {
namespace {

class WithoutReferents final : public ir::Mutator {
private:
    Expr visit(const ir::Call &c) override {
        Expr e = Mutator::visit(c);
        if (c.call_kind != CallKind::Func || !c.referent) return e;
        return e.as<ir::Call>()->with<&ir::Call::referent>(Ref<const ir::Referent>());
    }
};

DefinitionRef without_schedule(const Definition &d) {
    WithoutReferents strip;
    auto bare = make_ref<Definition>();
    for (const Expr &e : d.args) bare->args.push_back(strip(e));
    for (const Expr &e : d.values) bare->values.push_back(strip(e));
    bare->reduction = d.reduction;
    bare->predicate = strip(d.predicate);
    bare->written = d.written;
    return bare;
}

}  // namespace

FunctionRef without_schedule(const FunctionContents &f) {
    FunctionRef bare(new FunctionContents);
    bare->name = f.name;
    bare->args = f.args;
    bare->types = f.types;
    for (const DefinitionRef &d : f.stages) {
        bare->stages.push_back(without_schedule(d->algorithm ? *d->algorithm : *d));
    }
    if (f.extern_definition) {
        bare->extern_definition = std::make_shared<ExternDefinition>(*f.extern_definition);
    }
    bare->output_buffers = f.output_buffers;
    bare->required_types = f.required_types;
    bare->required_dimensions = f.required_dimensions;
    bare->frozen = true;
    bare->dialect = f.dialect;
    bare->written = f.written;
    begin_schedule(*bare);
    return bare;
}

Algorithm::Algorithm(const std::vector<FunctionRef> &outputs) : table(make_ref<FunctionTable>()) {
    for (const FunctionRef &f : reach(outputs).algorithm) {
        all.push_back(without_schedule(*f));
        table->add(*all.back());
    }
    for (const FunctionRef &f : all) {
        if (!f->extern_definition) continue;
        for (ExternFuncArgument &a : f->extern_definition->args) {
            if (a.func) a.func = find(a.func->name);
        }
    }
    for (const FunctionRef &f : outputs) of_outputs.push_back(find(f->name));
}

FunctionRef Algorithm::find(Symbol name) const {
    return table ? FunctionRef(table->find(name)) : FunctionRef();
}

}  // namespace tessera::program
