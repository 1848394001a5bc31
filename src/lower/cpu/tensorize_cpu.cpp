#include "lower/cpu/tensorize_cpu.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/cpu/cpu_product.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <functional>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

bool is_on_other_threads(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::Parallel; });
    for_each_node(s, [&](const Fork &) { any = true; });
    for_each_node(s, [&](const Acquire &) { any = true; });
    for_each_node(s, [&](const Realize &r) { any |= r.storage.is_async; });
    return any;
}

// Calls `visit` for each tensor operation of a CPU.
void for_each_operation(const Stmt &s, const std::function<void(const TensorOperation &)> &visit) {
    for_each_node(s, [&](const MachineOp &op) {
        if (!is_tensor_operation(op.op)) return;
        const auto t = TensorOperation::of(op);
        if (t.instruction.is_of_cpu()) visit(t);
    });
}

// A Tile, and how its elements lie.
struct LaidOut {
    const Realize *tile;
    CpuProduct product;  // of any nest: all lay it out alike
    Layout layout;

    Expr element(const std::vector<Expr> &args) const {
        std::vector<Expr> at;
        for (const auto &d : {product.row_dimension, product.column_dimension}) {
            const bool begins_at_zero = !d || is_const(tile->bounds[*d].min, 0);
            at.push_back(!d               ? Expr(0)
                         : begins_at_zero ? args[*d]
                                          : args[*d] - tile->bounds[*d].min);
        }
        return value_of(*layout.output("register"), layout.coordinates, at);
    }
    Expr first() const {
        return call(Handle(), Intrinsic::address_of,
                    {Call::make(tile->types[0], tile->func, CallKind::Func, 0, {0})});
    }
};

// Rewrites what is done with a Tile.
class LayOut final : public Mutator {
public:
    LayOut(const LaidOut &tile, const std::unordered_map<const For *, CpuProduct> &nests)
        : tile(tile), nests(nests) {}

private:
    Stmt visit(const For &loop) override {
        const auto nest = nests.find(&loop);
        if (nest == nests.end()) {
            const Stmt s = Mutator::visit(loop);
            if (!is_within_nest) return s;
            return serial(*s.as<For>());
        }
        is_within_nest = true;
        const Stmt s = Mutator::visit(loop);
        is_within_nest = false;
        TensorOperation t = nest->second.operation;
        t.accumulators = tile.first();
        return MachineOp::make(MachineOpKind::tensor, t.operands(), serial(*s.as<For>()));
    }
    static Stmt serial(const For &loop) {
        LoopOrigin origin = loop.origin;
        origin.instruction = {};
        return loop.with<&For::loop_kind, &For::origin>(LoopKind::Serial, origin);
    }
    Stmt visit(const ProducerConsumer &p) override {
        const Stmt s = Mutator::visit(p);
        if (p.func != tile.tile->func || !p.is_producer) return s;
        return s.as<ProducerConsumer>()->with<&ProducerConsumer::body>(
            held(s.as<ProducerConsumer>()->body));
    }
    Expr visit(const Call &c) override {
        const Expr e = Mutator::visit(c);
        if (c.callee != tile.tile->func) return e;
        return e.as<Call>()->with<&Call::args>({tile.element(e.as<Call>()->args)});
    }
    Stmt visit(const Provide &p) override {
        const Stmt s = Mutator::visit(p);
        if (p.func != tile.tile->func) return s;
        return s.as<Provide>()->with<&Provide::args>({tile.element(s.as<Provide>()->args)});
    }

