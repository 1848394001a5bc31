#include "codegen/nvptx/kernel_emitter.h"
#include "ir/equal.h"
#include "ir/gpu_instructions.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/tensor_operation.h"
#include "ir/tile_copy.h"
#include "ir/visitor.h"
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <ranges>
#include <regex>

// Asynchronous copies, barriers in memory, and the instructions of tensor cores (PTX ISA 9.0).
namespace tessera::codegen {

namespace I = llvm::Intrinsic;

namespace {

int64_t constant(const Expr &e) {
    const auto value = as_const_int(e);
    if (!value) throw InternalError("an operand of a tensor instruction is no constant");
    return *value;
}

// "$first, $first+1, ..."
std::string registers(int64_t first, int64_t count) {
    std::string all;
    for (int64_t i = 0; i < count; i++) all += str(i ? ", $" : "$", first + i);
    return all;
}

std::string repeated(const std::string &constraint, int64_t count) {
    std::string all;
    for (int64_t i = 0; i < count; i++) all += constraint + ",";
    return all;
}

// Inputs that are in the registers of the outputs.
std::string tied(int64_t count) {
    std::string all;
    for (int64_t i = 0; i < count; i++) all += str(i, ",");
    return all;
}

std::string replaced(std::string text, std::string_view before, const std::string &after) {
    for (size_t at = text.find(before); at != std::string::npos;
         at = text.find(before, at + after.size()))
        text.replace(at, before.size(), after);
    return text;
}

// Replaces what stands for registers of an operand: $D for all, $D[2:4] for those numbered 2 and 3,
// and $D[2] for that register by itself.
std::string with_registers(std::string text, const std::string &name, int64_t first,
                           int64_t count) {
    static const std::regex some(R"(\[(\d+)(?::(\d+))?\])");
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        const auto begin = text.cbegin() + ptrdiff_t(at + name.size());
        std::smatch range;
        const bool is_some = std::regex_search(begin, text.cend(), range, some,
                                               std::regex_constants::match_continuous);
        const bool is_one = is_some && !range[2].matched;
        const int64_t from = is_some ? std::stoll(range[1]) : 0, to = !is_some ? count
                                                                      : is_one
                                                                          ? from + 1
                                                                          : std::stoll(range[2]);
        const size_t length = name.size() + (is_some ? size_t(range.length()) : 0);
        const std::string some_of = registers(first + from, to - from),
                          all = is_one ? some_of : str("{", some_of, "}");
        text.replace(at, length, all);
        at += all.size();
    }
    return text;
}

}  // namespace

// Written in assembly: it stays where it is, and all threads of a warp are together there.
llvm::CallInst *KernelEmitter::assembly(const std::string &text, const std::string &constraints,
                                        llvm::Type *result, llvm::ArrayRef<Value *> operands) {
    std::vector<llvm::Type *> types;
    for (Value *v : operands) types.push_back(v->getType());
    auto *type = llvm::FunctionType::get(result, types, false);
    auto *code = llvm::InlineAsm::get(type, text, constraints, true);
    llvm::CallInst *c = b.CreateCall(type, code, operands);
    c->addFnAttr(llvm::Attribute::Convergent);
    c->addFnAttr(llvm::Attribute::NoUnwind);
    return c;
}

// The element at a place, and the lets around it for what its index needs.
const Load &KernelEmitter::element_at(const Expr &place) {
    Expr e = place;
    for (const Let *let = e.as<Let>(); let; let = e.as<Let>()) {
        f->variables[let->name] = bound_value(let->name, let->value);
        bind_wide(let->name, let->value);
        e = let->body;
    }
    return address_taken(e);
}

Value *KernelEmitter::pointer_to(const Expr &place) {
    const Load &load = element_at(place);
    return element_pointer(load.buffer, load.type, load.index);
}

