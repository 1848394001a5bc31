#include "lower/gpu/kernel_description.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/warp_roles.h"
#include "lower/loops/loop_name.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

// Holds what the statements of a kernel need of its threads, found in one walk.
class Needs final : public Visitor {
public:
    explicit Needs(const Stmt &body) { (*this)(body); }
    bool thread_loops = false, roles = false;
    int64_t together = 1;  // threads that run an instruction
    Location of_threads;   // where the first loop over threads was written
    std::vector<const IntrinsicCall *> shuffles;

private:
    void visit(const For &loop) override {
        thread_loops |= loop.loop_kind == LoopKind::GPUThread;
        if (is_over_threads(loop) && !of_threads.known()) of_threads = loop.origin.kind_written;
        Visitor::visit(loop);
    }
    // The threads that run an instruction together are a warp, or a warpgroup, of
    // the machine.
    void visit(const MachineOp &op) override {
        if (is_tensor_operation(op.op))
            together = std::max<int64_t>(together, TensorOperation::of(op).instruction.threads);
        if (op.op == MachineOpKind::store_quads) together = std::max(together, threads_of_warp);
        Visitor::visit(op);
    }
    void visit(const IfThenElse &branch) override {
        roles |= is_choice_of_role(branch);
        Visitor::visit(branch);
    }
    void visit(const IntrinsicCall &c) override {
        if (c.op == Intrinsic::shuffle_lanes) shuffles.push_back(&c);
        Visitor::visit(c);
    }
};

constexpr int64_t most_threads_of_block = 1024;

// A number that is not known now is checked when the kernel is launched.
std::optional<int64_t> number_of_threads(const KernelDescription &kernel) {
    int64_t count = 1;
    bool is_known = true;
    for (size_t d = 0; d < thread_dimensions; d++) {
        if (!kernel.extent(d).defined()) continue;
        const auto extent = as_const_int(kernel.extent(d));
        is_known &= extent.has_value();
        count *= std::max<int64_t>(1, extent.value_or(1));
    }
    return is_known || count > most_threads_of_block ? std::optional(count) : std::nullopt;
}

void check_number_of_threads(const KernelDescription &kernel, const Location &at) {
    const int64_t count = number_of_threads(kernel).value_or(1);
    if (count <= most_threads_of_block) return;
    throw CompileError(at, str("a block of this kernel has ", count, " threads, and can have ",
                               most_threads_of_block,
                               " at most: loops over threads of all that is "
                               "computed in the block count, the "
                               "longest in each dimension"));
}

// So that the lanes of a row wait for one another alone.
void fit_rows_in_warps(KernelDescription &kernel, const For &rows, const Needs &needs) {
    Expr &x = kernel.threads.shape[0];
    const auto lanes = as_const_int(x);
    if (!lanes || *lanes > threads_of_warp) {
        throw CompileError(rows.origin.kind_written,
                           str("the ", loop_name(rows),
                               " has lanes within: a kernel with rows of lanes has "
                               "at most ",
                               threads_of_warp,
                               " threads along x, a number that is known when it is "
                               "compiled; here it is ",
                               x));
    }
    int64_t fitting = 1;
    while (fitting < *lanes) fitting *= 2;
    x = int32_t(fitting);
    for (const IntrinsicCall *c : needs.shuffles) {
        if (!is_const(c->args[2], fitting))
            throw InternalError(str("a shuffle of ", c->args[2], " lanes in rows of ", fitting));
    }
}

void fit_instructions(KernelDescription &kernel, int64_t together) {
    Expr &x = kernel.threads.shape[0];
    const auto known = as_const_int(x);
    if (!known)
        throw CompileError(str("a kernel with instructions of tensor cores has a number of "
                               "threads along x that is known when it is compiled; here it is ",
                               x));
    x = int32_t((*known + together - 1) / together * together);
}

