#include "lower/storage/flatten_storage.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/checks/constraints.h"
#include "lower/checks/errors.h"
#include "lower/with_lets.h"
#include "program/scatter.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

// The lets of a realized function. They are the same wherever it is realized, so that expressions
// can be rewritten without looking at what is around them.
struct FlatStorage {
    std::vector<Symbol> min, extent, stride;  // by dimension of the function
    std::vector<Symbol> buffers;              // by value
    std::vector<Symbol> handles;              // by value: of the tessera_buffer_t, if one is needed
    int innermost = -1;                       // the dimension of stride 1
    ir::Layout layout;                        // in place of strides
    std::vector<Type> types;
};

class FlattenStorage final : public Mutator {
public:
    FlattenStorage(const LoweredFunction &pipeline, const lower::Context &context)
        : pipeline(pipeline), context(context), index_type(context.index_type()) {
        for_each_node(pipeline.body, [&](const Variable &v) {
            if (v.type.is_handle()) named_handles.insert(v.name);
        });
    }

private:
    struct Value {
        Symbol func;
        int index;
    };

    Stmt visit(const Realize &realize) override;
    Stmt visit(const Provide &provide) override;
    Expr visit(const Call &call) override;
    Expr visit(const BufferProperty &property) override;
    Expr visit(const Variable &v) override;

    const FlatStorage &storage_of(const Realize &realize);
    std::vector<Expr> add_strides(const FlatStorage &flat,
                                  const std::vector<StoredDimension> &order, Lets &lets) const;
    Expr index_by_layout(const FlatStorage &flat, const std::vector<Expr> &args) const;
    Stmt with_bound_checks(const Realize &realize, const FlatStorage &flat, Stmt body) const;
    Stmt with_handles(const Realize &realize, const FlatStorage &flat, Stmt body) const;
    Expr handle_value(const FlatStorage &flat, Symbol buffer, int value) const;
    Expr wide(const Expr &e) const { return cast(index_type, e); }
    Expr index_into(Symbol func, Symbol buffer, const std::vector<Expr> &args,
                    const Ref<Referent> &referent) const;
    Expr field_of(Symbol buffer, BufferField field, int d, const Ref<Referent> &referent) const;
    Symbol buffer_of(Symbol func, int k) const;
    Stmt store_all(const Provide &provide);

    const LoweredFunction &pipeline;
    const lower::Context &context;
    Type index_type;
    std::unordered_set<Symbol> named_handles;
    std::unordered_map<Symbol, FlatStorage> all_storage;
    std::unordered_map<Symbol, Value> values;  // of realized functions, by their buffers
};

const FlatStorage &FlattenStorage::storage_of(const Realize &realize) {
    auto [found, is_new] = all_storage.try_emplace(realize.func);
    if (!is_new) return found->second;
    FlatStorage &flat = found->second;
    const std::string &name = realize.func.text();
    for (size_t d = 0; d < realize.bounds.size(); d++) {
        flat.min.push_back(Symbol::fresh(str(name, "_min_", d)));
        flat.extent.push_back(Symbol::fresh(str(name, "_extent_", d)));
        flat.stride.push_back(Symbol::fresh(str(name, "_stride_", d)));
    }
    flat.types = realize.types;
    flat.layout = realize.storage.layout;
    for (size_t k = 0; k < realize.types.size(); k++) {
        const Symbol buffer = lower::buffer_of(realize, int(k));
        flat.buffers.push_back(buffer);
        flat.handles.push_back(Symbol::fresh(str(buffer.text(), "_buffer")));
        values[buffer] = {realize.func, int(k)};
    }
    return flat;
}

// The extent that a dimension takes in memory.
Expr padded_extent(Expr extent, const StoredDimension &dim) {
    if (dim.bound.defined()) extent = dim.bound;
    if (!dim.alignment.defined()) return extent;
    return (extent + (dim.alignment - 1)) / dim.alignment * dim.alignment;
}

