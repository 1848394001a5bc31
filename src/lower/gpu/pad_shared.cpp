#include "lower/gpu/pad_shared.h"
#include "algebra/simplify.h"
#include "base/warning.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/bank_conflicts.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/kernel_shape.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <array>
#include <numeric>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// Storage of a block that may get longer rows.
struct Storage {
    const Realize *node;
    std::vector<int> order;            // of the dimensions, innermost first
    std::vector<int64_t> extents;      // in this order
    std::vector<WarpAccess> accesses;  // that differ
    int vector = 1;                    // elements of the longest vector

    int element_bytes() const {
        int most = 1;
        for (Type t : node->types) most = std::max(most, t.bytes());
        return most;
    }
    // Returns the bytes of all its values.
    int64_t bytes(const std::vector<int64_t> &of_extents) const {
        int64_t sum = 0, elements = 1;
        for (int64_t e : of_extents) elements *= e;
        for (Type t : node->types) sum += elements * t.bytes();
        return sum;
    }
    BankConflicts conflicts(const std::vector<int64_t> &of_extents) const {
        std::vector<int64_t> strides(order.size());
        int64_t stride = 1;
        for (size_t i = 0; i < order.size(); i++) {
            strides[size_t(order[i])] = stride;
            stride *= of_extents[i];
        }
        BankConflicts all;
        for (const WarpAccess &access : accesses) {
            const BankConflicts one = bank_conflicts(access, strides, element_bytes());
            all.requests += one.requests;
            all.degree = std::max(all.degree, one.degree);
        }
        return all;
    }
};

// Returns the number of threads of a block in each dimension; none if the compiler does not know
// it.
using Shape = std::array<int64_t, thread_dimensions>;
std::optional<Shape> shape_of(const Stmt &kernel) {
    Shape shape = {1, 1, 1};
    bool is_known = true;
    for_each_node(kernel, [&](const For &loop) {
        if (!is_over_threads(loop)) return;
        const auto extent = as_const_int(simplify(loop.extent));
        const size_t d = dimension_of(loop);
        is_known &= extent && *extent > 0 && d < thread_dimensions;
        if (is_known) shape.at(d) = std::max(shape.at(d), *extent);
    });
    return is_known ? std::optional(shape) : std::nullopt;
}

// Returns true if the layout of the kernel's storage is decided elsewhere.
bool has_layouts_of_its_own(const Stmt &kernel) {
    bool any = false;
    for_each_node(kernel, [&](const MachineOp &) { any = true; });
    for_each_node(kernel,
                  [&](const For &loop) { any |= traits_of(loop.loop_kind).gpu == GPULevel::Lane; });
    return any;
}

