#include "codegen/host/host_emitter.h"
#include "codegen/statements.h"
#include "ir/operators.h"
#include <optional>
#include <set>

namespace tessera::codegen {
// An Invoke hands over a struct of those of its arguments that are no constants.
struct HostEmitter::Closure {
    // An argument as it is known where the Invoke stands.
    struct Given {
        Value *scalar = nullptr;
        // Coordinates go over in 64 bits: a part of a sum that fits may itself not fit into 32
        // (`y * 512` and `-y.min * 512`), and one that was wide outside must be wide inside.
        std::optional<WideCoordinate> wide;
        std::optional<BufferValues> storage;
    };
    const LoweredFunction &function;
    Symbol index;  // the variable of the loop that runs it, which is no part of the struct
    std::vector<Given> given;
    std::vector<Value *> members;
    llvm::StructType *type = nullptr;
    Value *pointer = nullptr;
};

HostEmitter::Closure HostEmitter::closure_of(const Invoke &node, Symbol index) {
    MemoScope forget(*this);
    Closure closure{lowered->function(node.function), index, {}, {}};
    std::set<Value *> seen;
    auto pass = [&](Value *v) {
        if (v && !llvm::isa<llvm::Constant>(v) && seen.insert(v).second) {
            closure.members.push_back(v);
        }
    };
    for (size_t i = 0; i < node.args.size(); i++) {
        const Argument &a = closure.function.args[i];
        Closure::Given &given = closure.given.emplace_back();
        if (a.name == index) continue;
        if (a.kind == ArgumentKind::Storage) {
            const Symbol buffer = address_taken(node.args[i]).buffer;
            given.storage = storage(buffer);
            given.storage->base = base_pointer(buffer);
            pass(given.storage->base);
            continue;
        }
        const auto *variable = node.args[i].as<Variable>();
        auto known = variable ? f->wide_variables.find(variable->name) : f->wide_variables.end();
        if (known != f->wide_variables.end()) {
            given.wide = known->second;
            pass(known->second.part);
            continue;
        }
        given.scalar = value(node.args[i]);
        pass(given.scalar);
    }
    std::vector<llvm::Type *> types;
    for (Value *v : closure.members) types.push_back(v->getType());
    closure.type = llvm::StructType::get(context, types);
    closure.pointer = stack_slot(closure.type, 1, 16);
    for (size_t i = 0; i < types.size(); i++) {
        b.CreateStore(closure.members[i],
                      b.CreateStructGEP(closure.type, closure.pointer, unsigned(i)));
    }
    return closure;
}

// Gives the function's arguments the values that they have where it is invoked.
void HostEmitter::bind(const Closure &closure, llvm::Function *function) {
    const bool is_task = closure.function.kind == FunctionKind::Task;
    Value *pointer = function->getArg(is_task ? 3 : 2);
    host().user_context = function->getArg(0);
    if (is_task) host().task_parent = function->getArg(4);
    if (closure.index.defined()) f->variables[closure.index] = function->getArg(1);
    std::unordered_map<Value *, Value *> members;
    for (size_t i = 0; i < closure.members.size(); i++) {
        Value *member = b.CreateStructGEP(closure.type, pointer, unsigned(i));
        members[closure.members[i]] = b.CreateLoad(closure.members[i]->getType(), member);
    }
    auto here = [&](Value *v) {
        auto found = members.find(v);
        return found == members.end() ? v : found->second;
    };
    for (size_t i = 0; i < closure.given.size(); i++) {
        const Symbol name = closure.function.args[i].name;
        const Closure::Given &given = closure.given[i];
        if (given.scalar) f->variables[name] = here(given.scalar);
        if (given.wide) {
            const WideCoordinate wide = {here(given.wide->part), given.wide->offset};
            f->wide_variables[name] = wide;
            f->variables[name] = b.CreateTrunc(wide_value(wide), b.getInt32Ty());
        }
        if (given.storage) {
            BufferValues &s = f->buffers[name] = *given.storage;
            s.base = here(s.base);
            auto own_struct = f->variables.find(name);  // an argument before this one
            const bool has_struct = s.descriptor && own_struct != f->variables.end();
            s.descriptor = has_struct ? own_struct->second : nullptr;
        }
    }
}

// The function of an Invoke, for one that has such a closure:
//     function(user_context, index, closure)
//     function(user_context, min, extent, closure, task_parent), of a task
llvm::Function *HostEmitter::define_invoked(const Closure &closure) {
    const LoweredFunction &callee = closure.function;
    auto *ptr = b.getPtrTy();
    auto *i32 = b.getInt32Ty();
    auto *type = callee.kind == FunctionKind::Task
                     ? llvm::FunctionType::get(i32, {ptr, i32, i32, ptr, ptr}, false)
                     : llvm::FunctionType::get(i32, {ptr, i32, ptr}, false);
    auto *function =
        llvm::Function::Create(type, llvm::Function::InternalLinkage, callee.name, module);
    llvm::IRBuilder<>::InsertPointGuard keep(b);
    FreshMemo memo_of_its_own(*this);
    FunctionState *outer = f;
    HostFunction state;
    begin_function(function, state);
    bind(closure, function);
    run_function_body(callee.body);
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
    const Closure closure = closure_of(invoked(loop.body), loop.name);
    llvm::Function *body = define_invoked(closure);
    fail_unless_zero(call_runtime("tessera_do_par_for", b.getInt32Ty(),
                                  {host().user_context, body, min, extent, closure.pointer}));
}

void HostEmitter::invoke(const Invoke &node) {
    const LoweredFunction &callee = lowered->function(node.function);
    if (callee.kind == FunctionKind::Kernel) return launch(callee, node);
    const Closure closure = closure_of(node);
    llvm::Function *function = define_invoked(closure);
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

void HostEmitter::loop(const For &node) {
    bool outermost = !host().hoisted_base_pointers;
    std::unordered_map<Symbol, BufferValues> before;
    if (outermost) {
        before = f->buffers;
        hoist_base_pointers(node.body);
        host().hoisted_base_pointers = true;
    }
    switch (node.loop_kind) {
    case LoopKind::Serial: serial_loop(node); break;
    case LoopKind::Parallel: parallel_loop(node); break;
    case LoopKind::Vectorized:
    case LoopKind::Unrolled:
    case LoopKind::GPUCluster:
    case LoopKind::GPUBlock:
    case LoopKind::GPUThread:
    case LoopKind::GPULane:
    case LoopKind::GPUWarp:
    case LoopKind::GPUWarpgroup:
    case LoopKind::Tensorized: refuse_loop(node);
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
    // tessera_parallel_task_t
    auto *task_type =
        llvm::StructType::get(context, {ptr, ptr, ptr, ptr, i32, i32, i32, i32, b.getInt8Ty()});
    auto *tasks = stack_slot(llvm::ArrayType::get(task_type, node.stmts.size()), 1, 16);
    auto *none = llvm::ConstantPointerNull::get(ptr);
    for (size_t i = 0; i < node.stmts.size(); i++) {
        const Closure closure = closure_of(invoked(node.stmts[i]));
        llvm::Function *body = define_invoked(closure);
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
