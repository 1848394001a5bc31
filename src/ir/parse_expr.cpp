#include "ir/parse_expr.h"
#include "ir/operators.h"
#include <charconv>
#include <limits>

namespace tessera::ir {

Symbol NamedSymbols::operator[](std::string_view spelling) {
    Symbol &s = symbols[std::string(spelling)];
    if (!s.defined()) s = Symbol::fresh(spelling);
    return s;
}

void NamedSymbols::bind(std::string_view spelling, Symbol symbol) {
    symbols[std::string(spelling)] = symbol;
}

namespace text {
namespace {

using Make = Expr (*)(Expr, Expr);
struct OperatorRow {
    std::string_view spelling;
    int level;
    Make make;
};
constexpr OperatorRow operators[] = {{"||", 1, Or::make}, {"&&", 2, And::make}, {"==", 3, EQ::make},
                                     {"!=", 3, NE::make}, {"<", 4, LT::make},   {"<=", 4, LE::make},
                                     {">", 4, GT::make},  {">=", 4, GE::make},  {"+", 5, Add::make},
                                     {"-", 5, Sub::make}, {"*", 6, Mul::make},  {"/", 6, Div::make},
                                     {"%", 6, Mod::make}};

const OperatorRow *find_operator(const Token &t) {
    if (t.kind != TokenKind::Symbol) return nullptr;
    for (const OperatorRow &row : operators) {
        if (row.spelling == t.text) return &row;
    }
    return nullptr;
}

template<typename Enum> bool find_named(std::string_view word, int count, Enum &found) {
    for (int i = 0; i < count; i++) {
        if (name_of(Enum(i)) != word) continue;
        found = Enum(i);
        return true;
    }
    return false;
}

template<typename Float> Float parse_float(const std::string &text) {
    Float value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc::result_out_of_range) return value;
    bool tiny = text.find("e-") != std::string::npos;
    return tiny ? Float(0) : std::numeric_limits<Float>::infinity();
}

}  // namespace

const Token &ExprParser::peek(size_t ahead) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
}

const Token &ExprParser::previous() const { return tokens[position == 0 ? 0 : position - 1]; }

const Token &ExprParser::take() {
    const Token &t = peek();
    if (position + 1 < tokens.size()) position++;
    return t;
}

bool ExprParser::at(std::string_view word, size_t ahead) const {
    const Token &t = peek(ahead);
    return (t.kind == TokenKind::Word || t.kind == TokenKind::Symbol) && t.text == word;
}

bool ExprParser::accept(std::string_view word) {
    if (!at(word)) return false;
    take();
    return true;
}

void ExprParser::expect(std::string_view word) {
    if (!accept(word)) fail(str('\'', word, '\''));
}

void ExprParser::fail(const std::string &expected) const {
    fail_at(peek(), str("expected ", expected, ", found ", describe(peek())));
}

Symbol ExprParser::name() {
    bool is_name = at(TokenKind::QuotedName) || (at(TokenKind::Word) && !is_keyword(peek().text));
    if (!is_name) fail("a name");
    return scope[take().text];
}

Type ExprParser::type() {
    Type t;
    bool is_type = (at(TokenKind::Word) || at(TokenKind::TypeSuffix)) && read_type(peek().text, t);
    if (!is_type) fail("a type, such as int32 or uint8x16");
    take();
    return t;
}

int64_t ExprParser::long_integer() {
    bool negative = accept("-");
    if (!at(TokenKind::Integer)) fail("an integer");
    std::string digits = (negative ? "-" : "") + peek().text;
    int64_t value = 0;
    auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) fail("an integer of 64 bits");
    take();
    return value;
}

int ExprParser::integer() {
    const Token &where = peek();
    int64_t value = long_integer();
    if (!Int(32).can_represent(value)) fail_at(where, "expected an integer of 32 bits");
    return int(value);
}

Expr ExprParser::parse_all() {
    Expr e = expr();
    if (!at(TokenKind::EndOfText)) fail("an operator or the end of the text");
    return e;
}

Expr ExprParser::expr() {
    if (at("let")) return let_chain();
    return binary(1).e;
}

