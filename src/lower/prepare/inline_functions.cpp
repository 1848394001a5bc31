#include "lower/prepare/inline_functions.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/prepare/validate_effects.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;
using program::Definition;
using program::FunctionContents;
using program::FunctionRef;

namespace {

// Of one definition. Where Funcs that are read at several points are computed inline in one
// another, the number of operations multiplies with each of them.
constexpr size_t most_operations = 1'000'000;

class InlineCalls final : public Mutator {
public:
    explicit InlineCalls(const std::unordered_map<Symbol, FunctionRef> &inlined)
        : inlined(inlined) {}

private:
    // Equal calls become one value, which is shared.
    Expr visit(const ir::Call &call) override {
        Expr e(&call);
        auto known = values.find(e);
        if (known != values.end()) return known->second;
        return values[e] = value_of(call);
    }
    Expr value_of(const ir::Call &call) {
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
    std::unordered_map<Expr, Expr, ExprHash, ExprEqual> values;
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

size_t count_operations(const Definition &d) {
    size_t count = 0;
    for (const auto *list : {&d.args, &d.values}) {
        for (const Expr &e : *list) count += count_nodes(Evaluate::make(e));
    }
    return count;
}

// The Func inlined in this definition, as it is written, that brings the most operations.
struct Largest {
    Symbol func;
    int reads = 0;
    size_t operations = 0;
};

Largest largest_inlined(const Definition &written,
                        const std::unordered_map<Symbol, size_t> &operations) {
    std::unordered_set<Expr, ExprHash, ExprEqual> calls;
    for (const auto *list : {&written.args, &written.values}) {
        for (const Expr &e : *list)
            for_each_node(e, [&](const ir::Call &c) { calls.insert(Expr(&c)); });
    }
    std::unordered_map<Symbol, int> reads;
    for (const Expr &e : calls) reads[e.as<ir::Call>()->callee]++;
    Largest largest;
    for (const auto &[func, count] : reads) {
        auto inlined = operations.find(func);
        if (inlined == operations.end()) continue;
        size_t total = size_t(count) * inlined->second;
        if (total > largest.operations) largest = {func, count, total};
    }
    return largest;
}

void require_moderate(const FunctionContents &f, const Definition &written,
                      const Largest &largest) {
    if (largest.operations <= most_operations) return;
    throw CompileError(written.written,
                       str("the definition of ", f.name, " has about ", largest.operations,
                           " operations, more than ", most_operations, ", where ", largest.func,
                           " is computed inline at each of the ", largest.reads,
                           " points that it reads; say where to compute ", largest.func,
                           " with compute_root() or compute_at()"));
}

bool is_inlined(const FunctionRef &f, const std::vector<FunctionRef> &outputs) {
    bool is_output = std::find(outputs.begin(), outputs.end(), f) != outputs.end();
    return !is_output && !f->has_extern_definition() && f->stages.size() == 1 &&
           f->schedule.compute_level.means_inlined();
}

}  // namespace

void inline_functions(program::Environment &environment, const std::vector<FunctionRef> &outputs) {
    std::unordered_map<Symbol, FunctionRef> inlined;
    std::vector<FunctionRef> rest;
    std::unordered_map<Symbol, size_t> operations;  // of those that are inlined
    InlineCalls inline_calls(inlined);
    for (const FunctionRef &f : environment.order) {
        for (const program::DefinitionRef &stage : f->stages) {
            require_moderate(*f, *stage, largest_inlined(*stage, operations));
            inline_in(*stage, inline_calls);
        }
        if (is_inlined(f, outputs)) {
            validate_inline(*f);
            inlined[f->name] = f;
            operations[f->name] = count_operations(*f->stages[0]);
            environment.functions.erase(f->name);
        } else {
            rest.push_back(f);
        }
    }
    environment.order = std::move(rest);
}

}  // namespace tessera::lower
