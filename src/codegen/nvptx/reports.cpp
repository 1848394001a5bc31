#include "codegen/nvptx/kernel_emitter.h"
#include "runtime/tessera_runtime_cuda.h"
#include <llvm/IR/IntrinsicsNVPTX.h>

// By these functions kernels tell the host of assertions that do not hold, and of lines to print
namespace tessera::codegen {

constexpr auto relaxed = llvm::AtomicOrdering::Monotonic;

Value *KernelEmitter::in_reports(size_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f->function->getArg(0), offset);
}

// The values of the operands where the code stands. The host reads them without LLVM's knowledge.
void KernelEmitter::write_record(Value *record, size_t number) {
    const KernelReport report = (*reports.of(name))[number];
    uint64_t word = 0;
    auto write = [&](Value *v) {
        auto *at = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), record, word++);
        b.CreateAlignedStore(v, at, llvm::Align(8), true);
    };
    write(b.getInt64(uint64_t(report.words()) << 32 | (number + 1)));
    for (const KernelReport::Operand &operand : report.operands) {
        const Type t = operand.value.type(), bits = UInt(t.bits(), t.lanes());
        Value *v = cast(reinterpret(value(operand.value), t, bits), bits, UInt(64, t.lanes()));
        for (int lane = 0; lane < t.lanes(); lane++) {
            write(t.lanes() == 1 ? v : slice(v, lane, 1, 1));
        }
    }
}

// The first thread that fails says why, and each ends. If the others could wait for it for ever,
// the kernel is brought down, once the host can read why.
void KernelEmitter::fail(const Expr &place, const Expr &error) {
    const size_t number = reports.add(name, place, error);
    auto *before =
        b.CreateAtomicCmpXchg(in_reports(offsetof(tessera_cuda_reports_t, failed)), b.getInt32(0),
                              b.getInt32(1), llvm::Align(4), relaxed, relaxed);
    auto tell = [&] {
        write_record(in_reports(offsetof(tessera_cuda_reports_t, failure)), number);
        if (!needs_all_threads) return;
        b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
        b.CreateIntrinsic(llvm::Intrinsic::trap, {});
    };
    branch(b.CreateExtractValue(before, 1), tell, nullptr);
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_exit, {});
    b.CreateUnreachable();
}

// A line that finds no room is counted.
void KernelEmitter::print(const ExternCall &line) {
    const size_t number = reports.add(name, Expr(&line), Expr(&line));
    Value *words = b.getInt64(uint64_t((*reports.of(name))[number].words()));
    auto add = [&](size_t offset, Value *value) {
        return b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, in_reports(offset), value,
                                 llvm::Align(8), relaxed);
    };
    Value *first = add(offsetof(tessera_cuda_reports_t, words), words);
    constexpr uint64_t room = std::extent_v<decltype(tessera_cuda_reports_t::lines)>;
    branch(
        b.CreateICmpULE(b.CreateAdd(first, words), b.getInt64(room)),
        [&] {
            Value *lines = in_reports(offsetof(tessera_cuda_reports_t, lines));
            write_record(b.CreateGEP(b.getInt64Ty(), lines, first), number);
        },
        [&] { add(offsetof(tessera_cuda_reports_t, lost), b.getInt64(1)); });
}

}  // namespace tessera::codegen
