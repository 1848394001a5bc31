#include "lower/finish/outline_bodies.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/captures.h"
#include <algorithm>
#include <map>
#include <set>

namespace tessera::lower {

using namespace ir;

namespace {

class OutermostLoops final : public Visitor {
public:
    int count = 0;

private:
    void visit(const For &) override { count++; }
};

// So many loops that each gets a function: LLVM takes more than linear time for a large one.
bool is_crowd(const Stmt &body) {
    constexpr int most_loops = 20;
    OutermostLoops loops;
    loops(body);
    return loops.count > most_loops;
}

class OutlineBodies final : public Mutator {
public:
    OutlineBodies(LoweredFunction &pipeline, const OutlineOptions &options)
        : options(options), symbols(pipeline.symbols), name(pipeline.name) {
        is_crowded = is_crowd(pipeline.body);
        pipeline.body = (*this)(pipeline.body);
    }
    std::vector<LoweredFunction> made;

private:
    Stmt visit(const For &loop) override {
        switch (loop.loop_kind) {
        case LoopKind::Parallel: return loop.with<&For::body>(outlined_iteration(loop));
        case LoopKind::Serial:
            if (!options.outline_loops || !is_crowded || is_in_atomic || is_in_task) break;
            return outlined(Stmt(&loop), FunctionKind::Part, "loop", Captures(Stmt(&loop)), {});
        case LoopKind::Vectorized:
        case LoopKind::Unrolled:
        case LoopKind::GPUCluster:
        case LoopKind::GPUBlock:
        case LoopKind::GPUThread:
        case LoopKind::GPULane:
        case LoopKind::GPUWarp:
        case LoopKind::GPUWarpgroup:
        case LoopKind::Tensorized: break;
        }
        const bool around = std::exchange(is_crowded, is_crowd(loop.body));
        Stmt result = Mutator::visit(loop);
        is_crowded = around;
        return result;
    }

    Stmt visit(const Fork &fork) override {
        std::vector<Stmt> tasks;
        for (const Stmt &s : fork.stmts) {
            tasks.push_back(outlined(s, FunctionKind::Task, "task", Captures(s), {}));
        }
        return Fork::make(std::move(tasks));
    }

    Stmt visit(const Atomic &atomic) override {
        const bool around = std::exchange(is_in_atomic, true);
        Stmt result = Mutator::visit(atomic);
        is_in_atomic = around;
        return result;
    }

    Stmt outlined_iteration(const For &loop) {
        Captures captures(loop.body);
        captures.scalars.erase(loop.name);
        std::vector<Argument> index = {{loop.name, ArgumentKind::Scalar, loop.min.type(), 0, {}}};
        return outlined(loop.body, FunctionKind::LoopBody, "par_for", captures, std::move(index));
    }

    // Makes a function of the statement. Its arguments are the scalars given, then the captures.
    Stmt outlined(const Stmt &s, FunctionKind kind, const char *word, const Captures &captures,
                  std::vector<Argument> args) {
        std::ranges::move(captures.arguments(), std::back_inserter(args));
        std::vector<Expr> given = passed_for(args);
        const size_t index = made.size();
        LoweredFunction f{str(name, '.', word, index), std::move(args), {}, {}, symbols, kind};
        std::string function = f.name;
        made.push_back(std::move(f));
        Stmt body = within(function, kind, s);
        made[index].body = std::move(body);
        return Invoke::make(std::move(function), std::move(given));
    }

    // The body of the function of this name.
    Stmt within(const std::string &function, FunctionKind kind, const Stmt &s) {
        const std::string outer_name = std::exchange(name, function);
        const bool outer_crowd = std::exchange(is_crowded, is_crowd(s));
        const bool outer_task = std::exchange(is_in_task, kind == FunctionKind::Task);
        Stmt body = (*this)(s);
        name = outer_name;
        is_crowded = outer_crowd;
        is_in_task = outer_task;
        return body;
    }

    const OutlineOptions &options;
    SymbolArenaRef symbols;
    std::string name;  // of the function around
    bool is_crowded = false;
    bool is_in_atomic = false;
    bool is_in_task = false;  // its Forks are of the task's parent, whom only it knows
};

}  // namespace

Module outline_bodies(const Module &module, const OutlineOptions &options) {
    Module result{module.name, {}};
    for (LoweredFunction f : module.functions) {
        if (f.kind == FunctionKind::Kernel) {
            result.functions.push_back(std::move(f));
            continue;
        }
        OutlineBodies outline(f, options);
        result.functions.push_back(std::move(f));
        std::ranges::move(outline.made, std::back_inserter(result.functions));
    }
    return result;
}

}  // namespace tessera::lower
