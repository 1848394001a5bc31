#include "algebra/scoped_facts.h"

namespace tessera::algebra {

using namespace ir;

namespace {

// Keeps what the table has, to be put back at the end of the scope.
template<typename Table, typename Key>
auto value_before(const Table &table, const Key &key) {
    auto found = table.find(key);
    return found == table.end() ? std::nullopt : std::optional(found->second);
}

template<typename Table, typename Key, typename Value>
void put_back(Table &table, const Key &key, std::optional<Value> before) {
    if (before) {
        table[key] = std::move(*before);
    } else {
        table.erase(key);
    }
}

}  // namespace

ScopedFacts::ScopedFacts() {
    scopes.emplace_back();
    active.push_back(true);
    enter(true);
}

void ScopedFacts::enter(bool facts) {
    Scope s;
    s.serial = uint32_t(active.size());
    s.facts = facts;
    s.leaves = leaves;
    active.push_back(true);
    if (facts) oldest_usable = s.serial;
    scopes.push_back(std::move(s));
}

void ScopedFacts::leave() {
    Scope s = std::move(scopes.back());
    scopes.pop_back();
    leaves = s.leaves;
    active[s.serial] = false;
    for (size_t i = s.variables.size(); i-- > 0;) {
        put_back(variables, s.variables[i].first, std::move(s.variables[i].second));
    }
    for (size_t i = s.intervals.size(); i-- > 0;) {
        put_back(intervals, s.intervals[i].first.get(), s.intervals[i].second);
    }
    for (const Expr &e : s.truths) truths.erase(e);
    for (const Expr &e : s.falsehoods) falsehoods.erase(e);
    for (const ExprNode *atom : s.inequality_atoms) inequalities[atom].pop_back();
    oldest_usable = 0;
    for (size_t i = scopes.size(); i-- > 0 && oldest_usable == 0;) {
        if (scopes[i].facts) oldest_usable = scopes[i].serial;
    }
}

const KnownVariable *ScopedFacts::find(Symbol s) const {
    auto found = variables.find(s);
    return found == variables.end() ? nullptr : &found->second;
}

void ScopedFacts::set(Symbol s, KnownVariable k) {
    scopes.back().variables.emplace_back(s, value_before(variables, s));
    variables[s] = std::move(k);
}

void ScopedFacts::add_truth(const Expr &e) {
    if (truths.insert(e).second) scopes.back().truths.push_back(e);
}

void ScopedFacts::add_falsehood(const Expr &e) {
    if (falsehoods.insert(e).second) scopes.back().falsehoods.push_back(e);
}

void ScopedFacts::add_inequality(const LinearForm &f, uint64_t of_leaves) {
    leaves |= of_leaves;
    for (const LinearTerm &t : f.terms) {
        inequalities[t.atom.get()].push_back(f);
        scopes.back().inequality_atoms.push_back(t.atom.get());
    }
}

std::span<const LinearForm> ScopedFacts::inequalities_about(const Expr &atom) const {
    auto found = inequalities.find(atom.get());
    return found == inequalities.end() ? std::span<const LinearForm>() : found->second;
}

void ScopedFacts::set_interval(const Expr &atom, const ConstantInterval &i) {
    scopes.back().intervals.emplace_back(atom, value_before(intervals, atom.get()));
    intervals[atom.get()] = i;
}

const ConstantInterval *ScopedFacts::interval_of(const Expr &atom) const {
    auto found = intervals.find(atom.get());
    return found == intervals.end() ? nullptr : &found->second;
}

}  // namespace tessera::algebra
