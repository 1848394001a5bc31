#include "lower/gpu/staged_copy.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/likely.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

bool is_operand(const Realize &ring) {
    bool any = false;
    for_each_node(ring.body, [&](const MachineOp &op) {
        if (op.op != MachineOpKind::tensor) return;
        for_each_node(Stmt(&op), [&](const Call &c) { any |= c.callee == ring.func; });
    });
    return any;
}

Layout without_slots(Layout layout) {
    const size_t slot = layout.coordinates.size() - 1;
    layout.coordinates.pop_back();
    std::erase_if(layout.outputs[0].digits,
                  [&](const LayoutDigit &d) { return d.coordinate == slot; });
    return layout;
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

bool has_panels(const Realize &storage) {
    bool any = false;
    for_each_node(storage.body, [&](const MachineOp &op) {
        if (op.op != MachineOpKind::tensor) return;
        const auto t = TensorOperation::of(op);
        for (const TensorOperation::Operand *o : {&t.a, &t.b}) {
            if (o->source != TensorOperation::Source::Panels) continue;
            for_each_node(o->places[0], [&](const Call &c) { any |= c.callee == storage.func; });
        }
    });
    return any;
}

Layout layout_of_panels(const Realize &storage) {
    Region with_slot = storage.bounds;
    with_slot.push_back({0, 1});
    const Stmt as_ring = storage.with<&Realize::bounds>(with_slot);
    const Layout layout = layout_of_ring(*as_ring.as<Realize>());
    if (!layout.defined()) throw InternalError(str(storage.func, " has no panels"));
    return without_slots(layout);
}

Layout panels_of(std::vector<int64_t> extents, int64_t element_bytes) {
    extents.push_back(1);
    return without_slots(panel_layout(extents, element_bytes));
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
                           ": what is computed ahead within a kernel, such as a copy by "
                           "in(), is a box of one definition: ",
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
        if (is_const(simplify(remove_likely(substitute(known, loop->extent))), 1))
            known[loop->name] = substitute(known, loop->min);
        else
            loops.push_back(loop);
        return read(loop->body);
    }
    const auto *store = s.as<Provide>();
    if (!store || store->predicate.defined() || store->values.size() != 1)
        refuse("there is more than one assignment, or one with a condition");
    find_box(*store);
}

void StagedCopy::find_box(const Provide &store) {
    for (size_t d = 0; d + 1 < ring.bounds.size(); d++) {
        const auto extent = algebra::constant_upper_bound(ring.bounds[d].extent);
        if (!extent || *extent < 1)
            refuse(str("how large it may be is known, and not ", brief(ring.bounds[d].extent)));
        extents.push_back(int32_t(*extent));
        coordinates.push_back(Symbol::fresh("c"));
    }
    find_coordinates(store);
    find_value(store.values[0]);
    find_panels();
}

void StagedCopy::find_panels() {
    const int64_t bytes = ring.types[0].bytes();
    of_panel = extents[0];
    if (!is_operand(ring)) return;
    layout = layout_of_ring(ring);
    if (layout.defined()) of_panel = int32_t(neighbours(layout.outputs[0], 0, bytes));
    if (!layout.defined() || of_panel * bytes % slot_bytes != 0)
        refuse(str("a row that instructions read has a multiple of ", slot_bytes, " bytes, or of ",
                   most_swizzle, " if there are more; it has ", extents[0] * bytes));
}

