#include "lower/loops/partition_loops.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_ends.h"
#include "lower/loops/steady_state.h"
#include "lower/with_lets.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

// Threads of a block that wait for one another in a loop do so in one loop: it may end at another
// iteration for each of them.
bool has_barrier(const Stmt &body) {
    bool any = false;
    for_each_node(body, [&](const IntrinsicCall &c) {
        any |= c.op == Intrinsic::gpu_barrier || c.op == Intrinsic::gpu_warp_barrier ||
               c.op == Intrinsic::gpu_cluster_barrier || c.op == Intrinsic::gpu_role_barrier ||
               c.op == Intrinsic::shuffle_lanes || c.op == Intrinsic::barrier_arrive;
    });
    return any;
}

// In a loop of few iterations, leaves the tests that depend on loops within it to those whose
// number of iterations is not known: they have more of a steady state. For x + dx within an image,
// no single dx may hold for all x, while each dx holds for most. Returns true if there are any.
bool leave_to_loops_within(const For &loop, LikelyTests &tests) {
    constexpr int64_t few = 8;
    const auto extent = as_const_int(loop.extent);
    if (loop.partition == Partition::Always || !extent || *extent > few) return false;
    class Find final : public Visitor {
    public:
        std::unordered_set<Symbol> within;  // such loops, and what is made of their variables

    private:
        void visit(const For &l) override {
            if (!as_const_int(l.extent)) within.insert(l.name);
            Visitor::visit(l);
        }
        void visit(const LetStmt &let) override {
            if (uses_any(let.value, within)) within.insert(let.name);
            Visitor::visit(let);
        }
    } find;
    find(loop.body);
    bool any = false;
    for (auto &[test, occurrences] : tests.occurrences) {
        if (find.within.empty() || !uses_any(test, find.within)) continue;
        any = true;
        for (LikelyTest &t : occurrences) t.condition = {};  // it holds nobody knows where
    }
    return any;
}

// Leaves nothing but tests of lanes, as vectors at the end of a row have them.
void leave_all_but_lanes(LikelyTests &tests) {
    for (auto &[test, occurrences] : tests.occurrences) {
        const bool is_of_lanes = likely_marker(test, true) && !test.type().is_scalar();
        if (is_of_lanes) continue;
        for (LikelyTest &t : occurrences) t.condition = {};
    }
}

class PartitionLoops final : public Mutator {
public:
    explicit PartitionLoops(bool only_lanes = false) : only_lanes(only_lanes) {}
    // A loop that was to be partitioned in any case, and is so nowhere.
    Symbol left_whole() const {
        for (Symbol loop : demanded) {
            if (!done.contains(loop)) return loop;
        }
        return {};
    }

private:
    const bool only_lanes;  // for tests of lanes alone
    std::vector<Symbol> demanded;
    std::unordered_set<Symbol> done;

    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const For &loop) override {
        // Blocks outside of the steady state of a kernel do with their tests, and so do kernels
        // outside of that of a loop around.
        if (is_over_blocks(loop)) return only_lanes ? Stmt(&loop) : split_kernel(loop);
        bool splittable = loop.partition != Partition::Never && loop.min.type().is_int() &&
                          traits_of(loop.loop_kind).has_code;
        auto extent = as_const_int(loop.extent);
        if (!splittable || (extent && *extent < 2)) return Mutator::visit(loop);
        if (loop.partition == Partition::Always) demanded.push_back(loop.name);
        LikelyTests tests = find_likely_tests(loop, loop.partition == Partition::Always);
        if (tests.order.empty()) return Mutator::visit(loop);
        if (only_lanes) leave_all_but_lanes(tests);
        const bool leaves_some = !only_lanes && leave_to_loops_within(loop, tests);
        SteadyState steady = solve_for_steady_state(loop, tests);
        const bool is_in_order = traits_of(loop.loop_kind).is_in_order;
        if (steady.empty() || (is_in_order && has_barrier(loop.body))) return Mutator::visit(loop);
        add_decided_ends(steady, loop);
        done.insert(loop.name);
        return split(loop, steady, leaves_some);
    }
    // `leaves_some`: tests to the loops within, which have a steady state in all parts.
    Stmt split(const For &loop, const SteadyState &steady, bool leaves_some);
    Stmt without_steady_state(const Stmt &body) const;
    Stmt split_kernel(const For &outermost);
};