// All dimensions, innermost first.
std::vector<StoredDimension> order_of(const Realize &realize) {
    std::vector<StoredDimension> order = realize.storage.order;
    for (size_t d = order.size(); d < realize.bounds.size(); d++) {
        order.push_back({int(d), {}, {}, {}, {}});
    }
    return order;
}

// Returns the number of elements up to the last one.
Expr extent_in_layout(const Realize &realize) {
    const LayoutOutput &byte = realize.storage.layout.outputs[0];
    return int32_t(in_units_of(byte, realize.types[0].bytes()).extent());
}

// Adds the strides of storage that lies row by row to the lets. Returns its extents in memory.
std::vector<Expr> FlattenStorage::add_strides(const FlatStorage &flat,
                                              const std::vector<StoredDimension> &order,
                                              Lets &lets) const {
    std::vector<Expr> extents;
    Expr stride = make_one(index_type);
    for (const StoredDimension &dim : order) {
        lets.emplace_back(flat.stride[dim.dim], stride);
        extents.push_back(padded_extent(Variable::make(Int(32), flat.extent[dim.dim]), dim));
        stride = Variable::make(index_type, flat.stride[dim.dim]) * wide(extents.back());
        if (is_one(lets.back().second)) stride = wide(extents.back());
    }
    return extents;
}

Stmt FlattenStorage::visit(const Realize &realize) {
    int dimensions = int(realize.bounds.size());
    const std::vector<StoredDimension> order = order_of(realize);
    storage_of(realize);
    FlatStorage &flat = all_storage[realize.func];
    if (!order.empty()) flat.innermost = order[0].dim;

    Lets lets;
    for (int d = 0; d < dimensions; d++) {
        lets.emplace_back(flat.min[d], (*this)(realize.bounds[d].min));
        lets.emplace_back(flat.extent[d], (*this)(realize.bounds[d].extent));
    }
    const bool has_layout = realize.storage.layout.defined();
    const std::vector<Expr> extents =
        has_layout ? std::vector{extent_in_layout(realize)} : add_strides(flat, order, lets);
    AllocationFacts facts{realize.func, realize.storage.compute_written, {}};
    if (has_layout) facts.swizzle = int(realize.storage.layout.outputs[0].swizzle);
    facts.is_pipelined = realize.storage.is_pipelined;
    Expr condition = (*this)(realize.condition);
    Stmt body = with_handles(realize, flat, (*this)(realize.body));
    for (size_t k = realize.types.size(); k-- > 0;) {
        body = Allocate::make(flat.buffers[k], realize.types[k], realize.memory, extents, condition,
                              0, std::move(body), facts);
    }
    return with_lets(lets, with_bound_checks(realize, flat, body));
}

// The user promises with bound_storage() what an extent is at most.
Stmt FlattenStorage::with_bound_checks(const Realize &realize, const FlatStorage &flat,
                                       Stmt body) const {
    if (context.target.has_feature(Target::NoAsserts)) return body;
    for (const StoredDimension &dim : realize.storage.order) {
        if (!dim.bound.defined()) continue;
        Expr extent = Variable::make(Int(32), flat.extent[dim.dim]);
        Expr error =
            error_call_at(dim.bound_written, "storage_bound_too_small",
                          {Expr(realize.func.text()), Expr(dim.var.text()), dim.bound, extent});
        body = Block::make(AssertStmt::make(extent <= dim.bound, error), std::move(body));
    }
    return body;
}

Stmt FlattenStorage::with_handles(const Realize &realize, const FlatStorage &flat,
                                  Stmt body) const {
    for (int k = 0; k < int(realize.types.size()); k++) {
        const Symbol buffer = flat.buffers[size_t(k)];
        if (!named_handles.count(buffer)) continue;
        body = LetStmt::make(flat.handles[k], handle_value(flat, buffer, k), std::move(body));
    }
    return body;
}

