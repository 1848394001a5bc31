#include "codegen/compile.h"
#include "codegen/host/host_emitter.h"
#include "codegen/statements.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "program/parameter.h"

namespace tessera::codegen {

HostEmitter::HostEmitter(llvm::Module &module, const Target &target)
    : HostEmitter(module, target, architecture_of(target)) {}

HostEmitter::HostEmitter(llvm::Module &module, const Target &target,
                         const Architecture &architecture)
    : Emitter(module, target, architecture), target_text(target.to_string()) {}

void HostEmitter::emit_module(const ir::Module &m, const DeviceCode &code) {
    lowered = &m;
    device_code = &code;
    std::vector<std::pair<const LoweredFunction *, llvm::Function *>> declared;
    for (const LoweredFunction &function : m.functions) {
        if (!function.is_pipeline()) continue;
        declared.emplace_back(&function, declare(function));
        pipelines.insert(link_names(function, target).function);
    }
    for (auto [pipeline, function] : declared) {
        define(*pipeline, function);
        define_argv(*pipeline, function);
        if (!in_this_process()) define_metadata(*pipeline);
    }
}

// Returns 0 from where the writing stands; the entry goes on to the body.
void HostEmitter::end_function() {
    if (f->streams_stores) architecture.fence_streamed_stores(b);
    b.CreateRet(int32(0));
    b.SetInsertPoint(f->entry);
    b.CreateBr(f->entry->getNextNode());
}

void HostEmitter::bind_argument(const Argument &argument, Value *value) {
    if (argument.kind == ArgumentKind::Scalar) {
        f->variables[argument.name] = value;
        return;
    }
    f->variables[argument.name] = value;
    BufferValues s;
    s.descriptor = value;
    const program::Parameter *promised = program::parameter_of(argument);
    if (promised && promised->host_alignment > 1) s.alignment = uint64_t(promised->host_alignment);
    f->buffers[argument.name] = s;
}

void HostEmitter::define(const LoweredFunction &pipeline, llvm::Function *function) {
    HostFunction state;
    begin_function(function, state);
    bind_arguments(pipeline, function);
    const auto functions = lowered->with_invoked(pipeline);
    coordinates = Coordinates(functions);
    for (const LoweredFunction &one : functions) find_what_is_freed_early(one.body);
    run_function_body(pipeline.body);
    end_function();
    f = nullptr;
}

void HostEmitter::find_what_is_freed_early(const Stmt &body) {
    for_each_node(body, [&](const IntrinsicCall &c) {
        if (c.op == Intrinsic::free) freed_early.insert(address_taken(c.args[0]).buffer);
    });
}

// The block that undoes the innermost `depth` cleanups and returns the code; `from` comes to it.
llvm::BasicBlock *HostEmitter::unwind_block(size_t depth, Value *code, llvm::BasicBlock *from) {
    if (depth == 0) {
        llvm::BasicBlock *block = new_block("return_error");
        llvm::IRBuilder<>::InsertPointGuard keep(b);
        start(block);
        b.CreateRet(code);
        return block;
    }
    Cleanup &cleanup = host().cleanups[depth - 1];
    if (!cleanup.block) {
        cleanup.block = new_block("unwind");
        llvm::IRBuilder<>::InsertPointGuard keep(b);
        start(cleanup.block);
        cleanup.code = b.CreatePHI(b.getInt32Ty(), 2);
        cleanup.emit();
        llvm::BasicBlock *here = b.GetInsertBlock();
        llvm::BasicBlock *outer = unwind_block(depth - 1, host().cleanups[depth - 1].code, here);
        b.CreateBr(outer);
    }
    host().cleanups[depth - 1].code->addIncoming(code, from);
    return host().cleanups[depth - 1].block;
}

void HostEmitter::fail(Value *code) {
    b.CreateBr(unwind_block(host().cleanups.size(), code, b.GetInsertBlock()));
}

void HostEmitter::fail_unless_zero(Value *code) {
    check(b.CreateICmpEQ(code, int32(0)), {"failed", "ok"}, [&] { fail(code); });
}

void HostEmitter::fail_assertion(const Expr &message) {
    Value *code = value(message);
    fail(code->getType()->isIntegerTy(32) ? code : int32(-1));
}

void HostEmitter::with_cleanup(const std::function<void()> &undo,
                               const std::function<void()> &body) {
    host().cleanups.push_back({undo, nullptr, nullptr});
    body();
    host().cleanups.pop_back();
    undo();
}

// Growing places are freed at the end, in whatever way that is reached: how many there are is known
// only when all has been written.
void HostEmitter::run_function_body(const Stmt &body) {
    if (!has_growing_places(body)) return run(body);
    std::vector<llvm::BasicBlock *> ends;
    with_cleanup([&] { ends.push_back(b.GetInsertBlock()); }, [&] { run(body); });
    for (llvm::BasicBlock *end : ends) {
        llvm::IRBuilder<>::InsertPointGuard keep(b);
        if (llvm::Instruction *jump = end->getTerminator())
            b.SetInsertPoint(jump);
        else
            start(end);
        free_places();
    }
}

}  // namespace tessera::codegen
