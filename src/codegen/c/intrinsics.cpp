#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "ir/operators.h"
#include "lower/finish/runtime_calls.h"

namespace tessera::codegen::c {

Printer::EmitIntrinsic Printer::emitter_of(Intrinsic op) {
    static constexpr EmitIntrinsic table[] = {
#define ROW(name, arity, pure) &Printer::emit_##name,
        TESSERA_INTRINSICS(ROW)
#undef ROW
    };
    return table[size_t(op)];
}

Value Printer::emit(const IntrinsicCall &node) {
    if (!info_of(node.op).pure) impure_calls++;
    return (this->*emitter_of(node.op))(node);
}

void Printer::refuse(const IntrinsicCall &c) {
    throw InternalError(str("C source met the intrinsic ", info_of(c.op).name,
                            ", which lowering should have replaced"));
}

Value Printer::arg_as(const IntrinsicCall &c, size_t i, Type t) {
    return cast(value(c.args[i]), c.args[i].type(), t);
}

// A helper of the operands' type.
Value Printer::helper_call(const IntrinsicCall &c, const char *name) {
    std::vector<std::string> args;
    for (size_t i = 0; i < c.args.size(); i++) args.push_back(arg(c, i).text);
    return {str(prelude.function(name, c.args[0].type()), "(", join(args), ")"), Form::Closed};
}

// ---- Integers and bits ----

Value Printer::emit_abs(const IntrinsicCall &c) {
    Type t = c.args[0].type();
    if (t.is_uint()) return arg(c, 0);
    return t.is_float() ? float_call(c, "fabs") : helper_call(c, "abs");
}

Value Printer::emit_absd(const IntrinsicCall &c) {
    Type t = c.args[0].type();
    if (t.is_bool()) return infix(arg(c, 0), "!=", arg(c, 1));
    if (!t.is_float()) return helper_call(c, "absd");
    Value x = arg(c, 0);
    return float_function("fabs", sub(x, arg(c, 1), t), t);
}

Value Printer::bit_operation(const IntrinsicCall &c, const char *op) {
    Type t = c.type, bits = t.is_float() ? UInt(t.bits(), t.lanes()) : t;
    Value x = reinterpret(arg(c, 0), c.args[0].type(), bits);
    Value y = reinterpret(arg(c, 1), c.args[1].type(), bits);
    Value result = infix(x, op, y);
    if (bits.bits() < 32 && !bits.is_bool()) result = c_cast(scalar_type(bits), result);
    return reinterpret(result, bits, t);
}

Value Printer::emit_bitwise_and(const IntrinsicCall &c) { return bit_operation(c, "&"); }
Value Printer::emit_bitwise_or(const IntrinsicCall &c) { return bit_operation(c, "|"); }
Value Printer::emit_bitwise_xor(const IntrinsicCall &c) { return bit_operation(c, "^"); }
Value Printer::emit_bitwise_not(const IntrinsicCall &c) {
    Type t = c.type, bits = t.is_float() ? UInt(t.bits(), t.lanes()) : t;
    Value x = reinterpret(arg(c, 0), t, bits);
    if (t.is_bool()) return prefixed("!", x);
    return reinterpret(c_cast(scalar_type(bits), prefixed("~", x)), bits, t);
}

Value Printer::shift_call(const IntrinsicCall &c, const char *of_unsigned, const char *of_signed) {
    Type t = c.type, count_type = c.args[1].type();
    Value x = arg_as(c, 0, t);
    Value count = cast(arg(c, 1), count_type, count_type.with_bits(t.bits()));
    return call(prelude.function(count_type.is_int() ? of_signed : of_unsigned, t), {x, count});
}

Value Printer::emit_shift_left(const IntrinsicCall &c) {
    return shift_call(c, "left", "shift_left");
}
Value Printer::emit_shift_right(const IntrinsicCall &c) {
    return shift_call(c, "right", "shift_right");
}
Value Printer::emit_widening_shift_left(const IntrinsicCall &c) { return emit_shift_left(c); }
Value Printer::emit_widening_shift_right(const IntrinsicCall &c) { return emit_shift_right(c); }
Value Printer::emit_rounding_shift_left(const IntrinsicCall &c) {
    return shift_call(c, "left", "rounding_shift_left");
}
Value Printer::emit_rounding_shift_right(const IntrinsicCall &c) {
    return shift_call(c, "rounding_right", "rounding_shift_right");
}

Value Printer::emit_popcount(const IntrinsicCall &c) {
    return c.type.is_bool() ? arg(c, 0) : helper_call(c, "popcount");
}
Value Printer::emit_count_leading_zeros(const IntrinsicCall &c) {
    if (c.type.is_bool()) return prefixed("!", arg(c, 0));
    return helper_call(c, "count_leading_zeros");
}
Value Printer::emit_count_trailing_zeros(const IntrinsicCall &c) {
    if (c.type.is_bool()) return prefixed("!", arg(c, 0));
    return helper_call(c, "count_trailing_zeros");
}

Value Printer::emit_div_round_to_zero(const IntrinsicCall &c) {
    if (c.type.is_int()) return helper_call(c, "quotient");
    Value x = arg(c, 0);
    return divide(x, arg(c, 1), c.type);
}
Value Printer::emit_mod_round_to_zero(const IntrinsicCall &c) {
    if (c.type.is_int()) return helper_call(c, "remainder");
    Value x = arg(c, 0);
    return modulo(x, arg(c, 1), c.type);
}

Value Printer::emit_extract_bits(const IntrinsicCall &c) {
    Type from = c.args[0].type(), whole = UInt(from.bits(), from.lanes());
    Value x = reinterpret(arg(c, 0), from, whole);
    Value at = cast(arg(c, 1), c.args[1].type(), whole);
    Type part = UInt(c.type.bits(), c.type.lanes());
    Value bits = call(prelude.function("right", whole), {x, at});
    if (part.is_bool()) bits = infix(bits, "&", {"1", Form::Constant});
    return reinterpret(cast(bits, whole, part), part, c.type);
}

Value Printer::emit_concat_bits(const IntrinsicCall &c) {
    Type whole = UInt(c.type.bits(), c.type.lanes());
    Value all = int_constant(whole, 0);
    int at = 0;
    for (size_t i = 0; i < c.args.size(); i++) {
        Type t = c.args[i].type(), bits = UInt(t.bits(), t.lanes());
        Value part = cast(reinterpret(arg(c, i), t, bits), bits, whole);
        Value shifted = call(prelude.function("left", whole), {part, {str(at), Form::Constant}});
        all = kept(c_cast(scalar_type(whole), infix(all, "|", shifted)), whole);
        at += t.bits();
    }
    return reinterpret(all, whole, c.type);
}

// ---- Wider, narrower, saturating, rounding ----

Value Printer::emit_widening_add(const IntrinsicCall &c) {
    Value x = arg_as(c, 0, c.type);
    return add(x, arg_as(c, 1, c.type), c.type);
}
Value Printer::emit_widening_sub(const IntrinsicCall &c) {
    Value x = arg_as(c, 0, c.type);
    return sub(x, arg_as(c, 1, c.type), c.type);
}
Value Printer::emit_widening_mul(const IntrinsicCall &c) {
    Value x = arg_as(c, 0, c.type);
    return mul(x, arg_as(c, 1, c.type), c.type);
}
Value Printer::emit_widen_right_add(const IntrinsicCall &c) { return emit_widening_add(c); }
Value Printer::emit_widen_right_sub(const IntrinsicCall &c) { return emit_widening_sub(c); }
Value Printer::emit_widen_right_mul(const IntrinsicCall &c) { return emit_widening_mul(c); }

Value Printer::emit_saturating_add(const IntrinsicCall &c) {
    if (c.type.is_float()) return emit_widening_add(c);
    if (c.type.is_bool()) return infix(arg(c, 0), "||", arg(c, 1));
    return helper_call(c, "saturating_add");
}
Value Printer::emit_saturating_sub(const IntrinsicCall &c) {
    if (c.type.is_float()) return emit_widening_sub(c);
    if (c.type.is_bool()) return infix(arg(c, 0), ">", arg(c, 1));
    return helper_call(c, "saturating_sub");
}
Value Printer::emit_saturating_cast(const IntrinsicCall &c) {
    return saturating_cast(arg(c, 0), c.args[0].type(), c.type);
}

Value Printer::halving(const IntrinsicCall &c, const char *name, bool is_sum) {
    Type t = c.type;
    if (!t.is_float()) return helper_call(c, name);
    Value x = arg(c, 0), y = arg(c, 1);
    Value half = {float_literal(t, 0.5), Form::Constant};
    return mul(is_sum ? add(x, y, t) : sub(x, y, t), half, t);
}
Value Printer::emit_halving_add(const IntrinsicCall &c) { return halving(c, "halving_add", true); }
Value Printer::emit_rounding_halving_add(const IntrinsicCall &c) {
    return halving(c, "rounding_halving_add", true);
}
Value Printer::emit_halving_sub(const IntrinsicCall &c) { return halving(c, "halving_sub", false); }

// In twice the bits, then cut to what fits.
Value Printer::mul_shift(const IntrinsicCall &c, const char *of_unsigned, const char *of_signed) {
    Type t = c.type.element_of(), wide = Type::unchecked(t.code(), 2 * t.bits(), 1);
    std::string type = prelude.type(wide);
    Value product = infix(c_cast(type, arg_as(c, 0, t)), "*", c_cast(type, arg_as(c, 1, t)));
    const char *shift = c.args[2].type().is_int() ? of_signed : of_unsigned;
    Value shifted = call(prelude.function(shift, wide), {c_cast(type, product), arg(c, 2)});
    return call(prelude.function("clamped", t), {shifted});
}
Value Printer::emit_mul_shift_right(const IntrinsicCall &c) {
    return mul_shift(c, "right", "shift_right");
}
Value Printer::emit_rounding_mul_shift_right(const IntrinsicCall &c) {
    return mul_shift(c, "rounding_right", "rounding_shift_right");
}

// ---- Floats ----

// A function of the C library; of floats of 16 bits and 8, in float.
Value Printer::float_function(const std::string &name, const Value &v, Type t) {
    if (t.bits() <= 16) return from_float32(call(name + "f", {in_float32(v, t)}), t);
    return call(t.bits() == 32 ? name + "f" : name, {v});
}

Value Printer::float_call(const IntrinsicCall &c, const char *name) {
    if (c.args.size() == 1) return float_function(name, arg(c, 0), c.type);
    Type t = c.type.bits() <= 16 ? Float(32) : c.type;
    Value x = arg_as(c, 0, t), y = arg_as(c, 1, t);
    return cast(call(str(name, t.bits() == 32 ? "f" : ""), {x, y}), t, c.type);
}

#define LIBRARY(name)                                                                              \
    Value Printer::emit_##name(const IntrinsicCall &c) { return float_call(c, #name); }
LIBRARY(sqrt)
LIBRARY(sin)
LIBRARY(cos)
LIBRARY(tan)
LIBRARY(asin)
LIBRARY(acos)
LIBRARY(atan)
LIBRARY(atan2)
LIBRARY(sinh)
LIBRARY(cosh)
LIBRARY(tanh)
LIBRARY(asinh)
LIBRARY(acosh)
LIBRARY(atanh)
LIBRARY(exp)
LIBRARY(log)
LIBRARY(pow)
LIBRARY(floor)
LIBRARY(ceil)
LIBRARY(trunc)
#undef LIBRARY

// To nearest, ties to even, which is how C rounds by default.
Value Printer::emit_round(const IntrinsicCall &c) { return float_call(c, "nearbyint"); }

Value Printer::emit_fma(const IntrinsicCall &c) {
    Value x = arg(c, 0), y = arg(c, 1), z = arg(c, 2);
    Type t = c.type;
    if (t.bits() > 16) return call(t.bits() == 32 ? "fmaf" : "fma", {x, y, z});
    // The product is exact in doubles.
    Type wide = Float(64);
    Value product = infix(cast(x, t, wide), "*", cast(y, t, wide));
    return cast(infix(product, "+", cast(z, t, wide)), wide, t);
}

Value Printer::classified(const IntrinsicCall &c, const char *macro) {
    Type t = c.args[0].type();
    Value v = arg_as(c, 0, t.bits() <= 16 ? Float(32) : t);
    return infix(call(macro, {v}), "!=", {"0", Form::Constant});
}
Value Printer::emit_is_nan(const IntrinsicCall &c) { return classified(c, "isnan"); }
Value Printer::emit_is_inf(const IntrinsicCall &c) { return classified(c, "isinf"); }
Value Printer::emit_is_finite(const IntrinsicCall &c) { return classified(c, "isfinite"); }

Value Printer::emit_fast_exp(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_fast_log(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_fast_inverse(const IntrinsicCall &c) {
    Value one = {float_literal(c.type.element_of(), 1), Form::Constant};
    return divide(one, arg(c, 0), c.type);
}
Value Printer::emit_fast_inverse_sqrt(const IntrinsicCall &c) {
    Type t = c.type.bits() <= 16 ? Float(32) : c.type;
    Value root = float_function("sqrt", arg_as(c, 0, t), t);
    Value one = {float_literal(t.element_of(), 1), Form::Constant};
    return cast(infix(one, "/", root), t, c.type);
}

// C takes sums as they are written; only a product and a sum may become one operation.
Value Printer::emit_strict_float(const IntrinsicCall &c) {
    is_strict = true;
    return arg(c, 0);
}

// ---- Hints ----

Value Printer::emit_likely(const IntrinsicCall &c) { return arg(c, 0); }
Value Printer::emit_likely_if_innermost(const IntrinsicCall &c) { return arg(c, 0); }
Value Printer::emit_promise_clamped(const IntrinsicCall &c) { return arg(c, 0); }
Value Printer::emit_unsafe_promise_clamped(const IntrinsicCall &c) { return arg(c, 0); }

// ---- Special values ----

Value Printer::emit_undef(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_random(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_lerp(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gather(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_scatter(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_target_query(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_barrier(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_warp_barrier(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_role_barrier(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_is_producer(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_set_registers(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_barrier_arrive(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_shuffle_lanes(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_cluster_barrier(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_cluster_load(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_async_commit(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_async_wait(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_barrier_init(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_barrier_expect(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_barrier_wait(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_barrier_end(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_tensor_wait(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_gpu_processors(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_tensor_map(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_device_buffer(const IntrinsicCall &c) { refuse(c); }
Value Printer::emit_device_address(const IntrinsicCall &c) { refuse(c); }

Value Printer::emit_on_device(const IntrinsicCall &c) { return arg(c, 0); }

Value Printer::emit_if_then_else(const IntrinsicCall &c) {
    auto otherwise = [&] { return c.args.size() > 2 ? arg(c, 2) : zero(c.type); };
    Value condition = arg(c, 0);
    if (c.args[0].type().is_scalar()) {
        return choose(condition, c.type, [&] { return arg(c, 1); }, otherwise);
    }
    Value then_value = arg(c, 1);
    return select(condition, then_value, otherwise(), c.type);
}

Value Printer::emit_require(const IntrinsicCall &c) {
    Value holds = all_lanes(arg(c, 0), c.args[0].type());
    block(str("if (!", holds.operand(), ")"), [&] {
        std::vector<Expr> parts(c.args.begin() + 3, c.args.end());
        std::string where = arg(c, 2).operand();
        std::string condition = parts.empty() ? "\"a requirement\"" : "\"\"";
        std::string message = parts.empty() ? "\"\"" : stringify(parts).text;
        fail(str("tessera_error_requirement_failed(user_context, ", where, ", ", condition, ", ",
                 message, ")"));
    });
    return arg(c, 1);
}

Value Printer::emit_return_second(const IntrinsicCall &c) {
    evaluate(c.args[0]);
    return arg(c, 1);
}

// ---- What lowered code needs ----

Value Printer::emit_user_context(const IntrinsicCall &) { return {"user_context", Form::Constant}; }
Value Printer::emit_stringify(const IntrinsicCall &c) { return stringify(c.args); }

Value Printer::emit_address_of(const IntrinsicCall &c) {
    const Load &load = address_taken(Expr(&c));
    std::string place = address(load.buffer, load.type, coordinate(load.index));
    return {str("(void *)(", place, ")"), Form::Closed};
}

// Zeroed each time that it is evaluated.
Value Printer::emit_alloca(const IntrinsicCall &c) {
    const auto *size = c.args[0].as<UIntImm>();
    const auto *int_size = c.args[0].as<IntImm>();
    if (!size && !int_size) throw InternalError("alloca of a size that is not constant");
    impure_calls++;
    uint64_t bytes = std::max<uint64_t>(1, size ? size->value : uint64_t(int_size->value));
    std::string memory = slot("_Alignas(16) uint8_t", "memory", str("[", bytes, "]"));
    line(str("memset(", memory, ", 0, sizeof(", memory, "));"));
    return {"(void *)" + memory, Form::Closed};
}

// One prefetch per element of the region, but not more than one per cache line.
Value Printer::emit_prefetch(const IntrinsicCall &c) {
    std::string at = kept(arg(c, 0), Handle()).text;
    std::function<void(size_t, std::string)> walk = [&](size_t i, const std::string &from) {
        if (i >= c.args.size()) {
            return line(str(prelude.function("tessera_prefetch"), "(", from, ");"));
        }
        Value extent = kept(arg_as(c, i, Int(64)), Int(64)), stride = arg_as(c, i + 1, Int(64));
        auto constant = as_const_int(c.args[i + 1]);
        int64_t per_line = constant && *constant > 0 && *constant < 64 ? 64 / *constant : 1;
        std::string k = f->names.numbered("k"), step = stride.operand();
        block(str("for (int64_t ", k, " = 0; ", k, " < ", extent.operand(), "; ", k,
                  " += ", per_line, ")"),
              [&] { walk(i + 2, str("(const uint8_t *)", from, " + ", k, " * ", step)); });
    };
    walk(1, at);
    return int_constant(Int(32), 0);
}

#define EMIT(name, arity, pure)                                                                    \
    Value Printer::emit_##name(const IntrinsicCall &c) { return value(lower::as_c_call(c)); }
TESSERA_RUNTIME_INTRINSICS(EMIT)
#undef EMIT

}  // namespace tessera::codegen::c
