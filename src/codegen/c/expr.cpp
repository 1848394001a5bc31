#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include <algorithm>
#include <cctype>
#include <optional>

namespace tessera::codegen::c {
namespace {

// Longer expressions are put into variables on their way.
constexpr size_t longest_expression = 90;

// Returns true if this function of the runtime returns nothing.
bool returns_nothing(const std::string &function) {
    static const std::unordered_set<std::string> all = {"tessera_print",
                                                        "tessera_error",
                                                        "tessera_free",
                                                        "tessera_mutex_array_destroy",
                                                        "tessera_profiler_set_current_func",
                                                        "tessera_profiler_incr_active_threads",
                                                        "tessera_profiler_decr_active_threads",
                                                        "tessera_profiler_memory_allocate",
                                                        "tessera_profiler_memory_free",
                                                        "tessera_profiler_stack_peak"};
    return all.contains(function);
}

std::string lane_of(const std::string &vector) { return vector + ".v[i]"; }

}  // namespace

Value Printer::value(const Expr &e) {
    const ExprNode *node = e.get();
    bool shared = node->use_count() > 1;
    auto &values = memo[in_coordinate];
    if (shared) {
        auto known = values.find(node);
        if (known != values.end()) return known->second;
    }
    uint64_t calls_before = impure_calls;
    Value v = dispatch(e);
    if (shared || v.text.size() > longest_expression) v = kept(v, e.type());
    if (shared && impure_calls == calls_before) {
        values[node] = v;
        memo_log.push_back(e);
    }
    return v;
}

Value Printer::value_as(bool coordinate, const Expr &e) {
    bool outer = std::exchange(in_coordinate, coordinate);
    Value v = value(e);
    in_coordinate = outer;
    return v;
}

Value Printer::coordinate(const Expr &e) { return value_as(coordinates.are(e), e); }

Value Printer::bound_value(Symbol let, const Expr &e) {
    return value_as(in_coordinate || coordinates.contains(let), e);
}

Value Printer::dispatch(const Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return emit(static_cast<const T &>(*e.get()));
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("C source met an expression of unknown kind");
    }
}

// ---- Variables ----

std::string Printer::for_lanes(int lanes) const {
    return str("for (int i = 0; i < ", lanes, "; i++)");
}

Value Printer::named(const std::string &name, Type t) {
    if (t.is_scalar()) return {name, Form::Name};
    return {lane_of(name), Form::Name, name};
}

void Printer::assign(const std::string &name, const Value &v, Type t) {
    if (t.is_scalar()) return line(str(name, " = ", v.text, ";"));
    if (!v.whole.empty()) return line(str(name, " = ", v.whole, ";"));
    line(str(for_lanes(t.lanes()), " ", lane_of(name), " = ", v.text, ";"));
}

Value Printer::kept(const Value &v, Type t) {
    if (v.is_cheap()) return v;
    if (t.is_vector()) return named(whole(v, t), t);
    std::string name = f->names.numbered("t");
    f->types[name] = prelude.type(t);
    line(str(declaration(prelude.type(t), name, true), " = ", v.text, ";"));
    return named(name, t);
}

std::string Printer::whole(const Value &v, Type t) {
    if (!v.whole.empty()) return v.whole;
    std::string name = variable(prelude.type(t), "t");
    assign(name, v, t);
    return name;
}

// Under its own name, unless it has one or is a number.
Value Printer::bind(Symbol name, const Value &v, Type t) {
    if (v.is_cheap() && (t.is_scalar() || !v.whole.empty() || v.form == Form::Constant)) return v;
    if (t.is_scalar()) return named(declare(name, prelude.type(t), v.text), t);
    std::string c_name = f->names.of(name);
    f->types[c_name] = prelude.type(t);
    line(declaration(prelude.type(t), c_name, false) + ";");
    assign(c_name, v, t);
    return named(c_name, t);
}

Value Printer::emit(const Variable &node) {
    auto found = f->variables.find(node.name);
    if (found == f->variables.end()) {
        throw InternalError(str("C source met the unbound variable ", node.name));
    }
    return found->second;
}

