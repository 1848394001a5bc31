#include "lower/checks/overlap_checks.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/checks/constraints.h"
#include "lower/checks/errors.h"
#include "lower/checks/touched_ranges.h"
#include "lower/nest/stage.h"
#include "program/define.h"
#include "program/transform_model.h"
#include <algorithm>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

namespace {

// ---- Who reads what where it writes ----

bool is_at_point(const Call &call, const Provide &provide) {
    return std::ranges::equal(call.args, provide.args,
                              [](const Expr &a, const Expr &b) { return equal(a, b); });
}

// Goes through statements in their order, and hands on the expressions that these evaluate.
class StatementVisitor : public Visitor {
protected:
    const Provide *around = nullptr;  // whose expression it is

    virtual void look(const Expr &e) = 0;
    void look(std::initializer_list<Expr> all) {
        for (const Expr &e : all) {
            if (e.defined()) look(e);
        }
    }
    void look_into(const Provide &provide) {
        for (const Expr &e : provide.values) look(e);
        for (const Expr &e : provide.args) look(e);
        look({provide.predicate});
    }
    // A let that directly surrounds a Provide is a part of its values.
    void visit(const LetStmt &let) override {
        const Provide *outer = std::exchange(around, provided(let.body));
        look({let.value});
        around = outer;
        (*this)(let.body);
    }
    static const Provide *provided(const Stmt &s) {
        const auto *let = s.as<LetStmt>();
        return let ? provided(let->body) : s.as<Provide>();
    }
    void visit(const AssertStmt &check) override { look({check.condition}); }
    void visit(const Evaluate &evaluate) override { look({evaluate.value}); }
    void visit(const For &loop) override {
        look({loop.min, loop.extent});
        (*this)(loop.body);
    }
    void visit(const Realize &realize) override {
        look({realize.condition});
        for (const Range &r : realize.bounds) look({r.min, r.extent});
        (*this)(realize.body);
    }
    void visit(const IfThenElse &branch) override {
        look({branch.condition});
        (*this)(branch.then_case);
        if (branch.else_case.defined()) (*this)(branch.else_case);
    }
};

// Finds for each function which other ones read it, and whether they do so for the element of the
// same coordinates.
class FindReaders final : public StatementVisitor {
public:
    struct Reader {
        Symbol func;  // none: it is read for something else
        bool at_point = false;
    };
    std::unordered_map<Symbol, std::vector<Reader>> readers;

private:
    void look(const Expr &e) override {
        for_each_node(e, [&](const Call &call) {
            Reader reader;
            if (around) reader = {around->func, is_at_point(call, *around)};
            readers[call.callee].push_back(reader);
        });
    }
    void visit(const Provide &provide) override {
        around = &provide;
        look_into(provide);
        around = nullptr;
    }
};

// Returns the functions whose values are only used, directly or by way of one another, for the
// element of the output that has the same coordinates.
std::unordered_set<Symbol> pointwise_functions(Symbol output, const FindReaders &found) {
    std::unordered_set<Symbol> all{output};
    for (const auto &[func, readers] : found.readers) all.insert(func);
    for (bool changes = true; changes;) {
        const auto is_used_elsewhere = [&](Symbol func) {
            const auto readers = found.readers.find(func);
            return func != output && std::ranges::any_of(readers->second, [&](const auto &r) {
                       return !r.at_point || !all.contains(r.func);
                   });
        };
        changes = std::erase_if(all, is_used_elsewhere) > 0;
    }
    return all;
}

// ---- What comes first ----

enum class AccessOrder { ReadsFirst, Pointwise, Mixed };

// Walks through what a pipeline does, one after the other, with an eye on one input and output.
class OrderAccesses final : public StatementVisitor {
public:
    OrderAccesses(Symbol input, const ir::Argument &output,
                  const std::unordered_set<Symbol> &pointwise)
        : input(input), output(output), pointwise(pointwise) {}

