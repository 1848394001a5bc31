#include "codegen/host/host_emitter.h"
#include "codegen/nvptx/kernel_emitter.h"
#include "lower/gpu/kernel_loops.h"

// Launches of kernels: what the host does where one is invoked.
namespace tessera::codegen {

// tessera_cuda_run(user_context, kernels, name, shape, addresses of the arguments)
void HostEmitter::launch(const LoweredFunction &kernel, const Invoke &node) {
    MemoScope forget(*this);
    constexpr size_t launch_arguments = lower::launch_arguments;
    auto *shape_type = llvm::ArrayType::get(b.getInt32Ty(), launch_arguments);
    auto *shape = stack_slot(shape_type, 1, 16);
    for (size_t i = 0; i < launch_arguments; i++) {
        Value *v = cast(value(node.args[i]), node.args[i].type(), Int(32));
        b.CreateStore(v, b.CreateStructGEP(shape_type, shape, unsigned(i)));
    }
    const size_t count = node.args.size() - launch_arguments;
    auto *addresses_type = llvm::ArrayType::get(b.getPtrTy(), std::max<size_t>(1, count));
    auto *addresses = stack_slot(addresses_type, 1, 16);
    for (size_t i = 0; i < count; i++) {
        const Expr &given = node.args[launch_arguments + i];
        if (given.type().is_handle() && given.as<IntrinsicCall>()->op == Intrinsic::tensor_map) {
            b.CreateStore(value(given), b.CreateStructGEP(addresses_type, addresses, unsigned(i)));
            continue;
        }
        Value *v = to_memory(value(given), given.type());
        auto *slot = stack_slot(v->getType(), 1, 8);
        b.CreateStore(v, slot);
        b.CreateStore(slot, b.CreateStructGEP(addresses_type, addresses, unsigned(i)));
    }
    fail_unless_zero(call_runtime("tessera_cuda_run", b.getInt32Ty(),
                                  {host().user_context, kernels(),
                                   string_constant(kernel_symbol(kernel.name)), shape, addresses}));
}

Value *HostEmitter::host_gpu_processors(const IntrinsicCall &) {
    return call_runtime("tessera_cuda_processors", b.getInt32Ty(), {host().user_context});
}

// A CUtensorMap on the stack, which tessera_cuda_tensor_map has filled in.
Value *HostEmitter::host_tensor_map(const IntrinsicCall &c) {
    constexpr uint64_t bytes = 128, aligned_to = 64;
    Value *map = stack_slot(b.getInt8Ty(), bytes, aligned_to);
    auto *shape_type = llvm::ArrayType::get(b.getInt32Ty(), c.args.size() - 2);
    auto *shape = stack_slot(shape_type, 1, 16);
    for (size_t i = 2; i < c.args.size(); i++) {
        Value *v = cast(value(c.args[i]), c.args[i].type(), Int(32));
        b.CreateStore(v, b.CreateStructGEP(shape_type, shape, unsigned(i - 2)));
    }
    fail_unless_zero(
        call_runtime("tessera_cuda_tensor_map", b.getInt32Ty(),
                     {host().user_context, map, value(c.args[0]), value(c.args[1]), shape}));
    return map;
}

// A tessera_cuda_image_t.
llvm::Constant *HostEmitter::image(const DeviceImage &image) {
    auto *bytes = private_global(
        llvm::ConstantDataArray::get(
            context, llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(image.bytes.data()),
                                             image.bytes.size())),
        true, "kernel_code");
    bytes->setAlignment(llvm::Align(64));
    return llvm::ConstantStruct::getAnon({b.getInt32(uint32_t(image.capability)),
                                          b.getInt8(image.is_ptx), b.getInt8(image.is_exact), bytes,
                                          b.getInt64(image.bytes.size())});
}

// The module's tessera_cuda_kernels_t, which the runtime knows by its address.
llvm::GlobalVariable *HostEmitter::kernels() {
    if (auto *found = module.getNamedGlobal(kernels_symbol)) return found;
    std::vector<llvm::Constant *> all;
    for (const DeviceImage &each : *images) all.push_back(image(each));
    if (all.empty()) throw InternalError("a kernel is launched, and no code was made of it");
    auto *array =
        llvm::ConstantArray::get(llvm::ArrayType::get(all[0]->getType(), all.size()), all);
    llvm::Constant *described = llvm::ConstantStruct::getAnon(
        {private_global(array, true, "kernel_images"), b.getInt32(uint32_t(all.size()))});
    const auto linkage =
        in_this_process() ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage;
    return new llvm::GlobalVariable(module, described->getType(), true, linkage, described,
                                    kernels_symbol);
}

}  // namespace tessera::codegen
