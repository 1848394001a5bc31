#include "codegen/llvm/indices.h"
#include "codegen/llvm/patterns.h"
#include <numeric>

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

Value *Emitter::load_vector(const Load &node) {
    if (const auto *same = node.index.as<Broadcast>(); same && !node.predicate.defined()) {
        Type part = node.type.with_lanes(same->value.type().lanes());
        Expr once =
            node.with<&Load::type, &Load::index, &Load::predicate>(part, same->value, Expr());
        return repeat(value(once), same->lanes);
    }
    const auto *ramp = node.index.as<Ramp>();
    if (ramp && ramp->base.type().is_vector()) {
        const Ramp *group = transposed_group(*ramp);
        if (group) return load_transposed(node, *ramp, *group);
        return is_gather_of_rows(node, *ramp) ? load_rows(node, *ramp) : load_groups(node, *ramp);
    }
    Value *mask = predicate(node.predicate);
    if (is_dense(node.index)) return load_dense(node, ramp->base, node.type.lanes(), mask);
    const int64_t *stride = ramp ? constant_of(ramp->stride) : nullptr;
    if (stride && !mask && std::abs(*stride) <= 4 && *stride != 0) {
        return load_strided(node, *ramp, *stride);
    }
    if (ramp && !mask) return load_lanes(node, *ramp);
    if (Value *found = mask ? nullptr : look_up(node)) return found;
    Value *index = coordinate(node.index);
    if (mask || architecture.prefers_gather(target, node.type)) return gather(node, index, mask);
    return load_each(node, index);
}

// A ramp of vectors: one load for each.
Value *Emitter::load_groups(const Load &node, const Ramp &index) {
    int lanes = index.base.type().lanes();
    std::vector<Value *> parts;
    for (int i = 0; i < index.lanes; i++) {
        Expr part = node.with<&Load::type, &Load::index, &Load::predicate, &Load::alignment>(
            node.type.with_lanes(lanes), advance(index.base, index.stride, i),
            part_of(node.predicate, i * lanes, lanes),
            group_alignment(node.alignment, index.stride, i));
        parts.push_back(value(part));
    }
    return concat(parts);
}

// One dense load for each lane of a group; then pairs of rows are interleaved until there is one.
Value *Emitter::load_transposed(const Load &node, const Ramp &index, const Ramp &group) {
    const int count = group.lanes, columns = index.lanes;
    const Type t = index.type.element_of();
    std::vector<std::vector<Value *>> rows;
    for (int i = 0; i < count; i++) {
        const Expr first = plus(group.base, times(group.stride, i));
        Expr wanted = node.predicate;
        if (wanted.defined()) wanted = Shuffle::make_slice(wanted, i, count, columns);
        Expr row = node.with<&Load::type, &Load::index, &Load::predicate, &Load::alignment>(
            node.type.with_lanes(columns), Ramp::make(first, IntImm::make(t, 1), columns), wanted,
            group_alignment(node.alignment, group.stride, i));
        rows.push_back({value(row)});
    }
    for (size_t half = rows.size() / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++) rows[i] = interleave(rows[i], rows[i + half], node.type);
    }
    return concat(rows[0]);
}

// One dense load for each lane of the index. Rows that are as many apart as a row has elements
// stand side by side, so that squares of them are transposed within parts of a register.
Value *Emitter::load_rows(const Load &node, const Ramp &index) {
    const int count = index.lanes, lanes = index.base.type().lanes();
    const Type row = node.type.with_lanes(count), element = node.type.element_of();
    Value *base = base_pointer(node.buffer);
    Value *at = coordinate(index.base);
    at = b.CreateSExt(at, llvm::FixedVectorType::get(b.getInt64Ty(), unsigned(lanes)));
    std::vector<Value *> columns;
    for (int first = 0; first < count; first++) {
        std::vector<Value *> rows;
        for (int lane = first; lane < lanes; lane += count) {
            Value *pointer =
                element_pointer(base, element, b.CreateExtractElement(at, uint64_t(lane)));
            rows.push_back(tagged(b.CreateAlignedLoad(memory_type(row), pointer,
                                                      llvm::Align(uint64_t(element.bytes()))),
                                  node.buffer));
        }
        columns.push_back(concat(rows));
    }
    // Of the first half and the second: in groups of so many elements, one of each in turn.
    auto zip = [&](Value *x, Value *y, int size, bool high) {
        std::vector<int> places;
        for (int square = 0; square < lanes; square += count) {
            for (int i = 0; i < count; i += 2 * size) {
                const int from = square + i / 2 + (high ? count / 2 : 0);
                for (int k = 0; k < size; k++) places.push_back(from + k);
                for (int k = 0; k < size; k++) places.push_back(lanes + from + k);
            }
        }
        return shuffle(x, y, places);
    };
    if (count == 2) {
        columns = {zip(columns[0], columns[1], 1, false), zip(columns[0], columns[1], 1, true)};
    } else {
        Value *low01 = zip(columns[0], columns[1], 1, false);
        Value *high01 = zip(columns[0], columns[1], 1, true);
        Value *low23 = zip(columns[2], columns[3], 1, false);
        Value *high23 = zip(columns[2], columns[3], 1, true);
        columns = {zip(low01, low23, 2, false), zip(low01, low23, 2, true),
                   zip(high01, high23, 2, false), zip(high01, high23, 2, true)};
    }
    return from_memory(concat(columns), node.type);
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

// Dense loads that cover the elements from first to last and none beyond, then a shuffle.
Value *Emitter::load_strided(const Load &node, const Ramp &ramp, int64_t stride) {
    int lanes = ramp.lanes, step = int(std::abs(stride));
    int span = step * (lanes - 1) + 1;
    Value *pointer = element_pointer(node.buffer, node.type, ramp.base);
    llvm::Align align = alignment_of(node.buffer, node.type, node.alignment);
    if (stride < 0) {
        pointer = element_pointer(pointer, node.type, int64(-int64_t(span - 1)));
        align = llvm::Align(uint64_t(node.type.bytes()));
    }
    Value *result = nullptr;
    int done = 0;  // lanes of the result so far
    for (int begin = 0; done < lanes; begin += lanes) {
        int at = std::max(0, std::min(begin, span - lanes));  // the last one steps back
        Value *from = element_pointer(pointer, node.type, int64(at));
        int size = std::min(lanes, span);
        Value *chunk = load_chunk(
            node, from, llvm::commonAlignment(align, uint64_t(at) * uint64_t(node.type.bytes())),
            size, nullptr);
        std::vector<int> indices(static_cast<size_t>(done));
        std::iota(indices.begin(), indices.end(), 0);
        int before = done;
        while (done < lanes && done * step < at + size)
            indices.push_back(before + done++ * step - at);
        result = result ? shuffle(result, chunk, indices) : shuffle(chunk, nullptr, indices);
    }
    return stride < 0 ? reverse(result) : result;
}

// Of bytes that are few enough to be kept in registers; null if the machine cannot find them there.
Value *Emitter::look_up(const Load &node) {
    constexpr int64_t register_bytes = 64, most_registers = 16;
    const int64_t size = storage(node.buffer).bytes, registers = size / register_bytes;
    const bool is_table = size > 0 && size % register_bytes == 0 && registers <= most_registers;
    // Each register costs about two instructions, each lane that is loaded by itself three.
    if (node.type.bits() != 8 || !is_table || node.type.lanes() < 4 * registers) return nullptr;
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
    // All lanes at once become as wide as an address.
    auto lanes = unsigned(node.type.lanes());
    index = b.CreateSExt(index, llvm::FixedVectorType::get(b.getInt64Ty(), lanes));
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
