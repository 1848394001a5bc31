#include "ir/module.h"
#include <algorithm>
#include <functional>

namespace tessera::ir {

std::string_view name_of(FunctionKind k) {
    switch (k) {
#define CASE(name, text)                                                                           \
    case FunctionKind::name: return text;
        TESSERA_FUNCTION_KINDS(CASE)
#undef CASE
    }
    return "?";
}

const Argument *find_argument(std::span<const Argument> arguments, Symbol name) {
    const auto found = std::ranges::find(arguments, name, &Argument::name);
    return found == arguments.end() ? nullptr : &*found;
}

const Argument *find_output(std::span<const Argument> arguments, Symbol func, int k) {
    const auto found = std::ranges::find_if(arguments, [&](const Argument &a) {
        return a.is_output() && a.func == func && a.value_index == k;
    });
    return found == arguments.end() ? nullptr : &*found;
}

const LoweredFunction &Module::function(std::string_view wanted) const {
    auto found = std::ranges::find(functions, wanted, &LoweredFunction::name);
    if (found == functions.end()) {
        throw InternalError(str("the module ", name, " has no function ", wanted));
    }
    return *found;
}

std::span<const LoweredFunction> Module::with_invoked(const LoweredFunction &pipeline) const {
    auto begin = functions.begin() + (&pipeline - functions.data());
    return {begin,
            std::find_if(begin + 1, functions.end(), std::mem_fn(&LoweredFunction::is_pipeline))};
}

}  // namespace tessera::ir
