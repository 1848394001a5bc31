#include "lower/finish/inject_tracing.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/defined_part.h"
#include "lower/traced_access.h"
#include "lower/with_lets.h"
#include "program/scatter.h"
#include <unordered_map>

namespace tessera::lower {
namespace {

using namespace ir;

// Describes one event; as in tessera_trace_event_t.
struct Event {
    Symbol func;
    int32_t code = 0;
    Expr parent;
    Type type;   // of the value
    Expr value;  // undefined: none
    int value_index = 0;
    std::vector<Expr> coordinates;
    std::string tag;
};

Expr null_handle() { return Reinterpret::make(Handle(), UIntImm::make(UInt(64), 0)); }

// A type that is undefined stands for an event without a value, which has no lanes.
Expr packed(Type t) {
    if (!t.defined()) return UIntImm::make(UInt(32), uint64_t(Handle().code()));
    uint32_t bits = uint32_t(t.code()) | uint32_t(t.bits()) << 8 | uint32_t(t.lanes()) << 16;
    return UIntImm::make(UInt(32), bits);
}

Expr struct_of(std::vector<Expr> members) {
    return call(Handle(), Intrinsic::make_struct, std::move(members));
}

// The event; the value is its id.
Expr trace(const Event &e) {
    Expr value = e.value.defined() ? struct_of({e.value}) : null_handle();
    Expr coordinates = e.coordinates.empty() ? null_handle() : struct_of(e.coordinates);
    Expr tag = e.tag.empty() ? null_handle() : Expr(e.tag);
    Expr event = struct_of({Expr(e.func.text()), value, coordinates, tag, packed(e.type), e.code,
                            e.parent, e.value_index, int(e.coordinates.size()), 0});
    return call(Int(32), Intrinsic::trace, {event});
}

class InjectTracing final : public Mutator {
public:
    InjectTracing(const LoweredFunction &function, const lower::Context &context)
        : function(function), context(context), pipeline(Symbol::fresh("trace_pipeline")),
          wanted(find_traced(function)) {
        for_each_node(function.body, [&](const Realize &r) { note(r); });
        for (const ir::Argument &a : function.args) note(a);
    }
    bool anything() const {
        return context.target.has_feature(Target::TracePipeline) || !wanted.empty();
    }
    Stmt run();

private:
    void note(const Realize &r);
    void note(const ir::Argument &a);
    Stmt realize_outputs(Stmt s) const;
    Stmt visit(const Realize &realize) override;
    Stmt visit(const ProducerConsumer &node) override;
    Stmt visit(const For &loop) override;
    Stmt visit(const Fork &fork) override;
    Stmt task(Symbol func, std::vector<Expr> region, const std::string &name, Stmt body) const;
    bool is_of_another(const ProducerConsumer &node) const;
    std::vector<Expr> region_of(Symbol func) const;
    Stmt visit(const Provide &provide) override;
    Expr visit(const Call &call) override;
    Expr visit(const IntrinsicCall &call) override;
    bool is_traced(const Call &call) const;
    size_t dimensions_of(Symbol func, const std::vector<Expr> &args) const;

    Traced wanted_of(Symbol f) const {
        auto found = wanted.find(f);
        return found == wanted.end() ? Traced() : found->second;
    }
    Expr parent_of(Symbol f) const {
        auto found = ids.find(f);
        return Variable::make(Int(32), found == ids.end() ? pipeline : found->second);
    }
    Stmt with_event(Symbol id, const Event &begin, int32_t end, Stmt body) const;

