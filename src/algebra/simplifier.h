#pragma once
#include "algebra/constant_interval.h"
#include "algebra/facts.h"
#include "algebra/linear.h"
#include "algebra/node_table.h"
#include <memory>
#include <unordered_map>
#include <unordered_set>

// The engine behind simplify, prove, bounds and solve; for this component only.
//
// It works bottom-up: `make` is given simplified operands and returns the simplified node, so that
// whatever a rule puts together is simplified as it is built. Simplified nodes are interned: equal
// ones are the same object.
namespace tessera::algebra {

class Simplifier {
public:
    // `effort`: how many steps a single decision about an inequality may take; all that are made
    // for one expression may take as many as 128 of them. The facts must live as long as the
    // simplifier, which looks at those about a variable when it meets one.
    explicit Simplifier(const Facts &facts = no_facts, int effort = 32);

    Expr operator()(const Expr &e);  // memoised
    // Returns true while an expression is simplified, in whose midst others have other facts.
    bool is_at_work() const { return nesting > 0; }

    // The simplified node of simplified operands.
    Expr make(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr make_sum(const Expr &a, const Expr &b, int64_t factor);  // a + factor * b
    Expr make_not(const Expr &a);
    Expr make_select(const Expr &condition, const Expr &a, const Expr &b);
    Expr make_cast(Type t, const Expr &value);
    Expr make_broadcast(const Expr &value, int lanes);
    Expr make_ramp(const Expr &base, const Expr &stride, int lanes);
    Expr make_call(const ir::IntrinsicCall &call);
    Expr make_expr(const LinearForm &f, Type t);  // undefined if a number does not fit
    // f >= 0, == 0 or != 0.
    Expr make_comparison(ir::NodeKind op, const LinearForm &f, Type t);

    // The one object that stands for all expressions equal to this.
    Expr intern(const Expr &e);

    // About simplified nodes.
    const LinearForm &form(const Expr &e);
    ConstantInterval interval(const Expr &e);  // over all lanes
    ir::Alignment alignment(const Expr &e);
    bool is_stable(const Expr &e);  // no effects, and no stores can change it
    bool is_pure(const Expr &e) const { return impure.empty() || !impure.count(e.get()); }

    // The largest constant found that `f` is never below; stops looking at `goal`.
    int64_t lower_bound(const LinearForm &f, int64_t goal = ConstantInterval::highest);
    int64_t upper_bound(const LinearForm &f, int64_t goal = ConstantInterval::lowest);
    // Returns true if no search can find both bounds. Quick, and may be false where that is so.
    bool is_unbounded(const LinearForm &f);
    ConstantInterval interval(const LinearForm &f);
    ir::Alignment alignment(const LinearForm &f);
    const ir::Mod *as_remainder(const Expr &atom);
    // Returns true if the form may overflow where what it was made of does not. Coordinates and
    // sizes are taken to be far from the ends of their types; what a program reads may be anything.
    bool may_overflow(const LinearForm &f, Type t);

    // Facts learnt between these two are forgotten at `leave`.
    void enter(bool facts);
    void leave();
    // The condition (simplified) holds.
    void learn(const Expr &condition);
    // The variable lies in the interval (simplified), or is the value (simplified).
    void bind(Symbol s, const Interval &i);
    void bind_value(Symbol s, const Expr &value);
    // The variable is replaced by this value, which is cheap, wherever it is met.
    void replace(Symbol s, const Expr &value);
    static bool is_cheap(const Expr &value);
    // Binds or replaces the symbol of a let for what is simplified next, and returns the let that
    // is to stand around it; undefined: none. A ramp is put in place, so that an access is seen to
    // be dense or strided; of one whose base is not cheap, the base has a let of its own.
    struct Bound {
        Symbol name;
        Expr value;
    };
    Bound bind_let(Symbol name, const Expr &value);

    int effort;

private:
    static constexpr uint32_t forgotten = ~uint32_t(0);  // a scope that never is
    static const Facts no_facts;
    // The origins of a value that may be any number of its type.
    struct Origin {
        bool is_read = false;    // from memory, or returned by a function
        bool is_passed = false;  // as a scalar argument
        bool is_large = false;   // a number, or multiplied by one, that no coordinate has
        bool is_data() const { return is_read || is_passed || is_large; }
        Origin operator|(const Origin &o) const {
            return {is_read || o.is_read, is_passed || o.is_passed, is_large || o.is_large};
        }
    };
    struct Info {
        ConstantInterval interval;
        ir::Alignment alignment;
        Origin origin;
        uint32_t scope = forgotten;
    };
    // How a value follows the leaves that are left of it when what is known of variables is put in
    // for them. Sets of leaves, by hash.
    struct Trend {
        uint64_t rising = 0, falling = 0;  // may rise, or fall, with the leaf
        uint64_t unbounded_below = 0,
                 unbounded_above = 0;  // has no lower, or upper, bound: the leaf has none
        uint32_t scope = forgotten;
        Trend reversed() const {
            return {falling, rising, unbounded_above, unbounded_below, scope};
        }
        Trend operator|(const Trend &o) const;  // of a sum, or of one or the other
    };
    struct Known {  // about a variable
        Interval symbolic;
        Expr value;
        ConstantInterval constants;
        ir::Alignment alignment{1, 0};
        Origin origin;
        Expr replacement;
        std::optional<Trend> trend;  // with the value or bounds put in for it
    };
    struct Memo {
        Expr before, after;
        uint32_t scope = forgotten;
    };
    struct Search {  // for a lower bound
        LinearForm form;
        int64_t goal = 0, found = 0;
        uint32_t scope = 0;
    };
    struct Scope {
        uint32_t serial = 0;
        bool facts = false;
        std::vector<std::pair<Symbol, std::optional<Known>>> known;
        std::vector<Expr> truths, falsehoods;
        std::vector<const ir::ExprNode *> inequality_atoms;
        uint64_t leaves_of_facts = 0;  // before
        std::vector<std::pair<Expr, std::optional<ConstantInterval>>> atoms;
    };

    // simplify.cpp
    Expr simplify_all(const Expr &root);
    Expr fold_or_undefined(const Expr &node);
    bool may_shift_out(const Expr &a, int64_t k);
    Expr visit(const Expr &e);
    Expr visit_children(const Expr &e);
    void keep_impure(const Expr &e);
    Expr visit_variable(const Expr &e);
    Expr visit_let(const Expr &e);
    Expr visit_conditional(const ir::IntrinsicCall &c);
    Expr apply_rules(const Expr &node);
    Expr build(const void *pattern, const void *bindings, Type expected);
    Expr known_condition(const Expr &e);
    bool usable(uint32_t scope) const;
    Expr raw(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr make_normal(ir::NodeKind op, const Expr &a, const Expr &b);
    // simplify_sum.cpp
    Expr make_product(const Expr &a, const Expr &b);
    bool recombine(LinearForm &f);
    bool recombine_lanes(LinearForm &f);
    bool recombine_once(LinearForm &f);
    bool recombine_division(LinearForm &f, const LinearTerm &t);
    bool recombine_lets(LinearForm &f, const LinearTerm &t);
    bool recombine_pair(LinearForm &f, const LinearTerm &s, const LinearTerm &t);
    LinearForm compute_form(const Expr &e);
    std::optional<LinearForm> substitute(const LinearForm &f, const LinearTerm &t, const Expr &u);
    // simplify_division.cpp
    Expr make_division(const Expr &a, int64_t divisor);
    Expr make_modulus(const Expr &a, int64_t divisor);
    Expr as_written(ir::NodeKind op, const Expr &a, int64_t divisor);
    // simplify_min_max.cpp
    Expr make_min_max(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr factor_min_max(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr combine_min_max(ir::NodeKind op, std::vector<Expr> operands);
    int compare_order(const Expr &a, const Expr &b);
    // simplify_compare.cpp
    Expr make_exact_comparison(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr split_comparison(const LinearForm &f, Type t);
    Expr make_at_least_zero(LinearForm f, Type t);
    Expr make_equality(LinearForm f, Type t, bool equal);
    Expr emit_comparison(ir::NodeKind op, const LinearForm &f, Type t);
    // simplify_logic.cpp
    Expr make_logic(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr compute_not(const Expr &a);
    bool is_other_where(const Expr &condition, const Expr &value, const Expr &other, bool opposite);
    Expr select_of_forms(const Expr &condition, const Expr &a, const Expr &b);
    // simplify_vector.cpp
    Expr make_vector(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr make_shuffle(const ir::Shuffle &s);
    Expr make_vector_reduce(const ir::VectorReduce &r);
    // info.cpp
    Info compute_info(const Expr &e);
    Info info(const Expr &e);
    Origin compute_origin(const Expr &e);
    ConstantInterval compute_interval(const Expr &e);
    ConstantInterval interval_of_call(const ir::IntrinsicCall &c);
    ir::Alignment compute_alignment(const Expr &e);
    void remember(Symbol s);
    void look_up(Symbol s);
    void learn_inequalities(const Expr &condition);
    void learn_comparison(const Expr &condition);
    void learn_inequality(const LinearForm &f);
    // trend.cpp
    Trend trend_of(const Expr &e);
    Trend trend_of(const LinearForm &f);
    Trend compute_trend(const Expr &e);
    Trend trend_of_leaf(const Expr &e);
    LinearForm with_values(LinearForm f);
    bool has_value(const Expr &atom) const;  // whether it is a let whose value is known
    Trend trend_between(const Interval &i, const ConstantInterval &constants, uint64_t leaf);
    // decide.cpp
    int64_t lower(const LinearForm &f, int64_t goal, int depth);
    int64_t lower_by(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth,
                     bool &exact);
    int64_t lower_by_call(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth,
                          bool &exact);
    int64_t lower_by_division(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth);
    int64_t lower_by_inequalities(const LinearForm &f, const LinearTerm &t, int64_t goal,
                                  int depth);
    int64_t lower_by_variable(const LinearForm &f, const LinearTerm &t, int64_t goal, int depth);
    int64_t lower_with(const LinearForm &f, const LinearTerm &t, const Expr &u, int64_t goal,
                       int depth);
    bool is_relational(const Expr &atom);
    bool hopeless(const LinearForm &f);
    uint64_t variables_of(const Expr &e);
    uint64_t leaf_of(Symbol s);
    uint64_t leaf_of(const Expr &e);
    uint64_t next_leaf() { return uint64_t(1) << (leaf_count++ % 61); }

    const Facts &given;
    NodeSet interned;
    // The interned form of each node whose operands were not interned yet, so that shared nodes are
    // walked once. The first of each pair keeps the node alive.
    NodeMap<std::pair<Expr, Expr>> interned_as;
    NodeMap<Memo> memo, negations;
    NodeMap<Info> infos;
    NodeMap<std::unique_ptr<LinearForm>> forms;
    NodeMap<uint64_t> variable_masks;
    NodeMap<Trend> trends;
    // A bit for each, in the order in which they are met.
    std::unordered_map<Symbol, uint64_t> symbol_leaves;
    NodeMap<uint64_t> node_leaves;
    uint32_t leaf_count = 0;
    NodeMap<bool> stable;
    std::unordered_set<const ir::ExprNode *> impure;  // empty but for a few
    std::unordered_map<Symbol, Known> known;
    std::unordered_set<Expr, ir::ExprHash, ir::ExprEqual> truths, falsehoods;
    std::unordered_map<const ir::ExprNode *, std::vector<LinearForm>> inequalities;
    std::unordered_map<const ir::ExprNode *, ConstantInterval> atom_intervals;
    std::unordered_map<uint64_t, Search> searches;  // the last one of each hash
    std::vector<Scope> scopes;
    std::unordered_set<uint32_t> active;
    uint32_t next_serial = 1, oldest_usable = 0;
    uint64_t leaves_of_facts = 0;  // that inequalities are known about
    int budget = 0, fuel = 0, merging = 0, conditionals = 0;
    int nesting = 0;    // of calls of operator()
    int allowance = 0;  // steps of decisions that are left for this expression
};

inline bool is_exact(Type t) { return t.is_int() && t.bits() >= 32; }
bool is_likely(const Expr &e);
// Returns true if the operands of such a call bound its value.
bool is_bounded_by_operands(ir::Intrinsic op);

}  // namespace tessera::algebra
