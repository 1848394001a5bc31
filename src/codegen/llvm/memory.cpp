#include "codegen/llvm/emitter.h"
#include "codegen/llvm/indices.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include <numeric>

namespace tessera::codegen {

const BufferValues &Emitter::storage(Symbol buffer) {
    auto found = f->buffers.find(buffer);
    if (found != f->buffers.end()) return found->second;
    auto variable = f->variables.find(buffer);
    if (variable == f->variables.end() || !variable->second->getType()->isPointerTy()) {
        throw InternalError(str("code generation met the unknown buffer ", buffer));
    }
    BufferValues s;
    s.descriptor = variable->second;
    s.may_overlap = true;
    return f->buffers[buffer] = s;
}

Value *Emitter::base_pointer(Symbol buffer) {
    const BufferValues &s = storage(buffer);
    return s.base ? s.base : address_in(s.descriptor);
}

Value *Emitter::element_pointer(Value *base, Type element, Value *index) {
    return b.CreateGEP(memory_type(element.element_of()), base, index);
}

// A distance after which the exchange of slots begins anew is added behind it, so that elements at
// such distances share the exchange.
Value *Emitter::swizzled_pointer(Value *base, Type element, const Expr &index, int swizzle) {
    const int64_t bytes = element.element_of().bytes(), period = swizzle_period(swizzle) / bytes;
    const auto *sum = index.as<Add>();
    const int64_t constant = sum ? as_const_int(sum->b).value_or(0) : 0;
    const int64_t behind = constant - ((constant % period) + period) % period;
    const Expr before = behind == 0 ? index : sum->a + IntImm::make(sum->type, constant - behind);
    Value *byte = b.CreateMul(coordinate(before), int32(int32_t(bytes)));
    const auto exchanged = int32_t(swizzle - slot_bytes);
    byte = b.CreateXor(byte, b.CreateAnd(b.CreateLShr(byte, 3), int32(exchanged)));
    if (behind != 0) byte = b.CreateAdd(byte, int32(int32_t(behind * bytes)));
    return b.CreateGEP(b.getInt8Ty(), base, byte);
}

Value *Emitter::element_pointer(Symbol buffer, Type element, const Expr &index) {
    Value *base = base_pointer(buffer);
    if (storage(buffer).swizzle != 0)
        return swizzled_pointer(base, element, index, storage(buffer).swizzle);
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

// Different buffers do not overlap. A buffer made on the way may be a part of another.
void Emitter::tag(llvm::Instruction &access, Symbol buffer) {
    if (!storage(buffer).may_overlap)
        access.setMetadata(llvm::LLVMContext::MD_tbaa, alias_tag(buffer));
    if (storage(buffer).is_constant && llvm::isa<llvm::LoadInst>(access))
        access.setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
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

// Returns the alignment that the machine wants of what it streams.
uint64_t Emitter::streaming_alignment(uint64_t bytes) const {
    return std::min(llvm::PowerOf2Ceil(bytes), uint64_t(target.natural_vector_size(1, true)));
}

void Emitter::mark_as_streamed(llvm::Instruction &access) {
    access.setMetadata(llvm::LLVMContext::MD_nontemporal,
                       llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(b.getInt32(1))));
}

// Returns a test of whether the pointer has this alignment, asked when the code runs.
Value *Emitter::is_aligned(Value *pointer, uint64_t alignment) {
    Value *address = b.CreatePtrToInt(pointer, b.getInt64Ty());
    return b.CreateICmpEQ(b.CreateAnd(address, int64(int64_t(alignment - 1))), int64(0));
}

// Returns true if a vector of such elements lies within a stack slot of this function, of which
// nobody else sees what is in it meanwhile. Slots whose vectors are accessed as a whole become
// registers.
bool Emitter::is_whole_in_slot(Symbol buffer, Type element, const Expr &first, int lanes) {
    const BufferValues &s = storage(buffer);
    const int64_t *at = constant_of(first);
    return at && *at >= 0 && s.base && llvm::isa<llvm::AllocaInst>(s.base) &&
           (*at + lanes) * element.bytes() <= s.bytes;
}

// The address of one lane of a ramp of scalars from that of the first.
Value *Emitter::lane_pointer(Value *first, Type element, const Expr &stride, int lane) {
    if (const int64_t *constant = constant_of(stride)) {
        return element_pointer(first, element, int64(*constant * lane));
    }
    Value *step = b.CreateSExt(coordinate(stride), b.getInt64Ty());
    return element_pointer(first, element, b.CreateNSWMul(step, int64(lane)));
}

void Emitter::emit(const Allocate &node) {
    if (traits_of(node.memory).is_on_cpu && place_of(node) == Place::Stack) {
        allocate_on_stack(node, uint64_t(constant_bytes(node).value()));
    } else {
        allocate_in_memory(node);
    }
    f->buffers.erase(node.buffer);
    f->variables.erase(node.buffer);
}

void Emitter::allocate_on_stack(const Allocate &node, uint64_t bytes) {
    auto *element = memory_type(node.type);
    uint64_t count = std::max<uint64_t>(1, bytes / uint64_t(node.type.bytes()));
    auto *slot = stack_slot(llvm::ArrayType::get(element, count), 1, bytes < 64 ? 16 : 64);
    b.CreateLifetimeStart(slot);
    f->buffers[node.buffer] = {slot, nullptr, slot->getAlign().value(), int64_t(bytes)};
    f->variables[node.buffer] = slot;
    run(node.body);
    b.CreateLifetimeEnd(slot);
}

}  // namespace tessera::codegen
