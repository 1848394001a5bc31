#include "lower/finish/inject_profiling.h"
#include "ir/mutator.h"
#include "ir/operators.h"

namespace tessera::lower {
namespace {

using namespace ir;

class InjectProfiling final : public Mutator {
public:
    explicit InjectProfiling(const lower::Context &context)
        : context(context), instance(Variable::make(Handle(), Symbol::fresh("profiler"))) {
        names.push_back(Expr("overhead"));
        for (const program::FunctionRef &f : context.order) {
            if (f->schedule.no_profiling) continue;
            numbers[f->name] = int(names.size());
            for (Symbol b : context.buffers.count(f->name) ? context.buffers.at(f->name)
                                                           : std::vector<Symbol>{f->name}) {
                numbers[b] = int(names.size());
            }
            names.push_back(Expr(f->name.text()));
        }
    }
    Stmt run(const Stmt &s);

private:
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const ProducerConsumer &node) override;
    Stmt visit(const For &loop) override;
    Stmt visit(const Allocate &allocate) override;

    Expr user() const { return call(Handle(), Intrinsic::user_context, {}); }
    Stmt tell(const char *function, std::vector<Expr> args) const {
        return Evaluate::make(ExternCall::make(Int(32), str("tessera_profiler_", function),
                                               std::move(args), false));
    }

    const lower::Context &context;
    Expr instance;
    std::vector<Expr> names;
    std::unordered_map<Symbol, int> numbers;  // of functions and their buffers
    int current = 0;
};

Stmt InjectProfiling::run(const Stmt &s) {
    Expr name = context.outputs.empty() ? Expr("pipeline") : Expr(context.outputs.back().text());
    Expr list = call(Handle(), Intrinsic::make_struct, names);
    Expr start = ExternCall::make(Int(32), "tessera_profiler_instance_start",
                                  {user(), name, int(names.size()), list, instance}, false);
    Symbol error = Symbol::fresh("profiler_error");
    Expr code = Variable::make(Int(32), error);
    Stmt body = Block::make(AssertStmt::make(code == 0, code), (*this)(s));
    body = LetStmt::make(error, start, body);
    Expr size = UIntImm::make(UInt(64), sizeof(tessera_profiler_instance_t));
    return LetStmt::make(instance.as<Variable>()->name,
                         call(Handle(), Intrinsic::alloca, {size}), body);
}

Stmt InjectProfiling::visit(const ProducerConsumer &node) {
    auto number = numbers.find(node.func);
    if (!node.is_producer || number == numbers.end()) return Mutator::visit(node);
    int outer = current;
    current = number->second;
    Stmt s = Mutator::visit(node);
    Stmt enter = tell("enter_func", {instance, current});
    current = outer;
    return Block::make({enter, s, tell("set_current_func", {instance, outer})});
}

// The thread that waits for the loop does not count as active; each iteration does.
Stmt InjectProfiling::visit(const For &loop) {
    Stmt body = (*this)(loop.body);
    bool parallel = loop.loop_kind == LoopKind::Parallel;
    if (!parallel && body.same_as(loop.body)) return Stmt(&loop);
    Stmt more = tell("incr_active_threads", {instance});
    Stmt fewer = tell("decr_active_threads", {instance});
    if (parallel) body = Block::make({more, body, fewer});
    Stmt s = For::make(loop.name, loop.min, loop.extent, loop.loop_kind, loop.partition, body);
    return parallel ? Block::make({fewer, s, more}) : s;
}

Stmt InjectProfiling::visit(const Allocate &a) {
    Stmt body = (*this)(a.body);
    auto number = numbers.find(a.buffer);
    if (number == numbers.end()) {
        return Allocate::make(a.buffer, a.type, a.memory, a.extents, a.condition, a.padding, body);
    }
    Expr bytes = UIntImm::make(UInt(64), uint64_t(a.type.bytes()));
    bool constant = true;
    for (const Expr &e : a.extents) {
        bytes = bytes * cast(UInt(64), e);
        constant &= is_const(e);
    }
    if (a.condition.defined()) bytes = select(a.condition, bytes, make_zero(UInt(64)));
    std::vector<Expr> args = {user(), instance, number->second, bytes};
    bool on_stack = constant && a.memory != MemoryType::Heap;
    if (on_stack) {
        body = Block::make(tell("stack_peak", args), body);
    } else {
        body = Block::make({tell("memory_allocate", args), body, tell("memory_free", args)});
    }
    return Allocate::make(a.buffer, a.type, a.memory, a.extents, a.condition, a.padding, body);
}

}  // namespace

Stmt inject_profiling(const Stmt &s, const Context &context) {
    bool wanted = context.target.has_feature(Target::Profile) ||
                  context.target.has_feature(Target::ProfileByTimer);
    return wanted ? InjectProfiling(context).run(s) : s;
}

}  // namespace tessera::lower
