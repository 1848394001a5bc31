#include "lower/gpu/outline_kernels.h"
#include "algebra/bounds.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/captures.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <array>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;

namespace {

// What a launch is told of a nest of loops over blocks.
class LaunchShape final : public Visitor {
public:
    explicit LaunchShape(const Stmt &nest) { (*this)(nest); }
    // In the order of launch_argument_names.
    std::vector<Expr> values() const {
        std::vector<Expr> all(grid.begin(), grid.end());
        all.insert(all.end(), threads.begin(), threads.end());
        all.push_back(algebra::simplify(bytes));
        return all;
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
        const Expr around = std::exchange(bytes, 0);
        (*this)(a.body);
        bytes = max(around, most_bytes(a) + bytes);
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
        std::vector<Expr> passed = LaunchShape(nest).values();
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

}  // namespace tessera::lower
