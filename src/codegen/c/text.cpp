#include "codegen/c/printer.h"
#include "codegen/c/types.h"

namespace tessera::codegen::c {
namespace {

// Room for the text of one value: a double may have 309 digits before the point.
uint64_t longest_text(const Expr &e) {
    if (const auto *s = e.as<StringImm>()) return s->value.size();
    return e.type().is_handle() ? 1024 : uint64_t(e.type().lanes()) * 336;
}

bool is_text(const Expr &e) {
    const auto *call = e.as<IntrinsicCall>();
    return e.as<StringImm>() || (call && call->op == Intrinsic::stringify);
}

}  // namespace

// Writes the text of a value at `at`, which moves on.
std::string Printer::appended(const std::string &at, const std::string &end, const Value &v, Type t,
                              bool text) {
    std::string to = str(at, " = tessera_");
    std::string start = str("_to_string(", at, ", ", end, ", ");
    if (t.is_handle()) return str(to, text ? "string" : "pointer", start, v.text, ");");
    if (t.is_float()) {
        return str(to, "double", start, cast(v, t, Float(64)).text, ", ", t.bits() == 64, ");");
    }
    if (t.is_bool()) return str(to, "string", start, v.text, " ? \"true\" : \"false\");");
    Value wide = cast(v, t, t.with_bits(64));
    return str(to, t.is_int() ? "int64" : "uint64", start, wide.text, ", 1);");
}

Value Printer::stringify(const std::vector<Expr> &parts) {
    impure_calls++;
    uint64_t size = 1;
    for (const Expr &e : parts) size += longest_text(e) + (e.type().is_vector() ? 2 : 0);
    std::string text = slot("char", "text", str("[", size, "]"));
    std::string at = f->names.numbered("at"), end = f->names.numbered("end");
    line(str("char *", at, " = ", text, ", *const ", end, " = ", text, " + ", size, ";"));
    line(text + "[0] = 0;");
    for (const Expr &e : parts) {
        Type t = e.type().element_of();
        auto literal = [&](const char *s) {
            return appended(at, end, {string_literal(s), Form::Constant}, Handle(), true);
        };
        if (e.type().is_scalar()) {
            line(appended(at, end, value(e), t, is_text(e)));
            continue;
        }
        Value v = value(e);
        line(literal("<"));
        block(for_lanes(e.type().lanes()), [&] {
            line(str("if (i > 0) ", literal(", ")));
            line(appended(at, end, v, t, is_text(e)));
        });
        line(literal(">"));
    }
    return {text, Form::Name};
}

}  // namespace tessera::codegen::c