// The producer's threads are as many as it is to have, or some more, so that
// all dimensions but one are as the consumers have them.
void add_producer(KernelDescription &kernel, const WarpRoles &roles) {
    const auto consumers = number_of_threads(kernel);
    if (!consumers)
        throw CompileError(roles.written, "warp_specialize: the number of threads of a block has "
                                          "to be known when the pipeline is compiled");
    kernel.roles = roles;
    kernel.consumers = *consumers;
    for (size_t d = 0; d < thread_dimensions; d++) {
        const bool is_there = kernel.extent(d).defined() && !is_const(kernel.extent(d), 1);
        if (is_there) kernel.role_dimension = d;
    }
    const int64_t planes = as_const_int(kernel.extent(kernel.role_dimension)).value(),
                  of_plane = kernel.consumers / planes;
    kernel.producers = (roles.producers + of_plane - 1) / of_plane * of_plane;
    if (roles.ping_pong) {
        kernel.groups_of_consumers = 2;
        kernel.place_in_block = Symbol::fresh("place_in_block");
    }
    const int64_t all_consumers = kernel.groups_of_consumers * kernel.consumers;
    const int64_t all = all_consumers + kernel.producers;
    if (all > most_threads_of_block)
        throw CompileError(roles.written,
                           str("warp_specialize: ", all_consumers, " threads of consumers and ",
                               kernel.producers, " of the producer are more than ",
                               most_threads_of_block,
                               ", the most of a block; consumers may be fewer warps "
                               "(gpu_warpgroups) with more rows each"));
    constexpr int64_t all_registers = 65536;
    const int64_t wanted =
        all_consumers * roles.consumer_registers + kernel.producers * roles.producer_registers;
    if (wanted > all_registers)
        throw CompileError(roles.written,
                           str("warp_specialize(", roles.producer_registers, ", ",
                               roles.consumer_registers, "): ", kernel.producers,
                               " threads of the producer and ", all_consumers,
                               " of consumers would have ", wanted,
                               " registers, and a multiprocessor has ", all_registers));
}

}  // namespace

Expr KernelDescription::extent_of_block(size_t d) const {
    if (!roles.any() || d != role_dimension) return extent(d);
    const int64_t planes = as_const_int(extent(d)).value();
    return int32_t(groups_of_consumers * planes + producers / (consumers / planes));
}

Expr KernelDescription::index_of_place() const {
    const Expr place = int32_variable(place_in_block), of_group = extent(role_dimension);
    return select(place < of_group * int32_t(groups_of_consumers), place % of_group,
                  place - of_group * int32_t(groups_of_consumers - 1));
}

Expr KernelDescription::group_of_place() const {
    return int32_variable(place_in_block) / extent(role_dimension);
}

Expr KernelDescription::is_consumer() const {
    return thread(role_dimension) < extent(role_dimension);
}

Expr KernelDescription::is_first_of_producer() const {
    Expr all = thread(role_dimension) == extent(role_dimension);
    for (size_t d = 0; d < role_dimension; d++) {
        if (extent(d).defined() && !is_const(extent(d), 1)) all = all && thread(d) == 0;
    }
    return all;
}

Expr KernelDescription::index_of_producer() const {
    Expr all = thread(role_dimension) - extent(role_dimension);
    for (size_t d = role_dimension; d-- > 0;) {
        if (extent(d).defined()) all = all * extent(d) + thread(d);
    }
    return all;
}

KernelDescription describe_kernel(const Stmt &body, const BlockLoops &blocks) {
    const Needs needs(body);
    KernelDescription kernel;
    kernel.threads.shape = block_shape(needs.roles ? without_producer(body) : body, blocks);
    kernel.has_thread_loops = needs.thread_loops;
    check_number_of_threads(kernel, needs.of_threads);
    for_each_node(body, [&](const Allocate &a) { kernel.times_allocated[a.buffer]++; });
    if (const For *rows = find_rows_of_lanes(body)) fit_rows_in_warps(kernel, *rows, needs);
    if (needs.together > 1) fit_instructions(kernel, needs.together);
    static constexpr const char *names[thread_dimensions] = {"thread_x", "thread_y", "thread_z"};
    for (size_t d = 0; d < thread_dimensions; d++) {
        if (kernel.extent(d).defined()) kernel.threads.names[d] = Symbol::fresh(names[d]);
    }
    if (needs.roles) add_producer(kernel, blocks.roles());
    return kernel;
}

}  // namespace tessera::lower