// The loop's iterations [first, end).
Stmt part(const For &loop, const Expr &first, const Expr &end, const Stmt &body) {
    return loop.with<&For::min, &For::extent, &For::body>(first, end - first, body);
}

struct Ends {
    Expr first, last;  // of the steady state; `last` is one past it. Undefined: the loop's own
};

Ends ends_of(const For &loop, const SteadyState &steady, const Expr &end) {
    Ends ends;
    for (const Expr &e : steady.mins) {
        Expr first = place_in_loop(e, 0, loop.min, end);
        ends.first = ends.first.defined() ? max(ends.first, first) : first;
    }
    for (const Expr &e : steady.maxes) {
        Expr last = place_in_loop(e, 1, loop.min, end);
        ends.last = ends.last.defined() ? min(ends.last, last) : last;
    }
    if (ends.first.defined()) ends.first = min(max(ends.first, loop.min), end);
    return ends;
}

Stmt in_order(const For &loop, const Ends &ends, const Expr &end, const Stmt &steady,
              const Stmt &rest) {
    Expr first = ends.first.defined() ? ends.first : loop.min;
    Expr last = ends.last.defined() ? ends.last : end;
    std::vector<Stmt> parts;
    if (ends.first.defined()) parts.push_back(part(loop, loop.min, first, rest));
    parts.push_back(part(loop, first, last, steady));
    if (ends.last.defined()) parts.push_back(part(loop, last, end, rest));
    return Block::make(std::move(parts));
}

// Returns a test of whether an iteration is one of the steady state.
Expr is_within(const For &loop, const Ends &ends) {
    Expr i = Variable::make(loop.min.type(), loop.name);
    Expr test = const_true();
    if (ends.first.defined()) test = ends.first <= i;
    if (ends.last.defined()) test = is_true(test) ? i < ends.last : test && i < ends.last;
    return test;
}

Stmt in_parallel(const For &loop, const Ends &ends, const Stmt &steady, const Stmt &rest) {
    return loop.with<&For::body>(IfThenElse::make(is_within(loop, ends), steady, rest));
}

Stmt PartitionLoops::split(const For &loop, const SteadyState &steady, bool leaves_some) {
    Stmt body = (*this)(assume_outcomes(loop.body, steady));
    if (steady.mins.empty() && steady.maxes.empty()) {
        return loop.with<&For::body>(body);
    }
    Stmt rest = leaves_some ? (*this)(loop.body) : without_steady_state(loop.body);
    Expr end = algebra::simplify(loop.min + loop.extent);
    Ends ends = ends_of(loop, steady, end);
    Lets lets;
    auto name = [&](Expr &e, const char *what) {
        e = algebra::simplify(e);
        if (is_const(e) || e.as<Variable>()) return;
        Symbol s = Symbol::fresh(str(loop.name, what));
        lets.emplace_back(s, e);
        e = Variable::make(e.type(), s);
    };
    if (ends.first.defined()) name(ends.first, "_steady");
    if (ends.last.defined()) {
        Expr first = ends.first.defined() ? ends.first : loop.min;
        ends.last = max(min(ends.last, end), first);
        name(ends.last, "_epilogue");
    }
    Stmt s = traits_of(loop.loop_kind).is_in_order ? in_order(loop, ends, end, body, rest)
                                                   : in_parallel(loop, ends, body, rest);
    return with_lets(lets, s);
}

// Vectors under a mask may take many times as long as whole ones, so that loops over vectors are
// split there, too.
Stmt PartitionLoops::without_steady_state(const Stmt &body) const {
    return remove_likely(only_lanes ? body : PartitionLoops(true)(body));
}

bool is_loop_of_kernel(const For &loop) {
    return is_over_blocks(loop) || loop.loop_kind == LoopKind::GPUThread;
}