    const LoweredFunction &function;
    const lower::Context &context;
    Symbol pipeline;  // the id of the pipeline's event
    std::unordered_map<Symbol, Traced> wanted;
    std::unordered_map<Symbol, size_t> dimensions;  // of functions and images
    std::vector<std::pair<Symbol, std::string>> tags;
    std::vector<Symbol> outputs;
    std::unordered_map<Symbol, Symbol> ids;     // of functions whose realizations are reported
    std::unordered_map<Symbol, Region> stored;  // around what is visited
    Symbol computed;                            // what the loops around what is visited compute
    bool told_already = false;                  // what is visited is a copy of what is traced
};

void InjectTracing::note(const Realize &r) {
    const bool has_copies = r.storage.copies.defined();
    if (!dimensions.try_emplace(r.func, r.bounds.size() - has_copies).second) return;
    if (!r.storage.traced.tag.empty()) tags.emplace_back(r.func, r.storage.traced.tag);
    if (r.storage.traced.realizations) ids[r.func] = Symbol::fresh(str(r.func, "_trace"));
}

void InjectTracing::note(const ir::Argument &a) {
    if (a.is_scalar() || a.value_index != 0) return;
    const Symbol name = a.is_output() ? a.func : a.name;
    dimensions[name] = size_t(a.dimensions);
    if (!a.traced.tag.empty()) tags.emplace_back(name, a.traced.tag);
    if (!a.is_output()) return;
    outputs.push_back(name);
    if (a.traced.realizations) ids[name] = Symbol::fresh(str(name, "_trace"));
}

// The event, what happens in it under its id, and its end.
Stmt InjectTracing::with_event(Symbol id, const Event &begin, int32_t end, Stmt body) const {
    Event last = begin;
    last.code = end;
    last.parent = Variable::make(Int(32), id);
    Stmt check = AssertStmt::make(last.parent >= 0, last.parent);
    Stmt inside = Block::make({check, std::move(body), Evaluate::make(trace(last))});
    return LetStmt::make(id, trace(begin), inside);
}

// The storage of an output is the caller's: it is there as long as the pipeline runs.
Stmt InjectTracing::realize_outputs(Stmt s) const {
    for (Symbol output : outputs) {
        if (!wanted_of(output).realizations) continue;
        Event begin;
        begin.func = output;
        begin.code = tessera_trace_begin_realization;
        begin.parent = Variable::make(Int(32), pipeline);
        begin.coordinates = region_of(output);
        s = with_event(ids.at(output), begin, tessera_trace_end_realization, s);
    }
    return s;
}

Stmt InjectTracing::run() {
    std::vector<Stmt> parts;
    Event tag;
    tag.code = tessera_trace_tag;
    tag.parent = Variable::make(Int(32), pipeline);
    for (const auto &[name, text] : tags) {
        tag.func = name;
        tag.tag = text;
        parts.push_back(Evaluate::make(trace(tag)));
    }
    parts.push_back(realize_outputs((*this)(function.body)));
    Event begin;
    begin.func = outputs.empty() ? pipeline : outputs.back();
    begin.code = tessera_trace_begin_pipeline;
    begin.parent = 0;
    return with_event(pipeline, begin, tessera_trace_end_pipeline, Block::make(std::move(parts)));
}

std::vector<Expr> coordinates_of(const Region &region) {
    std::vector<Expr> all;
    for (const Range &r : region) {
        all.push_back(r.min);
        all.push_back(r.extent);
    }
    return all;
}

Stmt InjectTracing::visit(const Realize &realize) {
    stored.emplace(realize.func, realize.bounds);
    Stmt body = (*this)(realize.body);
    stored.erase(realize.func);
    if (wanted_of(realize.func).realizations && ids.count(realize.func)) {
        Event begin;
        begin.func = realize.func;
        begin.code = tessera_trace_begin_realization;
        begin.parent = Variable::make(Int(32), pipeline);
        begin.coordinates = coordinates_of(realize.bounds);
        body = with_event(ids[realize.func], begin, tessera_trace_end_realization, body);
    }
    return realize.with<&Realize::body>(body);
}

// Returns the region of the Func that there is storage for.
std::vector<Expr> InjectTracing::region_of(Symbol func) const {
    if (auto found = stored.find(func); found != stored.end()) return coordinates_of(found->second);
    std::vector<Expr> all;
    const ir::Argument *output = find_output(function.args, func);
    for (int d = 0; output && d < output->dimensions; d++) {
        all.push_back(BufferProperty::make(output->name, BufferField::Min, d));
        all.push_back(BufferProperty::make(output->name, BufferField::Extent, d));
    }
    return all;
}

// The loops that an asynchronous producer runs through, as its consumer does, compute nothing
// there.
bool InjectTracing::is_of_another(const ProducerConsumer &node) const {
    if (!find_output(function.args, node.func)) return !stored.count(node.func);
    bool writes = !node.is_producer;
    for_each_node(node.body, [&](const Provide &p) { writes |= p.func == node.func; });
    for_each_node(node.body, [&](const Call &c) { writes |= c.callee == node.func; });
    return !writes;
}

Stmt InjectTracing::visit(const ProducerConsumer &node) {
    const Symbol around = computed;
    if (node.is_producer) computed = node.func;
    Stmt s = Mutator::visit(node);
    computed = around;
    if (!wanted_of(node.func).realizations || is_of_another(node)) return s;
    Event begin;
    begin.func = node.func;
    begin.code = node.is_producer ? tessera_trace_produce : tessera_trace_consume;
    begin.parent = parent_of(node.func);
    begin.coordinates = region_of(node.func);
    int32_t end = node.is_producer ? tessera_trace_end_produce : tessera_trace_end_consume;
    Symbol id = Symbol::fresh(str(node.func, node.is_producer ? "_produce" : "_consume"));
    return with_event(id, begin, end, s);
}

// The body, reported as a task of the function.
Stmt InjectTracing::task(Symbol func, std::vector<Expr> region, const std::string &name,
                         Stmt body) const {
    Event begin;
    begin.func = func;
    begin.code = tessera_trace_begin_parallel_task;
    begin.parent = parent_of(func);
    begin.coordinates = std::move(region);
    begin.tag = name;
    return with_event(Symbol::fresh(str(func, "_task")), begin, tessera_trace_end_parallel_task,
                      std::move(body));
}

Stmt InjectTracing::visit(const For &loop) {
    Stmt s = Mutator::visit(loop);
    if (!traits_of(loop.loop_kind).is_on_threads || !wanted_of(computed).realizations) return s;
    const Expr index = Variable::make(Int(32), loop.name);
    const auto &mutated = *s.as<For>();
    return mutated.with<&For::body>(task(computed, {index, 1}, loop.name.text(), mutated.body));
}

// Its statements compute one function each, or what is left of the pipeline around them.
Stmt InjectTracing::visit(const Fork &fork) {
    Stmt s = Mutator::visit(fork);
    std::vector<Stmt> stmts = s.as<Fork>()->stmts;
    for (Stmt &stmt : stmts) {
        Symbol func = computed;
        for_each_node(stmt, [&](const ProducerConsumer &p) {
            if (p.is_producer && !is_of_another(p)) func = p.func;
        });
        if (wanted_of(func).realizations) stmt = task(func, {}, "async", stmt);
    }
    return Fork::make(std::move(stmts));
}

// An address that is taken, for an extern stage or a prefetch, is no load.
Expr InjectTracing::visit(const IntrinsicCall &call) {
    if (call.op == Intrinsic::address_of) return Expr(&call);
    if (call.op != Intrinsic::return_second) return Mutator::visit(call);
    Expr coordinate = (*this)(call.args[0]);
    bool outer = std::exchange(told_already, true);
    Expr index = (*this)(call.args[1]);
    told_already = outer;
    return stored_at(coordinate, index);
}

// The number of the storage's copy is no coordinate.
size_t InjectTracing::dimensions_of(Symbol func, const std::vector<Expr> &args) const {
    auto found = dimensions.find(func);
    return found == dimensions.end() ? args.size() : std::min(found->second, args.size());
}

std::vector<Expr> indices_of(std::vector<Expr> args) {
    for (Expr &arg : args) arg = index_of(arg);
    return args;
}

// Holds what one Provide stores, value by value and element by element (of scatter and gather),
// computed once: named, traced and stored.
class TracedStore {
public:
    TracedStore(const Provide &provide, Event event, size_t dimensions)
        : provide(provide), event(std::move(event)), dimensions(dimensions),
          count(program::count_of_elements(provide.args, provide.values)) {}

