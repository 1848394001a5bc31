#include "codegen/host/host_emitter.h"
#include "ir/operators.h"
#include "runtime/tessera_runtime_cuda.h"
#include <cstddef>

namespace tessera::codegen {
namespace {

// The offsets of the parts of the element type in a tessera_buffer_t.
constexpr uint64_t type_code_at = offsetof(tessera_buffer_t, type) + offsetof(tessera_type_t, code);
constexpr uint64_t type_bits_at = offsetof(tessera_buffer_t, type) + offsetof(tessera_type_t, bits);
constexpr uint64_t type_lanes_at =
    offsetof(tessera_buffer_t, type) + offsetof(tessera_type_t, lanes);
// Says which operand of make_buffer is the first of the dimensions.
constexpr size_t first_of_dimensions = 4;

}  // namespace

llvm::MDNode *HostEmitter::descriptor_tag() {
    return alias_tag(Symbol::interned("tessera_buffer_t"));
}

llvm::StructType *HostEmitter::buffer_struct() {
    auto *type_type =
        llvm::StructType::get(context, {b.getInt8Ty(), b.getInt8Ty(), b.getInt16Ty()});
    return llvm::StructType::get(context,
                                 {b.getInt64Ty(), b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(),
                                  type_type, b.getInt32Ty(), b.getPtrTy(), b.getPtrTy()});
}

llvm::StructType *HostEmitter::dimension_struct() {
    auto *i32 = b.getInt32Ty();
    return llvm::StructType::get(context, {i32, i32, i32, i32});
}

Value *HostEmitter::descriptor_of(Symbol buffer) {
    Value *descriptor = storage(buffer).descriptor;
    if (!descriptor) throw InternalError(str("the buffer ", buffer, " has no tessera_buffer_t"));
    return descriptor;
}

// Returns the address of the field, and its type there.
Value *HostEmitter::buffer_field(Value *descriptor, BufferField field, Value *dim,
                                 llvm::Type *&type) {
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

Value *HostEmitter::address_in(Value *descriptor) {
    auto *address = b.CreateLoad(b.getPtrTy(), b.CreateStructGEP(buffer_struct(), descriptor, 2));
    address->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return address;
}

Value *HostEmitter::buffer_property(const BufferProperty &node) {
    llvm::Type *type;
    Value *pointer = buffer_field(descriptor_of(node.buffer), node.field, int64(node.dim), type);
    auto *load = b.CreateLoad(type, pointer);
    load->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return type->isIntegerTy(8) ? b.CreateZExt(load, b.getInt32Ty()) : load;
}

Value *HostEmitter::host_is_device_dirty(const IntrinsicCall &c) {
    auto *flags = b.CreateLoad(b.getInt64Ty(), b.CreateStructGEP(buffer_struct(), arg(c, 0), 3));
    flags->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return b.CreateIsNotNull(b.CreateAnd(flags, uint64_t(tessera_buffer_flag_device_dirty)));
}

void HostEmitter::set_buffer_flag(Value *descriptor, uint64_t flag) {
    Value *at = b.CreateStructGEP(buffer_struct(), descriptor, 3);
    auto *flags = b.CreateLoad(b.getInt64Ty(), at);
    flags->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    auto *store = b.CreateStore(b.CreateOr(flags, flag), at);
    store->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    impure_calls++;
}

Value *HostEmitter::host_mark_host_dirty(const IntrinsicCall &c) {
    set_buffer_flag(arg(c, 0), tessera_buffer_flag_host_dirty);
    return int32(0);
}

Value *HostEmitter::host_mark_device_dirty(const IntrinsicCall &c) {
    set_buffer_flag(arg(c, 0), tessera_buffer_flag_device_dirty);
    return int32(0);
}

Value *HostEmitter::host_device_address(const IntrinsicCall &c) {
    auto *address = b.CreateLoad(b.getInt64Ty(), arg(c, 0));
    address->setMetadata(llvm::LLVMContext::MD_tbaa, descriptor_tag());
    return b.CreateIntToPtr(address, b.getPtrTy());
}

Value *HostEmitter::host_on_device(const IntrinsicCall &c) { return arg(c, 0); }

// Memory on the device is allocated when it is first used there; what is too large is refused now.
Value *HostEmitter::host_device_buffer(const IntrinsicCall &c) {
    std::vector<Expr> extents;
    for (size_t i = first_of_dimensions + 1; i < c.args.size(); i += 3)
        extents.push_back(c.args[i]);
    const Load &first = address_taken(c.args[0]);
    checked_elements(first.buffer, first.type, extents);
    Value *descriptor = host_make_buffer(c);
    set_buffer_flag(descriptor, tessera_buffer_flag_temporary);
    return descriptor;
}

Value *HostEmitter::host_set_buffer_field(const IntrinsicCall &c) {
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

Value *HostEmitter::host_make_struct(const IntrinsicCall &c) {
    impure_calls++;
    std::vector<Value *> members;
    std::vector<llvm::Type *> types;
    for (size_t i = 0; i < c.args.size(); i++) {
        members.push_back(arg(c, i));
        types.push_back(memory_type(c.args[i].type()));
    }
    auto *type = llvm::StructType::get(context, types);
    auto *slot = stack_slot(type, 1, 16);
    for (size_t i = 0; i < members.size(); i++) {
        b.CreateStore(to_memory(members[i], c.args[i].type()),
                      b.CreateStructGEP(type, slot, unsigned(i)));
    }
    return slot;
}

Value *HostEmitter::host_make_buffer(const IntrinsicCall &c) {
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
