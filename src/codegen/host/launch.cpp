#include "codegen/host/host_emitter.h"
#include "codegen/nvptx/kernel_emitter.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include "lower/gpu/kernel_loops.h"

// Launches of kernels: what the host does where one is invoked.
namespace tessera::codegen {

// Returns the addresses of the values, in a row, behind room for others.
Value *HostEmitter::addresses_of(std::span<const Expr> values, size_t room_before) {
    const size_t count = std::max<size_t>(1, room_before + values.size());
    auto *type = llvm::ArrayType::get(b.getPtrTy(), count);
    auto *addresses = stack_slot(type, 1, 16);
    for (size_t i = 0; i < values.size(); i++) {
        const auto *call = values[i].as<IntrinsicCall>();
        Value *at = value(values[i]);
        if (!call || call->op != Intrinsic::tensor_map) {
            Value *v = to_memory(at, values[i].type());
            at = stack_slot(v->getType(), 1, 8);
            b.CreateStore(v, at);
        }
        b.CreateStore(at, b.CreateStructGEP(type, addresses, unsigned(room_before + i)));
    }
    return addresses;
}

// tessera_cuda_run(user_context, kernels, name, shape, addresses of the arguments), or
// tessera_cuda_run_reporting, whose last argument is a function.
void HostEmitter::launch(const LoweredFunction &kernel, const Invoke &node) {
    MemoScope forget(*this);
    constexpr size_t launch_arguments = lower::launch_arguments;
    auto *shape_type = llvm::ArrayType::get(b.getInt32Ty(), launch_arguments);
    auto *shape = stack_slot(shape_type, 1, 16);
    for (size_t i = 0; i < launch_arguments; i++) {
        Value *v = cast(value(node.args[i]), node.args[i].type(), Int(32));
        b.CreateStore(v, b.CreateStructGEP(shape_type, shape, unsigned(i)));
    }
    const auto *reports = device_code->reports.of(kernel.name);
    Value *addresses =
        addresses_of(std::span(node.args).subspan(launch_arguments), reports ? 1 : 0);
    std::vector<Value *> args = {host().user_context, kernels(),
                                 string_constant(kernel_symbol(kernel.name)), shape, addresses};
    if (reports) args.push_back(report_function(kernel.name, *reports));
    fail_unless_zero(call_runtime(reports ? "tessera_cuda_run_reporting" : "tessera_cuda_run",
                                  b.getInt32Ty(), args));
}

// ---- What kernels report (nvptx/kernel_reports.h) ----

// Binds the operands to what the record says, and returns the code of the call.
void HostEmitter::answer(const KernelReport &report, Value *record) {
    MemoScope forget(*this);
    uint64_t word = 1;
    for (const KernelReport::Operand &operand : report.operands) {
        const Type t = operand.value.type(), words = UInt(64, t.lanes());
        auto *at = b.CreateConstGEP1_64(b.getInt64Ty(), record, word);
        Value *v = b.CreateAlignedLoad(register_type(words), at, llvm::Align(8));
        const Type bits = UInt(t.bits(), t.lanes());
        f->variables[operand.name] = reinterpret(cast(v, words, bits), bits, t);
        word += uint64_t(t.lanes());
    }
    Value *code = value(report.call);
    b.CreateRet(code->getType()->isIntegerTy(32) ? code : int32(-1));
}

// A tessera_cuda_report_t.
llvm::Function *HostEmitter::report_function(const std::string &kernel,
                                             const std::vector<KernelReport> &reports) {
    const std::string name = kernel + ".report";
    if (llvm::Function *known = module.getFunction(name)) return known;
    auto *ptr = b.getPtrTy();
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {ptr, ptr}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
    llvm::IRBuilder<>::InsertPointGuard keep(b);
    FreshMemo memo_of_its_own(*this);
    FunctionState *outer = f;
    HostFunction state;
    begin_function(function, state);
    host().user_context = function->getArg(0);
    Value *record = function->getArg(1);
    llvm::BasicBlock *others = new_block("others");
    auto *which = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), record), others);
    for (size_t i = 0; i < reports.size(); i++) {
        llvm::BasicBlock *block = new_block("report");
        which->addCase(b.getInt32(uint32_t(i + 1)), block);
        start(block);
        answer(reports[i], record);
    }
    start(others);
    end_function();
    f = outer;
    return function;
}

Value *HostEmitter::host_gpu_processors(const IntrinsicCall &) {
    return call_runtime("tessera_cuda_processors", b.getInt32Ty(), {host().user_context});
}

// A CUtensorMap on the stack, which tessera_cuda_tensor_map has filled in. The map begins at the
// element of the buffer that a last operand numbers.
Value *HostEmitter::host_tensor_map(const IntrinsicCall &c) {
    constexpr uint64_t bytes = 128, aligned_to = 64;
    Value *map = stack_slot(b.getInt8Ty(), bytes, aligned_to);
    const size_t end_of_shape =
        2 + numbers_of_map(is_one(c.args[2]), size_t(*as_const_int(c.args[3])));
    auto *shape_type = llvm::ArrayType::get(b.getInt32Ty(), end_of_shape - 2);
    auto *shape = stack_slot(shape_type, 1, 16);
    for (size_t i = 2; i < end_of_shape; i++) {
        Value *v = cast(value(c.args[i]), c.args[i].type(), Int(32));
        b.CreateStore(v, b.CreateStructGEP(shape_type, shape, unsigned(i - 2)));
    }
    Value *address = value(c.args[0]);
    if (c.args.size() > end_of_shape) {
        Value *first = cast(value(c.args[end_of_shape]), c.args[end_of_shape].type(), Int(64));
        Value *bytes = cast(value(c.args[1]), c.args[1].type(), Int(64));
        address = b.CreateGEP(b.getInt8Ty(), address, b.CreateMul(first, bytes));
    }
    fail_unless_zero(call_runtime("tessera_cuda_tensor_map", b.getInt32Ty(),
                                  {host().user_context, map, address, value(c.args[1]), shape}));
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
                                          b.getInt64(image.bytes.size()), b.getInt8(image.waits)});
}

// The module's tessera_cuda_kernels_t, which the runtime knows by its address.
llvm::GlobalVariable *HostEmitter::kernels() {
    if (auto *found = module.getNamedGlobal(kernels_symbol)) return found;
    std::vector<llvm::Constant *> all;
    for (const DeviceImage &each : device_code->images) all.push_back(image(each));
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