Expr first_element(Type type, Symbol buffer, Type index_type) {
    return call(Handle(), Intrinsic::address_of, {Load::make(type, buffer, make_zero(index_type))});
}

Expr FlattenStorage::handle_value(const FlatStorage &flat, Symbol buffer, int value) const {
    Type type = flat.types[value];
    std::vector<Expr> args = {first_element(type, buffer, index_type), int(type.code()),
                              type.bits(), int(flat.min.size())};
    for (size_t d = 0; d < flat.min.size(); d++) {
        args.push_back(Variable::make(Int(32), flat.min[d]));
        args.push_back(Variable::make(Int(32), flat.extent[d]));
        args.push_back(cast(Int(32), Variable::make(index_type, flat.stride[d])));
    }
    return call(Handle(), Intrinsic::make_buffer, std::move(args));
}

// A number where the user has fixed it; that it is right has been checked.
Expr FlattenStorage::field_of(Symbol buffer, BufferField field, int d,
                              const Ref<Referent> &referent) const {
    if (const ir::Argument *a = find_argument(pipeline.args, buffer)) {
        Expr fixed = constraint_of(constraint_of(*a, d), field);
        if (fixed.defined() && is_const(fixed)) return cast(Int(32), fixed);
    }
    return BufferProperty::make(buffer, field, d, referent);
}

Expr FlattenStorage::index_by_layout(const FlatStorage &flat, const std::vector<Expr> &args) const {
    std::vector<Expr> from_first;
    for (size_t d = 0; d < args.size(); d++)
        from_first.push_back(cast(Int(32), args[d]) - Variable::make(Int(32), flat.min[d]));
    const LayoutOutput element = in_units_of(flat.layout.outputs[0], flat.types[0].bytes());
    return wide(value_of(element, flat.layout.coordinates, from_first));
}

Expr FlattenStorage::index_into(Symbol func, Symbol buffer, const std::vector<Expr> &args,
                                const Ref<Referent> &referent) const {
    auto found = all_storage.find(func);
    if (found != all_storage.end() && found->second.layout.defined())
        return index_by_layout(found->second, args);
    Expr index = make_zero(index_type);
    for (int d = 0; d < int(args.size()); d++) {
        Expr min, stride;
        bool dense = false;
        if (found != all_storage.end()) {
            min = Variable::make(Int(32), found->second.min[d]);
            stride = Variable::make(index_type, found->second.stride[d]);
            dense = d == found->second.innermost;
        } else {
            min = field_of(buffer, BufferField::Min, d, referent);
            stride = field_of(buffer, BufferField::Stride, d, referent);
        }
        Expr term = wide(args[d]) - wide(min);
        if (!dense) term = term * wide(stride);
        index = is_zero(index) ? term : index + term;
    }
    return index;
}

// A function that has no storage here and is no output has a single value, in a buffer of its name.
Symbol FlattenStorage::buffer_of(Symbol func, int k) const {
    if (auto found = all_storage.find(func); found != all_storage.end()) {
        return found->second.buffers.at(size_t(k));
    }
    if (const ir::Argument *output = find_output(pipeline.args, func, k)) return output->name;
    if (k == 0) return func;
    throw InternalError(str("no buffer is known for value ", k, " of ", func));
}

// The image parameter itself, where the call is one of an image.
Ref<Referent> image_referent(const Call &call) {
    return call.call_kind == CallKind::Image ? call.referent : nullptr;
}

Expr FlattenStorage::visit(const Call &call) {
    std::vector<Expr> args;
    for (const Expr &a : call.args) args.push_back((*this)(a));
    Symbol buffer =
        call.call_kind == CallKind::Image ? call.callee : buffer_of(call.callee, call.value_index);
    Expr index = index_into(call.callee, buffer, args, image_referent(call));
    return Load::make(call.type, buffer, std::move(index));
}