// In the memory of the block, as the machine's own units see it, which swizzle by themselves.
Value *KernelEmitter::shared_address(const Expr &place) {
    const Load &load = element_at(place);
    Value *p = element_pointer(base_pointer(load.buffer), load.type, coordinate(load.index));
    return b.CreatePtrToInt(p, b.getInt32Ty());
}

// ---- Copies ----

Value *KernelEmitter::asynchronous_call(const IntrinsicCall &c) {
    const auto with_barrier = [&](const std::string &text) {
        assembly(text, "r,~{memory}", b.getVoidTy(), {shared_address(c.args[0])});
    };
    switch (c.op) {
    case Intrinsic::async_commit:
        if (!has_async_copies) break;
        assembly("cp.async.commit_group;", "~{memory}", b.getVoidTy(), {});
        break;
    case Intrinsic::async_wait:
        if (!has_async_copies) break;
        assembly(str("cp.async.wait_group ", constant(c.args[0]), ";"), "~{memory}", b.getVoidTy(),
                 {});
        // Other units of the machine see what threads have copied and stored only after a fence.
        if (has_readers) assembly("fence.proxy.async.shared::cta;", "~{memory}", b.getVoidTy(), {});
        break;
    case Intrinsic::barrier_init:
        with_barrier(str("mbarrier.init.shared.b64 [$0], ",
                         c.args.size() > 1 ? constant(c.args[1]) : 1,
                         ";\n\tfence.mbarrier_init.release.cluster;"));
        break;
    case Intrinsic::barrier_arrive:
        if (c.args.size() > 1) {
            arrive_in_cluster(c);
            break;
        }
        with_barrier("{\n\t.reg .pred first;\n\t.reg .b32 lane;\n\tmov.u32 lane, %laneid;\n\t"
                     "setp.eq.u32 first, lane, 0;\n\tbar.warp.sync -1;\n\t"
                     "@first mbarrier.arrive.shared.b64 _, [$0];\n\t}");
        break;
    case Intrinsic::gpu_role_barrier:
        if (const auto number = as_const_int(c.args[0])) {
            assembly(str("bar.sync ", *number, ", ", constant(c.args[1]), ";"), "~{memory}",
                     b.getVoidTy(), {});
        } else {
            assembly(str("bar.sync $0, ", constant(c.args[1]), ";"), "r,~{memory}", b.getVoidTy(),
                     {value(c.args[0])});
        }
        break;
    case Intrinsic::gpu_set_registers:
        assembly(str("setmaxnreg.", constant(c.args[1]) != 0 ? "inc" : "dec", ".sync.aligned.u32 ",
                     constant(c.args[0]), ";"),
                 "~{memory}", b.getVoidTy(), {});
        break;
    case Intrinsic::barrier_end: with_barrier("mbarrier.inval.shared.b64 [$0];"); break;
    case Intrinsic::barrier_expect:
        assembly("mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}",
                 b.getVoidTy(), {shared_address(c.args[0]), value(c.args[1])});
        break;
    case Intrinsic::barrier_wait:
        assembly("{\n\t.reg .pred done;\nWAIT_${:uid}:\n\t"
                 "mbarrier.try_wait.parity.shared.b64 done, [$0], $1;\n\t"
                 "@!done bra WAIT_${:uid};\n\t}",
                 "r,r,~{memory}", b.getVoidTy(), {shared_address(c.args[0]), value(c.args[1])});
        break;
    case Intrinsic::tensor_wait: tensor_wait(c); break;
    default: refuse_in_kernel(str(info_of(c.op).name));
    }
    return int32(0);
}

// Lane i of the warp arrives at the barrier of block i, if it is one of them.
void KernelEmitter::arrive_in_cluster(const IntrinsicCall &c) {
    assembly("{\n\t.reg .pred is_one;\n\t.reg .b32 lane, bit, there;\n\tmov.u32 lane, %laneid;\n\t"
             "shr.u32 bit, $1, lane;\n\tand.b32 bit, bit, 1;\n\tsetp.eq.u32 is_one, bit, 1;\n\t"
             "bar.warp.sync -1;\n\t"
             "@is_one mapa.shared::cluster.u32 there, $0, lane;\n\t"
             "@is_one mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}",
             "r,r,~{memory}", b.getVoidTy(), {shared_address(c.args[0]), value(c.args[1])});
}

