#pragma once
#include <algorithm>
#include <string>
#include <type_traits>

namespace tessera::ir {

// A pointer to a member, as a type.
template<auto member>
struct Member {
    static constexpr auto pointer = member;
    template<typename T, typename Field>
    static Field field_of(Field T::*);
    using Field = decltype(field_of(member));
};
// The members of a node or a part of one, each named once; a node's in the order of the arguments
// of its `make`. Costs nothing where the header is only included.
template<auto... members>
struct FieldList {
    // Returns what f returns for pointers to the members.
    template<typename F>
    static decltype(auto) apply(F &&f) {
        return f(members...);
    }
    template<typename F>
    static decltype(auto) apply_to_types(F &&f) {
        return f(Member<members>()...);
    }
    template<typename M>
    static constexpr bool contains = (std::is_same_v<M, Member<members>> || ...);
};

// Returns true if a field is the same object, or an equal one where it refers to none.
template<typename Field>
bool is_same_field(const Field &a, const Field &b) {
    if constexpr (requires { typename Field::Fields; }) {
        return Field::Fields::apply(
            [&](auto... member) { return (is_same_field(a.*member, b.*member) && ...); });
    } else if constexpr (requires { a.same_as(b); }) {
        return a.same_as(b);
    } else if constexpr (requires { a.begin(); } && !std::is_same_v<Field, std::string>) {
        const auto same = [](const auto &x, const auto &y) { return is_same_field(x, y); };
        return std::ranges::equal(a, b, same);
    } else {
        return a == b;
    }
}

}  // namespace tessera::ir