// Finds the storage of a kernel's blocks, and what its warps access in it.
class FindStorage final : public Visitor {
public:
    FindStorage(const Stmt &kernel, const Shape &shape) : Visitor(Visits::PerUse), shape(shape) {
        (*this)(kernel);
    }
    std::vector<Storage> all;

private:
    void visit(const For &loop) override {
        std::vector<const For *> others;
        auto &around = is_over_threads(loop)                    ? threads
                       : loop.loop_kind == LoopKind::Vectorized ? vectors
                                                                : others;
        around.push_back(&loop);
        lets.within(loop, [&] { Visitor::visit(loop); });
        around.pop_back();
    }
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const Realize &realize) override {
        if (threads.empty()) add(realize);
        Visitor::visit(realize);
    }
    void visit(const Provide &provide) override {
        note(provide.func, provide.args);
        Visitor::visit(provide);
    }
    void visit(const Call &call) override {
        note(call.callee, call.args);
        Visitor::visit(call);
    }

    void add(const Realize &realize) {
        const bool may_be_shared =
            realize.memory == MemoryType::Auto || realize.memory == MemoryType::GPUShared;
        const size_t dimensions = realize.bounds.size();
        const StorageFacts &facts = realize.storage;
        const bool is_laid_out = facts.layout.defined() || facts.is_pipelined || facts.is_async;
        if (!may_be_shared || dimensions < 2 || is_laid_out) return;
        Storage storage{&realize, {}, {}, {}};
        for (const StoredDimension &s : realize.storage.order) {
            if (s.alignment.defined() || s.bound.defined()) return;
            storage.order.push_back(s.dim);
        }
        for (size_t d = storage.order.size(); d < dimensions; d++) storage.order.push_back(int(d));
        for (int d : storage.order) {
            const auto extent = as_const_int(simplify(realize.bounds[size_t(d)].extent));
            if (!extent || *extent <= 0) return;
            storage.extents.push_back(*extent);
        }
        all.push_back(std::move(storage));
    }

    // The innermost storage of that name.
    void note(Symbol func, const std::vector<Expr> &args) {
        const auto found = std::find_if(all.rbegin(), all.rend(),
                                        [&](const Storage &s) { return s.node->func == func; });
        if (found == all.rend() || threads.empty()) return;
        std::vector<Expr> coordinates;
        for (size_t d = 0; d < args.size(); d++) {
            const Expr from_first = args[d] - found->node->bounds[d].min;
            coordinates.push_back(simplify(lets.expand(from_first)));
        }
        const int vector = elements_at_once(*found, coordinates);
        for (const For *loop : vectors) {
            for (Expr &e : coordinates) e = substitute(loop->name, lets.expand(loop->min), e);
        }
        for (int64_t warp = 0; warp * warp_threads < block_threads() && warp < most_warps; warp++)
            add_access(*found, coordinates, warp, vector);
    }

    // Returns the number of neighbours that a thread accesses by one instruction. Rows stay at
    // multiples of elements that may turn out to be a vector.
    int elements_at_once(Storage &storage, const std::vector<Expr> &coordinates) const {
        if (vectors.empty()) return 1;
        const For &loop = *vectors.back();
        const int most = std::max(1, widest_access / storage.element_bytes());
        const int length = std::gcd(int(as_const_int(simplify(loop.extent)).value_or(1)), most);
        bool is_row = true, is_known = true;
        for (size_t d = 0; d < coordinates.size(); d++) {
            const auto step = step_of(coordinates[d], loop);
            is_known &= step.has_value();
            is_row &= step == (int(d) == storage.order[0] ? 1 : 0);
        }
        if (is_row || !is_known) storage.vector = std::max(storage.vector, length);
        return is_row ? length : 1;
    }

    static constexpr int64_t most_warps = 4;  // that are looked at
    int64_t block_threads() const { return shape[0] * shape[1] * shape[2]; }

    std::array<int64_t, thread_dimensions> indices(int64_t thread) const {
        return {thread % shape[0], thread / shape[0] % shape[1], thread / (shape[0] * shape[1])};
    }
    // Returns true if the loops around have an iteration for it.
    bool takes_part(int64_t thread) const {
        std::array<int64_t, thread_dimensions> extents = {1, 1, 1};
        for (const For *loop : threads)
            extents.at(dimension_of(*loop)) = as_const_int(simplify(loop->extent)).value_or(1);
        const auto at = indices(thread);
        for (size_t d = 0; d < thread_dimensions; d++) {
            if (at[d] >= extents[d]) return false;
        }
        return thread < block_threads();
    }
    // By how much a coordinate grows along each thread loop around; none if that varies.
    using Steps = std::vector<int64_t>;
    std::optional<Steps> steps_of(const Expr &coordinate) const {
        Steps steps;
        for (const For *loop : threads) {
            for (const For *outer : threads) {
                if (uses_symbol(lets.expand(loop->min), outer->name)) return {};
            }
            const auto step = step_of(coordinate, *loop);
            if (!step) return {};
            steps.push_back(*step);
        }
        return steps;
    }
    // The coordinate of one thread less that of another.
    std::optional<int64_t> distance(const Expr &coordinate, const std::optional<Steps> &steps,
                                    int64_t thread, int64_t other) const {
        if (!steps)
            return as_const_int(
                simplify(of_thread(coordinate, thread) - of_thread(coordinate, other)));
        const auto a = indices(thread), b = indices(other);
        int64_t sum = 0;
        for (size_t i = 0; i < threads.size(); i++) {
            const size_t d = dimension_of(*threads[i]);
            sum += (*steps)[i] * (a[d] - b[d]);
        }
        return sum;
    }
    Expr of_thread(Expr e, int64_t thread) const {
        const auto at = indices(thread);
        for (auto loop = threads.rbegin(); loop != threads.rend(); ++loop) {
            const Expr index = lets.expand((*loop)->min) + int32_t(at[dimension_of(**loop)]);
            e = substitute((*loop)->name, index, e);
        }
        return e;
    }

    // Adds what one warp accesses, if it is known.
    void add_access(Storage &storage, const std::vector<Expr> &coordinates, int64_t warp,
                    int vector) const {
        WarpAccess access{{}, vector * storage.element_bytes()};
        std::vector<std::optional<Steps>> steps;
        for (const Expr &e : coordinates) steps.push_back(steps_of(e));
        int64_t first = -1;
        for (int lane = 0; lane < warp_threads; lane++) {
            const int64_t thread = warp * warp_threads + lane;
            if (!takes_part(thread)) continue;
            if (first < 0) first = thread;
            WarpAccess::Thread one{lane, {}};
            for (size_t d = 0; d < coordinates.size(); d++) {
                const auto from_first = distance(coordinates[d], steps[d], thread, first);
                if (!from_first) return;
                one.coordinates.push_back(*from_first);
            }
            access.threads.push_back(std::move(one));
        }
        const bool is_known = std::ranges::find(storage.accesses, access) != storage.accesses.end();
        if (!is_known && !access.threads.empty()) storage.accesses.push_back(std::move(access));
    }

    const Shape shape;
    std::vector<const For *> threads, vectors;  // the loops around
    LetScope lets;
};

