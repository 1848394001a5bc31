#include "lower/gpu/outline_kernels.h"
#include "algebra/bounds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/captures.h"
#include "lower/gpu/check_block_memory.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/split_grids.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <array>
#include <ranges>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;

namespace {

// The arguments of a launch of a nest of loops over blocks, and what its blocks share.
struct LaunchShape {
    // In the order of launch_argument_names, by what the host knows.
    std::vector<Expr> values;
    // The largest allocation of a known size in the memory of a block; null if there is none.
    const Allocate *largest = nullptr;
    int64_t bytes_of_largest = 0;
};

class FindLaunchShape final : public Visitor {
public:
    explicit FindLaunchShape(const Stmt &nest) { (*this)(nest); }
    LaunchShape shape() const {
        std::vector<Expr> all(grid.begin(), grid.end());
        all.insert(all.end(), threads.begin(), threads.end());
        all.push_back(algebra::simplify(bytes));
        return {std::move(all), largest, bytes_of_largest};
    }

private:
    void visit(const For &loop) override {
        const GPULevel level = traits_of(loop.loop_kind).gpu;
        if (is_over_blocks(loop)) {
            Expr &blocks = grid[dimension_of(loop)];
            const Expr extent = lets.expand(loop.extent);
            blocks = is_one(blocks) ? extent : algebra::simplify(blocks * extent);
        }
        if (level == GPULevel::Thread) threads[dimension_of(loop)] = lets.expand(loop.extent);
        inner.bind(loop.name, {loop.min, loop.min + loop.extent - 1});
        lets.push_loop(loop.name, loop.min, loop.extent);
        (*this)(loop.body);
        lets.pop_loop(loop.name);
    }
    void visit(const LetStmt &let) override {
        lets.push_let(let.name, let.value);
        (*this)(let.body);
        lets.pop_let(let.name);
    }
    void visit(const Allocate &a) override {
        const bool is_shared = traits_of(a.memory).space == AddressSpace::Shared;
        if (!is_shared || a.facts.within.defined()) return (*this)(a.body);
        const Expr around = std::exchange(bytes, 0), own = most_bytes(a);
        if (const int64_t known = as_const_int(own).value_or(0); known > bytes_of_largest) {
            bytes_of_largest = known;
            largest = &a;
        }
        (*this)(a.body);
        bytes = max(around, own + bytes);
    }
    // What a block needs at most.
    Expr most_bytes(const Allocate &a) const {
        inner.facts = lets.known();
        const Interval size = algebra::bounds_of_expr(lets.expand(shared_bytes(a)), inner);
        if (size.has_upper_bound()) return capped(size.max);
        throw CompileError(a.facts.compute_written,
                           str("the size of ", a.buffer,
                               " in the memory of a block is not the same for all blocks, and has "
                               "no bound that is known before they run; give it one with "
                               "bound_extent"));
    }

    // No GPU has so much, and the bytes of all buffers together do not wrap around.
    static Expr capped(const Expr &bytes) {
        constexpr int too_much = 1 << 24;
        if (is_const(bytes)) return bytes;
        return cast(Int(32), min(cast(UInt(32), bytes), make_const(UInt(32), too_much)));
    }

    std::array<Expr, 3> grid = {1, 1, 1}, threads = {1, 1, 1};
    Expr bytes = 0;
    const Allocate *largest = nullptr;
    int64_t bytes_of_largest = 0;
    LetScope lets;
    mutable algebra::IntervalScope inner;  // the variables of the kernel's loops
};

Expr passed_to_kernel(const Argument &a) {
    if (a.is_scalar()) return Variable::make(a.type, a.name);
    return call(Handle(), Intrinsic::device_address, {Variable::make(Handle(), a.name)});
}

// Takes the maps of what is copied out of a kernel, which the host makes: they become arguments.
class TakeMaps final : public Mutator {
public:
    std::vector<Argument> args;
    std::vector<Expr> passed;

private:
    Expr visit(const IntrinsicCall &c) override {
        if (c.op != Intrinsic::tensor_map) return Mutator::visit(c);
        for (size_t i = 0; i < maps.size(); i++) {
            if (equal(maps[i], Expr(&c))) return Variable::make(Handle(), args[i].name);
        }
        maps.emplace_back(&c);
        const Symbol buffer = address_taken(c.args[0]).buffer;
        args.push_back({Symbol::fresh(str(buffer, ".map")), ArgumentKind::Scalar, Handle(), 0, {}});
        std::vector<Expr> operands = c.args;
        operands[0] = call(Handle(), Intrinsic::device_address, {Variable::make(Handle(), buffer)});
        passed.push_back(c.with<&IntrinsicCall::args>(operands));
        return Variable::make(Handle(), args.back().name);
    }
    std::vector<Expr> maps;
};

class OutlineKernels final : public Mutator {
public:
    explicit OutlineKernels(LoweredFunction &f) : symbols(f.symbols), name(f.name) {
        f.body = (*this)(f.body);
    }
    std::vector<LoweredFunction> made;

private:
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Mutator::visit(loop);
        TakeMaps maps;
        const Stmt nest = maps(Stmt(&loop));
        std::vector<Argument> args;
        for (const char *argument : launch_argument_names) {
            args.push_back({Symbol::fresh(argument), ArgumentKind::Scalar, Int(32), 0, {}});
        }
        std::vector<Expr> passed = FindLaunchShape(nest).shape().values;
        const std::vector<Argument> captured = Captures(nest).arguments();
        for (const Argument &a : captured) {
            const bool is_map =
                std::ranges::find(maps.args, a.name, &Argument::name) != maps.args.end();
            if (is_map) continue;
            args.push_back(a);
            passed.push_back(passed_to_kernel(a));
        }
        args.insert(args.end(), maps.args.begin(), maps.args.end());
        passed.insert(passed.end(), maps.passed.begin(), maps.passed.end());
        LoweredFunction kernel{
            str(name, ".kernel.", made.size()), args, nest, {}, symbols, FunctionKind::Kernel};
        std::string function = kernel.name;
        made.push_back(std::move(kernel));
        return Invoke::make(std::move(function), std::move(passed));
    }

