#pragma once
#include "base/target.h"
#include "ir/layout.h"
#include "ir/nodes.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::ir {

// Says where an operand of an instruction lies: in registers of the threads that run it, or in
// memory, at a place that is given to the instruction (by each thread, for what is loaded by rows).
enum class OperandPlace : uint8_t { Registers, Memory, MemoryOfRows };

// An operand is a tensor, which the meaning of the instruction reads or writes as a Func of its
// name. The layout maps its coordinates to (thread, register), to (element) behind the place that
// is given, or to (row, element) if each thread gives the place of a row.
struct InstructionOperand {
    Symbol name;
    Type type;
    OperandPlace place = OperandPlace::Registers;
    Layout layout;
};

// An instruction of a machine, as data: who runs it, where its operands lie, how it is written, and
// its meaning, which is a loop nest over its operands. Interpreters run the meaning on what the
// operands address, whatever the program believes to be there; the compiler finds in it what the
// instruction can compute. (Ikarashi et al., Exo, PLDI 2022, describe instructions in this way.)
struct Instruction {
    std::string name = "";    // such as mma.m16n8k16.f32.f16
    std::string family = "";  // such as mma
    int threads = 1;
    bool is_asynchronous = false;  // its results are there after a wait
    bool rounds_operands = false;  // it computes with fewer bits than its operands have
    // GPUs that have it: of this compute capability, such as 80, or newer ones; or of this one
    // only.
    int capability = 0;
    bool is_of_one_capability = false;
    // CPUs that have it: of this architecture, of 64 bits, and with any of these features. Nothing
    // if it is an instruction of GPUs.
    std::optional<Target::Arch> arch = std::nullopt;
    std::vector<Target::Feature> features = {};
    std::vector<InstructionOperand> operands = {};  // the first is the one that is written
    Stmt meaning = Stmt();
    // Its line of assembly. $D, $A and $B stand for registers ($D[2:4] for those numbered 2 and 3),
    // or for the descriptor of an operand in memory; %A and %B for 1 if such an operand does not
    // lie along k, else 0. On CPUs they are vector registers, and rows of the table have no line:
    // they are emitted by their mnemonics, as the machine's manual has them, or as tile registers.
    std::string assembly = "", mnemonic = "";
    bool is_of_tiles = false;  // its operands are tile registers, of which a machine has eight
    bool is_swapped = false;   // the machine takes B before A, and gives D by columns

    // Throws InternalError if there is none of that name.
    const InstructionOperand &operand(std::string_view name) const;
    // Returns the extent of a loop of the meaning. Throws InternalError if no operand has it.
    int64_t extent(std::string_view loop) const;
    bool is_of_cpu() const { return arch.has_value(); }
    // Returns true if code for the target may use it: if all of its GPUs have it, or its CPU.
    bool is_on(const Target &target) const;
    // Returns true if it is called so: it is its name, mnemonic or family.
    bool is_called(std::string_view wanted) const {
        return wanted == name || wanted == family || (wanted == mnemonic && !mnemonic.empty());
    }
};

// Throws InternalError if a row contradicts itself: an operand that the meaning does not use, or
// uses with other extents than its layout has, more threads than run it, or two elements of one
// place.
void verify(const Instruction &instruction);

// Returns the instruction of this name; nothing if there is none.
std::optional<Instruction> find_instruction(std::string_view name);
// Returns the instructions that a family has (or "any": all but those that round their operands),
// or those of this name or mnemonic, in the order in which they are tried. Where the number of
// columns of an instruction can be chosen, `columns` are chosen.
std::vector<Instruction> instructions_named(std::string_view name, int64_t columns);
// Returns true if the name stands for instructions of CPUs in code for this target: "any" does if
// that has no GPU.
bool is_name_of_cpu(std::string_view name, const Target &target);
// Adds an instruction of the user's to the table, or changes the one of its name. Throws
// CompileError if the row contradicts itself, or is one of a CPU without a line of assembly.
void register_instruction(const Instruction &instruction);
// Returns the names of the families, and of instructions that are in none.
std::vector<std::string> instruction_names();

// The matrices of products D += A * B have the coordinates i and j, i and k, and k and j. They are
// described by PTX ISA 9.0, sections 9.7.14 (mma, ldmatrix) and 9.7.15 (wgmma).

// Returns mma.sync of 16 rows and 8 columns: sums of type `sum` of products of elements of `a` and
// `b`, which are of equally many bits.
Instruction mma_m16n8(int64_t k, Type sum, Type a, Type b);
// ldmatrix of four matrices of eight rows of 16 bytes: F(m, r, c) = M(m, r, c). Elements that are
// transposed have 16 bits.
Instruction ldmatrix_x4(Type element, bool transposed);
// Describes an operand of wgmma in the memory of the block, in panels whose rows have so many bytes
// (128, 64 or 32) as are swizzled. If it lies along k, these are rows of elements of k, one for
// each i (or j); else rows of elements of i (or j), one for each k, in panels that are `panel`
// elements apart.
struct WgmmaOperand {
    bool is_along_k = true;
    int64_t panel = 0;
    int64_t swizzle = most_swizzle;
};
// Returns the bytes of a row of the panels that rows of so many bytes lie in; nothing if wgmma
// reads no such panels.
constexpr std::optional<int64_t> swizzle_of_panels(int64_t row_bytes) {
    if (row_bytes > 0 && row_bytes % most_swizzle == 0) return most_swizzle;
    return row_bytes == 64 || row_bytes == 32 ? std::optional(row_bytes) : std::nullopt;
}
// Returns wgmma of 64 rows and 32 bytes of k; B is in memory, and A there or in registers.
Instruction wgmma_m64(int64_t columns, Type sum, Type a, Type b, bool a_in_registers = false);
// Returns where an operand of wgmma lies, from (i, k) or (k, j) to elements.
Layout wgmma_layout(const Instruction &wgmma, std::string_view operand, WgmmaOperand lies);

}  // namespace tessera::ir
