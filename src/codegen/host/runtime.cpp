#include "codegen/host/host_emitter.h"
#include "codegen/statements.h"
#include "lower/finish/runtime_calls.h"

namespace tessera::codegen {
namespace {

// Room for the text of one value: a double may have 309 digits before the point.
uint64_t longest_text(const Expr &e) {
    if (const auto *s = e.as<StringImm>()) return s->value.size();
    return e.type().is_handle() ? 1024 : uint64_t(e.type().lanes()) * 336;
}

bool is_text(const Expr &e) {
    const auto *call = e.as<IntrinsicCall>();
    return e.as<StringImm>() || (call && call->op == Intrinsic::stringify);
}

}  // namespace

Value *HostEmitter::host_call(const IntrinsicCall &c) {
    switch (c.op) {
#define CASE(name)                                                                                 \
    case Intrinsic::name: return host_##name(c);
        TESSERA_HOST_INTRINSICS(CASE)
#undef CASE
#define CASE(name) case Intrinsic::name:
        TESSERA_DEVICE_INTRINSICS(CASE)
#undef CASE
        throw InternalError(str(info_of(c.op).name, " outside of a kernel"));
    default: return runtime_call(c);
    }
}

Value *HostEmitter::call_runtime(const char *name, llvm::Type *result,
                                 const std::vector<Value *> &args) {
    std::vector<llvm::Type *> types;
    for (Value *v : args) types.push_back(v->getType());
    auto callee = module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    auto *function = llvm::dyn_cast<llvm::Function>(callee.getCallee());
    if (function) function->addFnAttr(llvm::Attribute::NoUnwind);
    return b.CreateCall(callee, args);
}

llvm::FunctionCallee HostEmitter::extern_function(const std::string &name, Type result,
                                                  const std::vector<Type> &args, bool pure) {
    std::vector<llvm::Type *> types;
    bool reads_memory = false;
    for (Type t : args) {
        types.push_back(c_type(t));
        reads_memory |= t.is_handle();
    }
    auto *type = llvm::FunctionType::get(c_type(result), types, false);
    if (pipelines.count(name)) {
        throw CompileError(str("the compiled function ", name,
                               " would take the place of the C "
                               "function of that name, which it calls; give it another name"));
    }
    bool is_new = !module.getFunction(name);
    llvm::FunctionCallee callee = module.getOrInsertFunction(name, type);
    auto *function = llvm::dyn_cast<llvm::Function>(callee.getCallee());
    if (!is_new || !function) return callee;
    function->addFnAttr(llvm::Attribute::NoUnwind);
    add_extension(function, -1, result);
    for (size_t i = 0; i < args.size(); i++) add_extension(function, int(i), args[i]);
    if (pure) {
        function->setMemoryEffects(reads_memory ? llvm::MemoryEffects::readOnly()
                                                : llvm::MemoryEffects::none());
        function->addFnAttr(llvm::Attribute::WillReturn);
    }
    return callee;
}

// Writes the text of a value at `at`; gives where it ends.
Value *HostEmitter::append_text(Value *at, Value *end, Value *v, Type t, bool text) {
    auto *ptr = b.getPtrTy();
    if (t.is_handle()) {
        const char *name = text ? "tessera_string_to_string" : "tessera_pointer_to_string";
        return call_runtime(name, ptr, {at, end, v});
    }
    if (t.is_float()) {
        Value *wide = cast(v, t, Float(64));
        return call_runtime("tessera_double_to_string", ptr,
                            {at, end, wide, int32(t.bits() == 64)});
    }
    if (t.is_bool()) {
        Value *word = b.CreateSelect(v, string_constant("true"), string_constant("false"));
        return call_runtime("tessera_string_to_string", ptr, {at, end, word});
    }
    const char *name = t.is_int() ? "tessera_int64_to_string" : "tessera_uint64_to_string";
    Value *wide = cast(v, t, t.with_bits(64));
    return call_runtime(name, ptr, {at, end, wide, int32(1)});
}

Value *HostEmitter::text_of(const std::vector<Expr> &parts) {
    impure_calls++;
    uint64_t size = 1;
    for (const Expr &e : parts) size += longest_text(e);
    auto *buffer = stack_slot(b.getInt8Ty(), size, 1);
    Value *end = b.CreateConstGEP1_64(b.getInt8Ty(), buffer, size);
    b.CreateStore(b.getInt8(0), buffer);
    Value *at = buffer;
    for (const Expr &e : parts) {
        Value *v = value(e);
        int lanes = e.type().lanes();
        auto literal = [&](const char *s) {
            at = append_text(at, end, string_constant(s), Handle(), true);
        };
        if (lanes > 1) literal("<");
        for (int i = 0; i < lanes; i++) {
            if (i > 0) literal(", ");
            Value *lane = lanes > 1 ? slice(v, i, 1, 1) : v;
            at = append_text(at, end, lane, e.type().element_of(), is_text(e));
        }
        if (lanes > 1) literal(">");
    }
    return buffer;
}

Value *HostEmitter::host_require(const IntrinsicCall &c) {
    Value *holds = all_lanes(arg(c, 0));
    check(holds, {"require_failed", "required"}, [&] { fail_assertion(requirement_failed(c)); });
    return arg(c, 1);
}

Value *HostEmitter::host_user_context(const IntrinsicCall &) { return host().user_context; }
Value *HostEmitter::host_stringify(const IntrinsicCall &c) { return text_of(c.args); }

Value *HostEmitter::host_alloca(const IntrinsicCall &c) {
    auto *size = llvm::dyn_cast<llvm::ConstantInt>(arg(c, 0));
    if (!size) throw InternalError("alloca of a size that is not constant");
    impure_calls++;
    auto *slot = stack_slot(b.getInt8Ty(), std::max<uint64_t>(1, size->getZExtValue()), 16);
    b.CreateMemSet(slot, b.getInt8(0), size, llvm::MaybeAlign(16));
    return slot;
}

Value *HostEmitter::runtime_call(const IntrinsicCall &c) {
    const bool is_signal = c.op == Intrinsic::semaphore_release;
    if (is_signal && f->streams_stores) architecture.fence_streamed_stores(b);
    return value(lower::as_c_call(c));
}

}  // namespace tessera::codegen
