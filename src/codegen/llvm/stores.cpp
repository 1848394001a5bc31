#include "codegen/llvm/emitter.h"
#include "codegen/llvm/indices.h"

namespace tessera::codegen {

void Emitter::emit(const Store &node) {
    MemoScope forget(*this);
    if (in_atomic && atomic_store(node)) return;
    const auto *uniform = node.predicate.defined() ? node.predicate.as<Broadcast>() : nullptr;
    if (uniform && uniform->value.type().is_scalar() && !uniform->value.as<UIntImm>()) {
        Stmt plain = node.with<&Store::predicate>(Expr());
        branch(value(uniform->value), [&] { run(plain); }, nullptr);
        return;
    }
    Value *v = value(node.value);
    if (target.has_feature(Target::FuzzFloatStores)) v = without_last_bit(v, node.value.type());
    store_value(node, v);
}

// A float that differs a little from what was computed: with Target::FuzzFloatStores, whoever
// compares floats bit by bit finds out.
Value *Emitter::without_last_bit(Value *v, Type t) {
    if (!t.is_float()) return v;
    Type bits = UInt(t.bits(), t.lanes());
    Value *kept = b.CreateAnd(b.CreateBitCast(v, register_type(bits)), int_constant(bits, -2));
    return b.CreateBitCast(kept, register_type(t));
}

void Emitter::store_value(const Store &node, Value *v) {
    const auto *ramp = node.index.as<Ramp>();
    Value *mask = predicate(node.predicate);
    if (node.index.type().is_scalar()) {
        auto store = [&] { store_dense(node, node.index, v, nullptr); };
        return mask ? branch(mask, store, nullptr) : store();
    }
    if (is_dense(node.index)) return store_dense(node, ramp->base, v, mask);
    if (ramp && ramp->base.type().is_scalar() && !mask) return store_lanes(node, *ramp, v);
    store_each(node, coordinate(node.index), v, mask);
}

void Emitter::store_dense(const Store &node, const Expr &first, Value *v, Value *mask) {
    Type t = node.value.type().element_of();
    Value *pointer = element_pointer(node.buffer, t, first);
    const llvm::Align align = alignment_of(node.buffer, t, node.alignment);
    if (mask && is_whole_in_slot(node.buffer, t, first, node.value.type().lanes())) {
        Expr old = Load::make(node.value.type(), node.buffer, node.index);
        v = select(mask, v,
                   load_chunk(*old.as<Load>(), pointer, align, old.type().lanes(), nullptr));
        mask = nullptr;
    }
    store_chunk(node, pointer, align, v, mask);
}

void Emitter::store_chunk(const Store &node, Value *pointer, llvm::Align align, Value *v,
                          Value *mask) {
    v = to_memory(v, node.value.type());
    if (mask) {
        tagged(b.CreateMaskedStore(v, pointer, align, mask), node.buffer);
    } else if (node.streaming) {
        store_streaming(node, pointer, align, v);
    } else {
        tagged(b.CreateAlignedStore(v, pointer, align), node.buffer);
    }
}

// The machine streams whole aligned vectors only: where that is not known it is asked for.
void Emitter::store_streaming(const Store &node, Value *pointer, llvm::Align align, Value *v) {
    uint64_t bytes = module.getDataLayout().getTypeStoreSize(v->getType());
    uint64_t wanted = streaming_alignment(bytes);
    auto stream = [&] {
        streamed(tagged(b.CreateAlignedStore(v, pointer, llvm::Align(wanted)), node.buffer));
        f->streams_stores = true;
    };
    auto plain = [&] { tagged(b.CreateAlignedStore(v, pointer, align), node.buffer); };
    if (align.value() >= wanted) return stream();
    if (bytes < 16) return plain();
    branch(is_aligned(pointer, wanted), stream, plain);
}

// In the order of the lanes: of several at one place the last one stays.
void Emitter::store_lanes(const Store &node, const Ramp &index, Value *v) {
    Type t = node.value.type(), element = t.element_of();
    v = to_memory(v, t);
    Value *first = element_pointer(node.buffer, element, index.base);
    llvm::Align align(uint64_t(t.bytes()));
    for (int i = 0; i < t.lanes(); i++) {
        Value *pointer = lane_pointer(first, element, index.stride, i);
        tagged(b.CreateAlignedStore(b.CreateExtractElement(v, uint64_t(i)), pointer, align),
               node.buffer);
    }
}

// The same for any places.
void Emitter::store_each(const Store &node, Value *index, Value *v, Value *mask) {
    Type t = node.value.type();
    v = to_memory(v, t);
    Value *base = base_pointer(node.buffer);
    llvm::Type *element = memory_type(t.element_of());
    llvm::Align align(uint64_t(t.bytes()));
    if (mask) {
        Value *pointers = b.CreateGEP(element, base, index);
        tagged(b.CreateMaskedScatter(v, pointers, align, mask), node.buffer);
        return;
    }
    for (int i = 0; i < t.lanes(); i++) {
        Value *pointer = b.CreateGEP(element, base, b.CreateExtractElement(index, uint64_t(i)));
        tagged(b.CreateAlignedStore(b.CreateExtractElement(v, uint64_t(i)), pointer, align),
               node.buffer);
    }
}

}  // namespace tessera::codegen