void KernelEmitter::copy_tile(const MachineOp &node) {
    if (TileCopy::is_group(node)) {
        run(node.body);
        assembly(end_of_stores().assembly, "~{memory}", b.getVoidTy(), {});
        return;
    }
    MemoScope forget(*this);
    const auto t = TileCopy::of(node);
    std::vector<Value *> operands;
    std::string constraints, text = t.copy.instruction().assembly;
    const auto put = [&](const char *name, const char *constraint, std::span<Value *const> values) {
        text = replaced(std::move(text), name,
                        registers(int64_t(operands.size()), int64_t(values.size())));
        operands.insert(operands.end(), values.begin(), values.end());
        constraints += repeated(constraint, int64_t(values.size()));
    };
    const auto values_of = [&](const std::vector<Expr> &all, llvm::Type *type) {
        std::vector<Value *> values;
        for (const Expr &e : all) values.push_back(b.CreateTrunc(value(e), type));
        return values;
    };
    const auto put_one = [&](const char *name, const char *constraint, Value *v) {
        put(name, constraint, std::span(&v, 1));
    };
    put_one("$T", "r", shared_address(t.place));
    put_one("$M", "l", value(t.map));
    put("$C", "r", values_of(t.coordinates, b.getInt32Ty()));
    if (t.barrier.defined()) put_one("$F", "r", shared_address(t.barrier));
    if (!t.offsets.empty()) put("$O", "h", values_of(t.offsets, b.getInt16Ty()));
    if (t.copy.is_shared) put_one("$B", "h", b.CreateTrunc(value(t.blocks), b.getInt16Ty()));
    assembly(text, constraints + "~{memory}", b.getVoidTy(), operands);
}

namespace {

// The statement with the lets of its body around it; undefined if there are none, or if they load
// what is there only on a condition.
Stmt lets_first(const MachineOp &node) {
    const auto *branch = node.body.as<IfThenElse>();
    const auto *let = (branch ? branch->then_case : node.body).as<LetStmt>();
    if (!let) return {};
    bool loads = false;
    for_each_node(let->value, [&](const Load &) { loads = true; });
    if (branch && loads) return {};
    const Stmt body = branch ? branch->with<&IfThenElse::then_case>(let->body) : let->body;
    return let->with<&LetStmt::body>(node.with<&MachineOp::body>(body));
}

// Returns where a body stores zeros if it does not copy; undefined if it does something else. Facts
// about the condition may have changed how the place is written.
Expr place_of_zeros(const IfThenElse &branch, Symbol buffer) {
    std::vector<const LetStmt *> lets;
    Stmt other = branch.else_case;
    for (const LetStmt *let; (let = other.as<LetStmt>()); other = let->body) lets.push_back(let);
    const auto *store = other.as<Store>();
    const bool is_filled =
        store && store->buffer == buffer && !store->predicate.defined() && is_zero(store->value);
    if (!is_filled) return {};
    Expr place = store->index;
    for (const LetStmt *let : std::views::reverse(lets))
        place = substitute(let->name, let->value, place);
    return place;
}

}  // namespace

