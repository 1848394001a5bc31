#include "lower/gpu/tile_layout.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/tensor_operation.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

constexpr TensorInstructionInfo instructions[] = {
    {LoopKind::MMA, LoopKind::GPUWarp, 32, 16, 16, 256, 16, "mma.sync m16n8k16"},
    {LoopKind::WGMMA, LoopKind::GPUWarpgroup, 128, 64, 8, 256, 16, "wgmma m64nNk16"},
};

template<typename Member>
const TensorInstructionInfo *find(Member member, LoopKind kind) {
    const auto *found = std::ranges::find(instructions, kind, member);
    return found == std::end(instructions) ? nullptr : found;
}

}  // namespace

const TensorInstructionInfo *tensor_instruction(LoopKind loops) {
    return find(&TensorInstructionInfo::loops, loops);
}

const TensorInstructionInfo *tensor_instruction_of_threads(LoopKind threads) {
    return find(&TensorInstructionInfo::threads, threads);
}

std::optional<int64_t> step_of(const Expr &coordinate, const For &loop) {
    const Expr next = substitute(loop.name, Variable::make(Int(32), loop.name) + 1, coordinate);
    return as_const_int(algebra::simplify(next - coordinate));
}

Layout accumulators(const TensorInstructionInfo &instruction, int64_t rows, int64_t columns) {
    TensorOperation operation;
    operation.rows = rows;
    operation.columns = columns;
    return operation.accumulator_layout(instruction.loops == LoopKind::MMA ? MachineOpKind::mma
                                                                           : MachineOpKind::wgmma);
}

}  // namespace tessera::lower
