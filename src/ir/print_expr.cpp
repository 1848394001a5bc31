#include "ir/print_expr.h"
#include "base/str.h"
#include <charconv>
#include <cmath>
#include <iomanip>

namespace tessera::ir::text {
namespace {

// An operator and how tightly it binds; the parser's table of operators says the same.
struct Operator {
    const char *spelling;
    int level;
};

Operator operator_of(NodeKind kind) {
    switch (kind) {
    case NodeKind::Or: return {" || ", 1};
    case NodeKind::And: return {" && ", 2};
    case NodeKind::EQ: return {" == ", 3};
    case NodeKind::NE: return {" != ", 3};
    case NodeKind::LT: return {" < ", 4};
    case NodeKind::LE: return {" <= ", 4};
    case NodeKind::GT: return {" > ", 4};
    case NodeKind::GE: return {" >= ", 4};
    case NodeKind::Add: return {" + ", 5};
    case NodeKind::Sub: return {" - ", 5};
    case NodeKind::Mul: return {" * ", 6};
    case NodeKind::Div: return {" / ", 6};
    case NodeKind::Mod: return {" % ", 6};
    default: return {nullptr, 8};
    }
}

int level_of(const Expr &e) {
    if (e.kind() == NodeKind::Let) return 0;
    if (e.kind() == NodeKind::Not) return 7;
    return operator_of(e.kind()).level;
}

struct Operands {
    const Expr *a, *b;
};

// Returns the operands of a node that operator_of knows.
Operands operands_of(const Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return {&e.as<T>()->a, &e.as<T>()->b};
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    default: throw InternalError("not a binary node");
    }
}

template<typename Float> std::string shortest(Float value) {
    char buffer[64];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string text(buffer, end);
    bool marked = text.find_first_of(".e") != std::string::npos;
    return marked ? text : text + ".0";
}

}  // namespace

void ExprPrinter::print(const Expr &e, int level) {
    if (!e.defined()) {
        out << "<undefined>";
        return;
    }
    if (++printed > options.max_nodes || depth >= options.max_depth) {
        out << "...";
        return;
    }
    depth++;
    bool parentheses = level_of(e) < level;
    if (parentheses) out << '(';
    if (operator_of(e.kind()).spelling) {
        print_binary_chain(e);
    } else if (e.kind() == NodeKind::Let) {
        print_let_chain(e);
    } else {
        print_kind(e);
    }
    if (parentheses) out << ')';
    depth--;
}

void ExprPrinter::print_where(Type wanted, const Expr &e) {
    print(e);
    bool adapts = wanted.defined() && !wanted.is_handle() && wanted != Int(32);
    if (adapts && e.as<IntImm>() && e.type() == Int(32)) out << ":int32";
}

void ExprPrinter::print_kind(const Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return print_node(*e.as<T>());
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("printed an expression of an unknown kind");
    }
}

// A sum of ten thousand terms leans to the left: walk down that side in a loop.
void ExprPrinter::print_binary_chain(const Expr &e) {
    std::vector<const Expr *> chain = {&e};
    for (;;) {
        const Expr &left = *operands_of(*chain.back()).a;
        bool goes_on = left.defined() && operator_of(left.kind()).spelling &&
                       level_of(left) >= level_of(*chain.back());
        if (!goes_on) break;
        chain.push_back(&left);
    }
    print(*operands_of(*chain.back()).a, level_of(*chain.back()));
    for (; !chain.empty(); chain.pop_back()) {
        Operator op = operator_of(chain.back()->kind());
        out << op.spelling;
        print(*operands_of(*chain.back()).b, op.level + 1);
    }
}

void ExprPrinter::print_let_chain(const Expr &e) {
    std::vector<std::pair<Symbol, Type>> outer;
    Expr body = e;
    while (const auto *let = body.as<Let>()) {
        out << "let ";
        name(let->name);
        out << " = ";
        print(let->value, 1);
        out << " in ";
        outer.emplace_back(let->name, types.set(Use::Variable, let->name, let->value.type()));
        body = let->body;
    }
    print(body);
    for (; !outer.empty(); outer.pop_back()) {
        types.set(Use::Variable, outer.back().first, outer.back().second);
    }
}