Stmt FlattenStorage::visit(const Provide &provide) {
    Stmt stores = store_all(provide);
    if (!provide.predicate.defined()) return stores;
    return IfThenElse::make((*this)(provide.predicate), std::move(stores));
}

// Returns true if the expression may read what stores of the function write: its own values, or
// those of an input in whose memory an output may lie.
bool may_read_what_is_stored(const Expr &e, Symbol func, bool is_output) {
    bool found = false;
    for_each_node(e, [&](const Call &c) {
        found |= c.callee == func || (is_output && c.call_kind == CallKind::Image);
    });
    return found;
}

// All that may be overwritten is read before anything is stored.
Stmt FlattenStorage::store_all(const Provide &provide) {
    size_t count = program::count_of_elements(provide.args, provide.values);
    const bool several = provide.values.size() > 1 || count > 1;
    const bool is_output = find_output(pipeline.args, provide.func) != nullptr;
    auto element = [&](const Expr &e, size_t n) { return count == 1 ? e : program::element(e, n); };
    Lets lets;
    auto named = [&](const Expr &before, const char *what, size_t i) {
        Expr e = (*this)(before);
        if (!several || !may_read_what_is_stored(before, provide.func, is_output)) return e;
        Symbol s = Symbol::fresh(str(provide.func.text(), "_", what, "_", i));
        lets.emplace_back(s, e);
        return Variable::make(e.type(), s);
    };
    std::vector<Stmt> stores;
    for (size_t n = 0; n < count; n++) {
        std::vector<Expr> place;
        for (size_t i = 0; i < provide.args.size(); i++) {
            place.push_back(named(element(provide.args[i], n), "arg", i));
        }
        for (size_t k = 0; k < provide.values.size(); k++) {
            const Symbol buffer = buffer_of(provide.func, int(k));
            Expr value = named(element(provide.values[k], n), "value", k);
            stores.push_back(
                Store::make(buffer, value, index_into(provide.func, buffer, place, {})));
        }
    }
    return with_lets(lets, Block::make(std::move(stores)));
}

Expr FlattenStorage::visit(const BufferProperty &p) {
    auto value = values.find(p.buffer);
    Symbol func = value == values.end() ? p.buffer : value->second.func;
    auto found = all_storage.find(func);
    if (found == all_storage.end()) {
        const ir::Argument *output = find_output(pipeline.args, p.buffer);
        if (!output) return Expr(&p);
        return BufferProperty::make(output->name, p.field, p.dim, p.referent);
    }
    const FlatStorage &flat = found->second;
    int k = value == values.end() ? 0 : value->second.index;
    switch (p.field) {
    case BufferField::Min: return Variable::make(Int(32), flat.min.at(p.dim));
    case BufferField::Extent: return Variable::make(Int(32), flat.extent.at(p.dim));
    case BufferField::Stride:
        if (flat.layout.defined()) throw InternalError(str(func, " has a layout, and no strides"));
        return cast(Int(32), Variable::make(index_type, flat.stride.at(p.dim)));
    case BufferField::Host:
        return first_element(flat.types[k], flat.buffers[size_t(k)], index_type);
    case BufferField::Dimensions: return int(flat.min.size());
    case BufferField::TypeCode: return int(flat.types[k].code());
    case BufferField::TypeBits: return flat.types[k].bits();
    case BufferField::Device: return make_zero(UInt(64));
    }
    throw InternalError("an unknown field of a buffer");
}

Expr FlattenStorage::visit(const Variable &v) {
    auto found = values.find(v.name);
    if (!v.type.is_handle() || found == values.end()) return Expr(&v);
    const FlatStorage &flat = all_storage.at(found->second.func);
    return Variable::make(Handle(), flat.handles[found->second.index]);
}

}  // namespace

Stmt flatten_storage(const LoweredFunction &pipeline, const Context &context) {
    return FlattenStorage(pipeline, context)(pipeline.body);
}

}  // namespace tessera::lower