    Stmt around(const Stmt &body, TensorOperation::Step step) const {
        TensorOperation t;
        t.step = step;
        t.instruction = tile.product.operation.instruction;
        t.rows = tile.product.operation.rows;
        t.columns = tile.product.operation.columns;
        t.accumulators = tile.first();
        return MachineOp::make(MachineOpKind::tensor, t.operands(), body);
    }
    // Keeps the sums in registers while they are updated, from zero on if they begin so.
    Stmt held(const Stmt &body) const {
        std::vector<Stmt> stmts{body};
        if (const auto *block = body.as<Block>()) stmts = block->stmts;
        const bool is_zero = stmts.size() > 1 && sets_to_zero(stmts[0]);
        const size_t first = stmts.size() > 1 ? 1 : 0;
        const Stmt updates =
            Block::make(std::vector<Stmt>(stmts.begin() + ptrdiff_t(first), stmts.end()));
        if (!may_hold(updates)) return body;
        using enum TensorOperation::Step;
        if (is_zero) return around(Block::make(around(stmts[0], Zero), updates), HoldFromZero);
        const Stmt hold = around(updates, Hold);
        return first == 0 ? hold : Block::make(stmts[0], hold);
    }
    bool sets_to_zero(const Stmt &s) const {
        int64_t elements = 1;
        int provides = 0;
        bool fits = true;
        for_each_node(s, [&](const For &l) {
            elements *= as_const_int(simplify(remove_likely(l.extent))).value_or(0);
        });
        for_each_node(s, [&](const Provide &p) {
            provides++;
            fits &= p.func == tile.tile->func && is_const(p.values[0], 0);
        });
        for_each_node(s, [&](const IfThenElse &) { fits = false; });
        for_each_node(s, [&](const Call &) { fits = false; });
        return fits && provides == 1 && elements == tile.layout.size();
    }
    // Returns true if nothing but the instructions works on the Tile, and they are of one Tile.
    bool may_hold(const Stmt &updates) const {
        if (is_on_other_threads(updates)) return false;
        size_t own = 0, others = 0;
        for_each_operation(updates, [&](const TensorOperation &t) {
            if (t.step != TensorOperation::Step::Multiply) return;
            bool is_own = false;
            for_each_node(t.accumulators,
                          [&](const Call &c) { is_own |= c.callee == tile.tile->func; });
            (is_own ? own : others)++;
        });
        return own > 0 && others == 0 && accesses(updates) == 0;
    }
    size_t accesses(const Stmt &updates) const;

    const LaidOut &tile;
    const std::unordered_map<const For *, CpuProduct> &nests;
    bool is_within_nest = false;
};

// Counts accesses to the Tile outside of tensor operations.
class CountAccesses final : public Visitor {
public:
    explicit CountAccesses(Symbol func) : func(func) {}
    size_t count = 0;

private:
    void visit(const MachineOp &) override {}
    void visit(const Call &c) override {
        count += c.callee == func;
        Visitor::visit(c);
    }
    void visit(const Provide &p) override {
        count += p.func == func;
        Visitor::visit(p);
    }
    Symbol func;
};

size_t LayOut::accesses(const Stmt &updates) const {
    CountAccesses counting(tile.tile->func);
    counting(updates);
    return counting.count;
}

// Finds the nests that update a Tile.
class FindNests final : public Visitor {
public:
    FindNests(const Realize &tile, Storages storage, const LetScope &around, const Target &target)
        : tile(tile), storage(std::move(storage)), scope(around), target(target) {
        (*this)(tile.body);
    }
    std::unordered_map<const For *, CpuProduct> nests;
    const For *first = nullptr;

private:
    void visit(const For &loop) override {
        if (!is_for_cpu_instruction(loop, target))
            return scope.within(loop, [&] { Visitor::visit(loop); });
        bool is_own = false;
        for_each_node(Stmt(&loop), [&](const Provide &p) { is_own |= p.func == tile.func; });
        if (!is_own) return;
        if (!first) first = &loop;
        nests.emplace(&loop, read_cpu_product(loop, tile, storage, scope, target));
    }
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        scope.within(let, [&] { (*this)(let.body); });
    }
    void visit(const Realize &r) override {
        storage[r.func] = &r;
        Visitor::visit(r);
        storage.erase(r.func);
    }
    const Realize &tile;
    Storages storage;
    LetScope scope;
    const Target &target;
};

