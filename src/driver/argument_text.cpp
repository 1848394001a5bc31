#include "driver/argument_text.h"
#include "algebra/simplify.h"
#include "base/str.h"
#include "ir/float_bits.h"
#include "ir/match.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "program/parameter.h"
#include <algorithm>
#include <bit>
#include <compare>
#include <map>

namespace tessera::driver {

using ir::Argument;
using ir::ArgumentKind;
using ir::Expr;
using program::parameter_of;

namespace {

using NamesOf = std::unordered_map<Symbol, std::string>;

// An expression as C writes it, with min(), max() and casts as functions. The order of operands
// that may change places is that of their texts: that in the tree depends on what else is compiled.
class ExprText {
public:
    explicit ExprText(const NamesOf &names) : names(names) {}
    std::string print(const Expr &e, int level = 0) const;

private:
    template<typename Node>
    std::string infix(const Node &n, const char *op, int own_level, int level) const {
        std::string text = str(print(n.a, own_level), " ", op, " ", print(n.b, own_level + 1));
        return own_level < level ? str("(", text, ")") : text;
    }
    struct Term {
        bool constant, negative;
        std::string text;
        auto operator<=>(const Term &) const = default;
    };
    void add_terms(const Expr &e, bool negative, std::vector<Term> &terms) const;
    std::string sum(const Expr &e, int level) const;
    std::string either(std::string_view function, const Expr &a, const Expr &b) const;
    std::string call(std::string_view function, const std::vector<Expr> &args) const {
        std::vector<std::string> texts;
        for (const Expr &e : args) texts.push_back(print(e));
        return str(function, "(", join(texts), ")");
    }
    std::string name(Symbol s) const {
        auto found = names.find(s);
        return found == names.end() ? s.text() : found->second;
    }
    std::string field(const ir::BufferProperty &p) const {
        bool whole = p.field >= BufferField::Host;
        return str(name(p.buffer), ".", whole ? "" : str("dim[", p.dim, "]."), name_of(p.field));
    }
    const NamesOf &names;
};

void ExprText::add_terms(const Expr &e, bool negative, std::vector<Term> &terms) const {
    auto add = [&](const Expr &a, const Expr &b, bool minus) {
        add_terms(a, negative, terms);
        add_terms(b, negative != minus, terms);
    };
    if (const auto *n = e.as<ir::Add>()) return add(n->a, n->b, false);
    if (const auto *n = e.as<ir::Sub>()) return add(n->a, n->b, true);
    terms.push_back({ir::is_const(e), negative, print(e, 6)});
    std::string &text = terms.back().text;
    if (text[0] != '-') return;
    terms.back().negative = !negative;
    text.erase(0, 1);
}

std::string ExprText::sum(const Expr &e, int level) const {
    std::vector<Term> terms;
    add_terms(e, false, terms);
    std::ranges::sort(terms);
    auto positive = std::ranges::find(terms, false, &Term::negative);
    if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
    std::string text = (terms[0].negative ? "-" : "") + terms[0].text;
    for (size_t i = 1; i < terms.size(); i++) {
        text += (terms[i].negative ? " - " : " + ") + terms[i].text;
    }
    return level > 5 ? str("(", text, ")") : text;
}

std::string ExprText::either(std::string_view function, const Expr &a, const Expr &b) const {
    Term both[] = {{ir::is_const(a), false, print(a)}, {ir::is_const(b), false, print(b)}};
    std::ranges::sort(both);
    return str(function, "(", both[0].text, ", ", both[1].text, ")");
}

std::string ExprText::print(const Expr &e, int level) const {
    using namespace ir;
    using S = std::string;
    return match(
        e, [](const IntImm &i) -> S { return str(i.value); },
        [](const UIntImm &u) -> S {
            return u.type.is_bool() ? (u.value ? "true" : "false") : str(u.value);
        },
        [](const FloatImm &f) -> S { return str(f.value); },
        [&](const Variable &v) -> S { return name(v.name); },
        [&](const BufferProperty &p) -> S { return field(p); },
        [&](const Cast &c) -> S { return call(str(c.type), {c.value}); },
        [&](const Add &) -> S { return sum(e, level); },
        [&](const Sub &) -> S { return sum(e, level); },
        [&](const Mul &n) -> S { return infix(n, "*", 6, level); },
        [&](const Div &n) -> S { return infix(n, "/", 6, level); },
        [&](const Mod &n) -> S { return infix(n, "%", 6, level); },
        [&](const Min &n) -> S { return either("min", n.a, n.b); },
        [&](const Max &n) -> S { return either("max", n.a, n.b); },
        [&](const EQ &n) -> S { return infix(n, "==", 3, level); },
        [&](const NE &n) -> S { return infix(n, "!=", 3, level); },
        [&](const LT &n) -> S { return infix(n, "<", 4, level); },
        [&](const LE &n) -> S { return infix(n, "<=", 4, level); },
        [&](const And &n) -> S { return infix(n, "&&", 2, level); },
        [&](const Or &n) -> S { return infix(n, "||", 1, level); },
        [&](const Select &n) -> S {
            return call("select", {n.condition, n.true_value, n.false_value});
        },
        [&](const IntrinsicCall &c) -> S {
            if (c.op == Intrinsic::strict_float) return print(c.args[0], level);
            return call(info_of(c.op).name, c.args);
        },
        [&](const Call &c) -> S { return call(name(c.callee), c.args); },
        otherwise(S("(an expression of the program)")));
}

// The ends of a range as the last coordinate and the first, not as how many there are.
class ByEnds final : public ir::Mutator {
public:
    explicit ByEnds(NamesOf &names) : names(names) {}

private:
    Expr visit(const ir::BufferProperty &p) override {
        if (p.field != BufferField::Extent) return Expr(&p);
        Symbol &max = maxima[{p.buffer, p.dim}];
        if (!max.defined()) {
            max = Symbol::fresh("max");
            auto buffer = names.find(p.buffer);
            names[max] = str(buffer == names.end() ? p.buffer.text() : buffer->second, ".dim[",
                             p.dim, "].max");
        }
        Expr min = ir::BufferProperty::make(p.buffer, BufferField::Min, p.dim);
        return ir::Variable::make(p.type, max) - min + 1;
    }
    NamesOf &names;
    std::map<std::pair<Symbol, int>, Symbol> maxima;
};

std::string number(Type t, uint64_t bits) {
    if (t == Float(64)) return str(std::bit_cast<double>(bits));
    if (t.is_float()) return str(float(ir::float_of_bits(t, bits)));
    if (t.is_bool()) return (bits & 1) ? "true" : "false";
    int unused = 64 - t.bits();
    return t.is_int() ? str(int64_t(bits << unused) >> unused) : str(bits << unused >> unused);
}

bool is_field(const Expr &e, Symbol buffer, BufferField f, int d) {
    const auto *p = e.as<ir::BufferProperty>();
    return p && p->buffer == buffer && p->field == f && p->dim == d;
}

// Returns true if the range is what the buffer has.
bool is_whole(const ir::TouchedRange &r, Symbol buffer, int d) {
    Expr min = ir::BufferProperty::make(buffer, BufferField::Min, d);
    Expr extent = ir::BufferProperty::make(buffer, BufferField::Extent, d);
    return is_field(r.min, buffer, BufferField::Min, d) &&
           ir::is_zero(algebra::simplify(r.max - (min + extent - 1)));
}

}  // namespace

ArgumentTexts::ArgumentTexts(const ir::LoweredFunction &f, const std::vector<Argument> &passed,
                             std::unordered_map<Symbol, std::string> given)
    : function(f), names(std::move(given)) {
    for (const Argument &a : passed) {
        const program::Parameter *p = parameter_of(a);
        if (p && a.kind == ArgumentKind::OutputBuffer) names[p->name] = names[a.name];
    }
}

std::string ArgumentTexts::text(const Expr &e) const { return ExprText(names).print(e); }

std::string ArgumentTexts::text_by_ends(const Expr &e) const {
    NamesOf with_maxima = names;
    return ExprText(with_maxima).print(algebra::simplify(ByEnds(with_maxima)(e)));
}

std::string ArgumentTexts::scalar(const Argument &a) const {
    const program::Parameter *p = parameter_of(a);
    std::string line = str(a.type);
    if (!p) return line;
    auto add = [&](const char *what, const Expr &e) {
        if (e.defined()) line += str(", ", what, " ", text(e));
    };
    if (p->scalar_is_set && !a.type.is_handle()) {
        line += str(", by default ", number(a.type, p->scalar_bits));
    }
    add("at least", p->min_value);
    add("at most", p->max_value);
    add("estimated", p->estimate);
    return line;
}

void ArgumentTexts::add_constraints(std::vector<std::string> &lines, const Argument &a) const {
    const program::Parameter *p = parameter_of(a);
    if (!p) return;
    for (size_t d = 0; d < p->constraints.size(); d++) {
        const program::DimensionConstraint &c = p->constraints[d];
        auto add = [&](const char *what, const Expr &e) {
            if (e.defined()) lines.push_back(str("dim[", d, "].", what, text(e)));
        };
        add("min == ", c.min);
        add("extent == ", c.extent);
        add("stride == ", c.stride);
        add("min is estimated to be ", c.min_estimate);
        add("extent is estimated to be ", c.extent_estimate);
    }
    if (p->host_alignment > a.type.bytes()) {
        lines.push_back(str("host is aligned to ", p->host_alignment, " bytes"));
    }
}

void ArgumentTexts::add_region(std::vector<std::string> &lines, const Argument &a) const {
    bool is_input = a.kind == ArgumentKind::InputBuffer;
    auto found = function.touched.find(a.name);
    if (found == function.touched.end()) {
        if (is_input) lines.emplace_back("nothing of it is read");
        return;
    }
    for (size_t d = 0; d < found->second.size(); d++) {
        const ir::TouchedRange &r = found->second[d];
        std::string dim = str("dim[", d, "]");
        if (!r.unknown.empty()) {
            lines.push_back(str("which part of ", dim, " is ", is_input ? "needed" : "computed",
                                " is not known here: ", r.unknown));
        } else if (is_input || !is_whole(r, a.name, int(d))) {
            std::string min = text_by_ends(r.min), max = text_by_ends(r.max);
            std::string what = str(is_input ? "needs " : "computes ", dim);
            lines.push_back(min == max ? str(what, " at ", min)
                                       : str(what, " from ", min, " to ", max));
        }
    }
}

std::vector<std::string> ArgumentTexts::describe(const Argument &a) const {
    const std::string &name = names.at(a.name);
    if (a.kind == ArgumentKind::Scalar) return {str(name, ": ", scalar(a))};
    const char *role = a.kind == ArgumentKind::InputBuffer ? "input" : "output";
    std::vector<std::string> lines{str(name, ": ", role, ", ", a.dimensions,
                                       a.dimensions == 1 ? " dimension of " : " dimensions of ",
                                       a.type)};
    add_constraints(lines, a);
    add_region(lines, a);
    return lines;
}

}  // namespace tessera::driver