    SymbolArenaRef symbols;
    std::string name;
};

// ---- The limits of machines ----

// The most bytes that a block can share, from a compute capability on.
struct BlockMemory {
    int capability, bytes;
};
constexpr BlockMemory block_memories[] = {{75, 64 << 10}, {80, 163 << 10}, {86, 99 << 10},
                                          {89, 99 << 10}, {90, 227 << 10}, {100, 227 << 10},
                                          {120, 99 << 10}};

BlockMemory block_memory_of(int capability) {
    BlockMemory found = block_memories[0];
    for (const BlockMemory &m : block_memories) {
        if (m.capability <= capability) found = {capability, m.bytes};
    }
    return found;
}

// Returns that capability of the target which has most memory. If the target names none, the code
// may run on any GPU.
BlockMemory most_memory(const Target &target) {
    constexpr int any = 100;
    if (target.get_cuda_capability_lower_bound() < block_memories[0].capability)
        return block_memory_of(any);
    BlockMemory most = {0, 0};
    for (const int capability : target.cuda_capabilities()) {
        const BlockMemory m = block_memory_of(capability);
        if (m.bytes >= most.bytes) most = m;
    }
    return most;
}

class CheckBlockMemory final : public Visitor {
public:
    explicit CheckBlockMemory(const Target &target) : most(most_memory(target)) {}

private:
    void visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Visitor::visit(loop);
        const LaunchShape shape = FindLaunchShape(Stmt(&loop)).shape();
        const auto bytes = as_const_int(shape.values.back());
        if (!bytes || *bytes <= most.bytes || !shape.largest) return;
        const Allocate &a = *shape.largest;
        throw CompileError(
            a.facts.compute_written,
            str("a block of this kernel shares ", *bytes, " bytes of memory, ",
                shape.bytes_of_largest, " of them for ", a.buffer, "; GPUs of compute capability ",
                most.capability / 10, ".", most.capability % 10, " have ", most.bytes,
                " for a block. Compute less of it at a time, or store it in MemoryType::Heap"));
    }
    const BlockMemory most;
};

constexpr int32_t most_rows_of_blocks = 65535;  // along y and z

// A loop over blocks that is launched in parts.
struct LongLoop {
    Symbol loop, part, first;
    Expr extent;  // by what the host knows
};
using LongLoops = std::vector<LongLoop>;

class FindLongLoops final : public Visitor {
public:
    explicit FindLongLoops(const Stmt &kernel) { (*this)(kernel); }
    LongLoops found;

private:
    void visit(const LetStmt &let) override {
        lets.push_let(let.name, let.value);
        (*this)(let.body);
        lets.pop_let(let.name);
    }
    void visit(const For &loop) override {
        if (!is_over_blocks(loop)) return;
        if (dimension_of(loop) > 0) look_at(loop);
        (*this)(loop.body);
    }
    void look_at(const For &loop) {
        const Expr extent = lets.expand(loop.extent);
        const auto most = algebra::constant_upper_bound(extent);
        if (most && *most <= most_rows_of_blocks) return;
        found.push_back({loop.name, Symbol::fresh("part"), Symbol::fresh("first"), extent});
    }
    LetScope lets;
};

class OnePart final : public Mutator {
public:
    explicit OnePart(const LongLoops &loops) : loops(loops) {}

private:
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Stmt(&loop);
        const Stmt body = (*this)(loop.body);
        const auto found = std::ranges::find(loops, loop.name, &LongLoop::loop);
        if (found == loops.end()) return loop.with<&For::body>(body);
        const Expr first = int32_variable(found->first);
        return loop.with<&For::min, &For::extent, &For::body>(
            loop.min + first, min(loop.extent - first, most_rows_of_blocks), body);
    }
    const LongLoops &loops;
};

class SplitGrids final : public Mutator {
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Mutator::visit(loop);
        const LongLoops loops = FindLongLoops(Stmt(&loop)).found;
        if (loops.empty()) return Stmt(&loop);
        Stmt s = OnePart(loops)(Stmt(&loop));
        for (const LongLoop &l : std::views::reverse(loops)) {
            s = LetStmt::make(l.first, int32_variable(l.part) * most_rows_of_blocks, s);
            s = For::make(l.part, 0, (l.extent + (most_rows_of_blocks - 1)) / most_rows_of_blocks,
                          LoopKind::Serial, Partition::Never, s);
        }
        return s;
    }
};

}  // namespace

Module outline_kernels(const Module &module) {
    Module result{module.name, {}};
    for (LoweredFunction f : module.functions) {
        OutlineKernels outline(f);
        result.functions.push_back(std::move(f));
        std::ranges::move(outline.made, std::back_inserter(result.functions));
    }
    return result;
}

Stmt check_block_memory(const Stmt &s, const Context &context) {
    if (context.target.has_gpu_feature()) CheckBlockMemory(context.target)(s);
    return s;
}

Stmt split_grids(const Stmt &s, const Context &context) {
    return context.target.has_gpu_feature() ? SplitGrids()(s) : s;
}

}  // namespace tessera::lower
