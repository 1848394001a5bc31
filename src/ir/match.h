#pragma once
#include "ir/nodes.h"
#include <type_traits>

namespace tessera::ir {

// The node type a case lambda takes: `[](const Add &add) { ... }` handles Add.
template<typename F>
struct CaseOf : CaseOf<decltype(&F::operator())> {};
template<typename C, typename R, typename T>
struct CaseOf<R (C::*)(const T &) const> {
    using Node = T;
    using Result = R;
};

template<typename R>
struct Otherwise {
    R value;
};

// The last argument of match: the value for every kind without a case.
template<typename R>
Otherwise<R> otherwise(R value) {
    return {std::move(value)};
}

template<typename Base, typename R>
R match(const NodeHandle<Base> &, Otherwise<R> rest) {
    return std::move(rest.value);
}

// Do one thing per node kind:
//     match(e, [](const IntImm &i) { return i.value; }, otherwise(0));
// A case that takes anything but `const SomeNode &` of the right family does not compile.
template<typename Base, typename Case, typename... Rest>
auto match(const NodeHandle<Base> &h, Case &&c, Rest &&...rest) {
    using T = typename CaseOf<std::decay_t<Case>>::Node;
    static_assert(std::is_base_of_v<Base, T>, "this case can never match: wrong node family");
    using R = typename CaseOf<std::decay_t<Case>>::Result;
    if (const T *node = h.template as<T>()) return c(*node);
    return R(match(h, std::forward<Rest>(rest)...));
}

}  // namespace tessera::ir