using Extents = std::unordered_map<const Realize *, std::vector<int64_t>>;

// The extents by which a kernel's storage gets better.
class ChoosePadding {
public:
    ChoosePadding(const std::vector<Storage> &all, int64_t most_bytes) : room(most_bytes) {
        for (const Storage &each : all) room -= each.bytes(each.extents);
        for (const Storage &each : all) choose(each);
    }
    Extents chosen;

private:
    void choose(const Storage &storage) {
        const int64_t bytes = storage.bytes(storage.extents);
        std::vector<int64_t> best = storage.extents;
        BankConflicts least = storage.conflicts(best);
        if (least.degree == 1) return;
        for (size_t i = 0; i + 1 < storage.extents.size(); i++) {
            const int step = std::max(storage.vector, word_bytes / storage.element_bytes());
            for (int added = step; added * storage.element_bytes() <= warp_threads * word_bytes;
                 added += step) {
                std::vector<int64_t> longer = storage.extents;
                longer[i] += added;
                const int64_t more = storage.bytes(longer) - bytes;
                if (more > room || (more > bytes / 4 && bytes + more > small_bytes)) break;
                const BankConflicts found = storage.conflicts(longer);
                if (found.requests >= least.requests) continue;
                least = found;
                best = longer;
            }
        }
        room -= storage.bytes(best) - bytes;
        if (best != storage.extents) chosen[storage.node] = best;
        if (least.degree >= worth_a_warning) warn_of(storage, least.degree);
    }

    static constexpr int worth_a_warning = 4;
    static constexpr int64_t small_bytes = 4 << 10;  // fewer blocks run at once if they need more
    static void warn_of(const Storage &storage, int degree) {
        const Realize &realize = *storage.node;
        warn(realize.storage.compute_written,
             str("threads of a warp access ", degree,
                 " words in one bank of the memory of their "
                 "block at once where they use ",
                 realize.func,
                 ", one after the other, and longer "
                 "rows do not mend that; let neighbouring threads use neighbouring elements, or "
                 "change the order by reorder_storage or the extents"));
    }

    int64_t room;  // in bytes
};

class PadShared final : public Mutator {
public:
    explicit PadShared(int64_t most_bytes)
        : Mutator(Mutator::Visits::PerUse), most_bytes(most_bytes) {}

private:
    Stmt visit(const For &loop) override {
        if (loop.loop_kind != LoopKind::GPUBlock || in_kernel) return Mutator::visit(loop);
        const auto shape = shape_of(Stmt(&loop));
        if (!shape || has_layouts_of_its_own(Stmt(&loop))) return Stmt(&loop);
        extents = ChoosePadding(FindStorage(Stmt(&loop), *shape).all, most_bytes).chosen;
        if (extents.empty()) return Stmt(&loop);
        in_kernel = true;
        const Stmt s = Mutator::visit(loop);
        in_kernel = false;
        return s;
    }
    Stmt visit(const Realize &realize) override {
        const auto found = extents.find(&realize);
        if (found == extents.end()) return Mutator::visit(realize);
        StorageFacts facts = realize.storage;
        for (size_t d = facts.order.size(); d < realize.bounds.size(); d++)
            facts.order.push_back({int(d), {}, {}, {}, {}});
        for (size_t i = 0; i < facts.order.size(); i++) {
            const Expr before = realize.bounds[size_t(facts.order[i].dim)].extent;
            const auto wanted = int32_t(found->second[i]);
            if (!is_const(simplify(before), wanted)) facts.order[i].alignment = wanted;
        }
        return realize.with<&Realize::body, &Realize::storage>((*this)(realize.body), facts);
    }

    const int64_t most_bytes;
    bool in_kernel = false;
    Extents extents;
};

// Returns the bytes that a block can have on every device of that capability or a later one.
int64_t most_shared_bytes(const Target &target) {
    constexpr int64_t usual = 48 << 10, since_80 = 99 << 10;
    return target.get_cuda_capability_lower_bound() >= 80 ? since_80 : usual;
}

}  // namespace

Stmt pad_shared(const Stmt &s, const Context &context) {
    if (!context.target.has_gpu_feature()) return s;
    return PadShared(most_shared_bytes(context.target))(s);
}

}  // namespace tessera::lower