// Elements that lie together, of 4, 8 or 16 bytes, if they are aligned; else they are copied now.
void KernelEmitter::copy_async(const MachineOp &node) {
    if (const Stmt s = lets_first(node); s.defined()) return run(s);
    const auto *branch = node.body.as<IfThenElse>();
    const auto *store = (branch ? branch->then_case : node.body).as<Store>();
    const auto *load = store ? store->value.as<Load>() : nullptr;
    const Expr zeros = branch && store ? place_of_zeros(*branch, store->buffer) : Expr();
    const bool is_plain = load && !store->predicate.defined() && !load->predicate.defined() &&
                          (!branch || (zeros.defined() && zeros.type() == store->index.type()));
    if (!has_async_copies || !is_plain) return run(node.body);
    const auto *to = store->index.as<Ramp>(), *from = load->index.as<Ramp>(),
               *filled = branch ? zeros.as<Ramp>() : to;
    const int64_t bytes = int64_t(load->type.bytes()) * load->type.lanes();
    const bool is_dense =
        load->type.is_scalar() || (to && from && filled && is_one(to->stride) &&
                                   is_one(from->stride) && is_one(filled->stride));
    const llvm::Align aligned_to =
        std::min(alignment_of(store->buffer, load->type.element_of(), store->alignment),
                 alignment_of(load->buffer, load->type.element_of(), load->alignment));
    const bool fits = (bytes == 4 || bytes == 8 || bytes == 16) && aligned_to >= uint64_t(bytes);
    if (!is_dense || !fits) return run(node.body);
    MemoScope forget(*this);
    Value *source = element_pointer(load->buffer, load->type, from ? from->base : load->index);
    Value *target = element_pointer(store->buffer, load->type, to ? to->base : store->index);
    // The machine fills with zeros what it is not told to copy.
    Value *count = nullptr;
    if (branch) {
        Value *condition = value(branch->condition);
        count = b.CreateSelect(condition, int32(bytes), int32(0));
        const Expr place = filled ? filled->base : zeros;
        if (!equal(place, to ? to->base : store->index))
            target = b.CreateSelect(condition, target,
                                    element_pointer(store->buffer, load->type, place));
    }
    std::vector<Value *> operands = {b.CreatePtrToInt(target, b.getInt32Ty()), source};
    if (branch) operands.push_back(count);
    std::string text = copy_of_thread(bytes, load->type.bytes() * 8).assembly;
    text = replaced(replaced(std::move(text), "$T", "$0"), "$S", "$1");
    assembly(replaced(std::move(text), "$Z", branch ? ", $2" : ""),
             branch ? "r,l,r,~{memory}" : "r,l,~{memory}", b.getVoidTy(), operands);
}

// ---- Products of matrices ----

llvm::Type *KernelEmitter::word_type(Type element) {
    return element == Float(32) ? b.getFloatTy() : static_cast<llvm::Type *>(b.getInt32Ty());
}

// Loads two floats of 16 bits as a vector of them, which one instruction makes of two of 32 bits.
Value *KernelEmitter::load_word(Type element, Value *place) {
    const bool are_two = element.is_float() && element.bits() == 16;
    if (!are_two) return b.CreateLoad(b.getInt32Ty(), place);
    auto *pair = llvm::FixedVectorType::get(memory_type(element), 2);
    return b.CreateBitCast(b.CreateLoad(pair, place), b.getInt32Ty());
}

// Returns the addresses of the words, of 32 bits each, of an array in this thread's registers.
std::vector<Value *> KernelEmitter::word_places(const Expr &first, int64_t from, int64_t count) {
    const Load &load = element_at(first);
    const Type element = load.type.element_of();
    const int64_t in_word = 4 / element.bytes();
    const auto base = as_const_int(load.index);
    std::vector<Value *> places;
    for (int64_t i = 0; i < count; i++)
        places.push_back(element_pointer(base_pointer(load.buffer), element,
                                         b.getInt32(uint32_t(*base + from + i * in_word))));
    return places;
}

// Runs an instruction that changes accumulators: text of their registers first, then operands.
void KernelEmitter::accumulate(std::span<Value *const> places, llvm::Type *word,
                               const std::string &text, const std::string &inputs,
                               std::vector<Value *> operands) {
    const auto count = int64_t(places.size());
    std::vector<Value *> all;
    for (Value *p : places) all.push_back(b.CreateLoad(word, p));
    all.insert(all.end(), operands.begin(), operands.end());
    const std::vector<llvm::Type *> words(places.size(), word);
    auto *result = llvm::StructType::get(context, words);
    const char *const constraint = word->isFloatTy() ? "=f" : "=r";
    llvm::CallInst *c = assembly(
        text, repeated(constraint, count) + tied(count) + inputs + "~{memory}", result, all);
    for (unsigned i = 0; i < places.size(); i++)
        b.CreateStore(b.CreateExtractValue(c, i), places[i]);
}

