#include "lower/prepare/inline_functions.h"
#include "base/warning.h"
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

// Limit the operations of one definition. If Funcs that are read at several points are computed
// inline in one another, the number of operations multiplies with each of them.
constexpr size_t many_operations = 200'000, most_operations = 1'000'000;

// The values of a function that is computed inline, in terms of variables that all such functions
// have for their arguments: then those of one are parts of those of the next.
struct Inlined {
    std::vector<Expr> written;  // with calls of other functions
    std::vector<Expr> values;   // without those that are computed inline
};

class InlineCalls final : public Mutator {
public:
    explicit InlineCalls(const std::unordered_map<Symbol, Inlined> &inlined) : inlined(inlined) {}

    Expr argument(size_t d) {
        while (arguments.size() <= d) {
            arguments.push_back(Variable::make(Int(32), Symbol::fresh("argument")));
        }
        return arguments[d];
    }

private:
    // Equal calls become one value, which is shared. So each function is looked at once for the
    // arguments that it is called with, however many ways lead there.
    Expr visit(const ir::Call &call) override {
        Expr e = Mutator::visit(call);
        auto known = values.find(e);
        if (known != values.end()) return known->second;
        Expr value = value_of(*e.as<ir::Call>());
        return values[e] = value;
    }
    Expr value_of(const ir::Call &call) {
        auto found = inlined.find(call.callee);
        if (found == inlined.end()) return Expr(&call);
        size_t k = size_t(call.value_index);
        Substitution args;
        bool same = true;
        for (size_t d = 0; d < call.args.size(); d++) {
            const Expr &arg = argument(d);
            same &= call.args[d].same_as(arg);
            args[arg.as<Variable>()->name] = call.args[d];
        }
        if (same) return found->second.values[k];
        return (*this)(substitute(args, found->second.written[k]));
    }

    const std::unordered_map<Symbol, Inlined> &inlined;
    std::vector<Expr> arguments;
    std::unordered_map<Expr, Expr, ExprHash, ExprEqual> values;
};

Inlined inlined_values(const FunctionContents &f, InlineCalls &inline_calls) {
    Substitution args;
    for (size_t d = 0; d < f.args.size(); d++) args[f.args[d]] = inline_calls.argument(d);
    Inlined result;
    for (const Expr &e : f.stages[0]->values) {
        result.written.push_back(substitute(args, e));
        result.values.push_back(inline_calls(result.written.back()));
    }
    return result;
}

void inline_in(Definition &d, InlineCalls &inline_calls) {
    for (Expr &e : d.args) e = inline_calls(e);
    for (Expr &e : d.values) e = inline_calls(e);
    d.predicate = inline_calls(d.predicate);
    for (program::Specialization &s : d.specializations) {
        s.condition = inline_calls(s.condition);
        if (s.definition) inline_in(*s.definition, inline_calls);
    }
}

// Counts the operations of the values, shared ones once.
size_t count_operations(const std::vector<Expr> &values) {
    std::vector<Stmt> all;
    for (const Expr &e : values) all.push_back(Evaluate::make(e));
    return count_nodes(Block::make(std::move(all)));
}

// Counts the operations of functions that are computed inline.
class Operations {
public:
    explicit Operations(const std::unordered_map<Symbol, Inlined> &inlined) : inlined(inlined) {}

    void add(const FunctionContents &f) {
        const Definition &d = *f.stages[0];
        size_t most = count_operations(d.values);
        for (const auto &[func, count] : reads_of(d)) most += size_t(count) * at_most(func);
        counts[f.name] = {most, false};
        if (most > few) counts[f.name] = {count_operations(inlined.at(f.name).values), true};
    }
    // Returns how many points of each function a definition reads.
    static std::unordered_map<Symbol, int> reads_of(const Definition &written) {
        std::unordered_set<Expr, ExprHash, ExprEqual> calls;
        for (const auto *list : {&written.args, &written.values}) {
            for (const Expr &e : *list)
                for_each_node(e, [&](const ir::Call &c) { calls.insert(Expr(&c)); });
        }
        std::unordered_map<Symbol, int> reads;
        for (const Expr &e : calls) reads[e.as<ir::Call>()->callee]++;
        return reads;
    }
    // 0, if the function is not computed inline.
    size_t of(Symbol func) {
        auto found = counts.find(func);
        if (found == counts.end()) return 0;
        Count &c = found->second;
        if (!c.is_exact) c = {count_operations(inlined.at(func).values), true};
        return c.operations;
    }
    size_t at_most(Symbol func) const {
        auto found = counts.find(func);
        return found == counts.end() ? 0 : found->second.operations;
    }

private:
    // Larger numbers are counted anew, so that what functions share counts once.
    static constexpr size_t few = 50'000;
    struct Count {
        size_t operations = 0;
        bool is_exact = false;
    };
    const std::unordered_map<Symbol, Inlined> &inlined;
    std::unordered_map<Symbol, Count> counts;
};

// The Func inlined in this definition, as it is written, that brings the most operations.
struct Largest {
    Symbol func;
    int reads = 0;
    size_t operations = 0;
};

Largest largest_inlined(const Definition &written, Operations &operations) {
    Largest largest;
    for (const auto &[func, count] : Operations::reads_of(written)) {
        if (size_t(count) * operations.at_most(func) <= many_operations) continue;
        size_t total = size_t(count) * operations.of(func);
        if (total > largest.operations) largest = {func, count, total};
    }
    return largest;
}

void require_moderate(const FunctionContents &f, const Definition &written,
                      const Largest &largest) {
    if (largest.operations <= many_operations) return;
    bool too_many = largest.operations > most_operations;
    std::string what =
        str("the definition of ", f.name, " has about ", largest.operations, " operations, ",
            too_many ? str("more than ", most_operations) : "which take long to compile",
            ", where ", largest.func, " is computed inline at each of the ", largest.reads,
            " points that it reads; say where to compute ", largest.func,
            " with compute_root() or compute_at()");
    if (too_many) throw CompileError(written.written, what);
    warn(written.written, what);
}

bool is_inlined(const FunctionRef &f, const std::vector<FunctionRef> &outputs) {
    bool is_output = std::find(outputs.begin(), outputs.end(), f) != outputs.end();
    return !is_output && !f->has_extern_definition() && f->stages.size() == 1 &&
           f->schedule.compute_level.means_inlined();
}

}  // namespace

void inline_functions(program::Environment &environment, const std::vector<FunctionRef> &outputs) {
    std::unordered_map<Symbol, Inlined> inlined;
    std::vector<FunctionRef> rest;
    Operations operations(inlined);
    InlineCalls inline_calls(inlined);
    for (const FunctionRef &f : environment.order) {
        for (const program::DefinitionRef &stage : f->stages) {
            require_moderate(*f, *stage, largest_inlined(*stage, operations));
        }
        if (is_inlined(f, outputs)) {
            validate_inline(*f);
            inlined[f->name] = inlined_values(*f, inline_calls);
            operations.add(*f);
            environment.functions.erase(f->name);
        } else {
            for (const program::DefinitionRef &stage : f->stages) inline_in(*stage, inline_calls);
            rest.push_back(f);
        }
    }
    environment.order = std::move(rest);
}

}  // namespace tessera::lower
