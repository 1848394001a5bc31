#include "codegen/llvm/emitter.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include "runtime/tessera_runtime.h"
#include <cstddef>
#include <utility>

namespace tessera::codegen {
namespace {

// So that the bytes of as many elements of any type fit 63 bits.
constexpr int64_t most_elements_when_large = int64_t(1) << 56;

// Where the parts of the type of elements lie in a tessera_buffer_t.
constexpr uint64_t type_code_at = offsetof(tessera_buffer_t, type) + offsetof(tessera_type_t, code);
constexpr uint64_t type_bits_at = offsetof(tessera_buffer_t, type) + offsetof(tessera_type_t, bits);
constexpr uint64_t type_lanes_at =
    offsetof(tessera_buffer_t, type) + offsetof(tessera_type_t, lanes);

}  // namespace

void Emitter::emit(const Allocate &node) {
    switch (place_of(node)) {
    case Place::Stack: allocate_on_stack(node, uint64_t(constant_bytes(node).value())); break;
    case Place::Growing: allocate_in_place(node); break;
    case Place::Heap: allocate_on_heap(node); break;
    }
    f->buffers.erase(node.buffer);
    f->variables.erase(node.buffer);
}

void Emitter::allocate_on_stack(const Allocate &node, uint64_t bytes) {
    auto *element = memory_type(node.type);
    uint64_t count = std::max<uint64_t>(1, bytes / uint64_t(node.type.bytes()));
    auto *slot = stack_slot(llvm::ArrayType::get(element, count), 1, bytes < 64 ? 16 : 64);
    b.CreateLifetimeStart(slot);
    f->buffers[node.buffer] = {slot, nullptr, slot->getAlign().value(), nullptr, int64_t(bytes)};
    f->variables[node.buffer] = slot;
    run(node.body);
    b.CreateLifetimeEnd(slot);
}

// What needs nothing of its producers (an iteration beyond a loop's guard, a domain whose predicate
// never holds) has regions that end before they begin. Coordinates end at 2^30: what is further
// below 0 has overflowed, and counts as too much.
Value *Emitter::allocation_extent(const Expr &e) {
    constexpr int64_t least = -(int64_t(1) << 30);
    Value *extent = cast(value(e), e.type(), Int(64));
    Value *is_nothing = b.CreateICmpULT(b.CreateSub(extent, int64(least)), int64(-least));
    return select(is_nothing, int64(0), extent);
}

// The number of elements; the pipeline fails if it is more than can be indexed.
Value *Emitter::allocation_elements(const Allocate &node) {
    Value *overflows = b.getFalse();
    auto times = [&](Value *x, Value *y) {
        Value *product =
            b.CreateIntrinsic(llvm::Intrinsic::umul_with_overflow, {b.getInt64Ty()}, {x, y});
        overflows = b.CreateOr(overflows, b.CreateExtractValue(product, 1));
        return b.CreateExtractValue(product, 0);
    };
    Value *elements = int64(1);
    for (const Expr &e : node.extents) elements = times(elements, allocation_extent(e));
    int64_t limit = target.has_large_buffers() ? most_elements_when_large : INT32_MAX;
    Value *too_many = b.CreateOr(overflows, b.CreateICmpUGT(elements, int64(limit)));
    if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(too_many);
        constant && constant->isZero()) {
        return elements;
    }
    branch(
        too_many,
        [&] {
            Value *bytes = times(elements, int64(node.type.bytes()));
            bytes = b.CreateSelect(overflows, int64(-1), bytes);  // as many as 64 bits hold
            fail(call_runtime("tessera_error_buffer_allocation_too_large", b.getInt32Ty(),
                              {f->user_context, string_constant(node.buffer.text()), bytes,
                               int64(limit * node.type.bytes())}));
            start(new_block("unreachable"));
        },
        nullptr);
    return elements;
}

Value *Emitter::allocation_bytes(const Allocate &node) {
    Value *padded = b.CreateAdd(allocation_elements(node), int64(node.padding));
    Value *bytes = b.CreateMul(padded, int64(node.type.bytes()));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, bytes, int64(1));
}

Value *Emitter::request_memory(const Allocate &node, Value *bytes) {
    Value *p = call_runtime("tessera_malloc", b.getPtrTy(), {f->user_context, bytes});
    Value *none = llvm::ConstantPointerNull::get(b.getPtrTy());
    branch(
        b.CreateICmpEQ(p, none),
        [&] {
            fail(call_runtime("tessera_error_out_of_memory", b.getInt32Ty(),
                              {f->user_context, string_constant(node.buffer.text()), bytes}));
            start(new_block("unreachable"));
        },
        nullptr);
    return p;
}