Expr ExprParser::expr_of(Type wanted) {
    if (at("let")) return let_chain();
    const Token &where = peek();
    Operand parsed = binary(1);
    return parsed.bare_number ? with_type(wanted, parsed.e, where) : parsed.e;
}

std::vector<Expr> ExprParser::exprs(std::string_view end) {
    std::vector<Expr> all;
    list(end, [&] { all.push_back(expr()); });
    return all;
}

Expr ExprParser::let_chain() {
    Nested nested(*this);
    struct Open {
        Symbol name;
        Expr value;
        Type outer;
    };
    std::vector<Open> chain;
    while (accept("let")) {
        Symbol s = name();
        expect("=");
        Expr value = expr();
        expect("in");
        chain.push_back({s, value, types.set(Use::Variable, s, value.type())});
    }
    Expr body = expr();
    for (; !chain.empty(); chain.pop_back()) {
        Open &open = chain.back();
        types.set(Use::Variable, open.name, open.outer);
        body = Let::make(open.name, open.value, body);
    }
    return body;
}

// A number without a type is made one of the wanted type, in all lanes.
Expr ExprParser::with_type(Type wanted, const Expr &number, const Token &where) {
    int64_t value = as_const_int(number).value();
    if (!wanted.defined() || wanted.is_handle() || wanted == number.type()) return number;
    if (!wanted.element_of().can_represent(value)) {
        fail_at(where, str(value, " is not a value of the type ", wanted, " that is expected"));
    }
    return make_const(wanted, value);
}

void ExprParser::match(Operand &a, Operand &b, const Token &where, const std::string &what) {
    if (a.bare_number && !b.bare_number) a.e = with_type(b.e.type(), a.e, where);
    if (b.bare_number && !a.bare_number) b.e = with_type(a.e.type(), b.e, where);
    if (a.e.type() == b.e.type()) return;
    fail_at(where, str("the operands of ", what, " have the types ", a.e.type(), " and ",
                       b.e.type(), "; they must have the same"));
}

ExprParser::Operand ExprParser::binary(int level) {
    Operand left = unary();
    for (;;) {
        const OperatorRow *op = find_operator(peek());
        if (!op || op->level < level) break;
        const Token &where = take();
        Operand right = binary(op->level + 1);
        match(left, right, where, std::string(op->spelling));
        left = {checked([&] { return op->make(left.e, right.e); })};
    }
    return left;
}

ExprParser::Operand ExprParser::unary() {
    Nested nested(*this);
    if (accept("!")) {
        Operand value = unary();
        return {checked([&] { return Not::make(value.e); })};
    }
    if (!at("-")) return bare_or_not();
    bool literal = peek(1).kind == TokenKind::Integer || peek(1).kind == TokenKind::Real ||
                   at("inf", 1) || at("nan", 1);
    if (literal) return bare_or_not();
    take();
    Expr value = unary().e;
    return {checked([&] { return Sub::make(make_zero(value.type()), value); })};
}

ExprParser::Operand ExprParser::bare_or_not() {
    size_t digits = at("-") ? 1 : 0;
    bool bare =
        peek(digits).kind == TokenKind::Integer && peek(digits + 1).kind != TokenKind::TypeSuffix;
    return {operand(), bare};
}

Expr ExprParser::operand() {
    if (at(TokenKind::String)) return StringImm::make(take().text);
    if (accept("(")) {
        Expr e = expr();
        expect(")");
        return e;
    }
    if (accept("true")) return const_true();
    if (accept("false")) return const_false();
    bool negative = accept("-");
    bool is_number = at(TokenKind::Integer) || at(TokenKind::Real) || at("inf") || at("nan");
    if (is_number) return number(negative);
    return word();
}

Expr ExprParser::number(bool negative) {
    const Token &digits = take();
    if (digits.kind == TokenKind::Word) {
        bool infinite = digits.text == "inf";
        return real(negative,
                    infinite ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN(),
                    digits);
    }
    if (digits.kind == TokenKind::Real) return real(negative, 0, digits);
    Type t = at(TokenKind::TypeSuffix) ? type() : Int(32);
    uint64_t magnitude = 0;
    const char *end = digits.text.data() + digits.text.size();
    bool fits = std::from_chars(digits.text.data(), end, magnitude).ec == std::errc();
    uint64_t limit = t.is_int() ? uint64_t(t.max_int()) + negative : t.max_uint();
    if (!t.is_int_or_uint() || t.is_vector()) {
        fail_at(digits, str("an integer cannot have the type ", t));
    }
    if (!fits || magnitude > limit || (negative && t.is_uint() && magnitude > 0)) {
        fail_at(digits, str(negative ? "-" : "", digits.text, " is not a value of type ", t));
    }
    if (t.is_uint()) return UIntImm::make(t, magnitude);
    return IntImm::make(t, int64_t(negative ? 0 - magnitude : magnitude));
}

