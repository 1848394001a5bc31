#include "random_ir.h"
#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::ir;

RandomIR::RandomIR(uint32_t seed) : random(seed) {
    for (const char *text : {"x", "x", "x", "x.1", "y", "f", "min", "let", "a b", "`", "", "x8",
                             "int32", "exp", "z.1.2", "prefetch", "\\", "$t"}) {
        symbols.push_back(Symbol::fresh(text));
    }
}

int RandomIR::below(int n) { return int(random() % uint32_t(n)); }

Symbol RandomIR::symbol() { return symbols[size_t(below(int(symbols.size())))]; }

Type RandomIR::type() {
    const Type all[] = {Int(32),    Int(32),   Int(8),       UInt(8),     UInt(16),
                        Int(64),    UInt(64),  Float(32),    Bool(),      Float(64),
                        BFloat(16), Float(16), Float8E4M3(), Float8E5M2()};
    Type t = all[below(int(std::size(all)))];
    return chance(3) ? t.with_lanes(1 << (1 + below(3))) : t;
}

Alignment RandomIR::alignment() {
    return chance(2) ? Alignment() : Alignment{1 + below(16), below(16) - 4};
}

MemoryType RandomIR::memory() { return one_of(all_memory_types); }

Expr RandomIR::index(int lanes, int depth) { return expr(Int(32, lanes), depth - 1); }

Expr RandomIR::maybe_condition(int lanes, int depth) {
    return chance(2) ? Expr() : expr(Bool(lanes), depth - 1);
}

std::vector<Expr> RandomIR::exprs(int count, int depth) {
    std::vector<Expr> all;
    for (int i = 0; i < count; i++) all.push_back(expr(type(), depth - 1));
    return all;
}

std::vector<Type> RandomIR::types() {
    std::vector<Type> all;
    for (int i = below(3); i >= 0; i--) all.push_back(type().element_of());
    return all;
}

Region RandomIR::region(int depth) {
    Region all;
    for (int i = below(3); i > 0; i--) all.push_back({index(1, depth), index(1, depth)});
    return all;
}

Expr RandomIR::constant(Type t) {
    Type scalar = t.element_of();
    Expr value;
    if (t.is_int()) {
        int64_t values[] = {0, -1, 7, t.min_int(), t.max_int()};
        value = IntImm::make(scalar, values[below(5)]);
    } else if (t.is_uint()) {
        uint64_t values[] = {0, 1, t.max_uint()};
        value = UIntImm::make(scalar, values[below(3)]);
    } else if (t.is_handle()) {
        value = StringImm::make(std::string("a\"\\\n\t\x01\x7f\0z", 9));
    } else {
        using Limits = std::numeric_limits<float>;
        double values[] = {0.0,
                           -0.0,
                           0.1,
                           -1e10,
                           1e300,
                           M_PI,
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           -Limits::quiet_NaN(),
                           Limits::denorm_min(),
                           Limits::max(),
                           3};
        value = FloatImm::make(scalar, values[below(int(std::size(values)))]);
    }
    return t.is_vector() ? Broadcast::make(value, t.lanes()) : value;
}

Expr RandomIR::leaf(Type t) {
    if (t == Int(32) && chance(4)) {
        return BufferProperty::make(symbol(), BufferField(below(7) % 3 + 4 * below(2)), below(3));
    }
    if (t == Handle() && chance(3)) return BufferProperty::make(symbol(), BufferField::Host, 0);
    return chance(2) ? constant(t) : Variable::make(t, symbol());
}

Expr RandomIR::named(Type t, int depth) {
    switch (below(3)) {
    case 0:
        return Load::make(t, symbol(), index(t.lanes(), depth), maybe_condition(t.lanes(), depth),
                          alignment(), chance(2));
    case 1: {
        Type of_value = type();
        Symbol s = symbol();
        return Let::make(s, expr(of_value, depth - 1), expr(t, depth - 1));
    }
    default:
        return Call::make(t, symbol(), chance(3) ? CallKind::Image : CallKind::Func, below(3),
                          exprs(below(3), depth));
    }
}

Expr RandomIR::any_call(Type t, int depth) {
    if (chance(2)) {
        const char *function = chance(2) ? "foo" : "two words";
        return ExternCall::make(t, function, exprs(below(3), depth), chance(2));
    }
    auto op = Intrinsic(below(int(Intrinsic::set_buffer_field) + 1));
    int arity = info_of(op).arity;
    return IntrinsicCall::make(t, op, exprs(arity < 0 ? below(3) : arity, depth));
}

