#include "codegen/host/host_emitter.h"
#include "codegen/llvm/patterns.h"
#include <llvm/IR/InlineAsm.h>

// Instructions of CPUs that add products of small matrices to what is in registers.
namespace tessera::codegen {

namespace {

// Tile registers have rows of so many bytes.
constexpr int64_t tile_row_bytes = 64;

int64_t bytes_of_sums(const ir::Instruction &instruction) {
    const InstructionOperand &sums = instruction.operand("D");
    return sums.layout.size() * sums.type.bytes();
}

}  // namespace

void HostEmitter::machine_op(const MachineOp &node) {
    if (!is_tensor_operation(node.op)) return run(node.body);
    const auto t = TensorOperation::of(node);
    if (!t.instruction.is_of_cpu()) return run(node.body);
    const HeldTile *held = host().held;
    using Step = TensorOperation::Step;
    switch (t.step) {
    case Step::Configure: return configure_tiles(node);
    case Step::Hold:
    case Step::HoldFromZero: return hold(t, node.body);
    case Step::Zero: return held ? set_to_zero(t, *held) : run(node.body);
    case Step::Multiply: break;
    }
    MemoScope forget(*this);
    if (held) return multiply(t, *held);
    const HeldTile own = registers_for(t);
    move_sums(t, own, false);
    multiply(t, own);
    move_sums(t, own, true);
}

// The system lets a process use tile registers if it asks.
void HostEmitter::configure_tiles(const MachineOp &node) {
    fail_unless_zero(call_runtime("tessera_request_amx", b.getInt32Ty(), {host().user_context}));
    const auto tiles = patterns->tile_registers();
    tiles->configure();
    run(node.body);
    tiles->release();
}

void HostEmitter::hold(const TensorOperation &t, const Stmt &body) {
    const HeldTile own = registers_for(t);
    if (t.step == TensorOperation::Step::Hold) {
        MemoScope forget(*this);
        move_sums(t, own, false);
    }
    const HeldTile *around = std::exchange(host().held, &own);
    run(body);
    host().held = around;
    MemoScope forget(*this);
    move_sums(t, own, true);
}

HeldTile HostEmitter::registers_for(const TensorOperation &t) {
    HeldTile tile;
    if (t.instruction.is_of_tiles) return tile;
    const InstructionOperand &sums = t.instruction.operand("D");
    llvm::Type *type = llvm_vector(memory_type(sums.type), int(sums.layout.size()));
    for (int64_t i = 0; i < t.steps("i") * t.steps("j"); i++)
        tile.sums.push_back(stack_slot(type, 1, 64));
    return tile;
}

// Moves sums between registers and the Tile's place in memory.
void HostEmitter::move_sums(const TensorOperation &t, const HeldTile &tile, bool to_memory) {
    Value *first = value(t.accumulators);
    const auto tiles = t.instruction.is_of_tiles ? patterns->tile_registers() : nullptr;
    const int64_t bytes = bytes_of_sums(t.instruction);
    const llvm::Align align(uint64_t(std::min<int64_t>(bytes, 16)));
    for (int64_t n = 0; n < t.steps("i") * t.steps("j"); n++) {
        Value *place = b.CreateConstGEP1_64(b.getInt8Ty(), first, uint64_t(n * bytes));
        if (tiles) {
            Value *stride = int64(tile_row_bytes);
            to_memory ? tiles->store(int(n), place, stride) : tiles->load(int(n), place, stride);
            continue;
        }
        llvm::AllocaInst *slot = tile.sums[size_t(n)];
        Value *from = to_memory ? static_cast<Value *>(slot) : place;
        Value *to = to_memory ? place : static_cast<Value *>(slot);
        b.CreateAlignedStore(b.CreateAlignedLoad(slot->getAllocatedType(), from, align), to, align);
    }
}

void HostEmitter::set_to_zero(const TensorOperation &t, const HeldTile &tile) {
    for (llvm::AllocaInst *slot : tile.sums)
        b.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
    if (!t.instruction.is_of_tiles) return;
    const auto tiles = patterns->tile_registers();
    for (int64_t n = 0; n < t.steps("i") * t.steps("j"); n++) tiles->zero(int(n));
}

void HostEmitter::multiply(const TensorOperation &t, const HeldTile &tile) {
    t.instruction.is_of_tiles ? multiply_tiles(t) : multiply_vectors(t, tile);
}

Value *HostEmitter::row_stride(const Expr &row, const Expr &next) {
    return b.CreateSub(b.CreatePtrToInt(value(next), b.getInt64Ty()),
                       b.CreatePtrToInt(value(row), b.getInt64Ty()));
}

// Loads the rows of an operand, one behind the other, as often as they fit `bytes`.
Value *HostEmitter::operand_vector(const InstructionOperand &operand, Value *place, Value *stride,
                                   int64_t bytes) {
    const int64_t rows = operand.layout.output("row")->extent(),
                  row_bytes = operand.layout.output("element")->extent() * operand.type.bytes();
    const bool is_word = row_bytes <= 8;
    llvm::Type *type = is_word ? static_cast<llvm::Type *>(b.getIntNTy(unsigned(row_bytes * 8)))
                               : llvm_vector(b.getInt8Ty(), int(row_bytes));
    const auto load = [&](int64_t row) {
        Value *at = b.CreateGEP(b.getInt8Ty(), place, b.CreateMul(stride, int64(row)));
        const llvm::Align align(uint64_t(operand.type.bytes()));
        return b.CreateAlignedLoad(type, row == 0 ? place : at, align);
    };
    if (rows * row_bytes < bytes && rows == 1) return splat(load(0), int(bytes / row_bytes));
    if (rows == 1) return load(0);
    Value *all = llvm::PoisonValue::get(llvm_vector(type, int(rows)));
    for (int64_t row = 0; row < rows; row++) all = b.CreateInsertElement(all, load(row), row);
    return all;
}

// The user's own line of assembly, whose registers LLVM chooses.
Value *HostEmitter::by_assembly(const ir::Instruction &row, Value *sums, Value *a,
                                Value *b_vector) {
    std::string text = row.assembly;
    for (const auto &[name, number] : {std::pair("$D", "$0"), {"$A", "$1"}, {"$B", "$2"}}) {
        for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 2))
            text.replace(at, 2, number);
    }
    llvm::Type *type = sums->getType();
    const char *vectors = row.arch == Target::X86 ? "=v,v,v,0" : "=w,w,w,0";
    auto *function = llvm::FunctionType::get(type, {type, type, type}, false);
    return b.CreateCall(llvm::InlineAsm::get(function, text, vectors, false),
                        {b.CreateBitCast(a, type), b.CreateBitCast(b_vector, type), sums});
}

