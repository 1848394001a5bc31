#include "lower/gpu/staged_copy.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include <algorithm>
#include <set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

constexpr size_t dimensions = 2;  // and one for the slots

bool is_operand(const Realize &ring) {
    bool any = false;
    for_each_node(ring.body, [&](const MachineOp &op) {
        if (op.op != MachineOpKind::tensor) return;
        for_each_node(Stmt(&op), [&](const Call &c) { any |= c.callee == ring.func; });
    });
    return any;
}

class FirstThreads final : public Visitor {
public:
    ThreadLoops loops;

private:
    void visit(const For &loop) override {
        if (is_done) return;
        const bool over_threads = is_over_threads(loop);
        if (over_threads) loops.push_back(&loop);
        Visitor::visit(loop);
        is_done |= over_threads;
    }
    bool is_done = false;
};

}  // namespace

Layout layout_of_ring(const Realize &ring) {
    if (!is_operand(ring)) return {};
    std::vector<int64_t> extents;
    for (const Range &r : ring.bounds) {
        const auto most = algebra::constant_upper_bound(r.extent);
        if (!most || *most < 1) return {};
        extents.push_back(*most);
    }
    const int64_t bytes = ring.types[0].bytes(), panel = most_swizzle / bytes;
    if (extents[0] > panel && extents[0] % panel != 0) return {};
    return panel_layout(extents, bytes);
}

ThreadLoops threads_of(const Stmt &s) {
    FirstThreads first;
    first(s);
    if (!first.loops.empty()) return first.loops;
    throw CompileError("async within a kernel: what uses the copy is in no loop over threads");
}

StagedCopy::StagedCopy(const Realize &ring, const Stmt &production, const Realizations &storage)
    : ring(ring), production(production), storage(storage) {
    if (!ring.storage.order.empty())
        refuse("its storage is in the order of its dimensions, and not aligned");
    read(this->production);
}

void StagedCopy::refuse(const std::string &why) const {
    throw CompileError(ring.storage.async_written,
                       str("async of ", ring.func,
                           ": within a kernel it is for copies, such as "
                           "those of in(): ",
                           why));
}

// Walks down to what is computed.
void StagedCopy::read(const Stmt &s) {
    if (const auto *let = s.as<LetStmt>()) {
        known[let->name] = substitute(known, let->value);
        return read(let->body);
    }
    if (const auto *p = s.as<ProducerConsumer>()) {
        produce = p;
        return read(p->body);
    }
    if (const auto *loop = s.as<For>()) {
        if (traits_of(loop->loop_kind).gpu != GPULevel::None)
            refuse("which threads copy is inferred; leave its loops serial");
        if (is_const(simplify(loop->extent), 1))
            known[loop->name] = substitute(known, loop->min);
        else
            loops.push_back(loop);
        return read(loop->body);
    }
    const auto *copy = s.as<Provide>();
    if (!copy || copy->predicate.defined() || copy->values.size() != 1)
        refuse("there is more than one assignment, or one with a condition");
    source = copy->values[0].as<Call>();
    if (!source) refuse("it computes something");
    find_box(*copy);
}

void StagedCopy::find_box(const Provide &copy) {
    if (source->args.empty() || copy.args.size() != dimensions + 1)
        refuse("it has two dimensions of more than one element");
    Substitution at_first;
    const auto expanded = [&](const Expr &e) { return simplify(substitute(known, e)); };
    for (const For *loop : loops) at_first[loop->name] = expanded(loop->min);
    slot = expanded(copy.args[dimensions]);
    for (const Expr &arg : source->args) first.push_back(expanded(arg));
    std::set<const For *> used;
    for (size_t d = 0; d < dimensions; d++) {
        const Expr to = expanded(copy.args[d]);
        const auto moves = [&](const For *loop) { return uses_symbol(to, loop->name); };
        const auto along = std::ranges::find_if(loops, moves);
        if (along == loops.end() && is_const(to, 0)) {
            extents[d] = 1;
            continue;
        }
        if (std::ranges::count_if(loops, moves) != 1 || step_of(to, **along) != 1)
            refuse("it has one loop for each dimension, over neighbours");
        if (!used.insert(*along).second) refuse("it has another loop for each dimension");
        const size_t of_source = d == 0 ? 0 : find_rows(**along);
        if (of_source >= first.size())
            refuse("each of its loops runs along one dimension of what it copies");
        const Expr from = first[of_source];
        const Expr count = expanded((*along)->extent);
        auto extent = as_const_int(count);
        if (!extent && d == 1) {
            extent = algebra::constant_upper_bound(count);
            rows_here = count;
        }
        const bool begins_at_0 = is_const(simplify(substitute(at_first, to)), 0);
        const Expr shift = simplify(from - to),
                   shift_at_first = simplify(substitute(at_first, shift));
        if (!extent || !begins_at_0 || !equal(shift, shift_at_first))
            refuse(str("each element has the same place in a box of a known size, and not ", to,
                       " for what is at ", from, ", of ", brief((*along)->extent)));
        extents[d] = int32_t(*extent);
        first[of_source] = simplify(substitute(at_first, from));
    }
    if (used.size() != loops.size()) refuse("it has one loop for each dimension");
    for (const Expr &e : first) {
        for (const For *loop : loops) {
            if (uses_symbol(e, loop->name))
                refuse(
                    str("each of its loops runs along one dimension of what it copies, and one in ",
                        e, " runs along two"));
        }
    }
    find_panels();
}