// A chain of lets is walked in a loop: it may be thousands long.
Value Printer::emit(const Let &first) {
    MemoScope forget(*this);
    std::vector<std::pair<Symbol, std::optional<Value>>> former;
    const Let *let = &first;
    Expr body;
    for (; let; let = body.as<Let>()) {
        Value v = bind(let->name, bound_value(let->name, let->value), let->value.type());
        auto known = f->variables.find(let->name);
        former.emplace_back(let->name, known == f->variables.end()
                                           ? std::optional<Value>()
                                           : std::optional<Value>(known->second));
        f->variables[let->name] = v;
        body = let->body;
    }
    Value result = value(body);
    for (auto i = former.rbegin(); i != former.rend(); ++i) {
        if (i->second) {
            f->variables[i->first] = *i->second;
        } else {
            f->variables.erase(i->first);
        }
    }
    return result;
}

// ---- Constants ----

Value Printer::int_constant(Type t, int64_t number) { return {literal(t, number), Form::Constant}; }
Value Printer::zero(Type t) {
    if (t.is_handle()) return {"NULL", Form::Constant};
    return t.is_float() ? Value{float_literal(t, 0), Form::Constant} : int_constant(t, 0);
}
Value Printer::emit(const IntImm &node) { return int_constant(node.type, node.value); }
Value Printer::emit(const UIntImm &node) { return int_constant(node.type, int64_t(node.value)); }
Value Printer::emit(const FloatImm &node) {
    return {float_literal(node.type, node.value), Form::Constant};
}
Value Printer::emit(const StringImm &node) {
    return {str("(void *)", string_literal(node.value)), Form::Constant};
}

// ---- Operators ----

Value Printer::infix(const Value &a, const char *op, const Value &b) {
    return {str(a.operand(), " ", op, " ", b.operand()), Form::Open};
}

Value Printer::prefixed(const char *op, const Value &v) {
    return {str(op, v.operand()), Form::Closed};
}

Value Printer::call(const std::string &function, std::initializer_list<Value> args) {
    std::vector<std::string> texts;
    for (const Value &v : args) texts.push_back(v.text);
    return {str(function, "(", join(texts), ")"), Form::Closed};
}

Value Printer::in_float32(const Value &v, Type t) {
    return call(prelude.function(str("tessera_from_", t.element_of())), {v});
}

Value Printer::from_float32(const Value &v, Type t) {
    return call(prelude.function(str("tessera_to_", t.element_of())), {v});
}

Value Printer::float_infix(const Value &a, const char *op, const Value &b, Type t) {
    if (t.bits() > 16) return infix(a, op, b);
    return from_float32(infix(in_float32(a, t), op, in_float32(b, t)), t);
}

// Wraps, unless it is part of a coordinate.
Value Printer::integer_op(const char *op, const Value &a, const Value &b, Type t) {
    if (t.is_bool()) return infix(a, *op == '*' ? "&&" : "!=", b);
    if (t.bits() >= 32 && (t.is_uint() || in_coordinate)) return infix(a, op, b);
    std::string type = scalar_type(t), sum = wrapping_type(t);
    bool fits_int = t.bits() == 8 || (t.bits() == 16 && (t.is_int() || *op != '*'));
    if (fits_int) return c_cast(type, infix(a, op, b));
    return c_cast(type, infix(c_cast(sum, a), op, c_cast(sum, b)));
}

Value Printer::add(const Value &a, const Value &b, Type t) {
    return t.is_float() ? float_infix(a, "+", b, t) : integer_op("+", a, b, t);
}
Value Printer::sub(const Value &a, const Value &b, Type t) {
    return t.is_float() ? float_infix(a, "-", b, t) : integer_op("-", a, b, t);
}
Value Printer::mul(const Value &a, const Value &b, Type t) {
    return t.is_float() ? float_infix(a, "*", b, t) : integer_op("*", a, b, t);
}

Value Printer::divide(const Value &a, const Value &b, Type t) {
    if (t.is_float()) return float_infix(a, "/", b, t);
    if (t.is_bool()) return infix(a, "&&", b);
    return call(prelude.function("div", t), {a, b});
}

Value Printer::modulo(const Value &a, const Value &b, Type t) {
    if (t.is_bool()) return int_constant(t, 0);
    if (!t.is_float() || t.bits() > 16) return call(prelude.function("mod", t), {a, b});
    Value wide = call(prelude.function("mod", Float(32)), {in_float32(a, t), in_float32(b, t)});
    return from_float32(wide, t);
}

