#include "lower/storage/ring_buffer.h"
#include "algebra/bounds.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/storage/hoist_storage.h"
#include "lower/traced_access.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::simplify;

namespace {

// Indices relative to the region's min, and one more: which copy.
class IndexCopies final : public Mutator {
public:
    IndexCopies(Symbol func, const ir::Region &bounds, Expr copy, bool traced)
        : func(func), bounds(bounds), copy(std::move(copy)), traced(traced) {}

private:
    std::vector<Expr> relative(std::vector<Expr> args) const {
        for (size_t d = 0; d < args.size(); d++) {
            Expr index = simplify(index_of(args[d]) - bounds[d].min);
            args[d] = traced ? stored_at(args[d], index) : index;
        }
        args.push_back(copy);
        return args;
    }
    Expr visit(const Call &call) override {
        Expr mutated = Mutator::visit(call);
        const Call &c = *mutated.as<Call>();
        if (c.callee != func) return mutated;
        return c.with<&Call::args>(relative(c.args));
    }
    Stmt visit(const Provide &provide) override {
        Stmt mutated = Mutator::visit(provide);
        const Provide &p = *mutated.as<Provide>();
        if (p.func != func) return mutated;
        return p.with<&Provide::args>(relative(p.args));
    }
    Stmt visit(const Prefetch &prefetch) override {
        Stmt mutated = Mutator::visit(prefetch);
        const Prefetch &p = *mutated.as<Prefetch>();
        if (p.name != func) return mutated;
        ir::Region region = p.bounds;
        for (size_t d = 0; d < region.size(); d++) {
            region[d].min = simplify(region[d].min - bounds[d].min);
        }
        region.push_back({copy, 1});
        return p.with<&Prefetch::bounds>(region);
    }
    Symbol func;
    const ir::Region &bounds;
    Expr copy;
    bool traced;
};

// Finds out whether a loop runs several productions in the storage.
class IsProducedInLoop final : public Visitor {
public:
    explicit IsProducedInLoop(Symbol func) : func(func) {}
    bool found = false;

private:
    void visit(const For &loop) override {
        loops++;
        (*this)(loop.body);
        loops--;
    }
    void visit(const ProducerConsumer &p) override {
        found |= loops > 0 && p.is_producer && p.func == func;
        (*this)(p.body);
    }
    void visit(const Provide &) override {}
    void visit(const Evaluate &) override {}

    Symbol func;
    int loops = 0;
};

// Takes the Realize of a function (one in each specialization) out of its loops, and learns what it
// has to hold.
class TakeOut final : public Mutator {
public:
    explicit TakeOut(const HoistedStorage &hoisted)
        : hoisted(hoisted), func(hoisted.func), copies(hoisted.facts.copies) {}

    // Returns what is taken out, around the statement; the statement itself if nothing is.
    Stmt around_all(const Stmt &s) const {
        if (types.empty()) return s;
        return Realize::make(func, types, memory, bounds, {}, s, storage);
    }

private:
    Stmt visit(const For &loop) override {
        around.push_back(&loop);
        auto inside = [&](const Expr &e) { return simplify(substitute(lets, e)); };
        Interval first = bounds_of_expr(inside(loop.min), scope);
        Interval last = bounds_of_expr(inside(loop.min + loop.extent - 1), scope);
        scope.bind(loop.name, {first.min, last.max});
        Expr index = Variable::make(Int(32), loop.name) - loop.min;
        Expr before = iteration;
        iteration = before.defined() ? before * loop.extent + index : index;
        Stmt body = Mutator::visit(loop);
        iteration = before;
        scope.unbind(loop.name);
        around.pop_back();
        return body;
    }
    // The answers of a bounds query in the loops are known only there.
    bool asks_inside(const Expr &e) const {
        std::unordered_set<Symbol> used = symbols_in(e);
        return std::any_of(used.begin(), used.end(), [&](Symbol s) { return lets.count(s) > 0; });
    }
    Stmt visit(const LetStmt &let) override {
        lets[let.name] = simplify(substitute(lets, let.value));
        return Mutator::visit(let);
    }
    // Around the loops that store it there is nothing to fetch yet.
    Stmt visit(const Prefetch &prefetch) override {
        return prefetch.name == func ? (*this)(prefetch.body) : Mutator::visit(prefetch);
    }
    Stmt visit(const Realize &r) override {
        if (r.func != func) return Mutator::visit(r);
        for (const For *loop : around) refuse_shared_storage(hoisted, *loop);
        note(r);
        ir::Region here;
        for (size_t d = 0; d < r.bounds.size(); d++) {
            Interval extent = bounds_of_expr(simplify(substitute(lets, r.bounds[d].extent)), scope);
            if (!extent.has_upper_bound() || asks_inside(extent.max)) {
                throw CompileError(hoisted.facts.copies_written,
                                   str("ring_buffer of ", func, ": the extent of dimension ", d,
                                       " has no bound outside of the loops; bound it with "
                                       "bound_extent()"));
            }
            here.push_back({0, extent.max});
        }
        here.push_back({0, copies});
        for (size_t d = 0; d < bounds.size(); d++) {
            here[d].extent = simplify(max(here[d].extent, bounds[d].extent));
        }
        bounds = here;
        Expr copy = iteration.defined() ? simplify(iteration % copies) : Expr(0);
        return IndexCopies(func, r.bounds, copy, r.storage.traced.accesses())(r.body);
    }
    void note(const Realize &r) {
        types = r.types;
        memory = r.memory;
        IsProducedInLoop several(func);
        several(r.body);
        const bool is_shared = storage.is_copy_shared || several.found;
        storage = r.storage;
        storage.copies = copies;
        storage.is_copy_shared = is_shared;
    }

    const HoistedStorage &hoisted;
    const Symbol func;
    const Expr copies;
    Expr iteration;
    ir::Region bounds;  // of the storage outside of the loops
    std::vector<Type> types;
    MemoryType memory = MemoryType::Auto;
    StorageFacts storage;
    std::vector<const For *> around;
    algebra::IntervalScope scope;
    Substitution lets;
};

class AddRingBuffers final : public Mutator {
    Stmt visit(const HoistedStorage &hoisted) override {
        if (!hoisted.facts.copies.defined()) return Mutator::visit(hoisted);
        TakeOut take_out(hoisted);
        const Stmt body = take_out((*this)(hoisted.body));
        return take_out.around_all(body);
    }
};

}  // namespace

Stmt add_ring_buffers(const Stmt &s, const lower::Context &) { return AddRingBuffers()(s); }

}  // namespace tessera::lower