void ExprPrinter::list(const std::vector<Expr> &all) {
    for (size_t i = 0; i < all.size(); i++) {
        if (i) out << ", ";
        print(all[i]);
    }
}

// The text of the first symbol spelled so, and the text with a number of every other.
const std::string &ExprPrinter::spelling_of(Symbol s) {
    auto [found, is_new] = spellings.try_emplace(s);
    if (is_new) {
        int &number = next_number[s.text()];
        do {
            found->second = number == 0 ? s.text() : str(s.text(), '.', number);
            number++;
        } while (!taken.insert(found->second).second);
    }
    return found->second;
}

void ExprPrinter::name(Symbol s, bool before_parenthesis) {
    const std::string &spelling = spelling_of(s);
    bool plain = is_identifier(spelling) && !(before_parenthesis && is_builtin(spelling));
    if (plain) {
        out << spelling;
        return;
    }
    out << '`';
    for (char c : spelling) {
        if (c == '`' || c == '\\') out << '\\';
        out << c;
    }
    out << '`';
}

// Writes the type of a use if a reader could not know it.
void ExprPrinter::annotate(Use use, Symbol s, Type type, int lanes, int value_index) {
    Type expected = types.expected(use, s, value_index);
    if (use != Use::Variable) expected = expected.with_lanes(lanes);
    if (expected != type) out << ':' << type;
    types.set(use, s, use == Use::Variable ? type : type.element_of(), value_index);
}

void ExprPrinter::print_float(const FloatImm &f) {
    if (std::signbit(f.value)) out << '-';
    double magnitude = std::fabs(f.value);
    if (std::isnan(magnitude)) {
        out << "nan";
    } else if (std::isinf(magnitude)) {
        out << "inf";
    } else if (f.type.bits() == 64) {
        out << shortest(magnitude);
    } else {
        out << shortest(float(magnitude));
    }
}

void ExprPrinter::string(std::string_view value) {
    out << '"';
    for (char c : value) {
        auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out << '\\' << c;
        } else if (c == '\n') {
            out << "\\n";
        } else if (c == '\t') {
            out << "\\t";
        } else if (byte < 32 || byte == 127) {
            constexpr char digits[] = "0123456789abcdef";
            out << "\\x" << digits[byte / 16] << digits[byte % 16];
        } else {
            out << c;
        }
    }
    out << '"';
}

void ExprPrinter::access(Symbol buffer, const Expr &index, const Expr &predicate,
                         Alignment alignment, bool streaming) {
    name(buffer);
    out << '[';
    print(index);
    if (predicate.defined()) {
        out << " if ";
        print(predicate);
    }
    if (alignment != Alignment()) {
        out << " aligned(" << alignment.modulus << ", " << alignment.remainder << ')';
    }
    if (streaming) out << " streaming";
    out << ']';
}

void ExprPrinter::print_node(const IntImm &i) {
    out << i.value;
    if (i.type != Int(32)) out << ':' << i.type;
}

void ExprPrinter::print_node(const UIntImm &i) {
    if (i.type.is_bool()) {
        out << (i.value ? "true" : "false");
    } else {
        out << i.value << ':' << i.type;
    }
}

void ExprPrinter::print_node(const FloatImm &f) {
    print_float(f);
    if (f.type != Float(32)) out << ':' << f.type;
}

void ExprPrinter::print_node(const StringImm &s) { string(s.value); }

void ExprPrinter::print_node(const Variable &v) {
    name(v.name);
    annotate(Use::Variable, v.name, v.type, 1);
}

void ExprPrinter::print_node(const BufferProperty &p) {
    name(p.buffer);
    out << '.' << name_of(p.field);
    bool has_dim = p.field == BufferField::Min || p.field == BufferField::Extent ||
                   p.field == BufferField::Stride || p.dim != 0;
    if (has_dim) out << '[' << p.dim << ']';
}

void ExprPrinter::print_node(const Cast &c) {
    out << c.type << '(';
    print(c.value);
    out << ')';
}