void HostEmitter::multiply_vectors(const TensorOperation &t, const HeldTile &tile) {
    const ir::Instruction &row = t.instruction;
    Value *of_a = row_stride(t.a.row, t.a.next_row), *of_b = row_stride(t.b.row, t.b.next_row);
    const int64_t bytes = bytes_of_sums(row), rows = t.steps("i"), columns = t.steps("j");
    const auto operand = [&](const char *name, const Expr &place, Value *stride) {
        return operand_vector(row.operand(name), value(place), stride, bytes);
    };
    for (int64_t k = 0; k < t.steps("k"); k++) {
        std::vector<Value *> of_columns;
        for (int64_t j = 0; j < columns; j++)
            of_columns.push_back(operand("B", t.b.places[size_t(k * columns + j)], of_b));
        for (int64_t i = 0; i < rows; i++) {
            Value *a = operand("A", t.a.places[size_t(k * rows + i)], of_a);
            for (int64_t j = 0; j < columns; j++) {
                llvm::AllocaInst *slot = tile.sums[size_t(i * columns + j)];
                Value *sums = b.CreateLoad(slot->getAllocatedType(), slot);
                Value *added = row.assembly.empty()
                                   ? patterns->multiply(row, sums, a, of_columns[size_t(j)])
                                   : by_assembly(row, sums, a, of_columns[size_t(j)]);
                if (!added) throw InternalError(str("no code for the instruction ", row.name));
                b.CreateStore(added, slot);
            }
        }
    }
}

// The first registers hold the sums, the next ones A if there are enough, and the last ones B.
void HostEmitter::multiply_tiles(const TensorOperation &t) {
    const auto tiles = patterns->tile_registers();
    const int rows = int(t.steps("i")), columns = int(t.steps("j")), first_a = rows * columns,
              free = TileRegisters::count - first_a;
    const bool keeps_a = rows < free;
    const int of_b = std::max(1, std::min(free - (keeps_a ? rows : 1), columns));
    Value *a_stride = row_stride(t.a.row, t.a.next_row),
          *b_stride = row_stride(t.b.row, t.b.next_row);
    for (int64_t k = 0; k < t.steps("k"); k++) {
        const auto load_a = [&](int i, int tile) {
            tiles->load(tile, value(t.a.places[size_t(k * rows + i)]), a_stride);
        };
        for (int j = 0; j < columns; j++) {
            const int tile_b = TileRegisters::count - 1 - j % of_b;
            tiles->load(tile_b, value(t.b.places[size_t(k * columns + j)]), b_stride);
            for (int i = 0; i < rows; i++) {
                const int tile_a = keeps_a ? first_a + i : first_a;
                if (!keeps_a || j == 0) load_a(i, tile_a);
                tiles->multiply(t.instruction, i * columns + j, tile_a, tile_b);
            }
        }
    }
}

}  // namespace tessera::codegen
