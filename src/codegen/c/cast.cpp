#include "codegen/c/printer.h"
#include "codegen/c/types.h"

namespace tessera::codegen::c {

Value Printer::emit(const Cast &node) {
    return cast(value(node.value), node.value.type(), node.type);
}

Value Printer::emit(const Reinterpret &node) {
    return reinterpret(value(node.value), node.value.type(), node.type);
}

Value Printer::c_cast(const std::string &type, const Value &v) {
    return {str("(", type, ")", v.operand()), Form::Closed};
}

Value Printer::cast(const Value &v, Type from, Type to) {
    from = from.element_of();
    to = to.element_of();
    if (from == to) return v;
    if (from.is_handle()) return cast(c_cast("uint64_t", c_cast("uintptr_t", v)), UInt(64), to);
    if (to.is_handle()) return c_cast("void *", c_cast("uintptr_t", cast(v, from, UInt(64))));
    if (from.is_float() && from.bits() <= 16) {
        return cast(in_float32(v, from), Float(32), to);
    }
    if (to.is_bool()) return infix(v, "!=", {from.is_float() ? "0.0f" : "0", Form::Constant});
    if (!to.is_float()) {
        return from.is_float() ? call(prelude.truncation(from, to), {v})
                               : c_cast(scalar_type(to), v);
    }
    if (to.bits() > 16) return c_cast(scalar_type(to), v);
    if (from == Float(32)) return from_float32(v, to);
    // Rounded once: what a double holds is first cut to a float that tells of what was cut off.
    if (from == Float(64)) {
        return from_float32(call(prelude.function("tessera_round_to_odd"), {v}), to);
    }
    // A float holds every integer below what is too large for the others.
    if (from.bits() < 32 || !to.is_bfloat()) return from_float32(c_cast("float", v), to);
    Value whole = from.bits() == 64 ? call(prelude.function("rounded_to_odd", from), {v}) : v;
    return cast(c_cast("double", whole), Float(64), to);
}

Value Printer::saturating_cast(const Value &v, Type from, Type to) {
    from = from.element_of();
    to = to.element_of();
    if (to.is_float() || from.is_bool() || to.is_handle()) return cast(v, from, to);
    if (from.is_float() && from.bits() <= 16) {
        return saturating_cast(in_float32(v, from), Float(32), to);
    }
    if (from.is_float()) return call(prelude.saturation(from, to), {v});
    Value clamped = v;
    if (from.is_int() && to.is_uint()) {
        clamped = maximum(clamped, int_constant(from, 0), from);
    }
    if (from.max_uint() > to.max_uint()) {
        clamped = minimum(clamped, int_constant(from, int64_t(to.max_uint())), from);
    }
    if (from.is_int() && to.is_int() && from.bits() > to.bits()) {
        clamped = maximum(clamped, int_constant(from, to.min_int()), from);
    }
    return cast(clamped, from, to);
}

Value Printer::reinterpret(const Value &v, Type from, Type to) {
    if (from.lanes() != to.lanes()) {
        throw CompileError(str("C source cannot see the bits of ", from, " as those of ", to,
                               ": their numbers of lanes differ"));
    }
    from = from.element_of();
    to = to.element_of();
    if (from == to) return v;
    if (from.is_handle() || to.is_handle()) {
        if (v.text == "0" || v.text == literal(UInt(64), 0)) return {"NULL", Form::Constant};
        Value bits = from.is_handle() ? cast(v, from, UInt(64)) : reinterpret(v, from, UInt(64));
        return to.is_handle() ? cast(bits, UInt(64), to) : reinterpret(bits, UInt(64), to);
    }
    auto is_c_float = [](Type t) { return t.is_float() && t.bits() > 16; };
    if (is_c_float(from) || is_c_float(to)) return call(prelude.reinterpretation(from, to), {v});
    return c_cast(scalar_type(to), v);
}

}  // namespace tessera::codegen::c