void ExprPrinter::print_node(const Reinterpret &r) {
    out << "reinterpret " << r.type << '(';
    print(r.value);
    out << ')';
}

template<typename T> void ExprPrinter::builtin(const char *function, const T &binary) {
    out << function << '(';
    print(binary.a);
    out << ", ";
    print(binary.b);
    out << ')';
}

void ExprPrinter::print_node(const Min &m) { builtin("min", m); }
void ExprPrinter::print_node(const Max &m) { builtin("max", m); }

#define AS_OPERATOR(T)                                                                             \
    void ExprPrinter::print_node(const T &node) { print_binary_chain(Expr(&node)); }
// clang-format off
AS_OPERATOR(Add) AS_OPERATOR(Sub) AS_OPERATOR(Mul) AS_OPERATOR(Div) AS_OPERATOR(Mod) AS_OPERATOR(EQ)
AS_OPERATOR(NE) AS_OPERATOR(LT) AS_OPERATOR(LE) AS_OPERATOR(GT) AS_OPERATOR(GE) AS_OPERATOR(And)
AS_OPERATOR(Or)
// clang-format on
#undef AS_OPERATOR

void ExprPrinter::print_node(const Let &l) { print_let_chain(Expr(&l)); }

void ExprPrinter::print_node(const Not &n) {
    out << '!';
    print(n.a, 7);
}

void ExprPrinter::print_node(const Select &s) {
    out << "select(";
    print(s.condition);
    out << ", ";
    print(s.true_value);
    out << ", ";
    print(s.false_value);
    out << ')';
}

void ExprPrinter::print_node(const Load &l) {
    access(l.buffer, l.index, l.predicate, l.alignment, l.streaming);
    annotate(Use::Buffer, l.buffer, l.type, l.index.type().lanes());
}

void ExprPrinter::print_node(const Ramp &r) {
    out << "ramp(";
    print(r.base);
    out << ", ";
    print(r.stride);
    out << ", " << r.lanes << ')';
}

void ExprPrinter::print_node(const Broadcast &b) {
    out << 'x' << b.lanes << '(';
    print(b.value);
    out << ')';
}

void ExprPrinter::print_node(const Call &c) {
    if (c.call_kind == CallKind::Image) out << "image ";
    name(c.callee, true);
    out << '(';
    list(c.args);
    out << ')';
    if (c.value_index != 0) out << '.' << c.value_index;
    annotate(Use::Value, c.callee, c.type, c.args.empty() ? 1 : c.args[0].type().lanes(),
             c.value_index);
}

void ExprPrinter::print_node(const IntrinsicCall &c) {
    out << info_of(c.op).name << '(';
    list(c.args);
    out << ')';
    if (c.type != usual_type(c.op, c.args)) out << ':' << c.type;
}

void ExprPrinter::print_node(const ExternCall &c) {
    out << (c.pure ? "pure extern " : "extern ") << c.type << ' ';
    if (is_identifier(c.function)) {
        out << c.function;
    } else {
        string(c.function);
    }
    out << '(';
    list(c.args);
    out << ')';
}

void ExprPrinter::print_node(const Shuffle &s) {
    bool concat = s.is_concat(), interleave = !concat && s.is_interleave();
    int stride = s.indices.size() > 1 ? s.indices[1] - s.indices[0] : 1;
    bool identity =
        s.indices[0] == 0 && stride == 1 && int(s.indices.size()) == s.vectors[0].type().lanes();
    bool slice = s.is_slice() && !identity;  // a slice of everything is read as the vector itself
    out << (concat ? "concat(" : interleave ? "interleave(" : slice ? "slice(" : "shuffle(");
    list(s.vectors);
    if (slice) {
        out << ", " << s.indices[0] << ", " << stride << ", " << s.indices.size();
    } else if (!concat && !interleave) {
        out << ", [" << join(s.indices) << ']';
    }
    out << ')';
}

void ExprPrinter::print_node(const VectorReduce &r) {
    out << "vector_reduce(" << name_of(r.op) << ", ";
    print(r.value);
    out << ", " << r.lanes << ')';
}

}  // namespace tessera::ir::text
