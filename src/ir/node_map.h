#pragma once
#include "ir/expr.h"
#include <array>
#include <bit>
#include <vector>

// Hash tables for walks over expressions, which look into them at every node.
namespace tessera::ir {

// Most walks see one small expression.
constexpr size_t smallest_table = 16;

// Values by node: open addressing, nothing is ever erased.
template<typename Value>
class NodeMap {
public:
    const Value *find(const ExprNode *key) const {
        if (slots.empty()) return nullptr;
        for (size_t i = start(key);; i = (i + 1) & (slots.size() - 1)) {
            if (slots[i].key == key) return &slots[i].value;
            if (!slots[i].key) return nullptr;
        }
    }
    Value *find(const ExprNode *key) { return const_cast<Value *>(std::as_const(*this).find(key)); }
    size_t size() const { return count; }
    Value &operator[](const ExprNode *key) {
        if (Value *found = find(key)) return *found;
        if (slots.size() < 2 * (count + 1)) grow();
        count++;
        return place(key).value;
    }

private:
    struct Slot {
        const ExprNode *key = nullptr;
        Value value{};
    };
    size_t start(const ExprNode *key) const {
        return (uint64_t(std::bit_cast<uintptr_t>(key)) * 0x9E3779B97F4A7C15ull >> 32) &
               (slots.size() - 1);
    }
    Slot &place(const ExprNode *key) {
        size_t i = start(key);
        while (slots[i].key) i = (i + 1) & (slots.size() - 1);
        slots[i].key = key;
        return slots[i];
    }
    void grow() {
        std::vector<Slot> old(slots.empty() ? smallest_table : 2 * slots.size());
        old.swap(slots);
        for (Slot &s : old) {
            if (s.key) place(s.key).value = std::move(s.value);
        }
    }
    std::vector<Slot> slots;
    size_t count = 0;
};

// The nodes that a walk has met. `Node`: Expr, which keeps them alive, or const ExprNode *. Most
// walks have few to remember, which need no table.
template<typename Node>
class SeenNodes {
public:
    bool contains(const ExprNode *node) const {
        for (size_t i = 0; i < count; i++) {
            if (address(few[i]) == node) return true;
        }
        return count == few.size() && many.find(node);
    }
    // Returns false if it was there.
    bool insert(const Node &node) {
        if (contains(address(node))) return false;
        (count < few.size() ? few[count++] : many[address(node)]) = node;
        return true;
    }
    size_t size() const { return count + many.size(); }

private:
    static const ExprNode *address(const ExprNode *node) { return node; }
    static const ExprNode *address(const Expr &e) { return e.get(); }

    std::array<Node, 8> few{};
    size_t count = 0;  // of the few
    NodeMap<Node> many;
};

}  // namespace tessera::ir
