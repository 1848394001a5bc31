#include "lower/gpu/memory_plan.h"
#include "algebra/bounds.h"
#include "algebra/simplify.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

// A device has the thread's own memory for all threads that it can run, used or
// not.
bool is_small(const Allocate &a) {
    constexpr int64_t most = int64_t(16) << 10;
    const std::optional<int64_t> bytes = constant_bytes(a);
    return bytes && *bytes <= most;
}

void check_private_size(const Allocate &a) {
    constexpr int64_t most = int64_t(512) << 10;
    const std::optional<int64_t> bytes = constant_bytes(a);
    if (!bytes || *bytes <= most) return;
    throw CompileError(a.facts.compute_written,
                       str("store_in of ", a.buffer, ": a thread has at most ", most,
                           " bytes of its own in a kernel, and ", a.buffer, " has ", *bytes,
                           "; store it in Heap"));
}

[[noreturn]] void refuse_size(const Allocate &a) {
    throw CompileError(a.facts.compute_written,
                       str("the size of ", a.buffer,
                           ", which is allocated within a kernel, has no bound that is known "
                           "before the kernel runs; give it one with bound_extent or "
                           "bound_storage"));
}

Expr upper_bound(const Allocate &a, const Expr &e, const algebra::IntervalScope &variables) {
    const algebra::Interval range = algebra::bounds_of_expr(algebra::simplify(e), variables);
    if (!range.has_upper_bound()) refuse_size(a);
    return range.max;
}

// The number of a thread, or of a row, among those of its block, and how many
// there are: by the dimensions from one on.
struct Numbered {
    Expr number = 0, count = 1;
};
Numbered numbered(const KernelDescription &kernel, size_t from) {
    Numbered all;
    for (size_t d = thread_dimensions; d-- > from;) {
        if (!kernel.threads.names[d].defined()) continue;
        all.number = all.number * kernel.extent(d) + kernel.thread(d);
        all.count = all.count * kernel.extent(d);
    }
    return all;
}

}  // namespace

Stmt allocated_around(const StorageOutside &a, const Stmt &s) {
    const Expr size = int32_variable(a.size);
    // The host checks products of extents in 64 bits.
    std::vector<Expr> extents = {size, a.slices};
    if (a.memory != MemoryType::Heap || is_const(a.slices, 1))
        extents = {algebra::simplify(size * a.slices)};
    AllocationFacts facts = a.node->facts;
    facts.within = a.within;
    return LetStmt::make(a.size, a.most,
                         a.node->with<&Allocate::memory, &Allocate::extents, &Allocate::padding,
                                      &Allocate::condition, &Allocate::body, &Allocate::facts>(
                             a.memory, std::move(extents), 0, Expr(), s, facts));
}

bool is_much_smaller(const Allocate &part, const Allocate &all) {
    const auto of_part = constant_bytes(part), of_all = constant_bytes(all);
    return of_part && of_all && *of_part <= *of_all / 4;
}

// Returns the size of a slice. Copies of a loop's body that unrolling has made
// take turns: it is that of the largest.
Expr MemoryPlan::add(std::vector<StorageOutside> &all, const Allocate &a, MemoryType memory,
                     const Expr &most, const Expr &slices) {
    auto same = std::ranges::find_if(
        all, [&](const StorageOutside &o) { return o.node->buffer == a.buffer; });
    if (same == all.end()) {
        all.push_back(
            {Ref<const Allocate>(&a), memory, Symbol::fresh(str(a.buffer, "_size")), most, slices});
        same = all.end() - 1;
    } else {
        same->most = algebra::simplify(max(same->most, most));
    }
    return int32_variable(same->size);
}

void MemoryPlan::put_in_block(const Allocate &a) {
    add(shared, a, MemoryType::GPUShared, most_elements(a, ranges, true), 1);
}

Symbol MemoryPlan::share_memory(const Allocate &a) {
    const bool has_own_memory = a.facts.is_pipelined || a.facts.swizzle != 0;
    if (has_own_memory || !kernel.is_allocated_once(a.buffer)) return {};
    const auto unused = std::ranges::find(slots, true, &Slot::is_free);
    if (unused == slots.end()) {
        slots.push_back({a.buffer});
        return a.buffer;
    }
    unused->is_free = false;
    StorageOutside &taker = shared.back();
    taker.within = unused->buffer;
    auto first = std::ranges::find_if(
        shared, [&](const StorageOutside &o) { return o.node->buffer == unused->buffer; });
    const int64_t bytes = a.type.bytes(), of_first = first->node->type.bytes();
    const Expr wanted = (taker.most * int32_t(bytes) + int32_t(of_first - 1)) / int32_t(of_first);
    first->most = algebra::simplify(max(first->most, wanted));
    return unused->buffer;
}

