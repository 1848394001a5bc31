#include "program/wrapping.h"
#include <algorithm>

namespace tessera::program {

const FunctionRef &Wrapping::original_of(const FunctionRef &f) const {
    auto found = by_name.find(f->name);
    return found == by_name.end() ? f : found->second.original;
}

// Returns the consumer whose wrappers also count in what it computes inline, or an undefined symbol
// if there is none.
Symbol Wrapping::consumer_around(const FunctionRef &caller) const {
    auto found = by_name.find(caller->name);
    if (found != by_name.end()) return found->second.consumer;
    return with_copies.contains(caller->name) ? caller->name : Symbol();
}

// Returns what `caller` has to call in place of `f`, or null if it calls `f` itself. A wrapper for
// the caller comes before one for those who compute it inline, and this before one for all.
FunctionRef Wrapping::wrapper_for(const FunctionRef &f, const FunctionRef &caller) {
    const FunctionContents &written = *original_of(caller);
    if (f->wrappers.empty() || written.wrapped == f->name) return {};
    std::vector<Symbol> keys{written.name, Symbol()};
    const Symbol around = consumer_around(caller);
    if (further.contains({f->name, around})) keys.insert(keys.begin() + 1, around);
    for (Symbol key : keys) {
        auto found = f->wrappers.find(key);
        if (found == f->wrappers.end()) continue;
        if (found->second == written.name) return {};
        used.insert({f->name, key});
        return f.relative(found->second);
    }
    return {};
}

bool Wrapping::is_inline(const FunctionRef &f) const {
    return f->stages.size() == 1 && !f->has_extern_definition() &&
           std::ranges::find(outputs, f) == outputs.end() &&
           with_levels_of_now(f->schedule).compute_level.means_inlined();
}

// The copy's calls are those of its original, so that their family is one, of which the copy is no
// member.
FunctionRef Wrapping::inline_copy(const FunctionRef &f, Symbol consumer) {
    auto [name, is_new] = copies.try_emplace({f->name, consumer});
    if (is_new) {
        const Ref<FunctionContents> c = copy(*f);
        name->second = c->name = Symbol::fresh(f->name.text());
        c->made_by = f->made_by;
        c->wrapped = f->wrapped;
        by_name[c->name] = {FunctionRef(f.own_family(), c), f, consumer};
    }
    return by_name.at(name->second).copy;
}

FunctionRef Wrapping::target(const FunctionRef &callee, const FunctionRef &caller) {
    FunctionRef f = callee;
    while (FunctionRef wrapper = wrapper_for(f, caller)) f = wrapper;
    const Symbol around = consumer_around(caller);
    return around.defined() && is_inline(f) ? inline_copy(f, around) : f;
}

std::vector<FunctionRef> Wrapping::callees_of(const FunctionRef &f) {
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
            if (!further.insert(use).second) refuse(f, consumer, env);
            with_copies.insert(consumer);
            any = true;
        }
    }
    return any;
}

// Returns true if `caller` calls `f` directly, or by way of wrappers.
bool Wrapping::calls(const FunctionRef &caller, const FunctionRef &f) {
    for (FunctionRef g : direct_callees(caller)) {
        while (g && g != f) g = wrapper_for(g, caller);
        if (g) return true;
    }
    return false;
}

void Wrapping::refuse(const FunctionRef &f, Symbol consumer, const Environment &env) {
    const FunctionContents &wrapper = *f.relative(f->wrappers.at(consumer));
    std::vector<std::string> callers;
    for (const FunctionRef &g : env.order) {
        if (original_of(g)->wrapped == f->name || !calls(g, f)) continue;
        const std::string name = original_of(g)->name.text();
        if (std::ranges::find(callers, name) == callers.end()) callers.push_back(name);
    }
    throw CompileError(wrapper.written, str(name_of(wrapper.made_by), ": ", consumer,
                                            " does not call ", f->name, ", so it cannot use ",
                                            wrapper.name, " instead; ", f->name, " is called by ",
                                            callers.empty() ? std::string("none") : join(callers)));
}

}  // namespace tessera::program
