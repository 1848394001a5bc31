#include "codegen/llvm/emitter.h"
#include "codegen/llvm/patterns.h"
#include <numeric>

namespace tessera::codegen {
namespace {

const int64_t *constant_of(const Expr &e) {
    const auto *i = e.as<IntImm>();
    return i ? &i->value : nullptr;
}

Expr plus(const Expr &a, const Expr &b) {
    const int64_t *ca = constant_of(a), *cb = constant_of(b);
    if (ca && cb) return IntImm::make(a.type(), *ca + *cb);
    if (ca && *ca == 0) return b;
    return cb && *cb == 0 ? a : Add::make(a, b);
}

Expr times(const Expr &a, int64_t factor) {
    if (const int64_t *c = constant_of(a)) return IntImm::make(a.type(), *c * factor);
    if (factor == 1 || factor == 0) return factor ? a : IntImm::make(a.type(), 0);
    return Mul::make(a, IntImm::make(a.type(), factor));
}

// base + step * i, for vectors.
Expr advance(const Expr &base, const Expr &step, int i) {
    const auto *by = step.as<Broadcast>();
    if (i == 0) return base;
    if (by && by->value.type().is_scalar()) {
        Expr offset = times(by->value, i);
        const auto *ramp = base.as<Ramp>();
        if (ramp && ramp->base.type().is_scalar()) {
            return Ramp::make(plus(ramp->base, offset), ramp->stride, ramp->lanes);
        }
        const auto *same = base.as<Broadcast>();
        if (same && same->value.type().is_scalar()) {
            return Broadcast::make(plus(same->value, offset), same->lanes);
        }
    }
    Expr factor = Broadcast::make(IntImm::make(step.type().element_of(), i), step.type().lanes());
    return Add::make(base, Mul::make(step, factor));
}

// What is known of the first lane, `offset` further on.
Alignment moved(const Alignment &a, const int64_t *offset) {
    if (!offset) return {};
    if (a.modulus == 0) return {0, a.remainder + *offset};
    int64_t remainder = (a.remainder + *offset) % a.modulus;
    return {a.modulus, remainder < 0 ? remainder + a.modulus : remainder};
}

Alignment group_alignment(const Alignment &a, const Expr &step, int i) {
    if (i == 0) return a;
    const auto *by = step.as<Broadcast>();
    const int64_t *constant = by ? constant_of(by->value) : constant_of(step);
    if (!constant) return {};
    int64_t offset = *constant * i;
    return moved(a, &offset);
}

Expr part_of(const Expr &predicate, int begin, int lanes) {
    return predicate.defined() ? Shuffle::make_slice(predicate, begin, 1, lanes) : Expr();
}

bool is_dense(const Expr &index) {
    const auto *ramp = index.as<Ramp>();
    if (!ramp || !ramp->base.type().is_scalar()) return false;
    const int64_t *stride = constant_of(ramp->stride);
    return stride && *stride == 1;
}

// The group of a ramp of vectors whose lanes are far apart, while those of different groups are
// next to one another: what it names is the transpose of a few dense rows. Else null.
const Ramp *transposed_group(const Ramp &index) {
    const auto *group = index.base.as<Ramp>();
    const auto *step = index.stride.as<Broadcast>();
    if (!group || group->base.type().is_vector() || !step) return nullptr;
    const int64_t *next = constant_of(step->value), *stride = constant_of(group->stride);
    if (!next || *next != 1 || (group->lanes & (group->lanes - 1)) != 0) return nullptr;
    const bool is_near = stride && std::abs(*stride) <= 4;
    return is_near && (*stride == 1 || index.lanes < group->lanes) ? nullptr : group;
}

// Two or four elements for each of many lanes that lie anywhere.
bool is_gather_of_rows(const Load &load, const Ramp &index) {
    const auto *step = index.stride.as<Broadcast>();
    const int64_t *next = step ? constant_of(step->value) : nullptr;
    return next && *next == 1 && (index.lanes == 2 || index.lanes == 4) && !index.base.as<Ramp>() &&
           !index.base.as<Broadcast>() && !load.predicate.defined() && !load.type.is_bool() &&
           index.base.type().lanes() % index.lanes == 0;
}

}  // namespace

const Storage &Emitter::storage(Symbol buffer) {
    auto found = f->buffers.find(buffer);
    if (found != f->buffers.end()) return found->second;
    auto variable = f->variables.find(buffer);
    if (variable == f->variables.end() || !variable->second->getType()->isPointerTy()) {
        throw InternalError(str("code generation met the unknown buffer ", buffer));
    }
    Storage s;
    s.descriptor = variable->second;
    return f->buffers[buffer] = s;
}

Value *Emitter::base_pointer(Symbol buffer) {
    const Storage &s = storage(buffer);
    if (s.base) return s.base;
    Value *host = b.CreateStructGEP(buffer_struct(), s.descriptor, 2);
    auto *base = b.CreateLoad(b.getPtrTy(), host);
    base->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return base;
}

Value *Emitter::element_pointer(Value *base, Type element, Value *index) {
    return b.CreateGEP(memory_type(element.element_of()), base, index);
}

Value *Emitter::element_pointer(Symbol buffer, Type element, const Expr &index) {
    Value *base = base_pointer(buffer);
    if (!is_wide(index)) return element_pointer(base, element, coordinate(index));
    const WideCoordinate at = wide(index);
    if (at.part) base = element_pointer(base, element, at.part);
    return at.offset ? element_pointer(base, element, int64(at.offset)) : base;
}

llvm::Align Emitter::alignment_of(Symbol buffer, Type element, const Alignment &known) {
    uint64_t elements = uint64_t(std::gcd(known.modulus, known.remainder));
    uint64_t bytes = elements == 0 ? 128 : (elements & (0 - elements)) * uint64_t(element.bytes());
    uint64_t base = std::max<uint64_t>(storage(buffer).alignment, uint64_t(element.bytes()));
    return llvm::Align(std::min<uint64_t>({bytes, base, 128}));
}

llvm::MDNode *Emitter::alias_tag(Symbol buffer) {
    llvm::MDNode *&tag = alias_tags[buffer];
    if (!tag) {
        auto *type = metadata.createTBAAScalarTypeNode(str(buffer, '#', buffer.id()), alias_root);
        tag = metadata.createTBAAStructTagNode(type, type, 0);
    }
    return tag;
}

llvm::MDNode *Emitter::descriptor_tag() { return alias_tag(Symbol::interned("tessera_buffer_t")); }

// Different buffers do not overlap. A buffer made on the way may be a part of another.
template<typename I> I *Emitter::tagged(I *access, Symbol buffer) {
    const Storage &s = storage(buffer);
    bool own = s.base || llvm::isa<llvm::Argument>(s.descriptor);
    if (own) access->setMetadata(llvm::LLVMContext::MD_tbaa, alias_tag(buffer));
    return access;
}

Value *Emitter::from_memory(Value *v, Type t) {
    if (!t.is_bool()) return v;
    return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
}

Value *Emitter::to_memory(Value *v, Type t) {
    return t.is_bool() ? b.CreateZExt(v, memory_type(t)) : v;
}

// The lanes that are wanted, as a value; null: all of them.
Value *Emitter::predicate(const Expr &e) {
    if (!e.defined()) return nullptr;
    Value *mask = value(e);
    auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
    return constant && constant->isAllOnesValue() ? nullptr : mask;
}

// ---- Loads ----

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

// Which alignment the machine wants of what it streams.
uint64_t Emitter::streaming_alignment(uint64_t bytes) const {
    return std::min(llvm::PowerOf2Ceil(bytes), uint64_t(target.natural_vector_size(1, true)));
}

template<typename I> I *Emitter::streamed(I *access) {
    access->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(b.getInt32(1))));
    return access;
}

