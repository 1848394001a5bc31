#include "codegen/llvm/indices.h"
#include "codegen/llvm/patterns.h"

namespace tessera::codegen {

Value *Emitter::emit(const Load &node) {
    if (atomic_old && node.buffer == atomic_buffer) return splat(atomic_old, node.type.lanes());
    const auto *uniform = node.predicate.defined() ? node.predicate.as<Broadcast>() : nullptr;
    if (uniform && uniform->value.type().is_scalar() && !uniform->value.as<UIntImm>()) {
        Expr plain = node.with<&Load::predicate>(Expr());
        return choose(
            value(uniform->value), [&] { return value(plain); },
            [&]() -> Value * { return llvm::Constant::getNullValue(register_type(node.type)); });
    }
    return node.type.is_scalar() ? load_scalar(node) : load_vector(node);
}

Value *Emitter::load_scalar(const Load &node) {
    auto load = [&]() -> Value * {
        Value *pointer = element_pointer(node.buffer, node.type, node.index);
        llvm::Align align = alignment_of(node.buffer, node.type, node.alignment);
        return load_chunk(node, pointer, align, 1, nullptr);
    };
    Value *wanted = predicate(node.predicate);
    if (!wanted) return load();
    return choose(wanted, load, [&]() -> Value * {
        return llvm::Constant::getNullValue(register_type(node.type));
    });
}

// Other forms of indices have become these before (lower/finish/select_accesses.h).
Value *Emitter::load_vector(const Load &node) {
    const auto *ramp = node.index.as<Ramp>();
    Value *mask = predicate(node.predicate);
    if (is_dense(node.index)) return load_dense(node, ramp->base, node.type.lanes(), mask);
    const auto *same = node.index.as<Broadcast>();
    if (same && same->value.type().is_scalar() && mask) return load_same(node, same->value, mask);
    const bool is_flat = ramp && ramp->base.type().is_scalar();
    if (is_flat && !mask) return load_lanes(node, *ramp);
    if (Value *found = mask ? nullptr : look_up(node)) return found;
    Value *index = coordinate(node.index);
    if (mask || architecture.prefers_gather(target, node.type)) return gather(node, index, mask);
    return load_each(node, index);
}

// One element for all lanes, if any of them is wanted: a gather would load it once for each.
Value *Emitter::load_same(const Load &node, const Expr &index, Value *mask) {
    const Type element = node.type.element_of();
    Value *loaded = choose(
        b.CreateOrReduce(mask),
        [&] {
            Value *pointer = element_pointer(node.buffer, element, index);
            return load_chunk(node, pointer, llvm::Align(uint64_t(element.bytes())), 1, nullptr);
        },
        [&]() -> Value * { return llvm::Constant::getNullValue(register_type(element)); });
    Value *all = b.CreateVectorSplat(unsigned(node.type.lanes()), loaded);
    return select(mask, all, llvm::Constant::getNullValue(all->getType()));
}

// The machine streams whole aligned vectors only; and not those of small elements, for LLVM 22
// crashes on a load of one or two bytes that is to be streamed, and makes such loads of parts of
// vectors.
Value *Emitter::load_streaming(const Load &node, Value *pointer, llvm::Align align, Type t) {
    auto load = [&](llvm::Align known) {
        return tagged(b.CreateAlignedLoad(memory_type(t), pointer, known), node.buffer);
    };
    auto bytes = uint64_t(t.bytes()) * uint64_t(t.lanes()), wanted = streaming_alignment(bytes);
    if (t.bytes() < 4 || bytes < 16 || !llvm::isPowerOf2_64(bytes)) return load(align);
    auto stream = [&] { return streamed(load(llvm::Align(wanted))); };
    if (align.value() >= wanted) return stream();
    // Volatile, so that LLVM does not make one of the two loads.
    auto stream_apart = [&] {
        llvm::LoadInst *streaming = stream();
        streaming->setVolatile(true);
        return streaming;
    };
    return choose(is_aligned(pointer, wanted), stream_apart, [&] { return load(align); });
}

Value *Emitter::load_chunk(const Load &node, Value *pointer, llvm::Align align, int lanes,
                           Value *mask) {
    Type t = node.type.with_lanes(lanes);
    llvm::Type *type = memory_type(t);
    if (mask) {
        auto *zero = llvm::Constant::getNullValue(type);
        return from_memory(
            tagged(b.CreateMaskedLoad(type, pointer, align, mask, zero), node.buffer), t);
    }
    if (node.streaming) return from_memory(load_streaming(node, pointer, align, t), t);
    return from_memory(tagged(b.CreateAlignedLoad(type, pointer, align), node.buffer), t);
}

Value *Emitter::load_dense(const Load &node, const Expr &first, int lanes, Value *mask) {
    if (mask && is_whole_in_slot(node.buffer, node.type, first, lanes)) {
        Value *all = load_dense(node, first, lanes, nullptr);
        return select(mask, all, llvm::Constant::getNullValue(all->getType()));
    }
    Value *pointer = element_pointer(node.buffer, node.type, first);
    return load_chunk(node, pointer, alignment_of(node.buffer, node.type, node.alignment), lanes,
                      mask);
}

// Looks up bytes that are few enough to be kept in registers. Returns null if the machine cannot
// find them there.
Value *Emitter::look_up(const Load &node) {
    constexpr int64_t register_bytes = 64, most_registers = 16;
    const int64_t size = storage(node.buffer).bytes, registers = size / register_bytes;
    const bool is_table = size > 0 && size % register_bytes == 0 && registers <= most_registers;
    // Each register costs about three instructions, each lane that is loaded by itself as many.
    if (node.type.bits() != 8 || !is_table || node.type.lanes() < 2 * registers) return nullptr;
    if (!patterns->has_byte_tables()) return nullptr;
    Value *base = base_pointer(node.buffer);
    std::vector<Value *> table;
    for (int64_t at = 0; at < size; at += register_bytes) {
        const Type part = node.type.with_lanes(int(register_bytes));
        auto *load =
            b.CreateAlignedLoad(memory_type(part), element_pointer(base, node.type, int64(at)),
                                llvm::commonAlignment(llvm::Align(64), uint64_t(at)));
        table.push_back(tagged(load, node.buffer));
    }
    const Expr index = narrower(node.index);
    return patterns->look_up(table, index.defined() ? index : node.index);
}

Value *Emitter::load_lanes(const Load &node, const Ramp &index) {
    Type element = node.type.element_of();
    Value *first = element_pointer(node.buffer, element, index.base);
    llvm::Align align(uint64_t(element.bytes()));
    Value *result = llvm::PoisonValue::get(memory_type(node.type));
    for (int i = 0; i < index.lanes; i++) {
        Value *pointer = lane_pointer(first, element, index.stride, i);
        auto *load = tagged(b.CreateAlignedLoad(memory_type(element), pointer, align), node.buffer);
        result = b.CreateInsertElement(result, load, uint64_t(i));
    }
    return from_memory(result, node.type);
}

Value *Emitter::load_each(const Load &node, Value *index) {
    Value *base = base_pointer(node.buffer);
    Type element = node.type.element_of();
    llvm::Align align(uint64_t(element.bytes()));
    if (architecture.index_bits() == 64) {  // all lanes at once become as wide as an address
        auto lanes = unsigned(node.type.lanes());
        index = b.CreateSExt(index, llvm::FixedVectorType::get(b.getInt64Ty(), lanes));
    }
    Value *result = llvm::PoisonValue::get(memory_type(node.type));
    for (int i = 0; i < node.type.lanes(); i++) {
        Value *pointer = element_pointer(base, element, b.CreateExtractElement(index, uint64_t(i)));
        auto *load = tagged(b.CreateAlignedLoad(memory_type(element), pointer, align), node.buffer);
        result = b.CreateInsertElement(result, load, uint64_t(i));
    }
    return from_memory(result, node.type);
}

Value *Emitter::gather(const Load &node, Value *index, Value *mask) {
    Value *pointers = element_pointer(base_pointer(node.buffer), node.type, index);
    llvm::Type *type = memory_type(node.type);
    llvm::Align align(uint64_t(node.type.bytes()));
    if (!mask) mask = int_constant(Bool(node.type.lanes()), 1);
    auto *zero = llvm::Constant::getNullValue(type);
    auto *call = b.CreateMaskedGather(type, pointers, align, mask, zero);
    return from_memory(tagged(call, node.buffer), node.type);
}

}  // namespace tessera::codegen
