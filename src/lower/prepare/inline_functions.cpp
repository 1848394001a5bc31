#include "lower/prepare/inline_functions.h"
#include "ir/mutator.h"
#include "ir/substitute.h"
#include "lower/prepare/validate_effects.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using program::Definition;
using program::FunctionContents;
using program::FunctionRef;

namespace {

class InlineCalls final : public Mutator {
public:
    explicit InlineCalls(const std::unordered_map<Symbol, FunctionRef> &inlined)
        : inlined(inlined) {}

private:
    Expr visit(const ir::Call &call) override {
        Expr mutated = Mutator::visit(call);
        auto found = inlined.find(call.callee);
        if (found == inlined.end()) return mutated;
        const FunctionContents &f = *found->second;
        Substitution args;
        for (size_t d = 0; d < f.args.size(); d++) {
            args[f.args[d]] = mutated.as<ir::Call>()->args[d];
        }
        return substitute(args, f.stages[0]->values[size_t(call.value_index)]);
    }

    const std::unordered_map<Symbol, FunctionRef> &inlined;
};

void inline_in(Definition &d, InlineCalls &inline_calls) {
    for (Expr &e : d.args) e = inline_calls(e);
    for (Expr &e : d.values) e = inline_calls(e);
    d.predicate = inline_calls(d.predicate);
    for (program::Specialization &s : d.specializations) {
        s.condition = inline_calls(s.condition);
        if (s.definition) inline_in(*s.definition, inline_calls);
    }
}

bool is_inlined(const FunctionRef &f, const std::vector<FunctionRef> &outputs) {
    bool is_output = std::find(outputs.begin(), outputs.end(), f) != outputs.end();
    return !is_output && !f->has_extern_definition() && f->stages.size() == 1 &&
           f->schedule.compute_level.is_inlined();
}

}  // namespace

void inline_functions(program::Environment &environment, const std::vector<FunctionRef> &outputs) {
    std::unordered_map<Symbol, FunctionRef> inlined;
    std::vector<FunctionRef> rest;
    InlineCalls inline_calls(inlined);
    for (const FunctionRef &f : environment.order) {
        for (const program::DefinitionRef &stage : f->stages) inline_in(*stage, inline_calls);
        if (is_inlined(f, outputs)) {
            validate_inline(*f);
            inlined[f->name] = f;
            environment.functions.erase(f->name);
        } else {
            rest.push_back(f);
        }
    }
    environment.order = std::move(rest);
}

}  // namespace tessera::lower