    Stmt run() {
        std::vector<std::vector<Expr>> args(provide.args.size()), values(provide.values.size());
        for (size_t n = 0; n < count; n++) {
            event.coordinates.clear();
            for (size_t i = 0; i < args.size(); i++) {
                Expr arg = element(provide.args[i], n);
                Expr coordinate = named(coordinate_of(arg), "_at");
                bool same = coordinate_of(arg).same_as(index_of(arg));
                args[i].push_back(same ? coordinate : index_of(arg));
                if (i < dimensions) event.coordinates.push_back(coordinate);
            }
            for (size_t k = 0; k < values.size(); k++) {
                event.value_index = int(k);
                values[k].push_back(told(element(provide.values[k], n)));
            }
        }
        parts.push_back(Provide::make(provide.func, together(values, Intrinsic::gather),
                                      together(args, Intrinsic::scatter)));
        return with_lets(lets, Block::make(std::move(parts)));
    }

private:
    Expr element(const Expr &e, size_t n) const { return count == 1 ? e : program::element(e, n); }
    Expr named(const Expr &e, const char *what) {
        if (is_const(e) || e.as<Variable>()) return e;
        lets.emplace_back(Symbol::fresh(str(provide.func, what)), e);
        return Variable::make(e.type(), lets.back().first);
    }
    // Returns what is to be stored. Undefined values are neither stored nor traced.
    Expr told(const Expr &value) {
        Type type = value.type();
        Expr undefined = call(type, Intrinsic::undef, {});
        DefinedPart part = defined_part(value, lets);
        if (is_false(part.when)) return undefined;
        bool always = is_true(part.when);
        Expr when = named(part.when, "_when");
        Expr safe = always
                        ? part.value
                        : call(type, Intrinsic::if_then_else, {when, part.value, make_zero(type)});
        event.value = named(safe, "_value");
        event.type = type;
        Stmt tell = Evaluate::make(trace(event));
        parts.push_back(always ? tell : IfThenElse::make(when, tell));
        return always ? event.value : Select::make(when, event.value, undefined);
    }
    std::vector<Expr> together(const std::vector<std::vector<Expr>> &all, Intrinsic op) const {
        std::vector<Expr> result;
        for (const std::vector<Expr> &elements : all) {
            const Expr &first = elements.front();
            result.push_back(count == 1 ? first : call(first.type(), op, elements));
        }
        return result;
    }

