#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "ir/operators.h"

namespace tessera::codegen::c {
namespace {

bool is_dense(const Expr &index) {
    const auto *ramp = index.as<Ramp>();
    return ramp && ramp->base.type().is_scalar() && is_one(ramp->stride);
}

// The condition that decides on all lanes alike.
const Expr *uniform_predicate(const Expr &predicate) {
    const auto *all = predicate.defined() ? predicate.as<Broadcast>() : nullptr;
    return all && all->value.type().is_scalar() && !all->value.as<UIntImm>() ? &all->value
                                                                             : nullptr;
}

}  // namespace

const BufferNames &Printer::storage(Symbol buffer) {
    auto found = f->buffers.find(buffer);
    if (found != f->buffers.end()) return found->second;
    auto variable = f->variables.find(buffer);
    if (variable == f->variables.end()) {
        throw InternalError(str("C source met the unknown buffer ", buffer));
    }
    return f->buffers[buffer] = {"", variable->second.text};
}

// Returns the pointer to the tessera_buffer_t.
std::string Printer::descriptor_of(Symbol buffer) {
    const std::string &descriptor = storage(buffer).descriptor;
    if (descriptor.empty()) throw InternalError(str("the buffer ", buffer, " is no C struct"));
    return as_descriptor({descriptor, Form::Name});
}

std::string Printer::as_descriptor(const Value &v) {
    auto type = f->types.find(v.text);
    bool is_one = type != f->types.end() && type->second == "tessera_buffer_t *";
    return is_one ? v.text : str("((tessera_buffer_t *)", v.operand(), ")");
}

std::string Printer::base_pointer(Symbol buffer) {
    const BufferNames &s = storage(buffer);
    return s.base.empty() ? descriptor_of(buffer) + "->host" : s.base;
}

std::string Printer::address(Symbol buffer, Type element, const Value &index) {
    std::string base = base_pointer(buffer);
    return str(base, " + ", element.bytes(), " * (int64_t)", index.operand());
}

// ---- Loads ----

Value Printer::emit(const Load &node) {
    if (node.buffer == atomic_buffer && !atomic_old.text.empty()) return atomic_old;
    if (const Expr *condition = uniform_predicate(node.predicate)) {
        Expr plain = node.with<&Load::predicate>(Expr());
        return choose(
            value(*condition), node.type, [&] { return value(plain); },
            [&] { return zero(node.type); });
    }
    if (node.type.is_scalar()) return load_scalar(node);
    const auto *same = node.index.as<Broadcast>();
    if (same && !node.predicate.defined()) {
        Type part = node.type.with_lanes(same->value.type().lanes());
        Expr once = Load::make(part, node.buffer, same->value);
        return repeated(value(once), part, same->lanes);
    }
    return load_lanes(node);
}

Value Printer::load_scalar(const Load &node) {
    auto load = [&] {
        Value index = coordinate(node.index);
        std::string base = base_pointer(node.buffer);
        return kept(call(prelude.function("load", node.type), {{base, Form::Name}, index}),
                    node.type);
    };
    if (!node.predicate.defined()) return load();
    return choose(value(node.predicate), node.type, load, [&] { return zero(node.type); });
}

Value Printer::load_lanes(const Load &node) {
    Type element = node.type.element_of();
    Value mask = node.predicate.defined() ? value(node.predicate) : Value{"true", Form::Constant};
    bool is_plain = mask.text == "true" && is_dense(node.index) && !element.is_bool();
    Value index = coordinate(is_plain ? node.index.as<Ramp>()->base : node.index);
    std::string base = base_pointer(node.buffer);
    std::string name = variable(prelude.type(node.type), "t");
    if (is_plain) {
        std::string from = address(node.buffer, element, index);
        line(str("memcpy(&", name, ", ", from, ", sizeof(", name, "));"));
    } else {
        Value load = call(prelude.function("load", element), {{base, Form::Name}, index});
        assign(name, select(mask, load, zero(element), element), node.type);
    }
    return named(name, node.type);
}

// ---- Stores ----

void Printer::emit(const Store &node) {
    statement([&] {
        if (in_atomic) return atomic_store(node);
        if (const Expr *condition = uniform_predicate(node.predicate)) {
            Stmt plain = node.with<&Store::predicate>(Expr());
            block(str("if (", value(*condition).text, ")"), [&] { run(plain); });
            return;
        }
        store_lanes(node);
    });
}

// In the order of the lanes: of several at one place the last one stays.
void Printer::store_lanes(const Store &node) {
    Type t = node.value.type(), element = t.element_of();
    Value v = value(node.value);
    if (target.has_feature(Target::FuzzFloatStores)) v = without_last_bit(v, t);
    Value mask = node.predicate.defined() ? value(node.predicate) : Value{"true", Form::Constant};
    std::string when = mask.text == "true" ? "" : str("if (", mask.text, ") ");
    if (t.is_vector() && when.empty() && !v.whole.empty() && is_dense(node.index) &&
        !element.is_bool()) {
        Value index = coordinate(node.index.as<Ramp>()->base);
        return line(str("memcpy(", address(node.buffer, element, index), ", &", v.whole,
                        ", sizeof(", v.whole, "));"));
    }
    auto store = [&] {
        Value index = coordinate(node.index);
        std::string base = base_pointer(node.buffer);
        return str(prelude.function("store", element), "(", base, ", ", index.text, ", ", v.text,
                   ");");
    };
    if (t.is_vector()) {
        std::string one = store();
        return line(str(for_lanes(t.lanes()), " ", when, one));
    }
    if (when.empty()) return line(store());
    block(when.substr(0, when.size() - 1), [&] { line(store()); });
}

// A float that differs a little from what was computed: with Target::FuzzFloatStores, whoever
// compares floats bit by bit finds out.
Value Printer::without_last_bit(const Value &v, Type t) {
    if (!t.is_float()) return v;
    Type bits = UInt(t.bits());
    Value kept_bits = infix(reinterpret(v, t.element_of(), bits), "&", int_constant(bits, -2));
    return reinterpret(c_cast(scalar_type(bits), kept_bits), bits, t.element_of());
}

// ---- Fields of buffers ----

std::string Printer::buffer_field(const std::string &descriptor, BufferField field,
                                  const std::string &dim) {
    auto of_dimension = [&](const char *name) {
        return str(descriptor, "->dim[", dim, "].", name);
    };
    switch (field) {
    case BufferField::Host: return descriptor + "->host";
    case BufferField::Dimensions: return descriptor + "->dimensions";
    case BufferField::TypeCode: return descriptor + "->type.code";
    case BufferField::TypeBits: return descriptor + "->type.bits";
    case BufferField::Device: return descriptor + "->device";
    case BufferField::Min: return of_dimension("min");
    case BufferField::Extent: return of_dimension("extent");
    case BufferField::Stride: return of_dimension("stride");
    }
    throw InternalError("C source met an unknown field of a buffer");
}

// A variable, for the field may change.
Value Printer::emit(const BufferProperty &node) {
    std::string field = buffer_field(descriptor_of(node.buffer), node.field, str(node.dim));
    return kept({field, Form::Closed}, node.type);
}

Value Printer::emit_mark_host_dirty(const IntrinsicCall &c) {
    line(as_descriptor(arg(c, 0)) + "->flags |= tessera_buffer_flag_host_dirty;");
    return int_constant(Int(32), 0);
}

Value Printer::emit_mark_device_dirty(const IntrinsicCall &c) {
    line(as_descriptor(arg(c, 0)) + "->flags |= tessera_buffer_flag_device_dirty;");
    return int_constant(Int(32), 0);
}

Value Printer::emit_is_device_dirty(const IntrinsicCall &c) {
    std::string flags = as_descriptor(arg(c, 0)) + "->flags";
    return kept({str("(", flags, " & tessera_buffer_flag_device_dirty) != 0"), Form::Open}, c.type);
}

Value Printer::emit_set_buffer_field(const IntrinsicCall &c) {
    const auto *field = c.args[1].as<IntImm>();
    if (c.args.size() != 4 || !field) throw InternalError("set_buffer_field: bad operands");
    std::string buffer = as_descriptor(arg(c, 0)), dim = arg(c, 2).text;
    std::string place = buffer_field(buffer, BufferField(field->value), dim);
    bool is_byte = BufferField(field->value) == BufferField::TypeCode ||
                   BufferField(field->value) == BufferField::TypeBits;
    Value v = arg(c, 3);
    line(str(place, " = ", is_byte ? c_cast("uint8_t", v).text : v.text, ";"));
    return int_constant(Int(32), 0);
}

}  // namespace tessera::codegen::c
