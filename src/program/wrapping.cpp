#include "program/wrapping.h"
#include <algorithm>

namespace tessera::program {

const FunctionContents &Wrapping::original_of(const FunctionContents &f) const {
    auto found = by_name.find(f.name);
    return found == by_name.end() ? f : *found->second->original;
}

// Returns the consumer whose wrappers also count in what it computes inline, or an undefined symbol
// if there is none.
Symbol Wrapping::consumer_around(const FunctionContents &caller) const {
    auto found = by_name.find(caller.name);
    if (found != by_name.end()) return found->second->consumer;
    return with_copies.contains(caller.name) ? caller.name : Symbol();
}

// Returns what `caller` has to call in place of `f`, or null if it calls `f` itself. A wrapper for
// the caller comes before one for those who compute it inline, and this before one for all.
FunctionContents *Wrapping::wrapper_for(const FunctionContents &f, const FunctionContents &caller) {
    const FunctionContents &written = original_of(caller);
    if (f.wrappers.empty() || written.wrapped == &f) return nullptr;
    std::vector<Symbol> keys{written.name, Symbol()};
    const Symbol around = consumer_around(caller);
    if (further.contains({f.name, around})) keys.insert(keys.begin() + 1, around);
    for (Symbol key : keys) {
        auto found = f.wrappers.find(key);
        if (found == f.wrappers.end()) continue;
        if (found->second.get() == &written) return nullptr;
        used.insert({f.name, key});
        return found->second.get();
    }
    return nullptr;
}

bool Wrapping::is_inline(const FunctionContents &f) const {
    const auto is_it = [&](const FunctionRef &output) { return output.get() == &f; };
    return f.stages.size() == 1 && !f.has_extern_definition() &&
           std::ranges::none_of(outputs, is_it) &&
           with_levels_of_now(f.schedule).compute_level.means_inlined();
}

FunctionRef Wrapping::inline_copy(const FunctionContents &f, Symbol consumer) {
    auto [known, is_new] = copies.try_emplace({f.name, consumer});
    InlineCopy &made = known->second;
    if (is_new) {
        const FunctionRef c = copy(f);
        c->name = Symbol::fresh(f.name.text());
        c->owner = f.owner;
        c->wrapped = f.wrapped;
        c->table = f.table;
        made = {Ref<FunctionContents>(c.get()), &f, consumer};
        by_name[c->name] = &made;
    }
    return FunctionRef(made.copy);
}

FunctionRef Wrapping::target(const FunctionRef &callee, const FunctionContents &caller) {
    FunctionContents *f = callee.get();
    while (FunctionContents *wrapper = wrapper_for(*f, caller)) f = wrapper;
    const Symbol around = consumer_around(caller);
    return around.defined() && is_inline(*f) ? inline_copy(*f, around) : FunctionRef(f);
}

std::vector<FunctionRef> Wrapping::callees_of(const FunctionContents &f) {
    std::vector<FunctionRef> result;
    for (const FunctionRef &callee : direct_callees(f)) {
        const FunctionRef found = target(callee, f);
        if (std::ranges::find(result, found) == result.end()) result.push_back(found);
    }
    return result;
}

bool Wrapping::looks_further(const Environment &env) {
    bool any = false;
    for (const FunctionRef &f : env.order) {
        for (const auto &[consumer, wrapper] : f->wrappers) {
            const Use use{f->name, consumer};
            if (!env.functions.contains(consumer) || used.contains(use)) continue;
            if (!further.insert(use).second) refuse(*f, consumer, env);
            with_copies.insert(consumer);
            any = true;
        }
    }
    return any;
}

// Returns true if `caller` calls `f` directly, or by way of wrappers.
bool Wrapping::calls(const FunctionContents &caller, const FunctionContents &f) {
    for (const FunctionRef &callee : direct_callees(caller)) {
        const FunctionContents *g = callee.get();
        while (g && g != &f) g = wrapper_for(*g, caller);
        if (g) return true;
    }
    return false;
}

void Wrapping::refuse(const FunctionContents &f, Symbol consumer, const Environment &env) {
    const FunctionContents &wrapper = *f.wrappers.at(consumer);
    std::vector<std::string> callers;
    for (const FunctionRef &g : env.order) {
        if (original_of(*g).wrapped == &f || !calls(*g, f)) continue;
        const std::string name = original_of(*g).name.text();
        if (std::ranges::find(callers, name) == callers.end()) callers.push_back(name);
    }
    throw CompileError(wrapper.written, str(wrapper.wrapped ? "in" : "clone_in", ": ", consumer,
                                            " does not call ", f.name, ", so it cannot use ",
                                            wrapper.name, " instead; ", f.name, " is called by ",
                                            callers.empty() ? std::string("none") : join(callers)));
}

}  // namespace tessera::program