Value Printer::minimum(const Value &a, const Value &b, Type t) {
    if (t.is_bool()) return infix(a, "&&", b);
    return call(prelude.function("min", t), {a, b});
}
Value Printer::maximum(const Value &a, const Value &b, Type t) {
    if (t.is_bool()) return infix(a, "||", b);
    return call(prelude.function("max", t), {a, b});
}

Value Printer::select(const Value &condition, const Value &a, const Value &b, Type t) {
    if (condition.text == "true") return a;
    if (condition.text == "false") return b;
    auto choice = [&](const Value &v) {
        return t.is_handle() ? c_cast("void *", v).text : v.operand();
    };
    return {str(condition.operand(), " ? ", choice(a), " : ", choice(b)), Form::Open};
}

Value Printer::compare(const char *op, const Value &a, const Value &b, Type t) {
    if (t.is_handle()) return infix(c_cast("void *", a), op, c_cast("void *", b));
    if (!t.is_float() || t.bits() > 16) return infix(a, op, b);
    return infix(in_float32(a, t), op, in_float32(b, t));
}

#define ARITHMETIC(T, function)                                                                    \
    Value Printer::emit(const T &node) {                                                           \
        Value a = value(node.a);                                                                   \
        return function(a, value(node.b), node.type);                                              \
    }
ARITHMETIC(Add, add)
ARITHMETIC(Sub, sub)
ARITHMETIC(Mul, mul)
ARITHMETIC(Div, divide)
ARITHMETIC(Mod, modulo)
ARITHMETIC(Min, minimum)
ARITHMETIC(Max, maximum)
#undef ARITHMETIC

#define COMPARISON(T, op)                                                                          \
    Value Printer::emit(const T &node) {                                                           \
        Value a = value(node.a);                                                                   \
        return compare(op, a, value(node.b), node.a.type());                                       \
    }
COMPARISON(EQ, "==")
COMPARISON(NE, "!=")
COMPARISON(LT, "<")
COMPARISON(LE, "<=")
COMPARISON(GT, ">")
COMPARISON(GE, ">=")
#undef COMPARISON

Value Printer::emit(const And &node) {
    Value a = value(node.a);
    return infix(a, "&&", value(node.b));
}

Value Printer::emit(const Or &node) {
    Value a = value(node.a);
    return infix(a, "||", value(node.b));
}

Value Printer::emit(const Not &node) { return prefixed("!", value(node.a)); }

Value Printer::emit(const Select &node) {
    Value condition = value(node.condition);
    Value true_value = value(node.true_value);
    return select(condition, true_value, value(node.false_value), node.type);
}

// ---- Calls ----

Value Printer::emit(const Call &node) {
    throw InternalError(str("C source met a call of ", node.callee,
                            "; storage flattening should have replaced it"));
}

// Declares the function unless the runtime's header does.
void Printer::declare_extern(const ExternCall &node) {
    const std::string &name = node.function;
    if (pipelines.contains(name)) {
        throw CompileError(str("the compiled function ", name, " would take the place of the C ",
                               "function of that name, which it calls; give it another name"));
    }
    if (name.starts_with("tessera_")) return;
    bool is_name = !name.empty() && !std::isdigit(uint8_t(name[0]));
    for (char c : name) is_name &= std::isalnum(uint8_t(c)) || c == '_';
    if (!is_name) throw CompileError(str("C source cannot call \"", name, "\": that is no name"));
    std::vector<std::string> types;
    for (const Expr &a : node.args) types.push_back(scalar_type(a.type()));
    if (types.empty()) types.emplace_back("void");
    std::string prototype =
        str(declaration(scalar_type(node.type), name, false), "(", join(types), ");\n");
    auto [known, is_new] = externs.emplace(name, prototype);
    if (is_new || known->second == prototype) return;
    throw CompileError(str("C source cannot call ", name, " in two ways, as ", known->second,
                           "and as ", prototype));
}

Value Printer::call_of_c(const ExternCall &node) {
    declare_extern(node);
    if (!node.pure) impure_calls++;
    std::vector<std::string> args;
    for (const Expr &a : node.args) args.push_back(value(a).text);
    return {str(node.function, "(", join(args), ")"), Form::Closed};
}

Value Printer::emit(const ExternCall &node) {
    Value result = call_of_c(node);
    if (!returns_nothing(node.function)) return kept(result, node.type);
    line(result.text + ";");
    return int_constant(Int(32), 0);
}

}  // namespace tessera::codegen::c
