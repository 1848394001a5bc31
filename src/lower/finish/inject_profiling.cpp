#include "lower/finish/inject_profiling.h"
#include "ir/allocation.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"

namespace tessera::lower {
namespace {

using namespace ir;

// Functions get numbers in the order in which they are complete.
class NumberFunctions final : public Visitor {
public:
    NumberFunctions(std::vector<Expr> &names, std::unordered_map<Symbol, int> &numbers)
        : names(names), numbers(numbers) {}

private:
    void visit(const ProducerConsumer &node) override {
        Visitor::visit(node);
        if (!node.is_producer || !node.produced.is_profiled) return;
        if (numbers.try_emplace(node.func, int(names.size())).second)
            names.push_back(Expr(node.func.text()));
    }
    std::vector<Expr> &names;
    std::unordered_map<Symbol, int> &numbers;
};

class InjectProfiling final : public Mutator {
public:
    explicit InjectProfiling(const LoweredFunction &pipeline)
        : pipeline(pipeline), instance(Variable::make(Handle(), Symbol::fresh("profiler"))) {
        names.push_back(Expr("overhead"));
        NumberFunctions number(names, numbers);
        number(pipeline.body);
    }
    Stmt run();

private:
    Stmt visit(const Store &store) override { return Stmt(&store); }
    Stmt visit(const Evaluate &evaluate) override;
    Stmt visit(const ProducerConsumer &node) override;
    Stmt visit(const For &loop) override;
    Stmt visit(const LetStmt &let) override;
    Stmt visit(const Allocate &allocate) override;

    Stmt kernel(const For &blocks);

    static Stmt tell(Intrinsic event, std::vector<Expr> args) {
        return Evaluate::make(call(Int(32), event, std::move(args)));
    }

