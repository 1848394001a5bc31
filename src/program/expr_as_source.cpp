#include "program/expr_as_source.h"
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

[[noreturn]] void refuse(const Expr &e) {
    throw CompileError(
        str("the schedule has an expression that cannot be written as source: ", ir::brief(e)));
}

class SourcePrinter {
public:
    SourcePrinter(const std::function<std::string(Symbol)> &word, Language language)
        : word(word), is_python(language == Language::Python), prefix(prefix_in(language)) {}
    std::string print(const Expr &e) const;

private:
    std::string cast_to(Type t, const std::string &value) const {
        return str(prefix, "cast(", type(t), ", ", value, ")");
    }
    std::string type(Type t) const { return str(prefix, type_as_cpp(t)); }
    std::string integer(const ir::IntImm &i) const {
        if (i.type == Int(32)) return str(i.value);
        return cast_to(i.type, is_python ? str(i.value) : str("int64_t(", i.value, ")"));
    }
    std::string integer(const ir::UIntImm &i) const {
        if (i.type.is_bool() && is_python) return i.value ? "ts.Expr(True)" : "ts.Expr(False)";
        if (i.type.is_bool()) return i.value ? "Expr(true)" : "Expr(false)";
        return cast_to(i.type, is_python ? str(i.value) : str("uint64_t(", i.value, ")"));
    }
    std::string floating(const ir::FloatImm &f) const;
    std::string negated(const Expr &e) const {
        return is_python ? str("ts.logical_not(", print(e), ")") : "!" + print(e);
    }
    // A list of arguments as one.
    std::string braces(const std::vector<Expr> &args) const {
        const std::string inner = join(operands(args));
        return is_python ? str("[", inner, "]") : str("{", inner, "}");
    }
    template<typename Node>
    std::string infix(const Node &n, const char *op) const {
        std::vector<std::string> texts = operands({n.a, n.b});
        return str("(", texts[0], " ", op, " ", texts[1], ")");
    }
    std::string call(std::string_view name, const std::vector<Expr> &args) const {
        return str(prefix, name, "(", join(operands(args)), ")");
    }
    std::vector<std::string> operands(const std::vector<Expr> &args) const;
    std::string property(const ir::BufferProperty &p) const;
    std::string intrinsic(const ir::IntrinsicCall &c) const;

    const std::function<std::string(Symbol)> &word;
    const bool is_python;
    const std::string_view prefix;
};

std::string SourcePrinter::floating(const ir::FloatImm &f) const {
    const bool is_negative = f.value < 0;
    if (std::isnan(f.value))
        return cast_to(f.type, is_python ? "float(\"nan\")" : "std::nan(\"\")");
    if (std::isinf(f.value))
        return cast_to(f.type,
                       str(is_negative ? "-" : "", is_python ? "float(\"inf\")" : "HUGE_VAL"));
    std::ostringstream out;
    out.precision(17);
    out << std::showpoint << f.value;
    return f.type == Float(32) && !is_python ? out.str() + "f" : cast_to(f.type, out.str());
}

// One of them is an Expr there, too, and not only numbers of the language.
std::vector<std::string> SourcePrinter::operands(const std::vector<Expr> &args) const {
    std::vector<std::string> texts;
    bool numbers_only = true;
    for (const Expr &e : args) {
        texts.push_back(print(e));
        numbers_only &= bool(e.as<ir::IntImm>()) || bool(e.as<ir::FloatImm>());
    }
    if (numbers_only && !texts.empty()) texts[0] = str(prefix, "Expr(", texts[0], ")");
    return texts;
}

std::string SourcePrinter::property(const ir::BufferProperty &p) const {
    const char *field = p.field == BufferField::Min      ? "min"
                        : p.field == BufferField::Extent ? "extent"
                                                         : "stride";
    return str(word(p.buffer), ".dim(", p.dim, ").", field, "()");
}

std::string SourcePrinter::intrinsic(const ir::IntrinsicCall &c) const {
    if (auto op = operators.find(c.op); op != operators.end()) {
        std::vector<std::string> texts = operands(c.args);
        return str("(", texts[0], " ", op->second, " ", texts[1], ")");
    }
    if (c.op == Intrinsic::bitwise_not) return "~" + print(c.args[0]);
    if (c.op == Intrinsic::concat_bits) return str(prefix, "concat_bits(", braces(c.args), ")");
    if (c.op == Intrinsic::saturating_cast || c.op == Intrinsic::extract_bits) {
        std::vector<std::string> texts = {type(c.type)};
        for (const Expr &e : c.args) texts.push_back(print(e));
        return str(prefix, ir::info_of(c.op).name, "(", join(texts), ")");
    }
    if (is_public(c.op)) return call(ir::info_of(c.op).name, c.args);
    return "";
}

std::string SourcePrinter::print(const Expr &e) const {
    using namespace ir;
    using S = std::string;
    if (!e.defined()) return str(prefix, "Expr()");
    S text = match(
        e, [&](const IntImm &i) -> S { return integer(i); },
        [&](const UIntImm &i) -> S { return integer(i); },
        [&](const FloatImm &f) -> S { return floating(f); },
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
        [&](const And &n) -> S { return infix(n, is_python ? "&" : "&&"); },
        [&](const Or &n) -> S { return infix(n, is_python ? "|" : "||"); },
        [&](const Not &n) -> S { return negated(n.a); },
        [&](const Select &n) -> S {
            return call("select", {n.condition, n.true_value, n.false_value});
        },
        [&](const IntrinsicCall &c) -> S { return intrinsic(c); },
        [&](const Reinterpret &r) -> S {
            return str(prefix, "reinterpret(", type(r.type), ", ", print(r.value), ")");
        },
        [&](const Call &c) -> S {
            if (c.call_kind != CallKind::Image) return S();
            const S args = join(operands(c.args));
            return is_python ? str(word(c.callee), "[", args, "]")
                             : str(word(c.callee), "(", args, ")");
        },
        otherwise(S()));
    if (text.empty()) refuse(e);
    return text;
}

}  // namespace

std::string type_as_cpp(Type t) {
    if (t.is_bool()) return "Bool()";
    if (t.is_handle()) return "Handle()";
    if (t.is_float8()) return t == Float8E4M3() ? "Float8E4M3()" : "Float8E5M2()";
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

std::string_view prefix_in(Language language) { return language == Language::Python ? "ts." : ""; }

std::string expr_as_source(const Expr &e, const std::function<std::string(Symbol)> &word,
                           Language language) {
    return SourcePrinter(word, language).print(e);
}

}  // namespace tessera::program
