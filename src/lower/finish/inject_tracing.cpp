#include "lower/finish/inject_tracing.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/with_lets.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

struct Wanted {
    bool loads = false, stores = false, realizations = false;
    bool any() const { return loads || stores || realizations; }
};

// What to say of one event; as in tessera_trace_event_t.
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

Expr packed(Type t) {
    uint32_t bits = uint32_t(t.code()) | uint32_t(t.bits()) << 8 | uint32_t(t.lanes()) << 16;
    return UIntImm::make(UInt(32), bits);
}

Expr struct_of(std::vector<Expr> members) {
    return call(Handle(), Intrinsic::make_struct, std::move(members));
}

// The call of tessera_trace; its value is the event's id.
Expr trace(const Event &e) {
    Expr value = e.value.defined() ? struct_of({e.value}) : null_handle();
    Expr coordinates = e.coordinates.empty() ? null_handle() : struct_of(e.coordinates);
    Expr tag = e.tag.empty() ? null_handle() : Expr(e.tag);
    Expr event = struct_of({Expr(e.func.text()), value, coordinates, tag, packed(e.type), e.code,
                            e.parent, e.value_index, int(e.coordinates.size())});
    return ExternCall::make(Int(32), "tessera_trace",
                            {call(Handle(), Intrinsic::user_context, {}), event}, false);
}

class InjectTracing final : public Mutator {
public:
    explicit InjectTracing(const lower::Context &context)
        : context(context), pipeline(Symbol::fresh("trace_pipeline")) {
        any = context.target.has_feature(Target::TracePipeline);
        for (const program::FunctionRef &f : context.order) note(*f);
        any |= !context.traced_images.empty();
    }
    bool anything() const { return any; }
    Stmt run(const Stmt &s);

private:
    void note(const program::FunctionContents &f);
    Stmt visit(const Realize &realize) override;
    Stmt visit(const ProducerConsumer &node) override;
    bool is_of_another(const ProducerConsumer &node) const;
    Stmt visit(const Provide &provide) override;
    Expr visit(const Call &call) override;
    // An address that is taken, for an extern stage or a prefetch, is no load.
    Expr visit(const IntrinsicCall &call) override {
        return call.op == Intrinsic::address_of ? Expr(&call) : Mutator::visit(call);
    }
    bool is_traced(const Call &call) const;

    Wanted wanted_of(Symbol f) const {
        auto found = wanted.find(f);
        return found == wanted.end() ? Wanted() : found->second;
    }
    Expr parent_of(Symbol f) const {
        auto found = ids.find(f);
        return Variable::make(Int(32), found == ids.end() ? pipeline : found->second);
    }
    Stmt with_event(Symbol id, const Event &begin, int32_t end, Stmt body) const;

    const lower::Context &context;
    Symbol pipeline;  // the id of the pipeline's event
    std::unordered_map<Symbol, Wanted> wanted;
    std::unordered_map<Symbol, Symbol> ids;  // of functions whose realizations are reported
    std::unordered_set<Symbol> stored;       // around what is visited
    bool any = false;
};

