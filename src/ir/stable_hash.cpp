#include "ir/stable_hash.h"
#include "ir/fields.h"
#include "ir/intrinsics.h"
#include "ir/visitor.h"
#include <unordered_map>

namespace tessera::ir {
namespace {

using fields::mix;

// FNV-1a: std::hash may differ from one library to another.
uint64_t hash_of_text(const std::string &text) {
    uint64_t h = 0xCBF29CE484222325ull;
    for (const char c : text) h = (h ^ uint8_t(c)) * 0x100000001B3ull;
    return h;
}

class StableHash final : public Visitor {
public:
    uint64_t of(const Expr &e) {
        if (!e.defined()) return 1;
        (*this)(e);
        return known.at(e.get());
    }

private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override { hash_node(node); }
    TESSERA_EXPR_NODES(VISIT)
#undef VISIT

    template<typename T>
    void hash_node(const T &node) {
        uint64_t h = mix(uint64_t(T::node_kind), of_field(node.type));
        fields::for_each(node, [&](const auto &field) { h = mix(h, of_field(field)); });
        known[&node] = h;
    }
    template<typename Field>
    uint64_t of_field(const Field &field) {
        if constexpr (std::is_same_v<Field, Expr>) {
            return of(field);
        } else if constexpr (std::is_same_v<Field, Symbol>) {
            return field.defined() ? numbers.emplace(field, numbers.size() + 1).first->second : 0;
        } else if constexpr (std::is_same_v<Field, std::string>) {
            return hash_of_text(field);
        } else if constexpr (std::is_same_v<Field, Intrinsic>) {
            return hash_of_text(std::string(info_of(field).name));  // numbers change with others
        } else if constexpr (fields::IsVector<Field>) {
            uint64_t h = field.size();
            for (const auto &element : field) h = mix(h, of_field(element));
            return h;
        } else {
            return fields::hash(field);
        }
    }
    std::unordered_map<const ExprNode *, uint64_t> known;
    std::unordered_map<Symbol, uint64_t> numbers;
};

// Writes each node once, as a row of bytes; operands are the numbers of their rows.
class StableKey final : public Visitor {
public:
    uint64_t number_of(const Expr &e) {
        if (!e.defined()) return 0;
        (*this)(e);
        return numbers.at(e.get());
    }
    std::string text;

private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override { add_node(node); }
    TESSERA_EXPR_NODES(VISIT)
#undef VISIT

    template<typename T>
    void add_node(const T &node) {
        std::string row;
        put(row, uint64_t(T::node_kind));
        put_field(row, node.type);
        fields::for_each(node, [&](const auto &field) { put_field(row, field); });
        const auto [found, is_new] = rows.emplace(std::move(row), rows.size() + 1);
        if (is_new) text += found->first;
        numbers[&node] = found->second;
    }
    // Seven bits for each byte; the last one is below 128.
    static void put(std::string &row, uint64_t n) {
        for (; n >= 128; n >>= 7) row += char(n | 128);
        row += char(n);
    }
    static void put(std::string &row, const std::string &s) {
        put(row, s.size());
        row += s;
    }
    template<typename Field>
    void put_field(std::string &row, const Field &field) {
        if constexpr (std::is_same_v<Field, Expr>) {
            put(row, number_of(field));
        } else if constexpr (std::is_same_v<Field, Symbol>) {
            put(row,
                field.defined() ? symbols.emplace(field, symbols.size() + 1).first->second : 0);
        } else if constexpr (std::is_same_v<Field, std::string>) {
            put(row, field);
        } else if constexpr (std::is_same_v<Field, Intrinsic>) {
            put(row, std::string(info_of(field).name));
        } else if constexpr (fields::IsVector<Field>) {
            put(row, field.size());
            for (const auto &element : field) put_field(row, element);
        } else if constexpr (std::is_same_v<Field, Alignment>) {
            put(row, uint64_t(field.modulus));
            put(row, uint64_t(field.remainder));
        } else {
            put(row, fields::hash(field));  // of all other types the value itself
        }
    }
    std::unordered_map<const ExprNode *, uint64_t> numbers;
    std::unordered_map<std::string, uint64_t> rows;
    std::unordered_map<Symbol, uint64_t> symbols;
};

}  // namespace

std::string stable_key(const Expr &e) {
    StableKey key;
    key.number_of(e);
    return std::move(key.text);
}

uint64_t stable_hash(const Expr &e) { return StableHash().of(e); }

}  // namespace tessera::ir
