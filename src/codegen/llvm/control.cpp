#include "codegen/llvm/emitter.h"
#include "codegen/statements.h"
#include "ir/operators.h"
#include "lower/finish/runtime_calls.h"

namespace tessera::codegen {

void Emitter::run(const Stmt &s) { dispatch(s); }

void Emitter::dispatch(const Stmt &s) {
    switch (s.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return emit(static_cast<const T &>(*s.get()));
        TESSERA_STMT_NODES(CASE)
#undef CASE
    default: throw InternalError("code generation met a statement of unknown kind");
    }
}

void Emitter::emit(const Provide &node) { refuse_statement("Provide", node.func.text()); }
void Emitter::emit(const Realize &node) { refuse_statement("Realize", node.func.text()); }
void Emitter::emit(const HoistedStorage &node) {
    refuse_statement("HoistedStorage", node.func.text());
}
void Emitter::emit(const Prefetch &node) { refuse_statement("Prefetch", node.name.text()); }

void Emitter::emit(const ProducerConsumer &node) { run(node.body); }
void Emitter::emit(const For &node) { loop(node); }
void Emitter::emit(const Fork &node) { fork(node); }
void Emitter::emit(const Acquire &node) { acquire(node); }
void Emitter::emit(const Invoke &node) { invoke(node); }
void Emitter::emit(const MachineOp &node) { machine_op(node); }

void Emitter::emit(const Block &node) {
    for (const Stmt &s : node.stmts) run(s);
}

void Emitter::emit(const Evaluate &node) {
    MemoScope forget(*this);
    value(node.value);
}

// A chain of lets is walked in a loop: it may be thousands long.
void Emitter::emit(const LetStmt &first) {
    std::vector<Symbol> bound;
    size_t lets_before = atomic_lets.size();
    Stmt body;
    Expr ends;
    // An impure let has no value of its own in an Atomic, and so nothing that uses it has.
    auto needs_unbound = [&](const Expr &e) {
        return uses_unbound(e, atomic_lets, [&](Symbol s) { return f->variables.contains(s); });
    };
    for (const LetStmt *let = &first; let; let = body.as<LetStmt>()) {
        // A store in an Atomic computes anew what its value is made of, as often as it has to.
        if (in_atomic) atomic_lets.emplace_back(let->name, let->value);
        if (!in_atomic || (is_pure(let->value) && !needs_unbound(let->value))) {
            MemoScope forget(*this);
            f->variables[let->name] = bound_value(let->name, let->value);
            bind_wide(let->name, let->value);
            bound.push_back(let->name);
        }
        body = let->body;
        ends = in_atomic ? Expr() : lower::end_of_scope(*let);
        if (ends.defined()) break;
    }
    if (ends.defined()) {
        with_cleanup(
            [this, ends] {
                MemoScope forget(*this);
                value(ends);
            },
            [&] { run(body); });
    } else {
        run(body);
    }
    for (Symbol s : bound) {
        f->variables.erase(s);
        f->wide_variables.erase(s);
        f->buffers.erase(s);
    }
    atomic_lets.resize(lets_before);
}

void Emitter::emit(const AssertStmt &node) {
    MemoScope forget(*this);
    Value *holds = all_lanes(value(node.condition));
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(holds); c && c->isOne()) return;
    check(holds, {"assert_failed", "assert_ok"}, [&] { fail_assertion(node.message); });
}

void Emitter::check(Value *holds, const CheckNames &blocks, const std::function<void()> &fail) {
    llvm::BasicBlock *failed = new_block(blocks.failed), *ok = new_block(blocks.ok);
    b.CreateCondBr(holds, ok, failed, metadata.createLikelyBranchWeights());
    start(failed);
    {
        MemoScope only_here(*this);
        fail();
    }
    start(ok);
}

void Emitter::branch(Value *condition, const std::function<void()> &then_case,
                     const std::function<void()> &else_case) {
    llvm::BasicBlock *yes = new_block("then"), *after = new_block("after");
    llvm::BasicBlock *no = else_case ? new_block("else") : after;
    b.CreateCondBr(condition, yes, no);
    start(yes);
    {
        MemoScope forget(*this);
        then_case();
    }
    b.CreateBr(after);
    if (else_case) {
        start(no);
        MemoScope forget(*this);
        else_case();
        b.CreateBr(after);
    }
    start(after);
}

Value *Emitter::choose(Value *condition, const std::function<Value *()> &then_value,
                       const std::function<Value *()> &else_value) {
    Value *yes = nullptr, *no = nullptr;
    llvm::BasicBlock *yes_block = nullptr, *no_block = nullptr;
    branch(
        condition,
        [&] {
            yes = then_value();
            yes_block = b.GetInsertBlock();
        },
        [&] {
            no = else_value();
            no_block = b.GetInsertBlock();
        });
    auto *result = b.CreatePHI(yes->getType(), 2);
    result->addIncoming(yes, yes_block);
    result->addIncoming(no, no_block);
    return result;
}

void Emitter::emit(const IfThenElse &node) {
    Value *condition;
    {
        MemoScope forget(*this);
        condition = all_lanes(value(node.condition));
    }
    std::function<void()> otherwise;
    if (node.else_case.defined()) otherwise = [&] { run(node.else_case); };
    branch(condition, [&] { run(node.then_case); }, otherwise);
}

// ---- Loops ----

// Tests at the end; whether it runs at all is tested before it.
void Emitter::counted_loop(Value *min, Value *extent, const std::function<void(Value *)> &body) {
    llvm::Type *type = min->getType();
    auto *zero = llvm::ConstantInt::get(type, 0), *one = llvm::ConstantInt::get(type, 1);
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(extent);
    if (constant && constant->getSExtValue() <= 0) return;
    llvm::BasicBlock *before = b.GetInsertBlock();
    llvm::BasicBlock *loop = new_block("loop"), *after = new_block("after_loop");
    Value *end = b.CreateAdd(min, extent, "", false, true);
    if (constant) {
        b.CreateBr(loop);
    } else {
        b.CreateCondBr(b.CreateICmpSGT(extent, zero), loop, after);
    }
    start(loop);
    auto *i = b.CreatePHI(type, 2);
    i->addIncoming(min, before);
    body(i);
    Value *next = b.CreateAdd(i, one, "", false, true);
    i->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpNE(next, end), loop, after);
    start(after);
}

// Counts in numbers as wide as an address, if it counts coordinates.
void Emitter::serial_loop(const For &loop) {
    Value *min, *extent;
    {
        MemoScope forget(*this);
        const bool are_wide = is_wide(loop.min) && is_wide(loop.extent);
        min = are_wide ? wide_value(wide(loop.min)) : coordinate(loop.min);
        extent = are_wide ? wide_value(wide(loop.extent)) : coordinate(loop.extent);
    }
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(extent);
    auto iteration = [&](Value *index) { run_iteration(loop, index); };
    if (constant && constant->isOne()) return iteration(min);
    counted_loop(min, extent, iteration);
}

void Emitter::run_iteration(const For &loop, Value *index) {
    llvm::Type *type = register_type(loop.min.type());
    if (index->getType() != type) {
        f->wide_variables[loop.name] = {index, 0};
        index = b.CreateTrunc(index, type);
    }
    f->variables[loop.name] = index;
    run(loop.body);
    f->variables.erase(loop.name);
    f->wide_variables.erase(loop.name);
}

}  // namespace tessera::codegen