    const Provide &provide;
    Event event;
    size_t dimensions, count;
    Lets lets;
    std::vector<Stmt> parts;
};

Stmt InjectTracing::visit(const Provide &provide) {
    Stmt s = Mutator::visit(provide);
    const auto &p = *s.as<Provide>();
    if (!wanted_of(p.func).stores) {
        return p.with<&Provide::args>(indices_of(p.args));
    }
    Event event;
    event.func = p.func;
    event.code = tessera_trace_store;
    event.parent = parent_of(p.func);
    Stmt body = TracedStore(p, event, dimensions_of(p.func, p.args)).run();
    return p.predicate.defined() ? IfThenElse::make(p.predicate, body) : body;
}

bool InjectTracing::is_traced(const Call &call) const { return wanted_of(call.callee).loads; }

Expr InjectTracing::visit(const Call &node) {
    Expr mutated = Mutator::visit(node);
    const auto &call = *mutated.as<Call>();
    std::vector<Expr> args = call.args;
    Lets lets;  // of arguments that are traced themselves
    Event event;
    bool told = !told_already && is_traced(node);
    size_t dimensions = dimensions_of(call.callee, args);
    for (size_t i = 0; i < args.size(); i++) {
        Expr coordinate = coordinate_of(args[i]);
        if (told && !is_pure(coordinate)) {
            lets.emplace_back(Symbol::fresh(str(call.callee, "_at")), coordinate);
            coordinate = Variable::make(coordinate.type(), lets.back().first);
        }
        bool same = coordinate_of(args[i]).same_as(index_of(args[i]));
        args[i] = same ? coordinate : index_of(args[i]);
        if (i < dimensions) event.coordinates.push_back(coordinate);
    }
    Expr e = call.with<&Call::args>(args);
    if (!told) return e;
    Symbol name = Symbol::fresh(str(call.callee, "_loaded"));
    event.func = call.callee;
    event.code = tessera_trace_load;
    event.parent = parent_of(call.callee);
    event.value = Variable::make(call.type, name);
    event.type = call.type;
    event.value_index = call.value_index;
    Expr traced = ir::call(call.type, Intrinsic::return_second, {trace(event), event.value});
    Expr result = Let::make(name, e, traced);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        result = Let::make(let->first, let->second, result);
    }
    return result;
}

}  // namespace

Stmt inject_tracing(const LoweredFunction &pipeline, const Context &context) {
    InjectTracing tracing(pipeline, context);
    return tracing.anything() ? tracing.run() : pipeline.body;
}

}  // namespace tessera::lower
