#pragma once
#include "ir/nodes.h"
#include <bit>

// The operations of the engines on each type of field: visit the children in it, rebuild it from
// new children, hash it, compare it. A new type of field needs a case here and nowhere else.
namespace tessera::ir::fields {

template<typename F>
concept IsHandle = std::is_same_v<F, Expr> || std::is_same_v<F, Stmt>;
template<typename F>
concept IsVector = requires(F f) {
    f.begin();
    f.push_back(*f.begin());
} && !std::is_same_v<F, std::string>;
// A part of a node that names its own members.
template<typename F>
concept IsRecord = requires { typename F::Fields; };

// Calls f(child) for every defined Expr or Stmt in the field.
template<typename Field, typename F>
void for_each_child(const Field &field, F &&f) {
    if constexpr (IsHandle<Field>) {
        if (field.defined()) f(field);
    } else if constexpr (IsRecord<Field>) {
        Field::Fields::apply(
            [&](auto... member) { (fields::for_each_child(field.*member, f), ...); });
    } else if constexpr (IsVector<Field>) {
        for (const auto &element : field) for_each_child(element, f);
    }
}

// Replaces every child by f(child); true if one is no longer the same object.
template<typename Field, typename F>
bool transform(Field &field, F &&f) {
    if constexpr (IsHandle<Field>) {
        if (!field.defined()) return false;
        Field changed = f(field);
        if (changed.same_as(field)) return false;
        field = std::move(changed);
        return true;
    } else if constexpr (IsRecord<Field>) {
        bool changed = false;
        Field::Fields::apply(
            [&](auto... member) { ((changed |= fields::transform(field.*member, f)), ...); });
        return changed;
    } else if constexpr (IsVector<Field>) {
        bool changed = false;
        for (auto &element : field) changed |= transform(element, f);
        return changed;
    } else {
        return false;
    }
}

inline uint64_t mix(uint64_t seed, uint64_t value) {
    uint64_t h = (seed ^ value) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29) ^ (seed << 7);
}

template<typename Field>
uint64_t hash(const Field &field) {
    if constexpr (IsHandle<Field>) {
        return field.defined() ? field.hash() : 1;
    } else if constexpr (IsRecord<Field>) {
        uint64_t h = 1;
        Field::Fields::apply(
            [&](auto... member) { ((h = mix(h, fields::hash(field.*member))), ...); });
        return h;
    } else if constexpr (IsVector<Field>) {
        uint64_t h = field.size();
        for (const auto &element : field) h = mix(h, hash(element));
        return h;
    } else if constexpr (std::is_same_v<Field, Symbol>) {
        return field.id();
    } else if constexpr (std::is_same_v<Field, Type>) {
        return uint64_t(field.code()) << 32 | uint64_t(field.bits()) << 16 | field.lanes();
    } else if constexpr (std::is_same_v<Field, std::string>) {
        return std::hash<std::string>()(field);
    } else if constexpr (std::is_same_v<Field, double>) {
        return std::bit_cast<uint64_t>(field);
    } else if constexpr (std::is_same_v<Field, Alignment>) {
        return mix(uint64_t(field.modulus), uint64_t(field.remainder));
    } else if constexpr (std::is_same_v<Field, Ref<Referent>>) {
        return 0;
    } else {
        return uint64_t(field);
    }
}

// Compares all but the children, which are compared by same(a_child, b_child), and the symbols,
// by same_symbol(a, b).
template<typename Field, typename Same, typename SameSymbol>
bool equal(const Field &a, const Field &b, Same &&same, SameSymbol &&same_symbol) {
    if constexpr (IsHandle<Field>) {
        return a.defined() == b.defined() && (!a.defined() || same(a, b));
    } else if constexpr (IsRecord<Field>) {
        return Field::Fields::apply([&](auto... member) {
            return (fields::equal(a.*member, b.*member, same, same_symbol) && ...);
        });
    } else if constexpr (IsVector<Field>) {
        if (a.size() != b.size()) return false;
        for (size_t i = 0; i < a.size(); i++) {
            if (!equal(a[i], b[i], same, same_symbol)) return false;
        }
        return true;
    } else if constexpr (std::is_same_v<Field, Symbol>) {
        return same_symbol(a, b);
    } else if constexpr (std::is_same_v<Field, double>) {
        return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
    } else if constexpr (std::is_same_v<Field, Ref<Referent>>) {
        return true;
    } else {
        return a == b;
    }
}

// The order of two values of a field: the sign of a - b. Children are compared by order(a_child,
// b_child), symbols by when they were made.
template<typename Field, typename Order>
int compare(const Field &a, const Field &b, Order &&order) {
    auto of_values = [](const auto &x, const auto &y) { return x < y ? -1 : y < x ? 1 : 0; };
    if constexpr (IsHandle<Field>) {
        if (!a.defined() || !b.defined()) return int(a.defined()) - int(b.defined());
        return order(a, b);
    } else if constexpr (IsVector<Field>) {
        if (a.size() != b.size()) return of_values(a.size(), b.size());
        for (size_t i = 0; i < a.size(); i++) {
            if (int first = compare(a[i], b[i], order)) return first;
        }
        return 0;
    } else if constexpr (std::is_same_v<Field, std::string> || std::is_same_v<Field, Symbol>) {
        return of_values(a, b);
    } else if constexpr (std::is_same_v<Field, Alignment>) {
        return of_values(std::pair(a.modulus, a.remainder), std::pair(b.modulus, b.remainder));
    } else {
        return of_values(hash(a), hash(b));
    }
}

// Calls f(field) for each field of the node.
template<typename T, typename F>
void for_each(const T &node, F &&f) {
    T::Fields::apply([&](auto... member) { (f(node.*member), ...); });
}

}  // namespace tessera::ir::fields