Expr RandomIR::logic(Type t, int depth) {
    Type operands = type().with_lanes(t.lanes());
    auto side = [&] { return expr(operands, depth - 1); };
    auto truth = [&] { return expr(t, depth - 1); };
    switch (below(9)) {
    case 0: return EQ::make(side(), side());
    case 1: return NE::make(side(), side());
    case 2: return LT::make(side(), side());
    case 3: return LE::make(side(), side());
    case 4: return GT::make(side(), side());
    case 5: return GE::make(side(), side());
    case 6: return And::make(truth(), truth());
    case 7: return Or::make(truth(), truth());
    default: return Not::make(truth());
    }
}

Expr RandomIR::arithmetic(Type t, int depth) {
    auto side = [&] { return expr(t, depth - 1); };
    switch (below(8)) {
    case 0: return Add::make(side(), side());
    case 1: return Sub::make(side(), side());
    case 2: return Mul::make(side(), side());
    case 3: return Div::make(side(), side());
    case 4: return Mod::make(side(), side());
    case 5: return Min::make(side(), side());
    case 6: return Max::make(side(), side());
    default: {
        int lanes = chance(2) ? t.lanes() : 1;
        return Select::make(expr(Bool(lanes), depth - 1), side(), side());
    }
    }
}

Expr RandomIR::lanes(Type t, int depth) {
    int count = t.lanes();
    if (count > 1 && chance(2)) {
        int outer = chance(2) ? count : 2;
        Type inner = t.with_lanes(count / outer);
        if (chance(2)) return Broadcast::make(expr(inner, depth - 1), outer);
        return Ramp::make(expr(inner, depth - 1), expr(inner, depth - 1), outer);
    }
    if (chance(2))
        return VectorReduce::make(ReduceOp(below(7)), expr(t.with_lanes(count * 2), depth - 1),
                                  count);
    std::vector<Expr> vectors = {expr(t, depth - 1)};
    if (chance(2)) vectors.push_back(expr(chance(2) ? t : t.element_of(), depth - 1));
    int total = 0;
    for (const Expr &v : vectors) total += v.type().lanes();
    if (count > 1 && count % 2 == 0 && chance(3)) {
        Type half = t.with_lanes(count / 2);
        std::vector<Expr> halves = {expr(half, depth - 1), expr(half, depth - 1)};
        return chance(2) ? Shuffle::make_concat(halves) : Shuffle::make_interleave(halves);
    }
    std::vector<int> indices;
    for (int i = 0; i < count; i++) indices.push_back(chance(4) ? below(total) : i % total);
    return Shuffle::make(vectors, indices);
}

Expr RandomIR::conversion(Type t, int depth) {
    if (chance(2)) return Cast::make(t, expr(type().with_lanes(t.lanes()), depth - 1));
    return Reinterpret::make(t, expr(t.with_code(TypeCode::UInt), depth - 1));
}

Expr RandomIR::expr(Type t, int depth) {
    if (depth <= 0) return leaf(t);
    switch (below(7)) {
    case 0: return leaf(t);
    case 1: return named(t, depth);
    case 2: return any_call(t, depth);
    case 3: return lanes(t, depth);
    case 4: return conversion(t, depth);
    default: return t.is_bool() ? logic(t, depth) : arithmetic(t, depth);
    }
}

Stmt RandomIR::simple(int depth) {
    Type t = type();
    switch (below(6)) {
    case 0: return AssertStmt::make(expr(Bool(), depth), expr(Int(32), depth));
    case 1:
        return Store::make(symbol(), expr(t, depth), index(t.lanes(), depth),
                           maybe_condition(t.lanes(), depth), alignment(), chance(2));
    case 2:
        return Provide::make(symbol(), exprs(1 + below(3), depth), exprs(below(3), depth),
                             maybe_condition(1, depth));
    case 3: return Evaluate::make(0);
    case 4: return Invoke::make(str("f.part", below(3)), exprs(below(3), depth));
    default: return Evaluate::make(expr(t, depth));
    }
}

