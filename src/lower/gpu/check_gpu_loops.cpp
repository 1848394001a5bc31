#include "lower/gpu/check_gpu_loops.h"
#include "algebra/prove.h"
#include "ir/instruction.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

namespace {

class CheckGPULoops final : public Visitor {
public:
    explicit CheckGPULoops(const lower::Context &context) : context(context) {}

private:
    // A statement around the one that is visited.
    struct Level {
        enum What : uint8_t { Loop, Produce, Storage } what;
        GPULevel gpu = GPULevel::None;
        std::string text;
        Location at = {};  // of a loop's directive
    };

    void visit(const For &loop) override;
    void visit(const ProducerConsumer &node) override;
    void visit(const Realize &realize) override;
    void visit(const AssertStmt &) override {}
    void visit(const IfThenElse &branch) override;
    void visit_under(const Expr &condition, const Stmt &s);
    void visit(const Provide &provide) override;
    void visit(const ExternCall &c) override;
    void visit(const IntrinsicCall &c) override;
    void visit(const HoistedStorage &hoist) override {
        if (hoist.facts.copies.defined()) rings.insert(hoist.func);
        within({Level::Storage, GPULevel::None, str("hoist storage of ", hoist.func)}, hoist.body);
    }

    void within(Level level, const Stmt &body) {
        levels.push_back(std::move(level));
        (*this)(body);
        levels.pop_back();
    }
    int count(GPULevel gpu) const { return int(std::ranges::count(levels, gpu, &Level::gpu)); }
    bool is_in_block() const { return count(GPULevel::Block) > 0; }
    bool is_in_kernel() const { return count(GPULevel::Cluster) > 0 || is_in_block(); }
    bool is_in_threads() const { return count(GPULevel::Thread) + count(GPULevel::Lane) > 0; }
    // Returns true if the innermost loop over threads is around what is computed here: the
    // production of a Func in between has threads of its own.
    bool is_produced_in_threads() const {
        const auto is_producer = [](const Level &l) { return l.what == Level::Produce; };
        const auto innermost = std::find_if(levels.rbegin(), levels.rend(), is_producer);
        return std::any_of(innermost, levels.rend(),
                           [](const Level &l) { return l.gpu == GPULevel::Thread; });
    }

    void check_cluster(const For &loop) const;
    void check_block(const For &loop) const;
    void check_thread(const For &loop) const;
    void check_memory(const Realize &realize) const;
    std::string nest(const std::string &innermost) const;
    static std::string name(const For &loop) {
        return loop.origin.known() ? str(loop.origin.var, " of ", loop.origin.func)
                                   : loop.name.text();
    }
    static std::string text(const For &loop) {
        return str(name_of(loop.loop_kind), loop.loop_kind == LoopKind::Serial ? " " : " for ",
                   name(loop));
    }
    [[noreturn]] void refuse(const For &loop, const std::string &why) const {
        throw CompileError(loop.origin.kind_written,
                           str(traits_of(loop.loop_kind).directive, ": the loop ", name(loop), " ",
                               why, nest(text(loop))));
    }

