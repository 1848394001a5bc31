#include "lower/prepare/separate_reductions.h"
#include "ir/visitor.h"
#include "program/wrappers.h"
#include <algorithm>

namespace tessera::lower {

using ir::Expr;
using program::FunctionRef;

namespace {

class Separation {
public:
    explicit Separation(const std::vector<FunctionRef> &outputs) : outputs(outputs) {}

    void run(program::Environment &environment);

private:
    void add_reader(const FunctionRef &f);
    bool is_computed_inline(const FunctionRef &f) const;

    const std::vector<FunctionRef> &outputs;
    std::unordered_map<Symbol, std::vector<FunctionRef>> readers;
};

void Separation::add_reader(const FunctionRef &f) {
    auto reads = [&](Symbol callee) {
        std::vector<FunctionRef> &known = readers[callee];
        if (callee != f->name && (known.empty() || known.back() != f)) known.push_back(f);
    };
    auto search = [&](const Expr &e) {
        ir::for_each_node(e, [&](const ir::Call &c) { reads(c.callee); });
    };
    for (const program::DefinitionRef &stage : f->stages) program::for_each_expr(*stage, search);
    if (!f->extern_definition) return;
    for (const program::ExternFuncArgument &a : f->extern_definition->args) {
        if (a.func) reads(a.func->name);
        if (a.scalar.defined()) search(a.scalar);
    }
}

bool Separation::is_computed_inline(const FunctionRef &f) const {
    return f->schedule.compute_level.means_inlined() &&
           std::find(outputs.begin(), outputs.end(), f) == outputs.end();
}

// From consumers to producers: a copy reads what its original reads, so that has one reader more.
void Separation::run(program::Environment &environment) {
    for (const FunctionRef &f : environment.order) add_reader(f);
    std::vector<FunctionRef> reversed;
    for (auto f = environment.order.rbegin(); f != environment.order.rend(); ++f) {
        const std::vector<FunctionRef> readers_of_f = readers[(*f)->name];
        for (size_t i = 1; i < readers_of_f.size() && is_computed_inline(*f); i++) {
            FunctionRef own = program::copy_as(Symbol::fresh((*f)->name.text()), *f);
            program::redirect_calls(*readers_of_f[i], (*f)->name, own);
            environment.functions.emplace(own->name, own);
            reversed.push_back(own);
            add_reader(own);
        }
        reversed.push_back(*f);
    }
    environment.order.assign(reversed.rbegin(), reversed.rend());
}

}  // namespace

void separate_reductions(program::Environment &environment,
                         const std::vector<FunctionRef> &outputs) {
    Separation(outputs).run(environment);
}

}  // namespace tessera::lower