void StagedCopy::find_panels() {
    const int64_t bytes = ring.types[0].bytes();
    layout = layout_of_ring(ring);
    if (layout.defined())
        of_panel = int32_t(neighbours(layout.outputs[0], 0, bytes));
    else
        of_panel = is_operand(ring) ? int32_t(most_swizzle / bytes) : extents[0];
    if (extents[0] % of_panel != 0 || of_panel * bytes % slot_bytes != 0)
        refuse(str("a row has a multiple of ", slot_bytes, " bytes, or of ", most_swizzle,
                   " if there are more; it has ", extents[0] * bytes));
}

// Finds the dimension of what is copied, other than the first, along which a loop runs.
size_t StagedCopy::find_rows(const For &along) {
    for (size_t d = 1; d < first.size(); d++) {
        if (uses_symbol(first[d], along.name)) row_dimension = d;
    }
    return row_dimension;
}

int64_t StagedCopy::bytes() const {
    return int64_t(extents[0]) * extents[1] * ring.types[0].bytes();
}

Expr StagedCopy::stored(const Expr &x, const Expr &y) const {
    return Call::make(ring.types[0], ring.func, CallKind::Func, 0, {x, y, slot});
}

Expr StagedCopy::source_of(const Expr &x, const Expr &y) const {
    std::vector<Expr> at = first;
    at[0] = at[0] + x;
    if (extents[1] > 1) at[row_dimension] = at[row_dimension] + y;
    return source->with<&Call::args>(at);
}

// The copy of one element.
Stmt StagedCopy::element(const Expr &x, const Expr &y) const {
    return Provide::make(ring.func, {source_of(x, y)}, {x, y, slot});
}

// Within the production, and the lets around it.
Stmt StagedCopy::around(const Stmt &s) const { return produce->with<&ProducerConsumer::body>(s); }

Stmt StagedCopy::by_threads(const ThreadLoops &threads) const {
    const int32_t of_slot = int32_t(slot_bytes / ring.types[0].bytes());
    const int32_t of_row = of_panel / of_slot, chunks = extents[0] * extents[1] / of_slot;
    std::vector<Symbol> names;
    Expr number = 0;
    int64_t count = 1;
    for (const For *loop : threads) {
        const auto extent = as_const_int(simplify(loop->extent));
        if (!extent) refuse("the number of threads is known");
        names.push_back(Symbol::fresh("copying"));
        number = number * loop->extent + int32_variable(names.back());
        count *= *extent;
    }
    const Symbol round = Symbol::fresh("round"), x = Symbol::fresh("x");
    const Expr chunk = number + int32_variable(round) * int32_t(count);
    const Expr row = chunk / of_row;
    const Expr of_first = row / extents[1] * of_panel + chunk % of_row * of_slot;
    const Stmt one = For::make(x, 0, of_slot, LoopKind::Vectorized, Partition::Never,
                               element(of_first + int32_variable(x), row % extents[1]));
    Stmt s = MachineOp::make(MachineOpKind::copy_async, {}, one);
    if (rows_here.defined()) s = IfThenElse::make(row % extents[1] < rows_here, s);
    if (chunks % count != 0) s = IfThenElse::make(chunk < chunks, s);
    s = For::make(round, 0, int32_t((chunks + count - 1) / count), LoopKind::Unrolled,
                  Partition::Never, s);
    for (size_t i = threads.size(); i-- > 0;)
        s = For::make(names[i], 0, threads[i]->extent, LoopKind::GPUThread, Partition::Never, s);
    return around(s);
}

