#include "ir/print_facts.h"

namespace tessera::ir::text {

void FactPrinter::print_region(const Region &region, const std::vector<StorageFold> &folds) {
    for (size_t i = 0; i < region.size(); i++) {
        out << (i ? ", [" : " over [");
        print(region[i].min);
        out << ", +";
        print_where(region[i].min.type(), region[i].extent);
        for (const StorageFold &fold : folds) {
            if (size_t(fold.dim) == i) print_fold(fold);
        }
        out << ']';
    }
}

void FactPrinter::print_fold(const StorageFold &fold) {
    out << (fold.is_done ? " folded" : " fold");
    if (!fold.factor.defined()) return;
    out << ' ';
    name(fold.var);
    out << " by ";
    print(fold.factor);
}

void FactPrinter::print_order(const std::vector<StoredDimension> &order) {
    for (size_t i = 0; i < order.size(); i++) {
        out << (i ? ", " : " order ") << order[i].dim;
        if (order[i].alignment.defined()) {
            out << " align ";
            print(order[i].alignment);
        }
        if (!order[i].bound.defined()) continue;
        out << " bound ";
        name(order[i].var);
        out << " by ";
        print(order[i].bound);
    }
}

void FactPrinter::print_copies(const Expr &copies) {
    if (!copies.defined()) return;
    out << " copies ";
    print(copies);
}

void FactPrinter::print_names(const std::vector<Symbol> &names) {
    for (size_t i = 0; i < names.size(); i++) {
        if (i) out << ", ";
        name(names[i]);
    }
}

void FactPrinter::print_origin(const LoopOrigin &origin) {
    if (!origin.known()) return;
    out << " of ";
    name(origin.func);
    out << ' ';
    name(origin.var);
    if (origin.stage > 0) out << " update " << origin.stage - 1;
    if (origin.is_reduction) out << " reduction";
    if (origin.instruction.defined()) {
        out << " instruction ";
        name(origin.instruction);
    }
    if (origin.block_group > 0) out << " grouped " << origin.block_group;
    if (origin.is_along_hilbert_curve) out << " hilbert";
    if (origin.blocks_per_processor > 0) out << " persistent " << origin.blocks_per_processor;
    if (origin.resident_blocks > 0) out << " resident " << origin.resident_blocks;
    if (!origin.roles.any()) return;
    out << " producers " << origin.roles.producers;
    if (origin.roles.ping_pong) out << " ping_pong";
    if (origin.roles.producer_registers == 0) return;
    out << " registers " << origin.roles.producer_registers << " and "
        << origin.roles.consumer_registers;
}

void FactPrinter::print_streams(const Streams &streams) {
    if (!streams.any()) return;
    out << " streaming";
    if (streams.all_loads) out << " all";
    if (!streams.loads.empty()) {
        out << " loads ";
        print_names(streams.loads);
    }
    if (!streams.stores.empty()) {
        out << " stores ";
        print_names(streams.stores);
    }
}

void FactPrinter::print_produced(const Produced &produced) {
    if (!produced.is_profiled) out << " unprofiled";
    if (produced.in_stages) out << " in stages";
    if (!produced.extern_function.empty()) {
        out << " by ";
        string(produced.extern_function);
    }
    for (size_t i = 0; i < produced.ranges.size(); i++) {
        const ProducedRange &r = produced.ranges[i];
        out << (i ? ", [" : " of [");
        print(r.min);
        out << ", ";
        print_where(r.min.type(), r.max);
        if (r.multiple == ProducedRange::unknown) out << " rounded";
        if (r.multiple > 1) out << " by " << r.multiple;
        if (r.is_mixed) out << " mixed";
        out << ']';
    }
}

void FactPrinter::print_traced(const Traced &traced) {
    if (!traced.any()) return;
    out << " traced";
    if (traced.loads) out << " loads";
    if (traced.stores) out << " stores";
    if (traced.realizations) out << " realizations";
    if (traced.tag.empty()) return;
    out << ' ';
    string(traced.tag);
}

void FactPrinter::print_held(const Argument &a) {
    if (a.func.defined() && (a.func != a.name || a.value_index != 0)) {
        out << " of ";
        name(a.func);
        if (a.value_index != 0) out << " value " << a.value_index;
    }
    print_traced(a.traced);
}

void FactPrinter::print_storage(const StorageFacts &facts) {
    if (!facts.buffers.empty()) out << " held by ";
    print_names(facts.buffers);
    if (facts.is_async) out << " async";
    if (facts.is_passed) out << " passed";
    print_traced(facts.traced);
    print_order(facts.order);
    print_copies(facts.copies);
    if (facts.is_copy_shared) out << " shared";
    if (facts.is_pipelined) out << " pipelined";
    if (facts.layout.defined()) out << " layout \"" << facts.layout << '"';
}

}  // namespace tessera::ir::text