// Finds the loop along each dimension of the box.
void StagedCopy::find_coordinates(const Provide &store) {
    std::vector<const For *> used(extents.size(), nullptr);
    Substitution at_coordinates;
    const auto expanded = [&](const Expr &e) { return simplify(substitute(known, e)); };
    for (size_t d = 0; d < extents.size(); d++) {
        const Expr to = expanded(store.args[d]);
        const auto moves = [&](const For *loop) { return uses_symbol(to, loop->name); };
        const auto along = std::ranges::find_if(loops, moves);
        if (along == loops.end()) {
            if (!is_zero(to)) refuse(str("it begins at its first element, and not at ", to));
            limits.push_back(extents[d] == 1 ? Expr() : Expr(1));
            continue;
        }
        if (std::ranges::count_if(loops, moves) != 1 || std::ranges::count(used, *along) > 0)
            refuse("it has one loop for each of its dimensions");
        used[d] = *along;
        const Expr from_first = int32_variable(coordinates[d]) + expanded((*along)->min);
        if (!equal(simplify(substitute((*along)->name, from_first, to)),
                   int32_variable(coordinates[d])))
            refuse(str("each of its loops runs over neighbours, from its first element on, and not "
                       "over ",
                       to));
        at_coordinates[(*along)->name] = from_first;
        const Expr count = expanded((*along)->extent);
        limits.push_back(is_const(count, extents[d]) ? Expr() : count);
    }
    if (at_coordinates.size() != loops.size()) refuse("it has one loop for each of its dimensions");
    slot = expanded(store.args.back());
    for (const auto &[name, of_coordinates] : at_coordinates) {
        for (Expr &limit : limits)
            if (limit.defined() && uses_symbol(limit, name))
                refuse("how far each of its loops runs is the same for all of the box");
    }
    for (auto &[name, let] : known) let = substitute(at_coordinates, let);
    known.insert(at_coordinates.begin(), at_coordinates.end());
}

namespace {

// Positive zero, which is what the machine fills with.
bool is_filled_with(const Expr &e) {
    return is_zero(e) && equal(algebra::simplify(e), make_zero(e.type()));
}

}  // namespace

// Finds out whether it is copied, on a condition or not.
void StagedCopy::find_value(const Expr &computed) {
    value = simplify(remove_likely(substitute(known, computed)));
    Expr copied = value;
    while (const auto *select = copied.as<Select>()) {
        const bool is_zero_first = is_filled_with(select->true_value);
        if (!is_zero_first && !is_filled_with(select->false_value)) return;
        const Expr here =
            is_zero_first ? Expr(Not::make(select->condition)) : Expr(select->condition);
        condition = condition.defined() ? condition && here : here;
        copied = is_zero_first ? select->false_value : select->true_value;
    }
    const auto *c = copied.as<Call>();
    if (c && !c->args.empty()) source = copied;
    if (!source.defined()) condition = Expr();
}

int64_t StagedCopy::bytes() const {
    int64_t all = ring.types[0].bytes();
    for (int32_t extent : extents) all *= extent;
    return all;
}

void StagedCopy::check_rows_for_wgmma() const {
    const int64_t of_row = int64_t(extents[0]) * ring.types[0].bytes();
    if (is_operand(ring) && !swizzle_of_panels(of_row))
        refuse(str("for wgmma a row has a multiple of ", most_swizzle,
                   " bytes, or of 64 or 32; it has ", of_row));
}

// Within the production, and the lets around it.
Stmt StagedCopy::around(const Stmt &s) const { return produce->with<&ProducerConsumer::body>(s); }

bool StagedCopy::is_zero_unless(const Expr &condition, const std::vector<Expr> &at,
                                const LetScope &lets) const {
    const Expr e = remove_likely(condition);
    if (const auto *both = e.as<And>())
        return is_zero_unless(both->a, at, lets) && is_zero_unless(both->b, at, lets);
    Expr less, more;  // less < more
    if (const auto *lt = e.as<LT>()) less = lt->a, more = lt->b;
    if (const auto *le = e.as<LE>()) less = le->a, more = le->b + 1;
    if (!less.defined()) return false;
    for (size_t d = 0; d < limits.size(); d++) {
        if (!limits[d].defined()) continue;
        const Expr beyond = lets.expand((less - more) - (at[d] - limits[d]));
        if (algebra::can_prove(simplify(remove_likely(beyond)) <= 0)) return true;
    }
    return false;
}

}  // namespace tessera::lower
