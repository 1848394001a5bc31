#include "codegen/interface.h"
#include "codegen/embedded_buffer.h"
#include "codegen/host/host_emitter.h"
#include "ir/operators.h"
#include "program/parameter.h"

// This file makes what the callers of a compiled function see: its C function, the one that takes
// an array of arguments, its description, and the buffers that came with the program.
namespace tessera::codegen {
// Binds the arguments: those that are passed, and the Buffers that are in the file.
void HostEmitter::bind_arguments(const LoweredFunction &lowered, llvm::Function *function) {
    host().user_context = llvm::ConstantPointerNull::get(b.getPtrTy());
    std::unordered_set<Symbol> passed;
    unsigned next = 0;
    for (const Argument &a : passed_arguments(lowered, target)) {
        Value *v = function->getArg(next++);
        if (is_user_context(a)) {
            host().user_context = v;
            continue;
        }
        if (a.kind == ArgumentKind::Scalar) v = b.CreateBitCast(v, register_type(a.type));
        passed.insert(a.name);
        bind_argument(a, v);
    }
    for (const Argument &a : lowered.args) {
        if (!passed.count(a.name)) bind_argument(a, embed(a));
    }
}

// The C rule for integers narrower than int.
void HostEmitter::add_extension(llvm::Function *function, int parameter, Type type) {
    if (!type.is_scalar() || type.is_handle() || type.bits() >= 32) return;
    if (type == Float(16)) return;
    auto kind = type.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
    if (parameter < 0) {
        function->addRetAttr(kind);
    } else {
        function->addParamAttr(unsigned(parameter), kind);
    }
}

llvm::Function *HostEmitter::declare(const LoweredFunction &lowered) {
    std::vector<Argument> args = passed_arguments(lowered, target);
    std::vector<llvm::Type *> types;
    for (const Argument &a : args) {
        types.push_back(a.kind == ArgumentKind::Scalar ? c_type(a.type) : b.getPtrTy());
    }
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), types, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                            link_names(lowered, target).function, module);
    for (size_t i = 0; i < args.size(); i++) {
        if (args[i].kind == ArgumentKind::Scalar) add_extension(function, int(i), args[i].type);
    }
    return function;
}

void HostEmitter::define_argv(const LoweredFunction &lowered, llvm::Function *callee) {
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                            link_names(lowered, target).argv, module);
    add_target_attributes(function);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    std::vector<Value *> args;
    for (const Argument &a : passed_arguments(lowered, target)) {
        Value *slot = b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(0), args.size());
        Value *pointer = b.CreateLoad(b.getPtrTy(), slot);
        if (a.kind == ArgumentKind::Scalar) {
            auto *element = b.CreateAlignedLoad(memory_type(a.type), pointer, llvm::Align(1));
            pointer = b.CreateBitCast(from_memory(element, a.type), c_type(a.type));
        }
        args.push_back(pointer);
    }
    auto *call = b.CreateCall(callee, args);
    call->setAttributes(callee->getAttributes());
    b.CreateRet(call);
}