    const lower::Context &context;
    std::vector<Level> levels;
    const For *cluster = nullptr;  // the innermost loop over clusters around
    std::unordered_set<Symbol> rings;
    algebra::Facts holds;  // the conditions around
};

// The statements around, one in a line, outermost first.
std::string CheckGPULoops::nest(const std::string &innermost) const {
    std::string all = "; the nest is\n";
    std::string indent = "  ";
    for (const Level &l : levels) {
        all += indent + l.text + ":\n";
        indent += "  ";
    }
    return all + indent + innermost;
}

void CheckGPULoops::check_cluster(const For &loop) const {
    constexpr int first_with_clusters = 90;
    const int capability = context.target.get_cuda_capability_lower_bound();
    const bool is_run_by_oracle = context.target.has_feature(Target::Interpret);
    if (capability < first_with_clusters && !is_run_by_oracle) {
        refuse(loop, str("is over clusters of blocks, which GPUs have from compute capability 9.0 "
                         "on; the target ",
                         context.target,
                         " is for others, too: give it the feature cuda_capability_90, and none of "
                         "a lower one"));
    }
    if (is_in_threads()) refuse(loop, "over clusters is within a loop over threads");
    if (is_in_block())
        refuse(loop, "over clusters is within a loop over blocks: clusters consist of blocks");
    bool has_blocks = false;
    for_each_node(loop.body,
                  [&](const For &f) { has_blocks |= f.loop_kind == LoopKind::GPUBlock; });
    if (!has_blocks)
        refuse(loop, "over clusters has no loops over blocks within, which are its blocks; make "
                     "those directly within it loops over blocks with gpu_blocks");
    const auto outer = std::ranges::find(levels, GPULevel::Cluster, &Level::gpu);
    if (count(GPULevel::Cluster) == 3)
        refuse(loop, "is within three other loops over clusters; three are the most");
    const auto between = std::find_if(outer, levels.end(),
                                      [](const Level &l) { return l.gpu != GPULevel::Cluster; });
    if (between == levels.end()) return;
    refuse(loop, str("over clusters is within another loop over clusters, and between them there "
                     "is \"",
                     between->text, "\"; a cluster has blocks, and no clusters"));
}

void CheckGPULoops::check_block(const For &loop) const {
    if (is_in_threads()) refuse(loop, "over blocks is within a loop over threads");
    const LoopOrigin &o = loop.origin;
    const bool has_order = o.block_group > 0 || o.is_along_hilbert_curve;
    const bool is_of_other_stage =
        cluster && !(cluster->origin.func == o.func && cluster->origin.stage == o.stage);
    if (is_of_other_stage && (has_order || o.blocks_per_processor > 0))
        refuse(loop,
               str("is over the blocks of a cluster: ", has_order ? "gpu_order" : "persistent",
                   " is for the stage that has the loops over clusters, ", cluster->origin.func));
    const auto outer = std::ranges::find(levels, GPULevel::Block, &Level::gpu);
    if (outer == levels.end()) return;
    if (count(GPULevel::Block) == 3)
        refuse(loop, "is within three other loops over blocks; three are the most");
    const auto between =
        std::find_if(outer, levels.end(), [](const Level &l) { return l.gpu != GPULevel::Block; });
    if (between == levels.end()) return;
    refuse(loop,
           str("over blocks is within a kernel: between it and the loop over blocks outside of "
               "it there is \"",
               between->text, "\"; loops over blocks stand directly within one another"));
}

void CheckGPULoops::check_thread(const For &loop) const {
    const bool is_lane = loop.loop_kind == LoopKind::GPULane;
    if (!is_in_block()) {
        refuse(loop, "is in no loop over blocks, as it has to be; make a loop outside of it one "
                     "with gpu_blocks, or use gpu_tile");
    }
    if (count(GPULevel::Lane) > 0) {
        refuse(loop, is_lane ? "over lanes is within another loop over lanes"
                             : "over threads is within a loop over lanes");
    }
    if (count(GPULevel::Thread) == 3)
        refuse(loop, "is within three other loops over threads; three of threads and lanes are the "
                     "most");
    if (!is_lane && is_produced_in_threads()) {
        refuse(loop,
               str("over threads computes a Func within a loop over threads of a consumer, so "
                   "that each thread has values of its own and computes only a part of them; "
                   "compute it at a loop over blocks, or at a serial loop between blocks and "
                   "threads"));
    }
}

void CheckGPULoops::visit(const For &loop) {
    const GPULevel gpu = traits_of(loop.loop_kind).gpu;
    if (gpu != GPULevel::None && !context.target.has_gpu_feature()) {
        throw CompileError(loop.origin.kind_written,
                           str(traits_of(loop.loop_kind).directive, " of the loop ", name(loop),
                               ": the target ", context.target,
                               " has no GPU; add the feature cuda to it, or ask "
                               "Target::has_gpu_feature() before"));
    }
    switch (gpu) {
    case GPULevel::Cluster: check_cluster(loop); break;
    case GPULevel::Block: check_block(loop); break;
    case GPULevel::Thread:
    case GPULevel::Lane: check_thread(loop); break;
    case GPULevel::None:
        if (loop.loop_kind == LoopKind::Parallel && is_in_kernel())
            refuse(loop, "is within a kernel, whose blocks and threads are what is parallel there");
    }
    const For *around = cluster;
    if (gpu == GPULevel::Cluster) cluster = &loop;
    within({Level::Loop, gpu, text(loop), loop.origin.kind_written}, loop.body);
    cluster = around;
}

void CheckGPULoops::visit(const IfThenElse &branch) {
    (*this)(branch.condition);
    visit_under(branch.condition, branch.then_case);
    if (branch.else_case.defined()) visit_under(!branch.condition, branch.else_case);
}

// A stage's version for GPUs stands within each version of its consumer. If the conditions of both
// cannot hold at once it is never run, and later passes remove it: so it is not checked there.
void CheckGPULoops::visit_under(const Expr &condition, const Stmt &s) {
    const bool is_known = is_pure(condition) && condition.type().is_scalar();
    if (is_known && !holds.known_true.empty() && algebra::can_prove(!condition, holds)) return;
    if (is_known) holds.holds(condition);
    (*this)(s);
    if (is_known) holds.known_true.pop_back();
}

void CheckGPULoops::visit(const Provide &provide) {
    if (count(GPULevel::Cluster) > 0 && !is_in_block()) {
        const auto cluster = std::ranges::find(levels, GPULevel::Cluster, &Level::gpu);
        throw CompileError(cluster->at,
                           str("gpu_clusters: ", provide.func,
                               " is computed in a loop over clusters, and in none over blocks, so "
                               "that no block computes it; make the outermost of its loops there "
                               "loops over blocks, of one iteration if one block is to do it",
                               nest(str("compute ", provide.func))));
    }
    Visitor::visit(provide);
}

void CheckGPULoops::visit(const ProducerConsumer &node) {
    if (!node.is_producer) return (*this)(node.body);
    within({Level::Produce, GPULevel::None, str("produce ", node.func)}, node.body);
}

// Checks a call of an extern stage, or of a function that has effects.
void CheckGPULoops::visit(const ExternCall &c) {
    if (is_in_kernel() && !c.pure && !is_print(c)) {
        throw CompileError(str("the C function ", c.function,
                               " is called within a kernel, where functions of the host cannot be "
                               "called; compute what it computes outside of the kernel, with "
                               "compute_root for one",
                               nest(str("call ", c.function))));
    }
    Visitor::visit(c);
}

void CheckGPULoops::visit(const IntrinsicCall &c) {
    if (is_in_kernel() && c.op == Intrinsic::device_buffer_copy) {
        throw CompileError(str("a Func that is computed by copy_to_device() or copy_to_host() is "
                               "computed within a kernel, where the host cannot copy; compute it "
                               "outside of the kernel, with compute_root for one",
                               nest("copy")));
    }
    Visitor::visit(c);
}

void CheckGPULoops::check_memory(const Realize &r) const {
    const bool is_shared = traits_of(r.memory).space == AddressSpace::Shared;
    const bool is_tile = r.memory == MemoryType::Tile;
    const bool is_of_cluster = is_in_kernel() && !is_in_block();
    if (is_of_cluster && r.memory != MemoryType::Auto && r.memory != MemoryType::GPUShared) {
        throw CompileError(r.storage.compute_written,
                           str("store_in of ", r.func, ": MemoryType::", name_of(r.memory),
                               " is not for what is stored at a loop over clusters, which is in "
                               "the memory of its blocks; leave it Auto, or use GPUShared",
                               nest(str("store ", r.func))));
    }
    if ((!is_shared && !is_tile) || is_in_kernel()) return;
    bool is_on_cpu = false;
    for_each_node(r.body, [&](const For &loop) {
        is_on_cpu |= loop.loop_kind == LoopKind::Tensorized &&
                     is_name_of_cpu(loop.origin.instruction.text(), context.target);
    });
    if (is_tile && is_on_cpu) return;
    throw CompileError(r.storage.compute_written,
                       str("store_in of ", r.func, ": ", name_of(r.memory), " is ",
                           is_tile ? "in the registers" : "the memory",
                           " of the threads of one block, and ", r.func,
                           " is computed outside of kernels; compute it at a loop over blocks",
                           nest(str("store ", r.func))));
}

void CheckGPULoops::visit(const Realize &r) {
    check_memory(r);
    const bool is_pipelined = rings.contains(r.func) && is_in_block() && !is_in_threads();
    if (r.storage.is_async && is_in_kernel() && !is_pipelined) {
        throw CompileError(r.storage.async_written,
                           str("async of ", r.func,
                               ": it is computed within a kernel, where no "
                               "other threads can compute ahead; with ring_buffer, and outside of "
                               "loops over threads, copies are made ahead there",
                               nest(str("store ", r.func))));
    }
    within({Level::Storage, GPULevel::None, str("store ", r.func)}, r.body);
}

}  // namespace

Stmt check_gpu_loops(const Stmt &s, const lower::Context &context) {
    CheckGPULoops check(context);
    check(s);
    return s;
}

}  // namespace tessera::lower
