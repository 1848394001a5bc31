#include "codegen/host/host_emitter.h"
#include "codegen/statements.h"
#include "ir/visitor.h"
#include <set>

namespace tessera::codegen {
namespace {

class OutermostLoops final : public Visitor {
public:
    int count = 0;

private:
    void visit(const For &) override { count++; }
};

}  // namespace

bool HostEmitter::is_crowded(const Stmt &body) {
    constexpr int most_loops = 20;
    OutermostLoops loops;
    loops(body);
    return loops.count > most_loops;
}

// What a body that runs elsewhere needs of the scope around it.
struct HostEmitter::Closure {
    std::vector<Symbol> variables, buffers;
    // Values that are no constants, in a struct.
    std::vector<Value *> captured;
    llvm::StructType *type = nullptr;
    Value *pointer = nullptr;
    // The scope as it was.
    std::unordered_map<Symbol, Value *> known_variables;
    std::unordered_map<Symbol, Storage> known_buffers;
    // Coordinates go over in 64 bits: a part of a sum that fits may itself not fit into 32
    // (`y * 512` and `-y.min * 512`), and one that was wide before the body must be wide in it.
    std::unordered_map<Symbol, WideCoordinate> known_wide;
};

HostEmitter::Closure HostEmitter::capture(const Stmt &body) {
    Closure closure;
    std::set<Value *> seen;
    auto need = [&](Value *v) {
        if (v && !llvm::isa<llvm::Constant>(v) && seen.insert(v).second) {
            closure.captured.push_back(v);
        }
    };
    for (Symbol s : symbols_used(body)) {
        if (auto v = f->wide_variables.find(s); v != f->wide_variables.end()) {
            closure.known_wide.insert(*v);
            need(v->second.part);
        } else if (auto v = f->variables.find(s); v != f->variables.end()) {
            closure.known_variables.insert(*v);
            need(v->second);
        }
        if (auto v = f->buffers.find(s); v != f->buffers.end()) {
            closure.known_buffers.insert(*v);
            need(v->second.base);
            need(v->second.descriptor);
        }
    }
    std::vector<llvm::Type *> types;
    for (Value *v : closure.captured) types.push_back(v->getType());
    closure.type = llvm::StructType::get(context, types);
    closure.pointer = stack_slot(closure.type, 1, 16);
    for (size_t i = 0; i < types.size(); i++) {
        b.CreateStore(closure.captured[i],
                      b.CreateStructGEP(closure.type, closure.pointer, unsigned(i)));
    }
    return closure;
}

// Gives the body's symbols their values again, from the struct.
void HostEmitter::restore(const Closure &closure, Value *pointer) {
    std::unordered_map<Value *, Value *> here;
    for (size_t i = 0; i < closure.captured.size(); i++) {
        Value *v = closure.captured[i];
        Value *member = b.CreateStructGEP(closure.type, pointer, unsigned(i));
        here[v] = b.CreateLoad(v->getType(), member);
    }
    auto value_here = [&](Value *v) {
        auto found = here.find(v);
        return found == here.end() ? v : found->second;
    };
    for (auto [name, v] : closure.known_variables) f->variables[name] = value_here(v);
    for (const auto &[name, wide] : closure.known_wide) {
        const WideCoordinate here_too{wide.part ? value_here(wide.part) : nullptr, wide.offset};
        f->wide_variables[name] = here_too;
        f->variables[name] = b.CreateTrunc(wide_value(here_too), b.getInt32Ty());
    }
    for (auto [name, s] : closure.known_buffers) {
        f->buffers[name] = {value_here(s.base), value_here(s.descriptor), s.alignment, s.bytes};
    }
}

// `function(user_context, index, ..., closure, ...)`: the body with `index` bound.
llvm::Function *HostEmitter::outline(const Closure &closure, const Stmt &body, Symbol index,
                                     llvm::FunctionType *type, const char *name) {
    auto *function = llvm::Function::Create(
        type, llvm::Function::InternalLinkage,
        str(f->function->getName().str(), ".", name, closure_count++), module);
    llvm::IRBuilder<>::InsertPointGuard keep(b);
    FreshMemo memo_of_its_own(*this);
    FunctionState *outer = f;
    HostFunction state;
    begin_function(function, state);
    state.user_context = function->getArg(0);
    bool task = type->getNumParams() == 5;
    if (task) state.task_parent = function->getArg(4);
    restore(closure, function->getArg(task ? 3 : 2));
    if (index.defined()) f->variables[index] = function->getArg(1);
    host().crowded = is_crowded(body);
    run_function_body(body);
    end_function();
    f = outer;
    return function;
}

void HostEmitter::parallel_loop(const For &loop) {
    Value *min, *extent;
    {
        MemoScope forget(*this);
        min = b.CreateTrunc(coordinate(loop.min), b.getInt32Ty());
        extent = b.CreateTrunc(coordinate(loop.extent), b.getInt32Ty());
    }
    auto *ptr = b.getPtrTy();
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {ptr, b.getInt32Ty(), ptr}, false);
    Closure closure = capture(loop.body);
    llvm::Function *body = outline(closure, loop.body, loop.name, type, "par_for");
    fail_unless_zero(call_runtime("tessera_do_par_for", b.getInt32Ty(),
                                  {host().user_context, body, min, extent, closure.pointer}));
}

