#include "ir/parse_facts.h"

namespace tessera::ir::text {

std::string FactParser::string() {
    if (!at(TokenKind::String)) fail("a name in double quotes");
    return take().text;
}

Region FactParser::region(std::vector<StorageFold> *folds) {
    Region bounds;
    if (!accept("over")) return bounds;
    do {
        expect("[");
        Expr min = expr();
        expect(",");
        expect("+");
        Expr extent = expr_of(min.type());
        if (folds && (at("fold") || at("folded"))) folds->push_back(fold(int(bounds.size())));
        expect("]");
        bounds.push_back({min, extent});
    } while (accept(","));
    return bounds;
}

StorageFold FactParser::fold(int dim) {
    StorageFold f;
    f.dim = dim;
    f.is_done = take().text == "folded";
    if (at("]")) return f;
    f.var = name();
    expect("by");
    f.factor = expr();
    return f;
}

std::vector<Symbol> FactParser::names() {
    std::vector<Symbol> all;
    do all.push_back(name());
    while (accept(","));
    return all;
}

LoopOrigin FactParser::origin() {
    LoopOrigin o;
    if (!accept("of")) return o;
    o.func = name();
    o.var = name();
    if (accept("update")) o.stage = integer() + 1;
    o.is_reduction = accept("reduction");
    if (accept("instruction")) o.instruction = name();
    if (accept("grouped")) o.block_group = integer();
    o.is_along_hilbert_curve = accept("hilbert");
    if (accept("persistent")) o.blocks_per_processor = integer();
    if (accept("resident")) o.resident_blocks = integer();
    if (accept("producers")) o.roles.producers = integer();
    o.roles.ping_pong = o.roles.any() && accept("ping_pong");
    if (o.roles.any() && accept("registers")) {
        o.roles.producer_registers = integer();
        expect("and");
        o.roles.consumer_registers = integer();
    }
    return o;
}

Streams FactParser::streams() {
    Streams s;
    if (!accept("streaming")) return s;
    s.all_loads = accept("all");
    if (accept("loads")) s.loads = names();
    if (accept("stores")) s.stores = names();
    if (!s.any()) fail("all, loads or stores");
    return s;
}

Produced FactParser::produced() {
    Produced p;
    p.is_profiled = !accept("unprofiled");
    if (accept("in")) {
        expect("stages");
        p.in_stages = true;
    }
    if (accept("by")) p.extern_function = string();
    if (!accept("of")) return p;
    do p.ranges.push_back(produced_range());
    while (accept(","));
    return p;
}

ProducedRange FactParser::produced_range() {
    ProducedRange r;
    expect("[");
    r.min = expr();
    expect(",");
    r.max = expr_of(r.min.type());
    if (accept("rounded")) r.multiple = ProducedRange::unknown;
    if (accept("by")) r.multiple = integer();
    r.is_mixed = accept("mixed");
    expect("]");
    return r;
}

StoredDimension FactParser::stored_dimension() {
    StoredDimension s;
    s.dim = integer();
    if (accept("align")) s.alignment = expr();
    if (!accept("bound")) return s;
    s.var = name();
    expect("by");
    s.bound = expr();
    return s;
}

Traced FactParser::traced() {
    Traced t;
    if (!accept("traced")) return t;
    t.loads = accept("loads");
    t.stores = accept("stores");
    t.realizations = accept("realizations");
    if (at(TokenKind::String)) t.tag = string();
    if (!t.any()) fail("loads, stores, realizations or a tag");
    return t;
}

void FactParser::held(Argument &a) {
    if (a.is_output()) a.func = a.name;
    if (a.is_output() && accept("of")) {
        a.func = name();
        if (accept("value")) a.value_index = integer();
    }
    a.traced = traced();
}

std::vector<Type> FactParser::type_list() {
    std::vector<Type> all;
    expect(":");
    expect("{");
    list("}", [&] { all.push_back(type()); });
    return all;
}

MemoryType FactParser::memory() {
    for (MemoryType memory : all_memory_types) {
        if (accept(name_of(memory))) return memory;
    }
    fail("a memory, such as Heap, Stack or Register");
}

StorageFacts FactParser::storage_facts() {
    StorageFacts s;
    if (accept("held")) {
        expect("by");
        s.buffers = names();
    }
    s.is_async = accept("async");
    s.is_passed = accept("passed");
    s.traced = traced();
    if (accept("order")) {
        do s.order.push_back(stored_dimension());
        while (accept(","));
    }
    if (accept("copies")) s.copies = expr();
    s.is_copy_shared = accept("shared");
    s.is_pipelined = accept("pipelined");
    if (accept("layout")) s.layout = parse_layout(string());
    return s;
}

HoistFacts FactParser::hoist_facts() {
    HoistFacts facts;
    if (accept("copies")) facts.copies = expr();
    return facts;
}

}  // namespace tessera::ir::text
