#pragma once
#include "ir/instruction.h"
#include "ir/nodes.h"

namespace tessera::ir {

constexpr bool is_tensor_operation(MachineOpKind op) { return op == MachineOpKind::tensor; }

// The operands of a MachineOp tensor by their names: a product D += A * B of a tile of D, by as
// many instructions as it takes; or what is done on a CPU for such products.
struct TensorOperation {
    enum class Step : uint8_t {
        Multiply,
        // On CPUs: the operation is around all that works on a tile while its sums are in
        // registers, which begin with what the tile holds, or with zeros that are set within; it
        // sets them to zero; or it is around all that uses tile registers, which a program has to
        // configure.
        Hold,
        HoldFromZero,
        Zero,
        Configure,
    };
    // Says where the instructions find A or B.
    enum class Source : uint8_t {
        Registers,  // of the threads, as the instruction wants them
        Rows,       // in memory: ldmatrix.x4 loads rows of 16 bytes
        Panels,     // in memory: the instruction reads panels (WgmmaOperand)
        HostRows,   // in memory of the CPU: rows that are one stride apart
    };
    struct Operand {
        Source source = Source::Registers;
        bool is_along_k = true;          // rows, or those of panels, are of neighbours along k
        int64_t panel = 0;               // elements from one panel to the next
        int64_t swizzle = most_swizzle;  // bytes of a row of a panel
        // In registers: they are those of another Tile, so that the loops of the body, which each
        // thread runs for itself, cannot read what others have: they do not compute the same.
        bool is_of_tile = false;
        // In registers: that of the thread's first one. Rows: those of the rows that a thread gives
        // to ldmatrix.x4, for each k of an instruction and, within, for each rows_of_load() rows of
        // A, or columns of B. Panels: where the matrix of one instruction begins, for each k of an
        // instruction and, within, for each row of instructions. Rows of the CPU: where the first
        // row of one instruction begins, in the same order.
        std::vector<Expr> places = {};
        // Rows of the CPU: two places, of a first row and of the next one; the same if there is
        // one row.
        Expr row = Expr(), next_row = Expr();

        // Returns all of these in the order in which they are operands.
        std::vector<Expr> all_places() const;
    };

    Instruction instruction;
    Step step = Step::Multiply;
    int64_t rows = 0, columns = 0, k = 0;  // extents of the tile; multiples of the instruction's
    Expr accumulators;                     // the place of the thread's first one
    Operand a, b;                          // of products

    // Throws InternalError if the operands are not those of such an operation (fault_of()).
    static TensorOperation of(const MachineOp &op);
    std::vector<Expr> operands() const;
    // The number of the first operand of a product that is a place: that of the accumulators. Those
    // of A and then of B follow.
    static constexpr size_t first_place = 6;

    // Returns how many instructions there are along rows, columns and k.
    int64_t steps(std::string_view loop) const;
    // Returns where the elements of the tile lie in the registers of the threads: of D, from i and
    // j to (thread, register), and so of A and B, if they are in registers.
    Layout registers_of(std::string_view operand) const;
    // Returns the instruction that loads such an operand.
    static Instruction load_of(const Operand &operand, Type element);
    // Returns how many rows of A, or columns of B, that instruction loads for others; 0 if
    // they take another number of bytes along k, or more rows, than it can load.
    static int64_t rows_of_load(const Instruction &instruction, std::string_view operand);
};

// Returns the element whose place it is, address_of(element) within lets; null if it is no place.
const Expr *element_of_place(const Expr &place);

// Says what is wrong with the operands of a MachineOp tensor: their number, sizes that its
// instructions do not divide, or places of other types. Empty if they are right.
std::string fault_of(const MachineOp &op);

}  // namespace tessera::ir