// Four matrices of eight rows of 16 bytes, of which each thread has a word.
std::vector<Value *> KernelEmitter::load_fragment(const Expr &place, const Instruction &load) {
    const std::vector<llvm::Type *> words(4, b.getInt32Ty());
    const std::string text =
        replaced(replaced(load.assembly, "$F", "{$0, $1, $2, $3}"), "$M", "$4");
    llvm::CallInst *c =
        assembly(text, "=r,=r,=r,=r,r,~{memory}", llvm::StructType::get(context, words),
                 {b.CreatePtrToInt(pointer_to(place), b.getInt32Ty())});
    std::vector<Value *> fragment;
    for (unsigned i = 0; i < 4; i++) fragment.push_back(b.CreateExtractValue(c, i));
    return fragment;
}

// Describes to wgmma a matrix in the memory of the block, in panels that are swizzled.
Value *KernelEmitter::matrix_descriptor(const Expr &place, const TensorOperation::Operand &o,
                                        Type element) {
    const uint64_t swizzle = o.swizzle == 128 ? 1 : o.swizzle == 64 ? 2 : 3;
    const uint64_t of_8_rows = uint64_t(8 * o.swizzle) >> 4;
    const uint64_t leading = o.is_along_k ? 1 : uint64_t(o.panel * element.bytes()) >> 4;
    Value *address = b.CreateLShr(b.CreateAnd(shared_address(place), b.getInt32(0x3ffff)), 4);
    return b.CreateOr(b.CreateZExt(address, b.getInt64Ty()),
                      b.getInt64(swizzle << 62 | of_8_rows << 32 | leading << 16));
}

// The operand A (or B) of the instructions at one step along k, in the order of its rows (columns).
std::vector<std::vector<Value *>> KernelEmitter::operands_at(const TensorOperation &t,
                                                             std::string_view name, int64_t k) {
    const bool is_a = name == "A";
    const TensorOperation::Operand &o = is_a ? t.a : t.b;
    const InstructionOperand &own = t.instruction.operand(name);
    const std::string_view loop = is_a ? "i" : "j";
    const int64_t steps = t.steps(loop), of_instruction = t.instruction.extent(loop);
    std::vector<std::vector<Value *>> all;
    switch (o.source) {
    case TensorOperation::Source::Panels:
        for (int64_t n = 0; n < steps; n++)
            all.push_back({matrix_descriptor(o.places[size_t(k * steps + n)], o, own.type)});
        break;
    case TensorOperation::Source::Rows: {
        const Instruction load = TensorOperation::load_of(o, own.type);
        const int64_t shared_by =
                          TensorOperation::rows_of_load(t.instruction, name) / of_instruction,
                      loads = steps / shared_by;
        for (int64_t n = 0; n < loads; n++) {
            const std::vector<Value *> words = load_fragment(o.places[size_t(k * loads + n)], load);
            for (int64_t part = 0; part < shared_by; part++) {
                const auto begin = words.begin() + part * 4 / shared_by;
                all.emplace_back(begin, begin + 4 / shared_by);
            }
        }
        break;
    }
    case TensorOperation::Source::Registers: {
        const Layout layout = t.registers_of(name);
        const int64_t words = own.layout.output("register")->extent() * own.type.bytes() / 4;
        for (int64_t n = 0; n < steps; n++) {
            std::vector<int64_t> first = {n * of_instruction, k * t.instruction.extent("k")};
            if (!is_a) std::swap(first[0], first[1]);
            const int64_t number = place_of(layout, first)[1];
            std::vector<Value *> loaded;
            for (Value *p : word_places(o.places[0], number, words))
                loaded.push_back(load_word(own.type, p));
            all.push_back(std::move(loaded));
        }
        break;
    }
    case TensorOperation::Source::HostRows: throw InternalError("an operand of a CPU in a kernel");
    }
    return all;
}

