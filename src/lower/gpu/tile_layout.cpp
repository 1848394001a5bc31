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
    {LoopKind::GPUWarp, 32, 16, 16, 256, 16, "mma", "mma.sync m16n8k16"},
    {LoopKind::GPUWarpgroup, 128, 64, 8, 256, 16, "wgmma", "wgmma m64nNk16"},
};

template<typename Value, typename Member>
const TensorInstructionInfo *find(Member member, const Value &value) {
    const auto *found = std::ranges::find(instructions, value, member);
    return found == std::end(instructions) ? nullptr : found;
}

}  // namespace

const TensorInstructionInfo *tensor_instruction(const For &loop) {
    if (loop.loop_kind != LoopKind::Tensorized) return nullptr;
    return find([](const TensorInstructionInfo &i) { return std::string_view(i.family); },
                std::string_view(loop.origin.instruction.text()));
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
    operation.is_wgmma = instruction.threads == LoopKind::GPUWarpgroup;
    return operation.accumulator_layout();
}

}  // namespace tessera::lower
