#include "program/expr_as_cpp.h"
#include "base/error.h"
#include "base/str.h"
#include "ir/match.h"
#include "ir/printer.h"
#include <cmath>
#include <map>

namespace tessera::program {

using ir::Expr;

namespace {

using ir::Intrinsic;

const std::map<Intrinsic, const char *> operators = {{Intrinsic::bitwise_and, "&"},
                                                     {Intrinsic::bitwise_or, "|"},
                                                     {Intrinsic::bitwise_xor, "^"},
                                                     {Intrinsic::shift_left, "<<"},
                                                     {Intrinsic::shift_right, ">>"}};

// Those that are public functions of the same name and operands.
bool is_public(Intrinsic i) {
    return i <= Intrinsic::unsafe_promise_clamped && i != Intrinsic::promise_clamped &&
           i != Intrinsic::fast_inverse && i != Intrinsic::fast_inverse_sqrt;
}

std::string cast_to(Type t, const std::string &value) {
    return str("cast(", type_as_cpp(t), ", ", value, ")");
}

std::string floating(const ir::FloatImm &f) {
    if (std::isnan(f.value)) return cast_to(f.type, "std::nan(\"\")");
    if (std::isinf(f.value)) return cast_to(f.type, f.value < 0 ? "-HUGE_VAL" : "HUGE_VAL");
    std::ostringstream out;
    out.precision(17);
    out << std::showpoint << f.value;
    return f.type == Float(32) ? out.str() + "f" : cast_to(f.type, out.str());
}

[[noreturn]] void refuse(const Expr &e) {
    throw CompileError(
        str("the schedule has an expression that cannot be written as C++: ", ir::brief(e)));
}

class CppPrinter {
public:
    explicit CppPrinter(const std::function<std::string(Symbol)> &word) : word(word) {}
    std::string print(const Expr &e) const;

private:
    template<typename Node>
    std::string infix(const Node &n, const char *op) const {
        std::vector<std::string> texts = operands({n.a, n.b});
        return str("(", texts[0], " ", op, " ", texts[1], ")");
    }
    std::string call(std::string_view name, const std::vector<Expr> &args) const {
        return str(name, "(", join(operands(args)), ")");
    }
    std::vector<std::string> operands(const std::vector<Expr> &args) const;
    std::string property(const ir::BufferProperty &p) const;
    std::string intrinsic(const ir::IntrinsicCall &c) const;

    const std::function<std::string(Symbol)> &word;
};

// One of them is an Expr in C++, too, and not only numbers of C++.
std::vector<std::string> CppPrinter::operands(const std::vector<Expr> &args) const {
    std::vector<std::string> texts;
    bool numbers_only = true;
    for (const Expr &e : args) {
        texts.push_back(print(e));
        numbers_only &= bool(e.as<ir::IntImm>()) || bool(e.as<ir::FloatImm>());
    }
    if (numbers_only && !texts.empty()) texts[0] = str("Expr(", texts[0], ")");
    return texts;
}

std::string CppPrinter::property(const ir::BufferProperty &p) const {
    const char *field = p.field == BufferField::Min      ? "min"
                        : p.field == BufferField::Extent ? "extent"
                                                         : "stride";
    return str(word(p.buffer), ".dim(", p.dim, ").", field, "()");
}

std::string CppPrinter::intrinsic(const ir::IntrinsicCall &c) const {
    if (auto op = operators.find(c.op); op != operators.end()) {
        std::vector<std::string> texts = operands(c.args);
        return str("(", texts[0], " ", op->second, " ", texts[1], ")");
    }
    if (c.op == Intrinsic::bitwise_not) return "~" + print(c.args[0]);
    if (c.op == Intrinsic::concat_bits) return str("concat_bits({", call("", c.args), "})");
    if (c.op == Intrinsic::saturating_cast || c.op == Intrinsic::extract_bits) {
        std::vector<std::string> texts = {type_as_cpp(c.type)};
        for (const Expr &e : c.args) texts.push_back(print(e));
        return str(ir::info_of(c.op).name, "(", join(texts), ")");
    }
    if (is_public(c.op)) return call(ir::info_of(c.op).name, c.args);
    return "";
}

std::string CppPrinter::print(const Expr &e) const {
    using namespace ir;
    using S = std::string;
    if (!e.defined()) return "Expr()";
    S text = match(
        e,
        [](const IntImm &i) -> S {
            return i.type == Int(32) ? str(i.value)
                                     : cast_to(i.type, str("int64_t(", i.value, ")"));
        },
        [](const UIntImm &i) -> S {
            return i.type.is_bool() ? S(i.value ? "Expr(true)" : "Expr(false)")
                                    : cast_to(i.type, str("uint64_t(", i.value, ")"));
        },
        [](const FloatImm &f) -> S { return floating(f); },
        [](const StringImm &s) -> S { return quoted(s.value); },
        [&](const Variable &v) -> S { return word(v.name); },
        [&](const BufferProperty &p) -> S { return property(p); },
        [&](const Cast &c) -> S { return cast_to(c.type, print(c.value)); },
        [&](const Add &n) -> S { return infix(n, "+"); },
        [&](const Sub &n) -> S { return infix(n, "-"); },
        [&](const Mul &n) -> S { return infix(n, "*"); },
        [&](const Div &n) -> S { return infix(n, "/"); },
        [&](const Mod &n) -> S { return infix(n, "%"); },
        [&](const Min &n) -> S { return call("min", {n.a, n.b}); },
        [&](const Max &n) -> S { return call("max", {n.a, n.b}); },
        [&](const EQ &n) -> S { return infix(n, "=="); },
        [&](const NE &n) -> S { return infix(n, "!="); },
        [&](const LT &n) -> S { return infix(n, "<"); },
        [&](const LE &n) -> S { return infix(n, "<="); },
        [&](const GT &n) -> S { return infix(n, ">"); },
        [&](const GE &n) -> S { return infix(n, ">="); },
        [&](const And &n) -> S { return infix(n, "&&"); },
        [&](const Or &n) -> S { return infix(n, "||"); },
        [&](const Not &n) -> S { return "!" + print(n.a); },
        [&](const Select &n) -> S {
            return call("select", {n.condition, n.true_value, n.false_value});
        },
        [&](const IntrinsicCall &c) -> S { return intrinsic(c); },
        [&](const Reinterpret &r) -> S {
            return str("reinterpret(", type_as_cpp(r.type), ", ", print(r.value), ")");
        },
        [&](const Call &c) -> S {
            return c.call_kind == CallKind::Image ? call(word(c.callee), c.args) : S();
        },
        otherwise(S()));
    if (text.empty()) refuse(e);
    return text;
}

}  // namespace

std::string type_as_cpp(Type t) {
    if (t.is_bool()) return "Bool()";
    if (t.is_handle()) return "Handle()";
    const char *kind = t.is_int()      ? "Int"
                       : t.is_uint()   ? "UInt"
                       : t.is_bfloat() ? "BFloat"
                                       : "Float";
    return str(kind, "(", t.bits(), ")");
}

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return result + "\"";
}

std::string expr_as_cpp(const Expr &e, const std::function<std::string(Symbol)> &word) {
    return CppPrinter(word).print(e);
}

}  // namespace tessera::program