void InjectTracing::note(const program::FunctionContents &f) {
    const program::Trace &t = f.schedule.trace;
    Wanted w{t.loads || context.target.has_feature(Target::TraceLoads),
             t.stores || context.target.has_feature(Target::TraceStores),
             t.realizations || context.target.has_feature(Target::TraceRealizations)};
    any |= w.any() || !t.tag.empty();
    wanted[f.name] = w;
    if (w.realizations && !context.is_output(f.name)) {
        ids[f.name] = Symbol::fresh(str(f.name, "_trace"));
    }
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

Stmt InjectTracing::run(const Stmt &s) {
    std::vector<Stmt> parts;
    Event tag;
    tag.code = tessera_trace_tag;
    tag.parent = Variable::make(Int(32), pipeline);
    auto add_tag = [&](Symbol name, const std::string &text) {
        if (text.empty()) return;
        tag.func = name;
        tag.tag = text;
        parts.push_back(Evaluate::make(trace(tag)));
    };
    for (const ir::Argument &a : context.arguments) {
        auto image = context.traced_images.find(a.name);
        if (image != context.traced_images.end()) add_tag(a.name, image->second.tag);
    }
    for (const program::FunctionRef &f : context.order) add_tag(f->name, f->schedule.trace.tag);
    parts.push_back((*this)(s));
    Event begin;
    begin.func = context.outputs.empty() ? pipeline : context.outputs.back();
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
    stored.insert(realize.func);
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
    if (body.same_as(realize.body)) return Stmt(&realize);
    return Realize::make(realize.func, realize.types, realize.memory, realize.bounds,
                         realize.condition, body);
}

// The loops that an asynchronous producer runs through, as its consumer does, compute nothing
// there.
bool InjectTracing::is_of_another(const ProducerConsumer &node) const {
    if (!context.is_output(node.func)) return !stored.count(node.func);
    bool writes = !node.is_producer;
    for_each_node(node.body, [&](const Provide &p) { writes |= p.func == node.func; });
    for_each_node(node.body, [&](const Call &c) { writes |= c.callee == node.func; });
    return !writes;
}

Stmt InjectTracing::visit(const ProducerConsumer &node) {
    Stmt s = Mutator::visit(node);
    if (!wanted_of(node.func).realizations || is_of_another(node)) return s;
    Event begin;
    begin.func = node.func;
    begin.code = node.is_producer ? tessera_trace_produce : tessera_trace_consume;
    begin.parent = parent_of(node.func);
    int32_t end = node.is_producer ? tessera_trace_end_produce : tessera_trace_end_consume;
    Symbol id = Symbol::fresh(str(node.func, node.is_producer ? "_produce" : "_consume"));
    s = with_event(id, begin, end, s);
    if (!node.is_producer || !context.is_output(node.func)) return s;
    // The storage of an output is the caller's: its realization is when it is computed.
    Symbol buffer = context.buffer_of(node.func, 0);
    const program::FunctionContents *f = context.function(node.func);
    for (int d = 0; f && d < f->dimensions(); d++) {
        begin.coordinates.push_back(BufferProperty::make(buffer, BufferField::Min, d));
        begin.coordinates.push_back(BufferProperty::make(buffer, BufferField::Extent, d));
    }
    begin.code = tessera_trace_begin_realization;
    return with_event(Symbol::fresh(str(node.func, "_trace")), begin, tessera_trace_end_realization,
                      s);
}

Stmt InjectTracing::visit(const Provide &provide) {
    Stmt s = Mutator::visit(provide);
    if (!wanted_of(provide.func).stores) return s;
    const auto &p = *s.as<Provide>();
    Lets lets;
    auto named = [&](const Expr &e, const char *what) {
        if (is_const(e) || e.as<Variable>()) return e;
        lets.emplace_back(Symbol::fresh(str(p.func, what)), e);
        return Variable::make(e.type(), lets.back().first);
    };
    Event event;
    event.func = p.func;
    event.code = tessera_trace_store;
    event.parent = parent_of(p.func);
    for (const Expr &a : p.args) event.coordinates.push_back(named(a, "_at"));
    std::vector<Expr> values;
    for (const Expr &v : p.values) values.push_back(named(v, "_value"));
    std::vector<Stmt> parts;
    for (size_t k = 0; k < values.size(); k++) {
        event.value = values[k];
        event.type = values[k].type();
        event.value_index = int(k);
        parts.push_back(Evaluate::make(trace(event)));
    }
    parts.push_back(Provide::make(p.func, values, event.coordinates));
    Stmt body = with_lets(lets, Block::make(std::move(parts)));
    return p.predicate.defined() ? IfThenElse::make(p.predicate, body) : body;
}

bool InjectTracing::is_traced(const Call &call) const {
    if (call.call_kind == CallKind::Func) return wanted_of(call.callee).loads;
    auto image = context.traced_images.find(call.callee);
    bool wanted = image != context.traced_images.end() && image->second.loads;
    return wanted || context.target.has_feature(Target::TraceLoads);
}

Expr InjectTracing::visit(const Call &node) {
    Expr e = Mutator::visit(node);
    if (!is_traced(node)) return e;
    const auto &call = *e.as<Call>();
    Symbol name = Symbol::fresh(str(call.callee, "_loaded"));
    Event event;
    event.func = call.callee;
    event.code = tessera_trace_load;
    event.parent = parent_of(call.callee);
    event.value = Variable::make(call.type, name);
    event.type = call.type;
    event.value_index = call.value_index;
    event.coordinates = call.args;
    Expr traced = ir::call(call.type, Intrinsic::return_second, {trace(event), event.value});
    return Let::make(name, e, traced);
}

}  // namespace

Stmt inject_tracing(const Stmt &s, const Context &context) {
    InjectTracing tracing(context);
    return tracing.anything() ? tracing.run(s) : s;
}

}  // namespace tessera::lower
