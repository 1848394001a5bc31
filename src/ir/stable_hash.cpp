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

}  // namespace

uint64_t stable_hash(const Expr &e) { return StableHash().of(e); }

}  // namespace tessera::ir