Stmt RandomIR::storage(int depth) {
    switch (below(5)) {
    case 0: return LetStmt::make(symbol(), expr(type(), depth), stmt(depth - 1));
    case 1: {
        std::vector<Expr> extents;
        for (int i = below(3); i > 0; i--) extents.push_back(index(1, depth));
        AllocationFacts facts;
        if (chance(2)) facts.func = symbol();
        if (chance(2)) facts.within = symbol();
        facts.swizzle = std::array{0, 32, 64, 128}[size_t(below(4))];
        facts.is_pipelined = chance(2);
        return Allocate::make(symbol(), type().element_of(), memory(), extents,
                              maybe_condition(1, depth), below(3), stmt(depth - 1), facts);
    }
    case 2: return realize(depth);
    case 3: return HoistedStorage::make(symbol(), stmt(depth - 1), {maybe_index(depth), {}, {}});
    default:
        return Prefetch::make(symbol(), types(), region(depth), expr(Bool(), depth),
                              stmt(depth - 1), chance(2) ? CallKind::Image : CallKind::Func);
    }
}

Expr RandomIR::maybe_index(int depth) { return chance(2) ? Expr() : index(1, depth); }

Stmt RandomIR::realize(int depth) {
    Region bounds = region(depth);
    StorageFacts facts;
    facts.is_async = chance(2);
    facts.is_passed = chance(2);
    facts.traced = {chance(3), chance(3), chance(3), chance(3) ? "a \"tag\"" : ""};
    facts.copies = maybe_index(depth);
    facts.is_copy_shared = facts.copies.defined() && chance(2);
    facts.is_pipelined = chance(2);
    if (bounds.size() == 1 && chance(2))
        facts.layout = parse_layout("d0:64 -> byte^64(d0/32*128 + d0%32*2)");
    for (int d = int(bounds.size()) - 1; d >= 0 && bounds.size() > 1; d--) {
        facts.order.push_back({d, maybe_index(depth), {}, maybe_index(depth), {}});
        if (facts.order.back().bound.defined()) facts.order.back().var = symbol();
    }
    for (int d = 0; d < int(bounds.size()); d++) {
        if (chance(2)) continue;
        StorageFold fold{d, true, {}, maybe_index(depth), {}};
        if (fold.factor.defined()) fold.var = symbol(), fold.is_done = chance(2);
        facts.folds.push_back(fold);
    }
    const std::vector<Type> values = types();
    for (size_t k = 0; chance(2) && k < values.size(); k++) facts.buffers.push_back(symbol());
    facts.buffers.resize(facts.buffers.size() == values.size() ? values.size() : 0);
    return Realize::make(symbol(), values, memory(), bounds, maybe_condition(1, depth),
                         stmt(depth - 1), facts);
}

std::vector<Symbol> RandomIR::some_symbols() {
    std::vector<Symbol> all;
    for (int i = below(3); i > 0; i--) all.push_back(symbol());
    return all;
}

Stmt RandomIR::loop(int depth) {
    LoopOrigin origin;
    if (chance(2)) {
        origin = {symbol(), symbol(), below(3), chance(2), chance(2) ? symbol() : Symbol(),
                  {},       below(3), below(3), below(3),  {}};
        origin.roles.producers = 32 * below(2);
    }
    Streams streams{chance(4), some_symbols(), some_symbols()};
    return For::make(symbol(), index(1, depth), index(1, depth), one_of(all_loop_kinds),
                     Partition(below(3)), stmt(depth - 1), origin, streams);
}

Stmt RandomIR::produce_or_consume(int depth) {
    Produced produced;
    const bool is_producer = chance(2);
    if (!is_producer) return ProducerConsumer::make(symbol(), false, stmt(depth - 1));
    produced.in_stages = chance(2);
    produced.is_profiled = chance(2);
    if (chance(2)) produced.extern_function = "a::\"b\"";
    for (int i = below(3); i > 0; i--) {
        produced.ranges.push_back({index(1, depth), index(1, depth), below(9), chance(2)});
    }
    return ProducerConsumer::make(symbol(), true, stmt(depth - 1), produced);
}

Stmt RandomIR::around(int depth) {
    auto body = [&] { return stmt(depth - 1); };
    switch (below(7)) {
    case 0: return produce_or_consume(depth);
    case 1: return loop(depth);
    case 2: return Acquire::make(expr(Handle(), depth), index(1, depth), body());
    case 3: return Atomic::make(symbol(), chance(2) ? symbol() : Symbol(), body());
    case 4: return Fork::make({body(), body()});
    default: return IfThenElse::make(expr(Bool(), depth), body(), chance(2) ? Stmt() : body());
    }
}

Stmt RandomIR::stmt(int depth) {
    if (depth <= 0) return simple(1);
    switch (below(4)) {
    case 0: return simple(depth);
    case 1: return storage(depth);
    case 2: return around(depth);
    default: {
        std::vector<Stmt> all;
        for (int i = below(3); i >= 0; i--) all.push_back(stmt(depth - 1));
        return Block::make(std::move(all));
    }
    }
}
