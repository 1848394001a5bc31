#pragma once
#include "ir/type.h"
#include "lang/location.h"
#include <string>

namespace tessera {

// Describes an instruction of a GPU that is added to the table: D(i, j) += A(i, k) * B(k, j), with
// the products in the type of D. A layout says which register of which thread has an element, in
// digits of mixed radix (ir/layout.h), and the extents of i, j and k:
//
//     "i:16 j:8 -> thread(i%8*4 + j/2) register(i/8*2 + j%2)"
struct TensorInstructionDescription {
    struct Operand {
        Type type;
        std::string layout;
    };
    std::string name;
    int threads = 32;     // that run it together: 32 of a warp, or 128 of a warpgroup
    int capability = 80;  // GPUs of this compute capability, or newer ones, have it
    Operand d, a, b;
    // Its line of PTX, in which $D, $A and $B stand for the registers, of 32 bits each, and $D[2:4]
    // for those numbered 2 and 3:
    // "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 $D, $A, $B, $D;"
    std::string ptx;
};

// Names an instruction, or a family of which the one is taken that fits the types. MMA: mma.sync,
// of one warp, from capability 8.0 on; WGMMA: wgmma, of a warpgroup, of capability 9.0. Others are
// asked for by their names, such as "mma.m16n8k8.f32.f16", "mma.tf32" or "vpdpbusd".
class TensorInstruction {
public:
    explicit TensorInstruction(std::string name) : its_name(std::move(name)) {}
    const std::string &name() const { return its_name; }
    bool operator==(const TensorInstruction &) const = default;

    static const TensorInstruction MMA, WGMMA;
    // Any instruction of the target that computes the definition as it is written.
    static TensorInstruction any() { return TensorInstruction("any"); }
    // Adds an instruction to the table, or replaces the one of its name. CompileError if the
    // description contradicts itself.
    static TensorInstruction define(const TensorInstructionDescription &description,
                                    Location at = Here::current());

private:
    std::string its_name;
};
inline const TensorInstruction TensorInstruction::MMA{"mma"}, TensorInstruction::WGMMA{"wgmma"};

}  // namespace tessera
