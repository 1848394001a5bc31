#include "lang/tensor_instruction.h"
#include "base/error.h"
#include "ir/gpu_instructions.h"
#include <algorithm>

namespace tessera {

TensorInstruction TensorInstruction::define(const TensorInstructionDescription &description,
                                            Location at) {
    const auto operand = [](const char *name, const TensorInstructionDescription::Operand &o) {
        return ir::in_registers(name, o.type, o.layout);
    };
    try {
        ir::Instruction row{.name = description.name,
                            .family = description.name,
                            .threads = description.threads,
                            .capability = description.capability,
                            .operands = {operand("D", description.d), operand("A", description.a),
                                         operand("B", description.b)},
                            .assembly = description.ptx};
        for (const char *loop : {"i", "j", "k"}) {
            if (std::ranges::none_of(row.operands, [&](const ir::InstructionOperand &o) {
                    return o.layout.coordinate(loop) != nullptr;
                }))
                throw CompileError(str("no layout has the coordinate ", loop));
        }
        row.meaning =
            ir::product_meaning(row.operands, row.extent("i"), row.extent("j"), row.extent("k"));
        ir::register_instruction(row);
    } catch (const Error &e) {
        throw CompileError(at,
                           str("TensorInstruction::define of ", description.name, ": ", e.what()));
    }
    return TensorInstruction(description.name);
}

}  // namespace tessera