    const LoweredFunction &pipeline;
    Expr instance;
    std::vector<Expr> names;
    std::unordered_map<Symbol, int> numbers;  // of functions
    // Buffers on the heap that are to be freed: what is reported to the profiler then.
    std::unordered_map<Symbol, std::vector<Expr>> on_heap;
    int current = 0;
};

Stmt InjectProfiling::run() {
    Expr name("pipeline");
    for (const ir::Argument &a : pipeline.args) {
        if (a.is_output()) name = Expr(a.func.text());
    }
    Expr list = call(Handle(), Intrinsic::make_struct, names);
    Expr start = call(Int(32), Intrinsic::profiler_instance_start,
                      {name, int(names.size()), list, instance});
    Symbol error = Symbol::fresh("profiler_error");
    Expr code = Variable::make(Int(32), error);
    Stmt body = Block::make(AssertStmt::make(code == 0, code), (*this)(pipeline.body));
    body = LetStmt::make(error, start, body);
    Expr size = UIntImm::make(UInt(64), sizeof(tessera_profiler_instance_t));
    return LetStmt::make(instance.as<Variable>()->name, call(Handle(), Intrinsic::alloca, {size}),
                         body);
}

Stmt InjectProfiling::visit(const ProducerConsumer &node) {
    auto number = numbers.find(node.func);
    if (!node.is_producer || number == numbers.end()) return Mutator::visit(node);
    int outer = current;
    current = number->second;
    Stmt s = Mutator::visit(node);
    Stmt enter = tell(Intrinsic::profiler_enter_func, {instance, current});
    current = outer;
    return Block::make({enter, s, tell(Intrinsic::profiler_set_current_func, {instance, outer})});
}

// Names a kernel by the stage whose loops over blocks it has.
std::string name_of(const For &blocks) {
    const LoopOrigin &origin = blocks.origin;
    if (!origin.known()) return std::string(blocks.name.text());
    if (origin.stage == 0) return std::string(origin.func.text());
    return str(origin.func, ".update(", origin.stage - 1, ")");
}

// Returns the buffer that is copied between host and device, if the let is such a copy.
std::string copied_by(const LetStmt &let) {
    const auto *c = let.value.as<IntrinsicCall>();
    if (!c) return "";
    const bool is_copy = c->op == Intrinsic::copy_to_host || c->op == Intrinsic::copy_to_device ||
                         c->op == Intrinsic::device_buffer_copy;
    const auto *buffer = is_copy ? c->args[0].as<Variable>() : nullptr;
    return buffer ? std::string(buffer->name.text()) : "";
}

Stmt InjectProfiling::visit(const LetStmt &let) {
    const std::string copied = copied_by(let);
    if (copied.empty()) return Mutator::visit(let);
    const Stmt end = tell(Intrinsic::profiler_device_end, {instance});
    return Block::make(tell(Intrinsic::profiler_device_begin, {instance, Expr(copied)}),
                       let.with<&LetStmt::body>(Block::make(end, (*this)(let.body))));
}

// The threads of a kernel report nothing; the kernel is timed as a whole.
Stmt InjectProfiling::kernel(const For &blocks) {
    return Block::make({tell(Intrinsic::profiler_device_begin, {instance, Expr(name_of(blocks))}),
                        Stmt(&blocks), tell(Intrinsic::profiler_device_end, {instance})});
}

// The thread that waits for the loop does not count as active; each iteration does.
Stmt InjectProfiling::visit(const For &loop) {
    if (is_over_blocks(loop)) return kernel(loop);
    Stmt body = (*this)(loop.body);
    const bool parallel = traits_of(loop.loop_kind).is_on_threads;
    if (!parallel && body.same_as(loop.body)) return Stmt(&loop);
    Stmt more = tell(Intrinsic::profiler_incr_active_threads, {instance});
    Stmt fewer = tell(Intrinsic::profiler_decr_active_threads, {instance});
    if (parallel) body = Block::make({more, body, fewer});
    Stmt s = loop.with<&For::body>(body);
    return parallel ? Block::make({fewer, s, more}) : s;
}

Stmt InjectProfiling::visit(const Allocate &a) {
    auto with_body = [&](const Stmt &body) { return a.with<&Allocate::body>(body); };
    auto number = numbers.find(a.facts.func);
    if (!traits_of(a.memory).is_on_cpu) return with_body((*this)(a.body));
    if (number == numbers.end()) return with_body((*this)(a.body));
    Expr bytes = UIntImm::make(UInt(64), uint64_t(a.type.bytes()));
    for (const Expr &e : a.extents) bytes = bytes * cast(UInt(64), max(e, make_zero(e.type())));
    if (a.condition.defined()) bytes = select(a.condition, bytes, make_zero(UInt(64)));
    std::vector<Expr> args = {instance, number->second, bytes};
    if (place_of(a) != Place::Heap)
        return with_body(Block::make(tell(Intrinsic::profiler_stack_peak, args), (*this)(a.body)));
    on_heap[a.buffer] = args;
    std::vector<Stmt> body = {tell(Intrinsic::profiler_memory_allocate, args), (*this)(a.body)};
    if (on_heap.erase(a.buffer)) body.push_back(tell(Intrinsic::profiler_memory_free, args));
    return with_body(Block::make(std::move(body)));
}

Stmt InjectProfiling::visit(const Evaluate &evaluate) {
    const auto *c = evaluate.value.as<IntrinsicCall>();
    if (!c || c->op != Intrinsic::free) return Stmt(&evaluate);
    auto freed = on_heap.find(address_taken(c->args[0]).buffer);
    if (freed == on_heap.end()) return Stmt(&evaluate);
    Stmt told = tell(Intrinsic::profiler_memory_free, freed->second);
    on_heap.erase(freed);
    return Block::make(Stmt(&evaluate), told);
}

}  // namespace

Stmt inject_profiling(const LoweredFunction &pipeline, const Context &context) {
    bool wanted = context.target.has_feature(Target::Profile) ||
                  context.target.has_feature(Target::ProfileByTimer);
    return wanted ? InjectProfiling(pipeline).run() : pipeline.body;
}

}  // namespace tessera::lower