Expr ExprParser::real(bool negative, double not_a_digit, const Token &digits) {
    Type t = at(TokenKind::TypeSuffix) ? type() : Float(32);
    if (!t.is_float() || t.is_vector()) {
        fail_at(digits, str("a floating-point number cannot have the type ", t));
    }
    double value = digits.kind != TokenKind::Real ? not_a_digit
                   : t.bits() == 64               ? parse_float<double>(digits.text)
                                                  : parse_float<float>(digits.text);
    return FloatImm::make(t, negative ? -value : value);
}

Expr ExprParser::word() {
    if (accept("pure")) {
        expect("extern");
        return extern_call(true);
    }
    if (accept("extern")) return extern_call(false);
    if (accept("image")) return call(CallKind::Image);
    if (accept("reinterpret")) {
        Type t = type();
        expect("(");
        Expr value = expr();
        expect(")");
        return checked([&] { return Reinterpret::make(t, value); });
    }
    bool is_call = at("(", 1);
    // Tested before names: `prefetch`, which begins a statement, is called too.
    if (is_call && at(TokenKind::Word) && is_builtin(peek().text)) {
        std::string function = take().text;
        take();
        return builtin(function);
    }
    bool is_name = at(TokenKind::QuotedName) || (at(TokenKind::Word) && !is_keyword(peek().text));
    if (!is_name) fail("an expression");
    if (is_call) return call(CallKind::Func);
    if (at("[", 1)) return load();
    if (at(".", 1)) return property();
    return variable();
}

// A call of something that is no Func; the parenthesis has been taken.
Expr ExprParser::builtin(const std::string &word) {
    Intrinsic op;
    if (find_intrinsic(word, op)) return intrinsic(op);
    if (word == "min" || word == "max") return min_or_max(word == "min");
    if (word == "select") return select();
    if (word == "vector_reduce") return vector_reduce();
    if (word == "shuffle" || word == "concat" || word == "interleave" || word == "slice") {
        return shuffle(word);
    }
    Type t;
    int lanes = 0;
    if (word == "ramp") {
        Expr base = expr();
        expect(",");
        Expr stride = expr_of(base.type());
        expect(",");
        lanes = integer();
        expect(")");
        return checked([&] { return Ramp::make(base, stride, lanes); });
    }
    Expr value = expr();
    expect(")");
    if (read_lanes(word, lanes)) return checked([&] { return Broadcast::make(value, lanes); });
    if (!read_type(word, t)) fail(str("no such function as ", word));
    return checked([&] { return Cast::make(t, value); });
}

Expr ExprParser::min_or_max(bool is_min) {
    const Token &where = peek();
    Operand a = at("let") ? Operand{expr()} : binary(1);
    expect(",");
    Operand b = at("let") ? Operand{expr()} : binary(1);
    expect(")");
    match(a, b, where, is_min ? "min" : "max");
    return is_min ? Min::make(a.e, b.e) : Max::make(a.e, b.e);
}

Expr ExprParser::select() {
    Expr condition = expr();
    expect(",");
    const Token &where = peek();
    Operand a = at("let") ? Operand{expr()} : binary(1);
    expect(",");
    Operand b = at("let") ? Operand{expr()} : binary(1);
    expect(")");
    match(a, b, where, "select");
    return checked([&] { return Select::make(condition, a.e, b.e); });
}