// Puts the numbers of registers into the line of an instruction.
std::string KernelEmitter::assembly_of(const TensorOperation &t, int64_t sums, int64_t of_a,
                                       int64_t of_b) {
    const auto put = [](std::string text, const char *name, int64_t first, int64_t count,
                        bool is_descriptor) {
        return is_descriptor ? replaced(std::move(text), name, str("$", first))
                             : with_registers(std::move(text), name, first, count);
    };
    const auto is_panel = [](const TensorOperation::Operand &o) {
        return o.source == TensorOperation::Source::Panels;
    };
    std::string text = put(t.instruction.assembly, "$D", 0, sums, false);
    text = put(text, "$A", 2 * sums, of_a, is_panel(t.a));
    text = put(text, "$B", 2 * sums + of_a, of_b, is_panel(t.b));
    text = replaced(text, "%A", t.a.is_along_k ? "0" : "1");
    return replaced(text, "%B", t.b.is_along_k ? "0" : "1");
}

// Orders instructions wgmma behind what writes their sums and the words of A in registers: these
// are operands of the fence, so that no write, as of zeros, moves behind it.
void KernelEmitter::fence_registers(const TensorOperation &t, OperandsByStep &of_a) {
    const Type sum = t.instruction.operand("D").type;
    const int64_t words = t.registers_of("D").output("register")->extent() * sum.bytes() / 4;
    const std::vector<Value *> places = word_places(t.accumulators, 0, words);
    std::vector<Value *> all;
    for (Value *p : places) all.push_back(b.CreateLoad(word_type(sum), p));
    for (const auto &step : of_a)
        for (const std::vector<Value *> &fragment : step)
            all.insert(all.end(), fragment.begin(), fragment.end());
    std::vector<llvm::Type *> types;
    std::string results;
    for (Value *v : all) {
        types.push_back(v->getType());
        results += v->getType()->isFloatTy() ? "=f," : "=r,";
    }
    llvm::CallInst *c =
        assembly("wgmma.fence.sync.aligned;", results + tied(int64_t(all.size())) + "~{memory}",
                 llvm::StructType::get(context, types), all);
    unsigned n = 0;
    for (Value *p : places) b.CreateStore(b.CreateExtractValue(c, n++), p);
    for (auto &step : of_a)
        for (std::vector<Value *> &fragment : step)
            for (Value *&v : fragment) v = b.CreateExtractValue(c, n++);
}

void KernelEmitter::tensor(const MachineOp &node) {
    MemoScope forget(*this);
    const auto t = TensorOperation::of(node);
    const InstructionOperand &d = t.instruction.operand("D");
    const Layout sums = t.registers_of("D");
    const int64_t words = d.layout.output("register")->extent() * d.type.bytes() / 4;
    const int64_t k_steps = t.steps("k"), i_steps = t.steps("i"), j_steps = t.steps("j");
    OperandsByStep of_a, of_b;
    const auto load = [&](int64_t k) {
        of_a.push_back(operands_at(t, "A", k));
        of_b.push_back(operands_at(t, "B", k));
    };
    if (t.instruction.is_asynchronous) {
        for (int64_t k = 0; k < k_steps; k++) load(k);
        if (t.a.source == TensorOperation::Source::Registers)
            fence_registers(t, of_a);
        else
            assembly("wgmma.fence.sync.aligned;", "~{memory}", b.getVoidTy(), {});
    }
    for (int64_t k = 0; k < k_steps; k++) {
        if (!t.instruction.is_asynchronous) load(k);
        for (int64_t i = 0; i < i_steps; i++) {
            for (int64_t j = 0; j < j_steps; j++) {
                const std::vector<int64_t> first = {i * t.instruction.extent("i"),
                                                    j * t.instruction.extent("j")};
                std::vector<Value *> operands = of_a[size_t(k)][size_t(i)];
                const std::vector<Value *> &second = of_b[size_t(k)][size_t(j)];
                const auto count = int64_t(operands.size());
                operands.insert(operands.end(), second.begin(), second.end());
                std::string inputs;
                for (Value *v : operands) inputs += v->getType()->isIntegerTy(64) ? "l," : "r,";
                accumulate(word_places(t.accumulators, place_of(sums, first)[1], words),
                           word_type(d.type), assembly_of(t, words, count, int64_t(second.size())),
                           inputs, operands);
            }
        }
    }
    if (t.instruction.is_asynchronous)
        assembly("wgmma.commit_group.sync.aligned;", "~{memory}", b.getVoidTy(), {});
}

