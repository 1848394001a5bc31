#pragma once
#include <variant>

namespace tessera::lower {

// Returns true if the directive is of one of these kinds.
template<typename... Kinds, typename Directive>
bool is_one_of(const Directive &d) {
    return (std::holds_alternative<Kinds>(d) || ...);
}

}  // namespace tessera::lower
