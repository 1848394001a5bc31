#pragma once
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

// The members of a plain struct, without naming them: what goes over all of them (an equality, a
// hash) cannot forget one that is added later.
namespace tessera {
namespace fields_detail {

struct AnyValue {
    template<typename T>
    operator T() const;
};

template<typename T, size_t... n>
constexpr bool is_made_of(std::index_sequence<n...>) {
    return requires { T{(void(n), AnyValue{})...}; };
}

template<typename T, size_t count>
constexpr size_t count_from() {
    if constexpr (count == 0) {
        return 0;
    } else if constexpr (is_made_of<T>(std::make_index_sequence<count>())) {
        return count;
    } else {
        return count_from<T, count - 1>();
    }
}

constexpr size_t most_fields = 8;

}  // namespace fields_detail

template<typename T>
constexpr size_t field_count = fields_detail::count_from<T, fields_detail::most_fields + 1>();

// References to the members of an aggregate of at most eight, in their order.
template<typename T>
auto fields_of(T &s) {
    using Struct = std::remove_const_t<T>;
    static_assert(std::is_aggregate_v<Struct>);
    constexpr size_t count = field_count<Struct>;
    static_assert(count <= fields_detail::most_fields, "a struct of more members: add a case");
    if constexpr (count == 0) {
        return std::tuple<>();
    } else if constexpr (count == 1) {
        auto &[a] = s;
        return std::tie(a);
    } else if constexpr (count == 2) {
        auto &[a, b] = s;
        return std::tie(a, b);
    } else if constexpr (count == 3) {
        auto &[a, b, c] = s;
        return std::tie(a, b, c);
    } else if constexpr (count == 4) {
        auto &[a, b, c, d] = s;
        return std::tie(a, b, c, d);
    } else if constexpr (count == 5) {
        auto &[a, b, c, d, e] = s;
        return std::tie(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto &[a, b, c, d, e, f] = s;
        return std::tie(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto &[a, b, c, d, e, f, g] = s;
        return std::tie(a, b, c, d, e, f, g);
    } else {
        auto &[a, b, c, d, e, f, g, h] = s;
        return std::tie(a, b, c, d, e, f, g, h);
    }
}

// Calls visit(member) for each member.
template<typename T, typename F>
void for_each_field(T &s, F visit) {
    std::apply([&](auto &...members) { (visit(members), ...); }, fields_of(s));
}

}  // namespace tessera