// Before the accumulators are read, they are the operands of the wait, so that no read moves there.
void KernelEmitter::tensor_wait(const IntrinsicCall &c) {
    const std::string text = str("wgmma.wait_group.sync.aligned ", constant(c.args[0]), ";");
    if (constant(c.args[0]) > 0) {
        assembly(text, "~{memory}", b.getVoidTy(), {});
        return;
    }
    const Load &first = address_taken(c.args[1]);
    const int64_t words = storage(first.buffer).bytes / 4;
    accumulate(word_places(c.args[1], 0, words), word_type(first.type.element_of()), text, "", {});
}

// ---- Stores ----

namespace {

constexpr size_t words_stored = 4;  // by one thread: 16 bytes

}  // namespace

// Two threads whose numbers differ in the bit `distance` exchange words: the one without the bit
// keeps `low` and has the other's `low` second; the one with it keeps `high`, and has the other's
// `high` first.
std::pair<Value *, Value *> KernelEmitter::exchange(Value *low, Value *high, Value *lane,
                                                    uint32_t distance) {
    Value *is_upper = b.CreateICmpNE(b.CreateAnd(lane, b.getInt32(distance)), b.getInt32(0));
    Value *got = b.CreateIntrinsic(I::nvvm_shfl_sync_bfly_i32,
                                   {b.getInt32(UINT32_MAX), b.CreateSelect(is_upper, low, high),
                                    b.getInt32(distance), b.getInt32(31)});
    return {b.CreateSelect(is_upper, got, low), b.CreateSelect(is_upper, high, got)};
}

// Threads q = 0 to 3 have the words 4 * b + q of blocks b: afterwards all four words of block q.
std::array<Value *, 4> KernelEmitter::exchange_in_quad(const std::array<Value *, 4> &words,
                                                       Value *lane) {
    const auto [a0, a1] = exchange(words[0], words[1], lane, 1);
    const auto [b0, b1] = exchange(words[2], words[3], lane, 1);
    const auto [c0, d0] = exchange(a0, b0, lane, 2);
    const auto [c1, d1] = exchange(a1, b1, lane, 2);
    return {c0, c1, d0, d1};
}

// Exchanges words of which each thread has what it computed, element by element: afterwards each
// has what it stores (lower/gpu/widen_quads.h).
std::array<Value *, 4> KernelEmitter::exchange_elements(const std::array<Value *, 4> &words,
                                                        int element_bits, Value *lane) {
    if (element_bits == 32) {
        const auto [low0, high0] = exchange(words[0], words[2], lane, 1);
        const auto [low1, high1] = exchange(words[1], words[3], lane, 1);
        return {low0, low1, high0, high1};
    }
    const std::array<Value *, 4> own = exchange_in_quad(words, lane);
    if (element_bits == 16) return own;
    // The lower halves are of one block of 8, the upper halves of the next.
    const auto halves = [&](size_t first, uint32_t bytes) {
        return b.CreateIntrinsic(I::nvvm_prmt, {own[first], own[first + 1], b.getInt32(bytes)});
    };
    constexpr uint32_t lower = 0x5410, upper = 0x7632;
    return {halves(0, lower), halves(2, lower), halves(0, upper), halves(2, upper)};
}