// In a function of its own: LLVM takes more than linear time for a large one.
void HostEmitter::loop_elsewhere(const For &loop) {
    auto *ptr = b.getPtrTy();
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {ptr, b.getInt32Ty(), ptr}, false);
    Stmt whole(&loop);
    Closure closure = capture(whole);
    llvm::Function *function = outline(closure, whole, Symbol(), type, "loop");
    fail_unless_zero(b.CreateCall(function, {host().user_context, int32(0), closure.pointer}));
}

// Reads the addresses of all buffers that the body uses, once, before the loop.
void HostEmitter::hoist_base_pointers(const Stmt &body) {
    for (Symbol s : accessed_buffers(body)) {
        auto found = f->buffers.find(s);
        if (found == f->buffers.end() || found->second.base) continue;
        found->second.base = base_pointer(s);
    }
}

void HostEmitter::loop_here(const For &loop) {
    bool around = std::exchange(host().crowded, is_crowded(loop.body));
    serial_loop(loop);
    host().crowded = around;
}

void HostEmitter::loop(const For &node) {
    bool crowded = host().crowded && !in_atomic && !host().task_parent;
    if (crowded && node.loop_kind == LoopKind::Serial) return loop_elsewhere(node);
    bool outermost = !host().hoisted_base_pointers;
    std::unordered_map<Symbol, Storage> before;
    if (outermost) {
        before = f->buffers;
        hoist_base_pointers(node.body);
        host().hoisted_base_pointers = true;
    }
    switch (node.loop_kind) {
    case LoopKind::Serial: loop_here(node); break;
    case LoopKind::Parallel: parallel_loop(node); break;
    case LoopKind::Vectorized:
    case LoopKind::Unrolled: refuse_loop(node);
    }
    if (outermost) {
        f->buffers = std::move(before);
        host().hoisted_base_pointers = false;
    }
}

// Each statement is a task of one iteration.
void HostEmitter::fork(const Fork &node) {
    auto *ptr = b.getPtrTy();
    auto *i32 = b.getInt32Ty();
    auto *type = llvm::FunctionType::get(i32, {ptr, i32, i32, ptr, ptr}, false);
    // tessera_parallel_task_t
    auto *task_type =
        llvm::StructType::get(context, {ptr, ptr, ptr, ptr, i32, i32, i32, i32, b.getInt8Ty()});
    auto *tasks = stack_slot(llvm::ArrayType::get(task_type, node.stmts.size()), 1, 16);
    auto *none = llvm::ConstantPointerNull::get(ptr);
    for (size_t i = 0; i < node.stmts.size(); i++) {
        Closure closure = capture(node.stmts[i]);
        llvm::Function *body = outline(closure, node.stmts[i], Symbol(), type, "task");
        Value *members[] = {body,     closure.pointer, string_constant(body->getName().str()),
                            none,     int32(0),        int32(0),
                            int32(1), int32(1),        b.getInt8(1)};
        Value *task = b.CreateConstGEP1_64(task_type, tasks, i);
        for (unsigned member = 0; member < std::size(members); member++) {
            b.CreateStore(members[member], b.CreateStructGEP(task_type, task, member));
        }
    }
    Value *parent = host().task_parent ? host().task_parent : none;
    fail_unless_zero(
        call_runtime("tessera_do_parallel_tasks", b.getInt32Ty(),
                     {host().user_context, int32(int64_t(node.stmts.size())), tasks, parent}));
}

void HostEmitter::acquire(const Acquire &node) {
    {
        MemoScope forget(*this);
        Value *semaphore = value(node.semaphore);
        Value *count = cast(value(node.count), node.count.type(), Int(32));
        fail_unless_zero(call_runtime("tessera_semaphore_acquire", b.getInt32Ty(),
                                      {host().user_context, semaphore, count}));
    }
    run(node.body);
}

void HostEmitter::run_locked(const Atomic &node, const Expr &place) {
    Value *mutexes, *index;
    {
        MemoScope forget(*this);
        mutexes = emit(*Variable::make(Handle(), node.mutexes).as<Variable>());
        index = cast(value(place), place.type(), UInt(64));
    }
    fail_unless_zero(call_runtime("tessera_mutex_array_lock", b.getInt32Ty(), {mutexes, index}));
    with_cleanup(
        [this, mutexes, index] {
            call_runtime("tessera_mutex_array_unlock", b.getInt32Ty(), {mutexes, index});
        },
        [&] { run(node.body); });
}

}  // namespace tessera::codegen