    AccessOrder of(const Stmt &body) {
        (*this)(body);
        if (seen.mixed) return AccessOrder::Mixed;
        return seen.meets ? AccessOrder::Pointwise : AccessOrder::ReadsFirst;
    }

private:
    struct Seen {
        bool reads_at_point = false, reads_elsewhere = false, writes = false;
        bool meets = false;  // a loop has both, each iteration for its own elements
        bool mixed = false;
        void add(const Seen &o) {
            reads_at_point |= o.reads_at_point, reads_elsewhere |= o.reads_elsewhere;
            writes |= o.writes, meets |= o.meets, mixed |= o.mixed;
        }
    };
    void note_read(bool at_point) {
        (at_point ? seen.reads_at_point : seen.reads_elsewhere) = true;
        seen.mixed |= seen.writes;
    }

    // Reads are looked at before writes, because a Provide computes its values before it writes
    // them. A C function that is given a buffer may read or write all of it.
    void look(const Expr &e) override {
        for_each_node(e, [&](const Call &call) {
            if (call.callee != input) return;
            note_read(around && pointwise.contains(around->func) && is_at_point(call, *around));
        });
        for_each_node(e, [&](const Variable &v) {
            if (v.name == input) note_read(false);
            seen.writes |= v.name == output.name && v.type.is_handle();
        });
        for_each_node(e, [&](const IntrinsicCall &call) {
            if (call.op != Intrinsic::address_of) return;
            const auto *element = call.args[0].as<Call>();
            seen.writes |= element && element->callee == output.func;
        });
    }
    void visit(const Provide &provide) override {
        around = &provide;
        look_into(provide);
        around = nullptr;
        seen.writes |= provide.func == output.func;
    }
    // Reads and writes of one loop come together: an iteration reads after another one has written.
    void visit(const For &loop) override {
        together([&] { StatementVisitor::visit(loop); });
    }
    void visit(const Realize &realize) override {
        if (!realize.storage.is_async) return StatementVisitor::visit(realize);
        together([&] { StatementVisitor::visit(realize); });
    }
    template<typename F>
    void together(F walk) {
        const Seen before = std::exchange(seen, {});
        walk();
        const bool reads = seen.reads_at_point || seen.reads_elsewhere;
        seen.mixed |= seen.writes && seen.reads_elsewhere;
        seen.meets |= seen.writes && seen.reads_at_point;
        seen.mixed |= before.writes && reads;
        seen.add(before);
    }
    void visit(const IfThenElse &branch) override {
        look(branch.condition);
        const Seen before = seen;
        (*this)(branch.then_case);
        if (!branch.else_case.defined()) return;
        const Seen after_first = std::exchange(seen, before);
        (*this)(branch.else_case);
        seen.add(after_first);
    }