// Puts elements of 8, 16 or 32 bits into words, the first ones into the lowest bits.
std::array<Value *, 4> KernelEmitter::in_words(std::span<const Expr> elements) {
    const size_t in_word = elements.size() / words_stored;
    const auto bits = unsigned(32 / in_word);
    std::array<Value *, words_stored> words;
    for (size_t w = 0; w < words_stored; w++) {
        words[w] = b.getInt32(0);
        for (size_t i = 0; i < in_word; i++) {
            const Expr &e = elements[w * in_word + i];
            Value *v = b.CreateBitCast(to_memory(value(e), e.type()), b.getIntNTy(bits));
            v = b.CreateShl(b.CreateZExt(v, b.getInt32Ty()), i * bits);
            words[w] = b.CreateOr(words[w], v);
        }
    }
    return words;
}

// Four matrices, of which each thread has two elements of a row. A thread gives the place of the
// row of its number; the place that it would store to alone is another's: of the row lane / 4 in
// the matrix lane % 4.
void KernelEmitter::store_matrices(const std::array<Value *, 4> &words, Value *own, Value *lane) {
    Value *row = b.CreateShl(b.CreateAnd(lane, b.getInt32(7)), 2);
    Value *matrix = b.CreateAnd(b.CreateLShr(lane, 3), b.getInt32(3));
    Value *place = b.CreateIntrinsic(I::nvvm_shfl_sync_idx_i32,
                                     {b.getInt32(UINT32_MAX), b.CreatePtrToInt(own, b.getInt32Ty()),
                                      b.CreateOr(row, matrix), b.getInt32(31)});
    const std::string text = replaced(
        with_registers(stmatrix_x4(Float(16)).assembly, "$F", 1, words_stored), "$M", "$0");
    assembly(text, "r,r,r,r,r,~{memory}", b.getVoidTy(),
             {place, words[0], words[1], words[2], words[3]});
}

// Operands: the thread's number, what it has of each block, where its 16 bytes go.
void KernelEmitter::store_quads(const MachineOp &node) {
    if (node.operands.size() < 2) return run(node.body);
    MemoScope forget(*this);
    const Load &place = element_at(node.operands.back());
    const auto *ramp = place.index.as<Ramp>();
    const bool is_aligned =
        alignment_of(place.buffer, place.type.element_of(), place.alignment) >= 16;
    if (!ramp || !is_aligned) return run(node.body);
    const auto elements = std::span(node.operands).subspan(1, node.operands.size() - 2);
    const std::array<Value *, 4> words = in_words(elements);
    Value *lane = value(node.operands[0]);
    Value *target = element_pointer(place.buffer, place.type, ramp->base);
    const bool is_shared = target->getType()->getPointerAddressSpace() ==
                           architecture.address_space(AddressSpace::Shared);
    if (is_shared && place.type.bits() == 16 && has_matrix_stores)
        return store_matrices(words, target, lane);
    const std::array<Value *, 4> own = exchange_elements(words, place.type.bits(), lane);
    Value *all = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt32Ty(), words_stored));
    for (unsigned i = 0; i < words_stored; i++) all = b.CreateInsertElement(all, own[i], i);
    tag(*b.CreateAlignedStore(all, target, llvm::Align(16)), place.buffer);
}

void KernelEmitter::machine_op(const MachineOp &node) {
    switch (node.op) {
    case MachineOpKind::tensor: return tensor(node);
    case MachineOpKind::copy_tile: return copy_tile(node);
    case MachineOpKind::copy_async: return copy_async(node);
    case MachineOpKind::store_quads: return store_quads(node);
    }
}

}  // namespace tessera::codegen