llvm::GlobalVariable *HostEmitter::private_global(llvm::Constant *value, bool constant,
                                                  const char *name) {
    return new llvm::GlobalVariable(module, value->getType(), constant,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
}

// A tessera_scalar_value_t; null if the value is not known now.
llvm::Constant *HostEmitter::scalar_metadata(const Expr &e, Type type) {
    auto bits = known_bits(e, type);
    if (!bits) return llvm::ConstantPointerNull::get(b.getPtrTy());
    return private_global(b.getInt64(*bits), true, "scalar");
}

// Two pointers per dimension, to the estimates of its minimum and extent.
llvm::Constant *HostEmitter::buffer_estimates(const program::Parameter &p) {
    std::vector<llvm::Constant *> pointers;
    auto add = [&](const Expr &e) { pointers.push_back(scalar_metadata(e, Int(64))); };
    for (const program::DimensionConstraint &d : p.constraints) {
        add(d.min_estimate);
        add(d.extent_estimate);
    }
    auto *type = llvm::ArrayType::get(b.getPtrTy(), pointers.size());
    return private_global(llvm::ConstantArray::get(type, pointers), true, "estimates");
}

// A tessera_filter_argument_t.
llvm::Constant *HostEmitter::described(const Argument &a) {
    const program::Parameter *p = program::parameter_of(a);
    bool scalar = a.kind == ArgumentKind::Scalar;
    llvm::Constant *null = llvm::ConstantPointerNull::get(b.getPtrTy());
    llvm::Constant *initial = null, *lowest = null, *highest = null, *estimate = null,
                   *estimates = null;
    if (p && scalar) {
        if (p->scalar_is_set && !a.type.is_handle()) {
            initial = private_global(b.getInt64(p->scalar_bits), true, "scalar");
        }
        lowest = scalar_metadata(p->min_value, a.type);
        highest = scalar_metadata(p->max_value, a.type);
        estimate = scalar_metadata(p->estimate, a.type);
    }
    if (p && !scalar) estimates = buffer_estimates(*p);
    auto *type = llvm::ConstantStruct::getAnon(
        {b.getInt8(uint8_t(a.type.code())), b.getInt8(uint8_t(a.type.bits())), b.getInt16(1)});
    return llvm::ConstantStruct::getAnon(
        {llvm::cast<llvm::Constant>(string_constant(a.name.text())), b.getInt32(uint32_t(a.kind)),
         b.getInt32(uint32_t(a.dimensions)), type, initial, lowest, highest, estimate, estimates});
}

void HostEmitter::define_metadata(const LoweredFunction &lowered) {
    std::vector<llvm::Constant *> args;
    for (const Argument &a : passed_arguments(lowered, target)) args.push_back(described(a));
    auto text = [&](const std::string &s) {
        return llvm::cast<llvm::Constant>(string_constant(s));
    };
    llvm::Constant *all = llvm::ConstantStruct::getAnon(context, args);
    llvm::Constant *metadata = llvm::ConstantStruct::getAnon(
        {b.getInt32(TESSERA_FILTER_METADATA_VERSION), b.getInt32(uint32_t(args.size())),
         private_global(all, true, "arguments"), text(target_text), text(lowered.name)});
    auto *function = llvm::Function::Create(llvm::FunctionType::get(b.getPtrTy(), {}, false),
                                            llvm::Function::ExternalLinkage,
                                            link_names(lowered, target).metadata, module);
    add_target_attributes(function);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    b.CreateRet(private_global(metadata, true, "metadata"));
}

// The buffer as it is now.
llvm::Constant *HostEmitter::embed(const Argument &a) {
    EmbeddedBuffer embedded = embedded_buffer(a, target);
    const tessera_buffer_t &buffer = *embedded.buffer;
    std::vector<llvm::Constant *> dims;
    for (int d = 0; d < buffer.dimensions; d++) {
        const tessera_dimension_t &dim = buffer.dim[d];
        dims.push_back(llvm::ConstantStruct::getAnon(
            {b.getInt32(uint32_t(dim.min)), b.getInt32(uint32_t(dim.extent)),
             b.getInt32(uint32_t(dim.stride)), b.getInt32(dim.flags)}));
    }
    int64_t bytes = (buffer.type.bits + 7) / 8;
    llvm::Constant *null = llvm::ConstantPointerNull::get(b.getPtrTy());
    auto *data = private_global(
        llvm::ConstantDataArray::get(context, llvm::ArrayRef<uint8_t>(embedded.contents)), true,
        "constant_data");
    data->setAlignment(llvm::Align(128));
    auto *host = llvm::ConstantExpr::getGetElementPtr(
        b.getInt8Ty(), data, b.getInt64(uint64_t(-embedded.first * bytes)));
    auto *type = llvm::ConstantStruct::getAnon(
        {b.getInt8(buffer.type.code), b.getInt8(buffer.type.bits), b.getInt16(1)});
    auto *dim = private_global(llvm::ConstantStruct::getAnon(context, dims), false, "dimensions");
    // Written to by whoever copies it to a device.
    return private_global(
        llvm::ConstantStruct::getAnon({b.getInt64(0), null, host, b.getInt64(0), type,
                                       b.getInt32(uint32_t(buffer.dimensions)), dim, null}),
        false, "constant_buffer");
}

}  // namespace tessera::codegen