void Emitter::allocate_on_heap(const Allocate &node) {
    Value *pointer;
    {
        MemoScope forget(*this);
        auto allocate = [&] { return request_memory(node, allocation_bytes(node)); };
        auto nothing = [&]() -> Value * { return llvm::ConstantPointerNull::get(b.getPtrTy()); };
        pointer = node.condition.defined() ? choose(value(node.condition), allocate, nothing)
                                           : allocate();
    }
    const int64_t known = node.condition.defined() ? 0 : constant_bytes(node).value_or(0);
    f->buffers[node.buffer] = {pointer, nullptr, 128, nullptr, known};
    f->variables[node.buffer] = pointer;
    auto free = [this](Value *p) {
        call_runtime("tessera_free", b.getVoidTy(), {f->user_context, p});
    };
    if (!freed_early.count(node.buffer)) {
        with_cleanup([=] { free(pointer); }, [&] { run(node.body); });
        return;
    }
    // Where the pipeline fails, it depends on memory whether the buffer is still to be freed.
    auto *to_free = stack_slot(b.getPtrTy(), 1, 8);
    b.CreateStore(pointer, to_free, true);
    f->buffers[node.buffer].to_free = to_free;
    f->cleanups.push_back({[=, this] { free(b.CreateLoad(b.getPtrTy(), to_free, true)); }});
    run(node.body);
    f->cleanups.pop_back();
}

// One that no buffer occupies now, or a new one, which begins with no memory.
int Emitter::free_place() {
    for (size_t i = 0; i < f->places.size(); i++) {
        if (!f->places[i].in_use) return int(i);
    }
    GrowingPlace place{stack_slot(b.getPtrTy(), 1, 8), stack_slot(b.getInt64Ty(), 1, 8)};
    llvm::IRBuilder<> at_entry(f->entry);
    at_entry.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), place.pointer);
    at_entry.CreateStore(int64(0), place.bytes);
    f->places.push_back(place);
    return int(f->places.size()) - 1;
}

void Emitter::grow_place(const GrowingPlace &place, const Allocate &node, Value *bytes) {
    Value *is_small = b.CreateICmpULT(b.CreateLoad(b.getInt64Ty(), place.bytes), bytes);
    branch(
        is_small,
        [&] {
            Value *old = b.CreateLoad(b.getPtrTy(), place.pointer);
            b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), place.pointer);
            b.CreateStore(int64(0), place.bytes);
            call_runtime("tessera_free", b.getVoidTy(), {f->user_context, old});
            b.CreateStore(request_memory(node, bytes), place.pointer);
            b.CreateStore(bytes, place.bytes);
        },
        nullptr);
}

void Emitter::allocate_in_place(const Allocate &node) {
    const int place = free_place();
    f->places[size_t(place)].in_use = true;
    const GrowingPlace p = f->places[size_t(place)];
    {
        MemoScope forget(*this);
        auto grow = [&] { grow_place(p, node, allocation_bytes(node)); };
        if (node.condition.defined())
            branch(value(node.condition), grow, nullptr);
        else
            grow();
    }
    Value *pointer = b.CreateLoad(b.getPtrTy(), p.pointer);
    f->buffers[node.buffer] = {pointer, nullptr, 128, nullptr, 0, place};
    f->variables[node.buffer] = pointer;
    run(node.body);
    const int occupied = f->buffers.at(node.buffer).place;  // none, if it has been freed
    if (occupied >= 0) f->places[size_t(occupied)].in_use = false;
}

void Emitter::free_places() {
    for (const GrowingPlace &p : f->places) {
        Value *pointer = b.CreateLoad(b.getPtrTy(), p.pointer);
        call_runtime("tessera_free", b.getVoidTy(), {f->user_context, pointer});
    }
}

Value *Emitter::emit_free(const IntrinsicCall &c) {
    Storage &s = f->buffers.at(address_taken(c.args[0]).buffer);
    if (s.place >= 0) f->places[size_t(std::exchange(s.place, -1))].in_use = false;
    if (!s.to_free) return int32(0);  // on the stack
    call_runtime("tessera_free", b.getVoidTy(), {f->user_context, s.base});
    b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), s.to_free, true);
    return int32(0);
}

// ---- The C structs ----

llvm::StructType *Emitter::buffer_struct() {
    auto *type_type =
        llvm::StructType::get(context, {b.getInt8Ty(), b.getInt8Ty(), b.getInt16Ty()});
    return llvm::StructType::get(context,
                                 {b.getInt64Ty(), b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(),
                                  type_type, b.getInt32Ty(), b.getPtrTy(), b.getPtrTy()});
}

llvm::StructType *Emitter::dimension_struct() {
    auto *i32 = b.getInt32Ty();
    return llvm::StructType::get(context, {i32, i32, i32, i32});
}

Value *Emitter::descriptor_of(Symbol buffer) {
    Value *descriptor = storage(buffer).descriptor;
    if (!descriptor) throw InternalError(str("the buffer ", buffer, " has no tessera_buffer_t"));
    return descriptor;
}

