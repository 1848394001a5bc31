#include "codegen/llvm/patterns.h"

namespace tessera::codegen {

Emitter::Emitter(llvm::Module &module, const Target &target, const Architecture &architecture)
    : Values(module, target, architecture), metadata(context),
      alias_root(metadata.createTBAARoot("tessera")) {
    patterns = architecture.patterns(*this);
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

}  // namespace tessera::codegen
