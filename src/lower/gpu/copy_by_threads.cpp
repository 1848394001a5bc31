#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/staged_copy.h"
#include <numeric>

// The part of StagedCopy by which the threads of a block copy or compute a box.
namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

Expr and_also(const Expr &a, const Expr &b) { return !a.defined() ? b : !b.defined() ? a : a && b; }

}  // namespace

// Returns true if each row of so many elements, from a multiple of that on, is of neighbours in
// what is copied, all on one condition.
bool StagedCopy::is_contiguous(int32_t elements) const {
    const Symbol row = Symbol::fresh("row"), x = Symbol::fresh("x");
    const Expr begin = int32_variable(row) * elements;
    const auto facts = algebra::Facts().between(x, 0, elements - 1);
    const auto moved = [&](const Expr &e, const Expr &by) {
        return simplify(substitute(coordinates[0], begin + by, e), facts);
    };
    const std::vector<Expr> &args = source.as<Call>()->args;
    for (size_t d = 0; d < args.size(); d++) {
        const Expr by = simplify(moved(args[d], int32_variable(x)) - moved(args[d], 0), facts);
        if (!(d == 0 ? equal(by, int32_variable(x)) : is_zero(by))) return false;
    }
    return !condition.defined() || !uses_symbol(moved(condition, int32_variable(x)), x);
}

// Returns how many elements the machine copies at a time; 0: it cannot.
int32_t StagedCopy::contiguous_elements() const {
    if (!source.defined()) return 0;
    for (const int32_t bytes : bytes_of_thread) {
        const int32_t elements = bytes / ring.types[0].bytes();
        if (elements > 0 && of_panel % elements == 0 && is_contiguous(elements)) return elements;
    }
    return 0;
}

// Returns how many elements a thread computes and stores at a time.
int32_t StagedCopy::computed_elements() const {
    return std::gcd(of_panel, std::max(1, int32_t(slot_bytes) / ring.types[0].bytes()));
}

// Returns true if some, but not all of so many elements, from a multiple of that on, may be zero.
bool StagedCopy::has_partial(int32_t elements) const {
    return limits[0].defined() && !is_zero(simplify(limits[0] % elements));
}

Expr StagedCopy::value_at(const std::vector<Expr> &at) const {
    Substitution values;
    for (size_t d = 0; d < at.size(); d++) values[coordinates[d]] = at[d];
    return substitute(values, value);
}

// Returns the condition that so many elements from this one on are not zero by being beyond the
// limits; undefined: they never are.
Expr StagedCopy::whole(const std::vector<Expr> &at, int32_t elements) const {
    Expr all;
    for (size_t d = 0; d < at.size(); d++) {
        if (!limits[d].defined()) continue;
        const Expr last = d == 0 && elements > 1 ? at[d] + (elements - 1) : at[d];
        all = and_also(all, simplify(last < limits[d]));
    }
    return all;
}

// Stores the element at these coordinates.
Stmt StagedCopy::store(const Expr &stored, std::vector<Expr> at) const {
    at.push_back(slot);
    return Provide::make(ring.func, {stored}, at);
}

// Stores so many elements, from the one at these coordinates on.
Stmt StagedCopy::chunk(const std::vector<Expr> &first, int32_t elements, bool is_copied) const {
    const Symbol x = Symbol::fresh("x");
    const auto moved = [&](const Expr &by) {
        std::vector<Expr> at = first;
        if (elements > 1) at[0] = at[0] + by;
        return at;
    };
    const auto over_all = [&](LoopKind kind, const auto &one) {
        const Stmt s = one(int32_variable(x));
        return elements == 1 ? s : For::make(x, 0, elements, kind, Partition::Never, s);
    };
    const auto zero = [&](const Expr &by) { return store(make_zero(ring.types[0]), moved(by)); };
    Substitution values;
    for (size_t d = 0; d < first.size(); d++) values[coordinates[d]] = first[d];

    const auto element = [&](const Expr &by) {
        Substitution here = values;
        here[coordinates[0]] = moved(by)[0];
        return store(substitute(here, is_copied ? source : value), moved(by));
    };
    const Stmt zeros = over_all(LoopKind::Vectorized, zero);
    const auto stored = [&](const Expr &wanted) {
        Stmt s = over_all(LoopKind::Vectorized, element);
        if (wanted.defined()) s = IfThenElse::make(wanted, s, zeros);
        return is_copied ? MachineOp::make(MachineOpKind::copy_async, {}, s) : s;
    };
    const Expr is_whole = whole(first, elements);
    const Expr copied_if =
        is_copied && condition.defined() ? simplify(substitute(values, condition)) : Expr();
    if (elements == 1 || !has_partial(elements)) return stored(and_also(is_whole, copied_if));
    const Stmt one_by_one = over_all(LoopKind::Serial, [&](const Expr &by) {
        return IfThenElse::make(whole(moved(by), 1), store(value_at(moved(by)), moved(by)),
                                zero(by));
    });
    return IfThenElse::make(is_whole, stored(copied_if), one_by_one);
}

Stmt StagedCopy::by_threads(const ThreadLoops &threads) const {
    constexpr int64_t most_unrolled = 16;
    const int32_t copied = contiguous_elements();
    const int32_t elements = copied > 0 ? copied : computed_elements();
    const int32_t of_row = of_panel / elements;
    const auto chunks = int32_t(bytes() / ring.types[0].bytes() / elements);
    std::vector<Symbol> names;
    Expr number = 0;
    int64_t count = 1;
    for (const For *loop : threads) {
        const auto extent = as_const_int(simplify(loop->extent));
        if (!extent) refuse("the number of threads is known");
        names.push_back(Symbol::fresh("copying"));
        number = number * loop->extent + int32_variable(names.back());
        count *= *extent;
    }
    const Symbol round = Symbol::fresh("round");
    const Expr which = number + int32_variable(round) * int32_t(count);
    std::vector<Expr> at = {which % of_row * elements};
    Expr rest = which / of_row;
    for (size_t d = 1; d < extents.size(); d++) {
        at.push_back(rest % extents[d]);
        rest = rest / extents[d];
    }
    if (of_panel < extents[0]) at[0] = rest * of_panel + at[0];
    Stmt s = chunk(at, elements, copied > 0);
    if (chunks % count != 0) s = IfThenElse::make(which < chunks, s);
    const int64_t rounds = (chunks + count - 1) / count;
    s = For::make(round, 0, int32_t(rounds),
                  rounds > most_unrolled ? LoopKind::Serial : LoopKind::Unrolled, Partition::Never,
                  s);
    for (size_t i = threads.size(); i-- > 0;)
        s = For::make(names[i], 0, threads[i]->extent, LoopKind::GPUThread, Partition::Never, s);
    return around(s);
}

}  // namespace tessera::lower
