#include "ir/tile_copy.h"
#include "base/error.h"
#include "ir/operators.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include <algorithm>
#include <charconv>

namespace tessera::ir {

namespace {

constexpr std::string_view box_prefix = "cp.async.bulk.tensor.", thread_prefix = "cp.async.b";
constexpr size_t most_of_rank = 5;

Symbol operand_name(const char *name) { return Symbol::interned(name); }

// Reads a number at the beginning of a text, and takes it off. Nothing if there is none.
std::optional<int64_t> take_number(std::string_view &text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 1) return std::nullopt;
    text.remove_prefix(size_t(end - text.data()));
    return number;
}

bool take_word(std::string_view &text, std::string_view word) {
    const bool is_next = text.starts_with(word);
    if (is_next) text.remove_prefix(word.size());
    return is_next;
}

// to(c0, c1, ...) = from(c0, c1, ...)
Stmt copy_meaning(const InstructionOperand &to, const InstructionOperand &from) {
    std::vector<Expr> at;
    for (const LayoutCoordinate &c : to.layout.coordinates)
        at.push_back(int32_variable(Symbol::interned(c.name)));
    Stmt s = Provide::make(to.name, {Call::make(from.type, from.name, CallKind::Func, 0, at)}, at);
    for (const LayoutCoordinate &c : to.layout.coordinates)
        s = For::make(Symbol::interned(c.name), 0, int32_t(c.extent), LoopKind::Serial,
                      Partition::Never, s);
    return s;
}

// "d0:64 d1:128 -> "
std::string coordinates_of(const std::vector<int64_t> &box) {
    std::string text;
    for (size_t d = 0; d < box.size(); d++) text += str("d", d, ":", box[d], " ");
    return text + "-> ";
}

// "d1 + d2*128", from the coordinate of this number on, the first of which has this stride.
std::string digits_of(const std::vector<int64_t> &box, size_t first, int64_t stride) {
    std::string text;
    for (size_t d = first; d < box.size(); d++) {
        if (box[d] > 1) text += str(text.empty() ? "" : " + ", "d", d, "*", stride);
        stride *= box[d];
    }
    return text.empty() ? "0" : text;
}

}  // namespace

std::string BoxCopy::name() const {
    std::string text = str(box_prefix, rank, "d.",
                           mode == Mode::Im2col  ? "im2col."
                           : mode == Mode::Store ? "store."
                                                 : "");
    text += str(is_shared ? "multicast." : "", "b", bits, ".");
    for (size_t d = 0; d < box.size(); d++) text += str(d ? "x" : "", box[d]);
    return text;
}

std::optional<BoxCopy> BoxCopy::of(std::string_view text) {
    if (!take_word(text, box_prefix)) return std::nullopt;
    BoxCopy copy;
    const auto rank = take_number(text);
    if (!rank || *rank > int64_t(most_of_rank) || !take_word(text, "d.")) return std::nullopt;
    copy.rank = size_t(*rank);
    if (take_word(text, "im2col.")) copy.mode = Mode::Im2col;
    if (take_word(text, "store.")) copy.mode = Mode::Store;
    copy.is_shared = take_word(text, "multicast.");
    if (!take_word(text, "b")) return std::nullopt;
    const auto bits = take_number(text);
    if (!bits || *bits > 64 || !take_word(text, ".")) return std::nullopt;
    copy.bits = int(*bits);
    do {
        const auto extent = take_number(text);
        if (!extent) return std::nullopt;
        copy.box.push_back(*extent);
    } while (take_word(text, "x"));
    const bool is_im2col = copy.mode == Mode::Im2col;
    const bool fits =
        is_im2col ? copy.rank >= 3 && copy.box.size() == 2 : copy.box.size() == copy.rank;
    if (!text.empty() || !fits || (copy.is_shared && copy.mode == Mode::Store)) return std::nullopt;
    return copy;
}

Instruction BoxCopy::instruction() const {
    const Type element = UInt(bits);
    const InstructionOperand tile{
        operand_name("T"), element, OperandPlace::Memory,
        parse_layout(str(coordinates_of(box), "element(", digits_of(box, 0, 1), ")"))};
    const InstructionOperand array{
        operand_name("S"), element, OperandPlace::MemoryOfRows,
        parse_layout(str(coordinates_of(box), "row(", digits_of(box, 1, 1), ") element(d0)"))};
    const bool is_store = mode == Mode::Store, is_im2col = mode == Mode::Im2col;
    Instruction made{.name = name(),
                     .family = "copy",
                     .is_asynchronous = true,
                     .capability = 90,
                     .operands = is_store ? std::vector{array, tile} : std::vector{tile, array}};
    made.meaning = copy_meaning(made.operands[0], made.operands[1]);
    made.assembly = is_store
                        ? str(box_prefix, rank, "d.global.shared::cta.bulk_group [$M, {$C}], [$T];")
                        : str(box_prefix, rank, "d.shared::cluster.global",
                              is_im2col ? ".im2col" : "", ".mbarrier::complete_tx::bytes",
                              is_shared ? ".multicast::cluster" : "", " [$T], [$M, {$C}], [$F]",
                              is_im2col ? ", {$O}" : "", is_shared ? ", $B" : "", ";");
    return made;
}

Instruction end_of_stores() {
    return {.name = "cp.async.bulk.wait_group",
            .family = "copy",
            .capability = 90,
            .assembly = "cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;"};
}