class TensorizeCpu final : public Mutator {
public:
    explicit TensorizeCpu(const Target &target) : target(target) {}

private:
    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        const Stmt s =
            r.memory == MemoryType::Tile && r.types.size() == 1 ? tile(r) : Mutator::visit(r);
        storage.erase(r.func);
        const auto packing = packings.find(r.func);
        if (packing == packings.end()) return s;
        return packed(*s.as<Realize>(), packing->second);
    }
    Stmt tile(const Realize &r) {
        const FindNests found(r, storage, lets, target);
        if (found.nests.empty()) return Mutator::visit(r);
        const CpuProduct &first = found.nests.at(found.first);
        for (const auto &[loop, product] : found.nests) {
            if (product.operation.registers_of("D") != first.operation.registers_of("D") ||
                product.row_dimension != first.row_dimension)
                refuse(*loop, str("it lays out ", r.func, " in another way than the ",
                                  loop_name(*found.first), ", another update of it"));
            note_packings(*loop, product);
        }
        const LaidOut laid_out{&r, first, first.operation.registers_of("D")};
        const Stmt body = (*this)(LayOut(laid_out, found.nests)(r.body));
        StorageFacts facts = r.storage;
        facts.order.clear();
        facts.folds.clear();
        return r.with<&Realize::memory, &Realize::bounds, &Realize::body, &Realize::storage>(
            MemoryType::Stack, {{0, int32_t(laid_out.layout.size())}}, body, facts);
    }
    void note_packings(const For &loop, const CpuProduct &product) {
        for (const auto &[func, packing] : product.packings) {
            const auto [place, is_new] = packings.emplace(func, packing);
            if (!is_new && place->second != packing)
                refuse(loop, str("it reads ", func,
                                 " in another order than another instruction; "
                                 "stage it for each by in()"));
        }
    }
    void refuse_within(const For &kernel) const {
        for_each_node(kernel.body, [&](const For &loop) {
            if (is_for_cpu_instruction(loop, target))
                refuse(loop, "it is an instruction of CPUs, and the loop is in a kernel of a GPU");
        });
    }
    [[noreturn]] static void refuse(const For &loop, const std::string &why) {
        throw CompileError(loop.origin.kind_written,
                           str("tensorize(..., TensorInstruction(\"",
                               loop.origin.instruction.text(), "\")) of the ", loop_name(loop),
                               ": ", why));
    }
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Stmt visit(const For &loop) override {
        if (is_for_cpu_instruction(loop, target))
            refuse(loop, "it is in no Func that is stored in MemoryType::Tile, which the sums of "
                         "the instruction have to be");
        if (loop.loop_kind == LoopKind::GPUBlock) refuse_within(loop);
        return lets.within(loop, [&] { return Mutator::visit(loop); });
    }

    const Target &target;
    LetScope lets;
    Storages storage;
    std::unordered_map<Symbol, Packing> packings;
};

// Configures tile registers around the outermost statements on one thread that use them.
class ConfigureTiles final : public Mutator {
private:
    Stmt visit(const For &loop) override {
        const auto instruction = tiles_alone_in(Stmt(&loop));
        return instruction ? configured(*instruction, Stmt(&loop)) : Mutator::visit(loop);
    }
    Stmt visit(const MachineOp &op) override {
        const auto instruction = tiles_alone_in(Stmt(&op));
        return instruction ? configured(*instruction, Stmt(&op)) : Mutator::visit(op);
    }
    static Stmt configured(const Instruction &instruction, const Stmt &s) {
        TensorOperation t;
        t.step = TensorOperation::Step::Configure;
        t.instruction = instruction;
        return MachineOp::make(MachineOpKind::tensor, t.operands(), s);
    }
    // Returns an instruction of tiles that is within; nothing if there is none, or if other threads
    // or functions are, which may configure the registers in another way.
    static std::optional<Instruction> tiles_alone_in(const Stmt &s) {
        std::optional<Instruction> found;
        for_each_operation(s, [&](const TensorOperation &t) {
            if (t.instruction.is_of_tiles) found = t.instruction;
        });
        bool is_alone = !is_on_other_threads(s);
        for_each_node(s, [&](const ExternCall &) { is_alone = false; });
        const auto *op = s.as<MachineOp>();
        const bool is_operation = op && is_tensor_operation(op->op);
        return is_alone || is_operation ? found : std::nullopt;
    }
};

}  // namespace

Stmt tensorize_cpu(const Stmt &s, const lower::Context &context) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= is_for_cpu_instruction(loop, context.target); });
    if (!any) return s;
    return ConfigureTiles()(TensorizeCpu(context.target)(s));
}

}  // namespace tessera::lower
