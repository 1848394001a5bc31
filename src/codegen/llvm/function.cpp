#include "codegen/compile.h"
#include "codegen/llvm/patterns.h"
#include "codegen/statements.h"
#include "ir/operators.h"
#include "ir/visitor.h"

namespace tessera::codegen {

Emitter::Emitter(llvm::Module &module, const Target &target)
    : context(module.getContext()), module(module), target(target.with_implied_features()),
      architecture(architecture_of(target)), patterns(architecture.patterns(*this)),
      target_text(target.to_string()), b(context), metadata(context) {
    if (!target.has_feature(Target::StrictFloat)) {
        fast_flags.setAllowContract();
        fast_flags.setNoSignedZeros();
    }
    b.setFastMathFlags(fast_flags);
    alias_root = metadata.createTBAARoot("tessera");
}

Emitter::~Emitter() = default;

void Emitter::emit_module(const ir::Module &m) {
    std::vector<llvm::Function *> declared;
    for (const LoweredFunction &function : m.functions) {
        declared.push_back(declare(function));
        pipelines.insert(link_names(function, target).function);
    }
    for (size_t i = 0; i < m.functions.size(); i++) {
        define(m.functions[i], declared[i]);
        define_argv(m.functions[i], declared[i]);
        if (!in_this_process()) define_metadata(m.functions[i]);
    }
}

void Emitter::add_target_attributes(llvm::Function *function) {
    function->addFnAttr("target-cpu", architecture.cpu());
    function->addFnAttr("tune-cpu", architecture.tuning(target));
    function->addFnAttr("target-features", architecture.features(target));
    function->addFnAttr("prefer-vector-width", "512");
    function->addFnAttr(llvm::Attribute::NoUnwind);
}

void Emitter::begin_function(llvm::Function *function, FunctionState &state) {
    add_target_attributes(function);
    state.function = function;
    state.entry = llvm::BasicBlock::Create(context, "entry", function);
    f = &state;
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "body", function));
}

// Returns 0 from where the writing stands; the entry goes on to the body.
void Emitter::end_function() {
    if (f->streams_stores) architecture.fence_streamed_stores(b);
    b.CreateRet(int32(0));
    b.SetInsertPoint(f->entry);
    b.CreateBr(f->entry->getNextNode());
}

void Emitter::bind_argument(const Argument &argument, Value *value) {
    if (argument.kind == ArgumentKind::Scalar) {
        f->variables[argument.name] = value;
        return;
    }
    f->variables[argument.name] = value;
    Storage s;
    s.descriptor = value;
    f->buffers[argument.name] = s;
}

void Emitter::define(const LoweredFunction &lowered, llvm::Function *function) {
    FunctionState state;
    begin_function(function, state);
    bind_arguments(lowered, function);
    f->crowded = is_crowded(lowered.body);
    coordinates = Coordinates(lowered.body);
    for_each_node(lowered.body, [&](const IntrinsicCall &c) {
        if (c.op == Intrinsic::free) freed_early.insert(address_taken(c.args[0]).buffer);
    });
    run_function_body(lowered.body);
    end_function();
    f = nullptr;
}

llvm::BasicBlock *Emitter::new_block(const char *name) {
    return llvm::BasicBlock::Create(context, name, f->function);
}

void Emitter::start(llvm::BasicBlock *block) { b.SetInsertPoint(block); }

// In the entry block, so that it exists once, however often the code that uses it runs.
llvm::AllocaInst *Emitter::stack_slot(llvm::Type *type, uint64_t count, uint64_t alignment) {
    llvm::IRBuilder<> at_entry(f->entry);
    auto *slot = at_entry.CreateAlloca(type, count == 1 ? nullptr : at_entry.getInt64(count));
    if (slot->getAlign().value() < alignment) slot->setAlignment(llvm::Align(alignment));
    return slot;
}

// The block that undoes the innermost `depth` cleanups and returns the code; `from` comes to it.
llvm::BasicBlock *Emitter::unwind_block(size_t depth, Value *code, llvm::BasicBlock *from) {
    if (depth == 0) {
        llvm::BasicBlock *block = new_block("return_error");
        llvm::IRBuilder<>::InsertPointGuard keep(b);
        start(block);
        b.CreateRet(code);
        return block;
    }
    Cleanup &cleanup = f->cleanups[depth - 1];
    if (!cleanup.block) {
        cleanup.block = new_block("unwind");
        llvm::IRBuilder<>::InsertPointGuard keep(b);
        start(cleanup.block);
        cleanup.code = b.CreatePHI(b.getInt32Ty(), 2);
        cleanup.emit();
        llvm::BasicBlock *here = b.GetInsertBlock();
        llvm::BasicBlock *outer = unwind_block(depth - 1, f->cleanups[depth - 1].code, here);
        b.CreateBr(outer);
    }
    f->cleanups[depth - 1].code->addIncoming(code, from);
    return f->cleanups[depth - 1].block;
}

void Emitter::fail(Value *code) {
    b.CreateBr(unwind_block(f->cleanups.size(), code, b.GetInsertBlock()));
}

void Emitter::fail_unless_zero(Value *code) {
    llvm::BasicBlock *failed = new_block("failed"), *ok = new_block("ok");
    b.CreateCondBr(b.CreateICmpEQ(code, int32(0)), ok, failed,
                   metadata.createLikelyBranchWeights());
    start(failed);
    fail(code);
    start(ok);
}

void Emitter::with_cleanup(const std::function<void()> &undo, const std::function<void()> &body) {
    f->cleanups.push_back({undo, nullptr, nullptr});
    body();
    f->cleanups.pop_back();
    undo();
}

// Growing places are freed at the end, in whatever way that is reached: how many there are is known
// only when all has been written.
void Emitter::run_function_body(const Stmt &body) {
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
