#pragma once
#include "algebra/constant_interval.h"
#include "algebra/linear.h"
#include "algebra/node_table.h"
#include "ir/equal.h"
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

// The facts in force, as data, and the scopes in which they are; for this component only. Other
// classes find what follows from them.
namespace tessera::algebra {

// The origins of a value that may be any number of its type.
struct Origin {
    bool is_read = false;    // from memory, or returned by a function
    bool is_passed = false;  // as a scalar argument
    bool is_large = false;   // a number, or multiplied by one, that no coordinate has

    Origin operator|(const Origin &o) const {
        return {is_read || o.is_read, is_passed || o.is_passed, is_large || o.is_large};
    }
};

// Says what scalar arguments are taken for: coordinates and sizes, where regions and loops are
// thought about, or numbers with which a program computes.
enum class Arguments : uint8_t { AreCoordinates, MayBeAnything };

// Describes how a value follows its leaves once what is known of variables is put in for them. Sets
// of leaves, by hash.
struct Trend {
    uint64_t rising = 0, falling = 0;                   // may rise, or fall, with the leaf
    uint64_t unbounded_below = 0, unbounded_above = 0;  // has no such bound: the leaf has none

    Trend reversed() const { return {falling, rising, unbounded_above, unbounded_below}; }
    Trend operator|(const Trend &o) const;  // of a sum, or of one or the other
};

struct KnownVariable {
    Interval symbolic;
    Expr value;
    ConstantInterval constants;
    ir::Alignment alignment{1, 0};
    Origin origin;
    Expr replacement;
    std::optional<Trend> trend;  // with the value or bounds put in for it
};

class ScopedFacts {
public:
    ScopedFacts();  // in a scope that is never left

    // `leave` undoes what has been set and added since `enter`. `facts`: what was found out in the
    // scopes around it may not be all that is known in this one.
    void enter(bool facts);
    void leave();
    uint32_t scope() const { return scopes.back().serial; }
    // Returns true if what was found out in that scope is all that is known in this one.
    bool is_usable(uint32_t scope) const {
        return scope >= oldest_usable && scope < active.size() && active[scope];
    }
    static constexpr uint32_t no_scope = ~uint32_t(0);  // is never usable

    const KnownVariable *find(Symbol s) const;  // null: nothing is known
    void set(Symbol s, KnownVariable k);
    void set_alignment(Symbol s, ir::Alignment a) { variables[s].alignment = a; }

    // Conditions that hold, and that do not.
    void add_truth(const Expr &e);
    void add_falsehood(const Expr &e);
    bool is_true(const Expr &e) const { return truths.count(e) > 0; }
    bool is_false(const Expr &e) const { return falsehoods.count(e) > 0; }

    // f >= 0, about all of its atoms, whose values follow these leaves.
    void add_inequality(const LinearForm &f, uint64_t leaves);
    std::span<const LinearForm> inequalities_about(const Expr &atom) const;
    uint64_t leaves_of_inequalities() const { return leaves; }

    // The atom lies in it.
    void set_interval(const Expr &atom, const ConstantInterval &i);
    const ConstantInterval *interval_of(const Expr &atom) const;  // null: none was set

private:
    struct Scope {
        uint32_t serial = 0;
        bool facts = false;
        uint64_t leaves = 0;  // before
        std::vector<std::pair<Symbol, std::optional<KnownVariable>>> variables;
        std::vector<Expr> truths, falsehoods;
        std::vector<const ir::ExprNode *> inequality_atoms;
        std::vector<std::pair<Expr, std::optional<ConstantInterval>>> intervals;
    };

    std::vector<Scope> scopes;
    std::vector<uint8_t> active;  // whether the scope of each number has not been left yet
    uint32_t oldest_usable = 0;
    std::unordered_map<Symbol, KnownVariable> variables;
    std::unordered_set<Expr, ir::ExprHash, ir::ExprEqual> truths, falsehoods;
    std::unordered_map<const ir::ExprNode *, std::vector<LinearForm>> inequalities;
    uint64_t leaves = 0;
    std::unordered_map<const ir::ExprNode *, ConstantInterval> intervals;
};

}  // namespace tessera::algebra