void MemoryPlan::give_back(Symbol owner) {
    const auto slot = std::ranges::find(slots, owner, &Slot::buffer);
    if (slot != slots.end()) slot->is_free = true;
}

Slice MemoryPlan::put_in_device(const Allocate &a) {
    const Expr size =
        add(global, a, MemoryType::Heap, most_elements(a, ranges, false), blocks.count());
    return {1, blocks.number() * size};
}

Slice MemoryPlan::put_in_row(const Allocate &a) {
    const bool is_global = a.memory == MemoryType::Heap;
    Numbered rows = numbered(kernel, 1);
    const Expr most = most_elements(a, ranges, !is_global);
    const Expr size = is_global
                          ? add(global, a, MemoryType::Heap, most, rows.count * blocks.count())
                          : add(shared, a, MemoryType::GPUShared, most, rows.count);
    if (is_global) rows.number = rows.number + blocks.number() * rows.count;
    return {1, algebra::simplify(rows.number * size)};
}

// Elements that do not fit into registers and the thread's own memory are in
// memory of the device, or of the block, in which neighbouring threads have
// neighbouring elements.
std::optional<Slice> MemoryPlan::put_in_thread(const Allocate &a, size_t from) {
    const bool is_shared = traits_of(a.memory).space == AddressSpace::Shared;
    const bool is_dynamic = a.memory == MemoryType::Auto && !is_small(a);
    if (traits_of(a.memory).space == AddressSpace::Private) check_private_size(a);
    if (!is_shared && !is_dynamic && a.memory != MemoryType::Heap) return {};
    Numbered threads = numbered(kernel, from);
    const Expr most = most_elements(a, ranges, is_shared);
    if (is_shared) {
        add(shared, a, MemoryType::GPUShared, most, threads.count);
    } else {
        const Expr size = add(global, a, MemoryType::Heap, most, threads.count * blocks.count());
        threads.number = threads.number + blocks.number() * (size * threads.count);
    }
    return Slice{threads.count, algebra::simplify(threads.number)};
}

Stmt MemoryPlan::with_memory_of_block(Stmt s) const {
    for (const bool has_own_memory : {false, true}) {
        for (const StorageOutside &a : shared) {
            if (a.within.defined() != has_own_memory) s = allocated_around(a, s);
        }
    }
    return s;
}

// Storage in the memory of a block depends on the block no more than the launch
// can find out. It is at the same place in all blocks of a cluster.
void MemoryPlan::unbind_blocks(algebra::IntervalScope &variables) const {
    for (const auto &[variable, range] : blocks.variables().all()) {
        if (variable != blocks.of_cluster()) variables.unbind(variable);
    }
}

// The most elements that it has while these variables run through their ranges,
// with padding. A size that no memory can hold is a little too much, and does
// not wrap around: the allocation refuses it.
Expr MemoryPlan::most_elements(const Allocate &a, algebra::IntervalScope variables,
                               bool is_shared) const {
    const int64_t limit = is_shared ? 1 << 18 : INT32_MAX;
    if (is_shared) unbind_blocks(variables);
    Expr box = 1, wide = make_one(Int(64));
    variables.facts = lets.known();
    for (const Expr &e : a.extents) {
        const Expr extent = max(cast(Int(32), lets.expand(e)), 0);
        box = box * extent;
        wide = wide * cast(Int(64), upper_bound(a, extent, variables));
    }
    const Expr most = upper_bound(a, box + a.padding, variables);
    wide = algebra::simplify(wide + IntImm::make(Int(64), a.padding));
    const auto known = as_const_int(wide);
    if (known && *known > INT32_MAX) refuse_size(a);
    if (known || a.extents.size() < 2) return most;
    return algebra::simplify(cast(Int(32), min(wide, IntImm::make(Int(64), limit))));
}

}  // namespace tessera::lower