// Whether the pointer has this alignment, asked when the code runs.
Value *Emitter::is_aligned(Value *pointer, uint64_t alignment) {
    Value *address = b.CreatePtrToInt(pointer, b.getInt64Ty());
    return b.CreateICmpEQ(b.CreateAnd(address, int64(int64_t(alignment - 1))), int64(0));
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

// Whether a vector of such elements lies within a stack slot of this function, of which nobody else
// sees what is in it meanwhile. Slots whose vectors are accessed as a whole become registers.
bool Emitter::is_whole_in_slot(Symbol buffer, Type element, const Expr &first, int lanes) {
    const Storage &s = storage(buffer);
    const int64_t *at = constant_of(first);
    return at && *at >= 0 && s.base && llvm::isa<llvm::AllocaInst>(s.base) &&
           (*at + lanes) * element.bytes() <= s.bytes;
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

// The address of one lane of a ramp of scalars from that of the first.
Value *Emitter::lane_pointer(Value *first, Type element, const Expr &stride, int lane) {
    if (const int64_t *constant = constant_of(stride)) {
        return element_pointer(first, element, int64(*constant * lane));
    }
    Value *step = b.CreateSExt(coordinate(stride), b.getInt64Ty());
    return element_pointer(first, element, b.CreateNSWMul(step, int64(lane)));
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

// ---- Stores ----

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
    if (!t.is_float() && !t.is_bfloat()) return v;
    Type bits = UInt(t.bits(), t.lanes());
    Value *kept = b.CreateAnd(b.CreateBitCast(v, register_type(bits)), int_constant(bits, -2));
    return b.CreateBitCast(kept, register_type(t));
}

void Emitter::store_value(const Store &node, Value *v) {
    const auto *ramp = node.index.as<Ramp>();
    if (ramp && ramp->base.type().is_vector()) return store_groups(node, *ramp, v);
    Value *mask = predicate(node.predicate);
    if (node.index.type().is_scalar()) {
        auto store = [&] { store_dense(node, node.index, v, nullptr); };
        return mask ? branch(mask, store, nullptr) : store();
    }
    if (is_dense(node.index)) return store_dense(node, ramp->base, v, mask);
    if (ramp && !mask) return store_lanes(node, *ramp, v);
    store_each(node, coordinate(node.index), v, mask);
}

void Emitter::store_groups(const Store &node, const Ramp &index, Value *v) {
    int lanes = index.base.type().lanes();
    for (int i = 0; i < index.lanes; i++) {
        Stmt part = node.with<&Store::value, &Store::index, &Store::predicate, &Store::alignment>(
            Shuffle::make_slice(node.value, i * lanes, 1, lanes),
            advance(index.base, index.stride, i), part_of(node.predicate, i * lanes, lanes),
            group_alignment(node.alignment, index.stride, i));
        store_value(*part.as<Store>(), slice(v, i * lanes, 1, lanes));
    }
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