Instruction copy_of_thread(int64_t bytes, int bits) {
    const std::vector<int64_t> box = {bytes * 8 / bits};
    const Layout layout = parse_layout(coordinates_of(box) + "element(d0)");
    const Type element = UInt(bits);
    Instruction made{.name = str(thread_prefix, bits, ".", box[0]),
                     .family = "copy",
                     .is_asynchronous = true,
                     .capability = 80,
                     .operands = {{operand_name("T"), element, OperandPlace::Memory, layout},
                                  {operand_name("S"), element, OperandPlace::Memory, layout}},
                     .assembly = str("cp.async.", bytes == 16 ? "cg" : "ca",
                                     ".shared.global [$T], [$S], ", bytes, "$Z;")};
    made.meaning = copy_meaning(made.operands[0], made.operands[1]);
    return made;
}

std::optional<Instruction> find_copy(std::string_view name) {
    if (const auto copy = BoxCopy::of(name)) return copy->instruction();
    if (name == end_of_stores().name) return end_of_stores();
    std::string_view text = name;
    if (!take_word(text, thread_prefix)) return std::nullopt;
    const auto bits = take_number(text);
    if (!bits || *bits > 64 || !take_word(text, ".")) return std::nullopt;
    const auto elements = take_number(text);
    const int64_t bytes = elements.value_or(0) * *bits / 8;
    const bool is_there = std::ranges::find(bytes_of_thread, bytes) != std::end(bytes_of_thread);
    if (!text.empty() || !is_there) return std::nullopt;
    return copy_of_thread(bytes, int(*bits));
}

// ---- The operands of an operation ----

namespace {

const std::string *written_name(const MachineOp &op) {
    const auto *name = op.operands.empty() ? nullptr : op.operands[0].as<StringImm>();
    return name ? &name->value : nullptr;
}

// Returns the number of operands before the coordinates: loads have the name, the place, the
// barrier, the map and the blocks; stores have the name, the place and the map.
size_t before_coordinates(const BoxCopy &copy) { return copy.mode == BoxCopy::Mode::Store ? 3 : 5; }

size_t offsets_of(const BoxCopy &copy) {
    return copy.mode == BoxCopy::Mode::Im2col ? copy.rank - 2 : 0;
}

// A map that is made here says of which boxes it is.
std::string fault_of_map(const BoxCopy &copy, const Expr &map) {
    const auto *c = map.as<IntrinsicCall>();
    if (!c || c->op != Intrinsic::tensor_map) return "";
    const auto number = [&](size_t i) {
        return i < c->args.size() ? as_const_int(c->args[i]).value_or(-1) : -1;
    };
    std::vector<int64_t> box;
    const size_t first = 4 + copy.rank + (copy.rank - 1);  // behind the extents and distances
    for (size_t d = 0; d < copy.box.size(); d++) box.push_back(number(first + d));
    if (number(1) * 8 == copy.bits && number(2) == int64_t(copy.mode) &&
        number(3) == int64_t(copy.rank) && box == copy.box)
        return "";
    return str("a copy ", copy.name(), " by a map of other boxes");
}

}  // namespace

bool TileCopy::is_group(const MachineOp &op) {
    static const std::string group = end_of_stores().name;
    const std::string *name = written_name(op);
    return op.op == MachineOpKind::copy_tile && name && *name == group;
}

std::string fault_of_tile_copy(const MachineOp &op) {
    if (TileCopy::is_group(op))
        return op.operands.size() == 1 ? "" : "a group of stores has operands";
    const std::string *name = written_name(op);
    const auto copy = name ? BoxCopy::of(*name) : std::nullopt;
    if (!copy) return "a copy of a tile has the name of an instruction that copies boxes first";
    const size_t wanted = before_coordinates(*copy) + copy->rank + offsets_of(*copy);
    if (op.operands.size() != wanted)
        return str("a copy ", *name, " with ", op.operands.size(), " operands of ", wanted);
    const Expr *element = element_of_place(op.operands[TileCopy::place_operand]);
    if (!element || element->type().bits() != copy->bits || !element->type().is_scalar())
        return str("a copy ", *name, " whose operand 1 is no place of an element of ", copy->bits,
                   " bits");
    return fault_of_map(*copy, op.operands[copy->mode == BoxCopy::Mode::Store ? 2 : 3]);
}

TileCopy TileCopy::of(const MachineOp &op) {
    if (const std::string fault = fault_of_tile_copy(op); !fault.empty() || is_group(op))
        throw InternalError(is_group(op) ? "a group of stores is no copy" : fault);
    TileCopy t;
    t.copy = *BoxCopy::of(*written_name(op));
    t.place = op.operands[place_operand];
    const bool is_store = t.copy.mode == BoxCopy::Mode::Store;
    t.map = op.operands[is_store ? 2 : 3];
    if (!is_store) t.barrier = op.operands[2];
    if (!is_store) t.blocks = op.operands[4];
    const auto first = op.operands.begin() + ptrdiff_t(before_coordinates(t.copy));
    t.coordinates.assign(first, first + ptrdiff_t(t.copy.rank));
    t.offsets.assign(first + ptrdiff_t(t.copy.rank), op.operands.end());
    return t;
}

std::vector<Expr> TileCopy::operands() const {
    std::vector<Expr> all = {StringImm::make(copy.name()), place};
    if (copy.mode != BoxCopy::Mode::Store) all.push_back(barrier);
    all.push_back(map);
    if (copy.mode != BoxCopy::Mode::Store) all.push_back(blocks);
    all.insert(all.end(), coordinates.begin(), coordinates.end());
    all.insert(all.end(), offsets.begin(), offsets.end());
    return all;
}

bool stores_tiles(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const MachineOp &op) { any |= TileCopy::is_group(op); });
    return any;
}

}  // namespace tessera::ir
