#include "codegen/llvm/coordinates.h"
#include "ir/visitor.h"
#include <ranges>

namespace tessera::codegen {

using namespace tessera::ir;

namespace {

// A sum with a number beyond 2^30 may be small for what it takes away from, and overflow on its way
// in another order: 2 * x + 16 * y - 2147482648, of (x - 1073741324) * 2 + 16 * y.
bool is_too_large(int64_t number) {
    constexpr int64_t largest = int64_t(1) << 30;
    return number < -largest || number > largest;
}

class ReadsData final : public Visitor {
public:
    explicit ReadsData(const std::unordered_set<Symbol> &data) : data(data) {}
    bool found = false;

private:
    void visit(const IntImm &i) override { found |= i.type == Int(32) && is_too_large(i.value); }
    void visit(const Load &) override { found = true; }
    void visit(const ExternCall &) override { found = true; }
    void visit(const Variable &v) override { found |= data.contains(v.name); }

    const std::unordered_set<Symbol> &data;
};

bool reads(const Expr &e, const std::unordered_set<Symbol> &data) {
    ReadsData r(data);
    r(e);
    return r.found;
}

// Lets in the order in which they are bound, and the indices and bounds of loops.
class Uses final : public Visitor {
public:
    std::vector<std::pair<Symbol, Expr>> lets;
    std::vector<Expr> indices;

private:
    void visit(const Let &let) override {
        lets.emplace_back(let.name, let.value);
        Visitor::visit(let);
    }
    void visit(const LetStmt &let) override {
        lets.emplace_back(let.name, let.value);
        Visitor::visit(let);
    }
    void visit(const Load &load) override {
        indices.push_back(load.index);
        Visitor::visit(load);
    }
    void visit(const Store &store) override {
        indices.push_back(store.index);
        Visitor::visit(store);
    }
    void visit(const For &loop) override {
        indices.push_back(loop.min);
        indices.push_back(loop.extent);
        Visitor::visit(loop);
    }
};

}  // namespace

Coordinates::Coordinates(std::span<const LoweredFunction> functions) {
    Uses uses;
    for (const LoweredFunction &f : functions) uses(f.body);
    for (const auto &[name, value] : uses.lets) {
        if (reads(value, data)) data.insert(name);
    }
    auto add_variables = [&](const Expr &e) {
        for_each_node(e, [&](const Variable &v) {
            if (!data.contains(v.name)) lets.insert(v.name);
        });
    };
    for (const Expr &index : uses.indices) {
        if (are(index)) add_variables(index);
    }
    for (const auto &[name, value] : std::views::reverse(uses.lets)) {
        if (lets.contains(name)) add_variables(value);
    }
}

bool Coordinates::are(const Expr &index) const { return !reads(index, data); }

}  // namespace tessera::codegen