// Where the field is, and its type there.
Value *Emitter::buffer_field(Value *descriptor, BufferField field, Value *dim, llvm::Type *&type) {
    llvm::StructType *s = buffer_struct();
    type = b.getInt32Ty();
    switch (field) {
    case BufferField::Host: type = b.getPtrTy(); return b.CreateStructGEP(s, descriptor, 2);
    case BufferField::Dimensions: return b.CreateStructGEP(s, descriptor, 5);
    case BufferField::Device: type = b.getInt64Ty(); return b.CreateStructGEP(s, descriptor, 0);
    case BufferField::TypeCode:
    case BufferField::TypeBits:
        type = b.getInt8Ty();
        return b.CreateConstGEP1_64(b.getInt8Ty(), descriptor,
                                    field == BufferField::TypeCode ? type_code_at : type_bits_at);
    case BufferField::Min:
    case BufferField::Extent:
    case BufferField::Stride: break;
    }
    auto *dims = b.CreateLoad(b.getPtrTy(), b.CreateStructGEP(s, descriptor, 6));
    dims->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    unsigned member = field == BufferField::Min ? 0 : field == BufferField::Extent ? 1 : 2;
    return b.CreateStructGEP(dimension_struct(), b.CreateGEP(dimension_struct(), dims, dim),
                             member);
}

Value *Emitter::emit(const BufferProperty &node) {
    llvm::Type *type;
    Value *pointer = buffer_field(descriptor_of(node.buffer), node.field, int64(node.dim), type);
    auto *load = b.CreateLoad(type, pointer);
    load->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return type->isIntegerTy(8) ? b.CreateZExt(load, b.getInt32Ty()) : load;
}

Value *Emitter::emit_is_device_dirty(const IntrinsicCall &c) {
    auto *flags = b.CreateLoad(b.getInt64Ty(), b.CreateStructGEP(buffer_struct(), arg(c, 0), 3));
    flags->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return b.CreateIsNotNull(b.CreateAnd(flags, uint64_t(tessera_buffer_flag_device_dirty)));
}

Value *Emitter::emit_set_buffer_field(const IntrinsicCall &c) {
    const auto *field = c.args[1].as<IntImm>();
    if (c.args.size() != 4 || !field) throw InternalError("set_buffer_field: bad operands");
    llvm::Type *type;
    Value *pointer =
        buffer_field(arg(c, 0), BufferField(field->value), arg_as(c, 2, Int(64)), type);
    Value *v = arg(c, 3);
    if (type->isIntegerTy()) v = b.CreateZExtOrTrunc(v, type);
    auto *store = b.CreateStore(v, pointer);
    store->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return int32(0);
}

Value *Emitter::make_struct(const std::vector<Value *> &members, const std::vector<Type> &types) {
    std::vector<llvm::Type *> member_types;
    for (Type t : types) member_types.push_back(memory_type(t));
    auto *type = llvm::StructType::get(context, member_types);
    auto *slot = stack_slot(type, 1, 16);
    for (size_t i = 0; i < members.size(); i++) {
        b.CreateStore(to_memory(members[i], types[i]), b.CreateStructGEP(type, slot, unsigned(i)));
    }
    return slot;
}

Value *Emitter::emit_make_struct(const IntrinsicCall &c) {
    impure_calls++;
    std::vector<Value *> members;
    std::vector<Type> types;
    for (size_t i = 0; i < c.args.size(); i++) {
        members.push_back(arg(c, i));
        types.push_back(c.args[i].type());
    }
    return make_struct(members, types);
}

Value *Emitter::emit_make_buffer(const IntrinsicCall &c) {
    size_t dimensions = (c.args.size() - 4) / 3;
    if (c.args.size() < 4 || c.args.size() != 4 + 3 * dimensions) {
        throw InternalError("make_buffer: bad operands");
    }
    impure_calls++;
    llvm::StructType *s = buffer_struct(), *d = dimension_struct();
    auto *slot = stack_slot(s, 1, 16);
    auto *dims = stack_slot(d, std::max<size_t>(1, dimensions), 16);
    b.CreateMemSet(slot, b.getInt8(0), module.getDataLayout().getTypeAllocSize(s),
                   llvm::MaybeAlign(16));
    auto put = [&](Value *v, Value *at) {
        b.CreateStore(v, at)->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    };
    put(arg_as(c, 0, Handle()), b.CreateStructGEP(s, slot, 2));
    put(arg_as(c, 1, UInt(8)), b.CreateConstGEP1_64(b.getInt8Ty(), slot, type_code_at));
    put(arg_as(c, 2, UInt(8)), b.CreateConstGEP1_64(b.getInt8Ty(), slot, type_bits_at));
    put(b.getInt16(1), b.CreateConstGEP1_64(b.getInt8Ty(), slot, type_lanes_at));
    put(arg_as(c, 3, Int(32)), b.CreateStructGEP(s, slot, 5));
    put(dims, b.CreateStructGEP(s, slot, 6));
    for (size_t i = 0; i < dimensions; i++) {
        Value *dim = b.CreateConstGEP1_64(d, dims, i);
        for (size_t member = 0; member < 3; member++) {
            put(arg_as(c, 4 + 3 * i + member, Int(32)),
                b.CreateStructGEP(d, dim, unsigned(member)));
        }
        put(int32(0), b.CreateStructGEP(d, dim, 3));
    }
    return slot;
}

}  // namespace tessera::codegen