// Returns the map of the buffer that is copied from: where it is, and how it lies in memory.
Expr StagedCopy::map() const {
    const Symbol b = source->callee;
    std::vector<Expr> min, extents_of_all, strides, box;
    Expr step = 1;
    const auto property = [&](BufferField field, size_t d) {
        return BufferProperty::make(b, field, int(d), source->referent);
    };
    if (source->call_kind == CallKind::Image) {
        for (size_t d = 0; d < first.size(); d++) {
            min.push_back(property(BufferField::Min, d));
            extents_of_all.push_back(property(BufferField::Extent, d));
            if (d > 0) strides.push_back(property(BufferField::Stride, d));
        }
        step = property(BufferField::Stride, 0);
    } else {
        const auto found = storage.find(b);
        if (found == storage.end() || !found->second->storage.order.empty())
            refuse(str(b, " has to be an image, or a Func that is computed outside of the kernel"));
        for (const Range &r : found->second->bounds) {
            if (!min.empty())
                strides.push_back(strides.empty() ? extents_of_all.back()
                                                  : strides.back() * extents_of_all.back());
            min.push_back(r.min);
            extents_of_all.push_back(r.extent);
        }
    }
    for (size_t d = 0; d < first.size(); d++)
        box.push_back(d == 0 ? of_panel : d == row_dimension ? extents[1] : 1);
    const Expr at = call(Handle(), Intrinsic::address_of, {source->with<&Call::args>(min)});
    std::vector<Expr> operands = {at, ring.types[0].bytes(), int32_t(first.size())};
    for (const auto *list : {&extents_of_all, &strides, &box})
        operands.insert(operands.end(), list->begin(), list->end());
    operands.push_back(step);
    operands.push_back(layout.defined() ? int32_t(layout.outputs[0].swizzle) : 0);
    return call(Handle(), Intrinsic::tensor_map, operands);
}

Stmt StagedCopy::by_tiles(const Expr &barrier) const {
    constexpr int32_t most_rows = 256;  // of a box
    if (extents[0] * ring.types[0].bytes() % most_swizzle != 0)
        refuse(str("for wgmma a row has a multiple of ", most_swizzle, " bytes; it has ",
                   extents[0] * ring.types[0].bytes()));
    if (extents[1] > most_rows) refuse(str("a box has at most ", most_rows, " rows"));
    if (rows_here.defined() || source->args.size() < dimensions)
        refuse("for wgmma a box has as many rows in each iteration");
    constexpr size_t most_dimensions = 5;  // of a tensor map
    if (first.size() > most_dimensions)
        refuse(str("for wgmma what is copied has at most ", most_dimensions, " dimensions"));
    const Expr tensor_map = map();
    const Expr &sample = tensor_map.as<IntrinsicCall>()->args[0].as<IntrinsicCall>()->args[0];
    const std::vector<Expr> &min = sample.as<Call>()->args;
    const Symbol panel = Symbol::fresh("panel"), x = Symbol::fresh("x"), y = Symbol::fresh("y");
    const Expr of_first = int32_variable(panel) * of_panel;
    const Expr to = call(Handle(), Intrinsic::address_of, {stored(of_first, 0)});
    const Stmt row = For::make(x, 0, of_panel, LoopKind::Serial, Partition::Never,
                               element(of_first + int32_variable(x), int32_variable(y)));
    const Stmt box = For::make(y, 0, extents[1], LoopKind::Serial, Partition::Never, row);
    std::vector<Expr> operands = {to, barrier, tensor_map};
    for (size_t d = 0; d < first.size(); d++) {
        const Expr from = d == 0 ? first[d] + of_first : first[d];
        operands.push_back(simplify(from - min[d]));
    }
    const Stmt s = MachineOp::make(MachineOpKind::copy_tile, std::move(operands), box);
    return around(
        For::make(panel, 0, extents[0] / of_panel, LoopKind::Serial, Partition::Never, s));
}

}  // namespace tessera::lower