Expr ExprParser::shuffle(const std::string &word) {
    std::vector<Expr> vectors;
    if (word == "concat" || word == "interleave") {
        vectors = exprs(")");
        return checked([&] {
            return word == "concat" ? Shuffle::make_concat(vectors)
                                    : Shuffle::make_interleave(vectors);
        });
    }
    vectors.push_back(expr());
    expect(",");
    if (word == "slice") {
        int begin = integer();
        expect(",");
        int stride = integer();
        expect(",");
        int size = integer();
        expect(")");
        return checked([&] { return Shuffle::make_slice(vectors[0], begin, stride, size); });
    }
    for (; !at("["); expect(",")) vectors.push_back(expr());
    take();
    std::vector<int> indices;
    list("]", [&] { indices.push_back(integer()); });
    expect(")");
    return checked([&] { return Shuffle::make(vectors, indices); });
}

Expr ExprParser::vector_reduce() {
    ReduceOp op;
    if (!find_named(peek().text, 7, op)) {
        fail("one of add, saturating_add, mul, min, max, and, or");
    }
    take();
    expect(",");
    Expr value = expr();
    expect(",");
    int lanes = integer();
    expect(")");
    return checked([&] { return VectorReduce::make(op, value, lanes); });
}

Expr ExprParser::intrinsic(Intrinsic op) {
    std::vector<Expr> args = exprs(")");
    Type t = at(TokenKind::TypeSuffix) ? type() : usual_type(op, args);
    return checked([&] { return IntrinsicCall::make(t, op, args); });
}

Expr ExprParser::extern_call(bool pure) {
    Type t = type();
    if (!at(TokenKind::Word) && !at(TokenKind::String)) fail("the name of a C function");
    std::string function = take().text;
    expect("(");
    std::vector<Expr> args = exprs(")");
    return checked([&] { return ExternCall::make(t, function, args, pure); });
}

// The type of a use of a name: written, or as known.
Type ExprParser::annotated(Use use, Symbol s, int lanes, int value_index) {
    Type t = types.expected(use, s, value_index);
    if (use != Use::Variable) t = t.with_lanes(lanes);
    if (at(TokenKind::TypeSuffix)) t = type();
    types.set(use, s, use == Use::Variable ? t : t.element_of(), value_index);
    return t;
}

Expr ExprParser::call(CallKind kind) {
    Symbol callee = name();
    expect("(");
    std::vector<Expr> args = exprs(")");
    int value_index = 0;
    if (accept(".")) {
        const Token &where = peek();
        value_index = integer();
        if (value_index < 0 || value_index > 1000) fail_at(where, "expected a value's index");
    }
    Type t = annotated(Use::Value, callee, args.empty() ? 1 : args[0].type().lanes(), value_index);
    return checked([&] { return Call::make(t, callee, kind, value_index, args); });
}

ExprParser::Access ExprParser::access() {
    Access a;
    a.buffer = name();
    expect("[");
    a.index = expr();
    if (accept("if")) a.predicate = expr();
    if (accept("aligned")) {
        expect("(");
        a.alignment.modulus = long_integer();
        expect(",");
        a.alignment.remainder = long_integer();
        expect(")");
    }
    a.streaming = accept("streaming");
    expect("]");
    return a;
}

Expr ExprParser::load() {
    Access a = access();
    Type t = annotated(Use::Buffer, a.buffer, a.index.type().lanes());
    return checked(
        [&] { return Load::make(t, a.buffer, a.index, a.predicate, a.alignment, a.streaming); });
}

Expr ExprParser::property() {
    Symbol buffer = name();
    expect(".");
    BufferField field;
    if (!find_named(peek().text, 8, field)) {
        fail("one of min, extent, stride, host, dimensions, type_code, type_bits, device");
    }
    take();
    bool has_dim = field == BufferField::Min || field == BufferField::Extent ||
                   field == BufferField::Stride || at("[");
    int dim = 0;
    if (has_dim) {
        expect("[");
        dim = integer();
        expect("]");
    }
    return checked([&] { return BufferProperty::make(buffer, field, dim); });
}

Expr ExprParser::variable() {
    Symbol s = name();
    Type t = annotated(Use::Variable, s, 1);
    return checked([&] { return Variable::make(t, s); });
}

}  // namespace text

Expr parse_expr(std::string_view text, NamedSymbols &scope) {
    return text::ExprParser(text::split(text, false), scope).parse_all();
}

Expr parse_expr(std::string_view text) {
    NamedSymbols scope;
    return parse_expr(text, scope);
}

}  // namespace tessera::ir