// The loops over blocks and threads, and what is around and between them.
struct Kernel {
    explicit Kernel(const For &outermost) {
        const Stmt *s = &path.emplace_back(&outermost);
        while (const Stmt *body = body_on_path(*s)) s = &path.emplace_back(*body);
        do {  // lets and storage of a thread belong to what it does
            leaf = path.back();
            path.pop_back();
        } while (!path.back().as<For>());
    }
    // The part of the path from `first` on, with another leaf.
    Stmt with_leaf(const Stmt &new_leaf, size_t first = 0) const {
        Stmt s = new_leaf;
        for (size_t i = path.size(); i-- > first;) s = with_body(path[i], s);
        return s;
    }

    std::vector<Stmt> path;  // without the leaf
    Stmt leaf;               // what a thread does

private:
    static const Stmt *body_on_path(const Stmt &s) {
        if (const auto *loop = s.as<For>()) return is_loop_of_kernel(*loop) ? &loop->body : nullptr;
        if (const auto *let = s.as<LetStmt>()) return &let->body;
        if (const auto *a = s.as<Allocate>()) return &a->body;
        const auto *branch = s.as<IfThenElse>();
        return branch && !branch->else_case.defined() ? &branch->then_case : nullptr;
    }
    static Stmt with_body(const Stmt &s, const Stmt &body) {
        if (const auto *loop = s.as<For>()) return loop->with<&For::body>(body);
        if (const auto *let = s.as<LetStmt>()) return let->with<&LetStmt::body>(body);
        if (const auto *a = s.as<Allocate>()) return a->with<&Allocate::body>(body);
        return s.as<IfThenElse>()->with<&IfThenElse::then_case>(body);
    }
};

// Two copies of instructions that threads run together are not made; nor of loops of the kernel.
bool is_to_be_whole(const Stmt &leaf) {
    bool any = false;
    for_each_node(leaf, [&](const MachineOp &) { any = true; });
    for_each_node(leaf, [&](const For &loop) { any |= is_loop_of_kernel(loop); });
    return any;
}

// Blocks of the steady state of all loops over blocks do without the tests. All threads of a block
// go the same way, so they meet at barriers as before.
Stmt PartitionLoops::split_kernel(const For &outermost) {
    const Kernel kernel(outermost);
    Stmt steady_leaf = kernel.leaf;
    Expr is_steady = const_true();
    for (size_t i = 0; i < kernel.path.size() && !is_to_be_whole(kernel.leaf); i++) {
        const auto *blocks = kernel.path[i].as<For>();
        if (!blocks || !is_over_blocks(*blocks)) continue;
        if (blocks->partition == Partition::Never) continue;
        if (blocks->partition == Partition::Always) demanded.push_back(blocks->name);
        const Stmt changed = kernel.with_leaf(steady_leaf, i);
        const For &loop = *changed.as<For>();
        const LikelyTests tests = find_likely_tests(loop, loop.partition == Partition::Always);
        if (tests.order.empty()) continue;
        SteadyState steady = solve_for_steady_state(loop, tests);
        if (steady.empty()) continue;
        add_decided_ends(steady, loop);
        done.insert(loop.name);
        steady_leaf = assume_outcomes(steady_leaf, steady);
        is_steady = is_steady && is_within(loop, ends_of(loop, steady, loop.min + loop.extent));
    }
    is_steady = algebra::simplify(is_steady);
    if (is_true(is_steady)) return kernel.with_leaf((*this)(steady_leaf));
    return kernel.with_leaf(
        IfThenElse::make(is_steady, (*this)(steady_leaf), remove_likely(kernel.leaf)));
}

}  // namespace

Stmt partition_loops(const Stmt &s, const Context &context) {
    const algebra::SimplifierScope remembers;  // what is in the loops around is simplified for each
    PartitionLoops partition;
    Stmt result = partition(s);
    const Symbol whole = partition.left_whole();
    if (whole.defined() && context.dialect == Dialect::Halide) {
        throw CompileError(str("Partition::Always: nothing in the loop ", whole,
                               " is decided by where in it one is, so that it cannot be split"));
    }
    return result;
}

}  // namespace tessera::lower
