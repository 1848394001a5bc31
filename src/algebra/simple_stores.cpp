#include "algebra/simple_stores.h"
#include "algebra/lift.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <ranges>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace tessera::algebra {

using namespace ir;

SimpleStore::SimpleStore(Stmt s) : whole(std::move(s)) {
    const Stmt *rest = &whole;
    while (const auto *let = rest->as<LetStmt>()) {
        lets.push_back(let);
        rest = &let->body;
    }
    store = rest->as<Store>();
}

std::vector<Expr> SimpleStore::roots() const {
    std::vector<Expr> all = {store->value, store->index};
    if (store->predicate.defined()) all.push_back(store->predicate);
    for (Expr &e : all) {
        for (const LetStmt *let : lets | std::views::reverse)
            e = Let::make(let->name, let->value, e);
    }
    return all;
}

std::vector<SimpleStore> stores_from(const std::vector<Stmt> &stmts, size_t first) {
    constexpr size_t most = 64;
    std::vector<SimpleStore> stores;
    for (size_t i = first; i < stmts.size() && stores.size() < most; i++) {
        SimpleStore next(stmts[i]);
        if (!next.store) break;
        stores.push_back(std::move(next));
    }
    return stores;
}

bool may_share(const std::vector<SimpleStore> &stores) {
    if (stores.size() < 2) return false;
    std::unordered_set<Symbol> written;
    for (const SimpleStore &s : stores) written.insert(s.store->buffer);
    for (const SimpleStore &s : stores) {
        for (const Expr &e : s.roots()) {
            bool reads_written = false;
            for_each_node(e, [&](const Load &l) { reads_written |= written.contains(l.buffer); });
            if (reads_written || !is_pure(e)) return false;
        }
    }
    return true;
}

namespace {

// Puts each let where it is first used, so that no value has to wait for long.
class Places {
public:
    explicit Places(const std::vector<Lifted> &lets) : lets(lets), is_placed(lets.size()) {
        for (size_t i = 0; i < lets.size(); i++) number[lets[i].name] = i;
    }
    // Returns those that are used here, and not at one of the places before.
    std::vector<Lifted> first_used(std::span<const Expr> here) {
        is_used.assign(lets.size(), false);
        for (const Expr &e : here) use(e);
        for (size_t i = lets.size(); i-- > 0;) {
            if (is_used[i] && !is_placed[i]) use(lets[i].value);
        }
        std::vector<Lifted> first;
        for (size_t i = 0; i < lets.size(); i++) {
            if (!is_used[i] || is_placed[i]) continue;
            is_placed[i] = true;
            first.push_back(lets[i]);
        }
        return first;
    }

private:
    void use(const Expr &e) {
        for_each_node(e, [&](const Variable &v) {
            const auto let = number.find(v.name);
            if (let != number.end()) is_used[let->second] = true;
        });
    }
    const std::vector<Lifted> &lets;
    std::unordered_map<Symbol, size_t> number;
    std::vector<bool> is_placed, is_used;
};

}  // namespace

Stmt share(const std::vector<SimpleStore> &stores) {
    std::vector<Expr> roots;
    std::vector<size_t> first_root;
    for (const SimpleStore &s : stores) {
        first_root.push_back(roots.size());
        std::ranges::copy(s.roots(), std::back_inserter(roots));
    }
    first_root.push_back(roots.size());
    const std::vector<Lifted> lets = lift(roots);
    std::vector<Stmt> changed;
    std::vector<std::vector<Lifted>> before;
    Places places(lets);
    for (size_t k = 0; k < stores.size(); k++) {
        const std::span of_store(roots.begin() + long(first_root[k]),
                                 roots.begin() + long(first_root[k + 1]));
        before.push_back(places.first_used(of_store));
        changed.push_back(stores[k].store->with<&Store::value, &Store::index, &Store::predicate>(
            of_store[0], of_store[1], of_store.size() > 2 ? of_store[2] : Expr()));
    }
    Stmt rest;
    for (size_t k = stores.size(); k-- > 0;) {
        rest = wrap(before[k], rest.defined() ? Block::make({changed[k], rest}) : changed[k]);
    }
    return rest;
}

}  // namespace tessera::algebra