    const Symbol input;
    const ir::Argument &output;
    const std::unordered_set<Symbol> &pointwise;
    Seen seen;
};

// ---- What is computed again ----

// `none` holds if the tails of the splits of an output's first definition compute no element again;
// `why` says what might make them do so.
struct Recomputation {
    Expr none = const_true();
    std::string why;
};

void add_tails(const program::Definition &version, std::unordered_map<Symbol, Expr> extents,
               Recomputation &found) {
    for (const auto &t : version.schedule.transforms) {
        const auto model = program::model_of(t.directive);
        std::vector<algebra::Interval> taken;
        for (Symbol loop : model->taken()) taken.push_back({0, extents.at(loop) - 1});
        const auto *split = std::get_if<program::Split>(&t.directive);
        if (split && model->tail().overlaps && !model->tail().blends) {
            const Expr factor = cast(Int(32), split->factor);
            found.none = found.none && extents.at(split->old) % factor == 0;
            found.why =
                str(", and the extent of ", split->old, " a multiple of ", split->factor,
                    ", as TailStrategy::", name_of(split->tail), " computes elements again");
        }
        const std::vector<algebra::Interval> ranges = model->ranges_made(taken, false);
        const std::vector<Symbol> made = model->made();
        for (size_t i = 0; i < made.size(); i++)
            extents[made[i]] = ranges[i].max - ranges[i].min + 1;
    }
}

Recomputation recomputation_of(const program::FunctionContents &f, const ir::Argument &output) {
    Recomputation found;
    std::unordered_map<Symbol, Expr> extents = {{program::outermost_loop(), 1}};
    for (size_t d = 0; d < f.args.size(); d++)
        extents[f.args[d]] = BufferProperty::make(output.name, BufferField::Extent, int(d));
    for (const program::Definition *version : versions_of(*f.stages[0]))
        add_tails(*version, extents, found);
    found.none = algebra::simplify(found.none);
    return found;
}

// ---- Checks ----

// The runtime looks at descriptors alone, so it gets their addresses as numbers: no pass takes that
// for a use of elements.
Expr address(const Expr &handle) { return Reinterpret::make(UInt(64), handle); }

Expr region_read(const Box &box) {
    std::vector<Expr> fields;
    for (const algebra::Interval &i : box) {
        fields.push_back(cast(Int(32), i.min));
        fields.push_back(cast(Int(32), i.max - i.min + 1));
    }
    if (fields.empty()) return make_zero(Handle());
    return call(Handle(), Intrinsic::make_struct, std::move(fields));
}

// Appends the members of the tessera_output_place_t of an output.
void add_place(const ir::Argument &output, AccessOrder order, const ProgramContext &context,
               std::vector<Expr> &members) {
    Expr may_be_in_place = const_false();
    std::string in_place;
    if (order == AccessOrder::Pointwise) {
        const Recomputation again = recomputation_of(*context.function(output.func), output);
        may_be_in_place = again.none;
        in_place =
            str(" (in place, elements of the same coordinates have to be the same", again.why, ")");
    }
    members.push_back(address(handle_of(output.name)));
    members.push_back(Expr(output.name.text()));
    members.push_back(Expr(in_place));
    members.push_back(cast(UInt(64), may_be_in_place));
}

// Makes one call for all outputs, however many there are, since what the body needs lives across
// it.
Stmt overlap_check(const ir::Argument &input, const Box &read, std::vector<Expr> places) {
    constexpr size_t members_of_place = 4;
    const int outputs = int(places.size() / members_of_place);
    const Symbol overlap = Symbol::fresh(str(input.name, ".overlap"));
    const Expr error = Variable::make(Int(32), overlap);
    const Expr found = ExternCall::make(
        Int(32), "tessera_check_overlaps",
        {call(Handle(), Intrinsic::user_context, {}), Expr(input.name.text()),
         address(handle_of(input.name)), address(region_read(read)),
         address(call(Handle(), Intrinsic::make_struct, std::move(places))), Expr(outputs)},
        false);
    return LetStmt::make(overlap, found, AssertStmt::make(error == 0, error));
}

}  // namespace

std::vector<Stmt> overlap_checks(const LoopNests &nests, const ProgramContext &context) {
    FindReaders readers;
    readers(nests.body);
    std::vector<std::pair<const ir::Argument *, std::unordered_set<Symbol>>> outputs;
    for (const ir::Argument &output : context.arguments) {
        if (output.is_output())
            outputs.emplace_back(&output, pointwise_functions(output.func, readers));
    }
    std::vector<Stmt> checks;
    for (const ir::Argument &input : context.arguments) {
        if (input.kind != ArgumentKind::InputBuffer) continue;
        const Box *read = box_of(input, nests);
        if (!read) continue;
        std::vector<Expr> places;
        for (const auto &[output, pointwise] : outputs) {
            const AccessOrder order = OrderAccesses(input.name, *output, pointwise).of(nests.body);
            if (order != AccessOrder::ReadsFirst) add_place(*output, order, context, places);
        }
        if (!places.empty()) checks.push_back(overlap_check(input, *read, std::move(places)));
    }
    return checks;
}

}  // namespace tessera::lower
