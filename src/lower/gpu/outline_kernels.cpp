#include "lower/gpu/outline_kernels.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "lower/finish/captures.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/launch_shape.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

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
        const Load &first = address_taken(c.args[0]);
        const Symbol buffer = first.buffer;
        args.push_back({Symbol::fresh(str(buffer, ".map")), ArgumentKind::Scalar, Handle(), 0, {}});
        std::vector<Expr> operands = {
            call(Handle(), Intrinsic::device_address, {Variable::make(Handle(), buffer)})};
        for (size_t i = 1; i < c.args.size(); i++) operands.push_back(substitute(lets, c.args[i]));
        const Expr index = substitute(lets, first.index);
        if (!is_zero(index)) operands.push_back(index);
        passed.push_back(c.with<&IntrinsicCall::args>(operands));
        return Variable::make(Handle(), args.back().name);
    }
    // Lets of the kernel name the values that operands of a map share with others.
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        lets[let.name] = substitute(lets, let.value);
        const Stmt body = (*this)(let.body);
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    std::vector<Expr> maps;
    Substitution lets;  // the values of those of the kernel
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
        std::vector<Expr> passed = launch_shape_of(nest).values;
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
