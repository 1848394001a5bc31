#include "algebra/constant_interval.h"
#include "algebra/rules/rules.h"
#include "algebra/simplify.h"
#include "algebra/support.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include <cmath>
#include <doctest/doctest.h>
#include <z3++.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::algebra;
using namespace tessera::algebra::rules;
using namespace tessera::algebra::testing;

namespace {

bool is_comparison(NodeKind k) { return k >= NodeKind::EQ && k <= NodeKind::GE; }
bool is_logic(NodeKind k) { return k == NodeKind::And || k == NodeKind::Or || k == NodeKind::Not; }

std::string text_of(const PatternNode &p) {
    auto operand = [&](size_t i) { return text_of(*p.operands[i]); };
    switch (p.form) {
    case PatternNode::Wild: return std::string(1, "xyzwqr"[p.index]);
    case PatternNode::Constant: return str("c", p.index);
    case PatternNode::Literal: return str(p.value);
    case PatternNode::Folded: return str("fold(", operand(0), ")");
    case PatternNode::Operation: break;
    }
    static const std::unordered_map<int, const char *> infix{
        {int(NodeKind::Add), " + "},  {int(NodeKind::Sub), " - "}, {int(NodeKind::Mul), " * "},
        {int(NodeKind::Div), " / "},  {int(NodeKind::Mod), " % "}, {int(NodeKind::EQ), " == "},
        {int(NodeKind::NE), " != "},  {int(NodeKind::LT), " < "},  {int(NodeKind::LE), " <= "},
        {int(NodeKind::And), " && "}, {int(NodeKind::Or), " || "}};
    auto found = infix.find(int(p.op));
    if (found != infix.end()) return str("(", operand(0), found->second, operand(1), ")");
    if (p.op == NodeKind::Not) return str("!", operand(0));
    if (p.op == NodeKind::Select) {
        return str("select(", operand(0), ", ", operand(1), ", ", operand(2), ")");
    }
    return str(p.op == NodeKind::Min ? "min(" : "max(", operand(0), ", ", operand(1), ")");
}

std::string text_of(const Rule &r) {
    std::string text = str(text_of(*r.before.share()), " -> ", text_of(*r.after.share()));
    if (r.condition.defined()) text += str(" if ", text_of(*r.condition.share()));
    return text;
}

// Which wildcards and constants stand for numbers, which for booleans.
struct Sorts {
    std::array<int, 6> wild{};  // 0: unused, 1: number, 2: boolean
    std::array<bool, 4> constant{};
    bool consistent = true;

    // `boolean`: what the context wants of p; `numbers`: whether operands of comparisons are.
    void visit(const PatternNode &p, bool boolean, bool compare_booleans) {
        if (p.form == PatternNode::Wild) {
            int sort = boolean ? 2 : 1;
            if (wild[p.index] != 0 && wild[p.index] != sort) consistent = false;
            wild[p.index] = sort;
        }
        if (p.form == PatternNode::Constant) constant[p.index] = true;
        for (size_t i = 0; i < p.operands.size(); i++) {
            bool operand = boolean;
            if (p.form == PatternNode::Operation) {
                if (is_comparison(p.op)) operand = compare_booleans;
                if (is_logic(p.op)) operand = true;
                if (p.op == NodeKind::Select && i == 0) operand = true;
            }
            visit(*p.operands[i], operand, compare_booleans);
        }
    }
};

struct Shape {
    Sorts sorts;
    bool root_boolean = false;      // the value of the whole
    bool compare_booleans = false;  // comparisons are of booleans

    explicit Shape(const Rule &r) {
        NodeKind root = r.before->op;
        bool domain = r.domain == Domain::Boolean;
        root_boolean = is_comparison(root) || is_logic(root) || domain;
        compare_booleans = domain && is_comparison(root);
        sorts.visit(*r.before.share(), root_boolean, compare_booleans);
        sorts.visit(*r.after.share(), root_boolean, compare_booleans);
    }
};

// ---- by random operands ----

struct Instance {
    Type number;
    std::array<Expr, 6> wild;
    Bindings constants;
    bool compare_booleans = false;
};

Expr instantiate(const PatternNode &p, Type t, const Instance &m) {
    auto operand = [&](size_t i, Type u) { return instantiate(*p.operands[i], u, m); };
    switch (p.form) {
    case PatternNode::Wild: return m.wild[p.index];
    case PatternNode::Constant: return m.constants.constant[p.index];
    case PatternNode::Literal: return make_const(t, p.value);
    case PatternNode::Folded: return rules::folded(p, m.constants, t);
    case PatternNode::Operation: break;
    }
    Type compared = m.compare_booleans ? Bool() : m.number;
    Type u = is_comparison(p.op) ? compared : is_logic(p.op) ? Bool() : t;
    Expr a = operand(0, p.op == NodeKind::Select ? Bool() : u);
    if (p.op == NodeKind::Not) return a.defined() ? Not::make(a) : a;
    Expr b = operand(1, u);
    if (!a.defined() || !b.defined()) return {};
    if (p.op == NodeKind::Select) {
        Expr c = operand(2, u);
        return c.defined() ? Select::make(a, b, c) : c;
    }
    switch (p.op) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return T::make(a, b);
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    default: return {};
    }
}

std::vector<Type> types_for(Domain d) {
    switch (d) {
    case Domain::Any:
        return {Int(32), UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(64), Float(32)};
    case Domain::Integer: return {Int(32), UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(64)};
    case Domain::Wide:
    case Domain::Exact: return {Int(32), Int(64)};
    case Domain::Boolean: return {Int(32), UInt(8), Int(16)};
    }
    return {};
}

bool has_constants(const Sorts &s) {
    for (bool c : s.constant) {
        if (c) return true;
    }
    return false;
}

Expr random_number(Random &random, Type t) {
    if (t.is_float()) {
        static const std::vector<double> special{NAN, INFINITY, -INFINITY, -0.0, 1e8, 0.1, -3e38};
        if (random.chance(30)) return make_float_const(t, special[size_t(random.between(0, 6))]);
        return make_float_const(t, double(random.between(-12, 12)) / 2);
    }
    static const std::vector<int64_t> extremes{-128, 127, 255, -32768, 65535, 100, -100};
    bool extreme = t.bits() < 32 && random.chance(30);
    return make_const(t, extreme ? random.pick(extremes) : random.between(-9, 9));
}

// Returns any number of the type for data, which wraps; else a small one.
Expr random_number(Random &random, Type t, bool is_data) {
    return is_data ? extreme_number(random, t) : random_number(random, t);
}

// Whatever the bits of a NaN.
bool same_value(const Expr &a, const Expr &b) {
    const auto *x = a.as<FloatImm>(), *y = b.as<FloatImm>();
    return equal(a, b) || (x && y && std::isnan(x->value) && std::isnan(y->value));
}

// What goes wrong with the rule for random operands; "" if nothing.
std::string try_rule(const Rule &r, Random &random, int &tried) {
    Shape shape(r);
    for (Type t : types_for(r.domain)) {
        if (t.is_float() && has_constants(shape.sorts)) continue;
        Instance m;
        m.number = t;
        const bool is_data =
            r.domain != Domain::Exact && t.is_int() && t.bits() >= 32 && random.chance(60);
        m.compare_booleans = shape.compare_booleans;
        Values values;
        for (size_t i = 0; i < m.wild.size(); i++) {
            if (!shape.sorts.wild[i]) continue;
            Type u = shape.sorts.wild[i] == 2 ? Bool() : t;
            Symbol name = Symbol::interned(str("wild", i));
            m.wild[i] = Variable::make(u, name);
            if (is_data && !u.is_bool()) m.wild[i] = as_data(m.wild[i]);
            values[name] =
                u.is_bool() ? Expr(random.chance(50)) : random_number(random, t, is_data);
        }
        for (size_t i = 0; i < shape.sorts.constant.size(); i++) {
            if (!shape.sorts.constant[i]) continue;
            m.constants.constant[i] = random_number(random, t, is_data);
        }
        if (r.condition.defined()) {
            auto holds = rules::value_of(*r.condition.share(), m.constants);
            if (!holds || !*holds) continue;
        }
        Type root = shape.root_boolean ? Bool() : t;
        Expr before = instantiate(*r.before.share(), root, m);
        Expr after = instantiate(*r.after.share(), root, m);
        if (!before.defined() || !after.defined()) continue;
        const Overflow overflow = is_data ? Overflow::Wraps : Overflow::HasNoValue;
        auto u = evaluate(before, values, overflow), v = evaluate(after, values, overflow);
        if (!u || !v) continue;
        tried++;
        if (!same_value(u->at(0), v->at(0))) {
            return str(text_of(r), " for ", t, ": ", to_string(before), " is ", to_string(u->at(0)),
                       ", ", to_string(after), " is ", to_string(v->at(0)));
        }
        // What the simplifier makes of it is right, too.
        auto w = evaluate(simplify(before), values, overflow);
        if (!w || !same_value(w->at(0), u->at(0))) {
            return str("simplify(", to_string(before), ") is ", to_string(simplify(before)));
        }
    }
    return "";
}

// ---- by Z3 ----

enum class Numbers { Integers, SignedBytes, UnsignedBytes };

class Prover {
public:
    Prover(z3::context &c, const Shape &shape, Numbers numbers)
        : c(c), shape(shape), numbers(numbers) {}

    z3::expr number(int64_t v) {
        return numbers == Numbers::Integers ? c.int_val(v) : c.bv_val(int(v), 8);
    }
    z3::expr variable(const std::string &name) {
        return numbers == Numbers::Integers ? c.int_const(name.c_str())
                                            : c.bv_const(name.c_str(), 8);
    }
    z3::expr less(const z3::expr &a, const z3::expr &b) {
        return numbers == Numbers::UnsignedBytes ? z3::ult(a, b) : a < b;
    }
    z3::expr less_equal(const z3::expr &a, const z3::expr &b) { return !less(b, a); }

    z3::expr divide(const z3::expr &a, const z3::expr &b, bool quotient) {
        z3::expr zero = number(0), one = number(1);
        z3::expr q = zero, r = zero;
        if (numbers == Numbers::Integers) {
            q = a / b;  // SMT-LIB's are Euclidean
            r = z3::mod(a, b);
        } else if (numbers == Numbers::UnsignedBytes) {
            q = z3::udiv(a, b);
            r = z3::urem(a, b);
        } else {
            z3::expr t = z3::srem(a, b);
            q = z3::ite(t < zero, z3::ite(b > zero, a / b - one, a / b + one), a / b);
            r = z3::ite(t < zero, z3::ite(b > zero, t + b, t - b), t);
        }
        return z3::ite(b == zero, zero, quotient ? q : r);
    }

    z3::expr encode(const PatternNode &p, bool boolean) {
        switch (p.form) {
        case PatternNode::Wild:
            return boolean ? c.bool_const(str("w", p.index).c_str()) : variable(str("w", p.index));
        case PatternNode::Constant: return variable(str("c", p.index));
        case PatternNode::Literal: return boolean ? c.bool_val(p.value != 0) : number(p.value);
        case PatternNode::Folded: return folded(p, boolean);
        case PatternNode::Operation: break;
        }
        bool operands = is_comparison(p.op) ? shape.compare_booleans : boolean || is_logic(p.op);
        z3::expr a = encode(*p.operands[0], p.op == NodeKind::Select || operands);
        if (p.op == NodeKind::Not) return !a;
        z3::expr b = encode(*p.operands[1], operands);
        if (p.op == NodeKind::Select) return z3::ite(a, b, encode(*p.operands[2], operands));
        if (operands && !is_logic(p.op)) return on_booleans(p.op, a, b);
        switch (p.op) {
        case NodeKind::Add: return a + b;
        case NodeKind::Sub: return a - b;
        case NodeKind::Mul: return a * b;
        case NodeKind::Div: return divide(a, b, true);
        case NodeKind::Mod: return divide(a, b, false);
        case NodeKind::Min: return z3::ite(less(a, b), a, b);
        case NodeKind::Max: return z3::ite(less(a, b), b, a);
        case NodeKind::EQ: return a == b;
        case NodeKind::NE: return a != b;
        case NodeKind::LT: return less(a, b);
        case NodeKind::LE: return less_equal(a, b);
        case NodeKind::And: return a && b;
        default: return a || b;
        }
    }

    // A constant that does not fit a wide type is none, and the rule is not applied.
    z3::expr folded(const PatternNode &p, bool boolean) {
        const PatternNode &sum = *p.operands[0];
        const z3::expr result = encode(sum, boolean);
        const bool fits_always = numbers != Numbers::SignedBytes || !folds_fit || boolean ||
                                 sum.form != PatternNode::Operation || is_comparison(sum.op);
        if (fits_always) return result;
        const z3::expr a = z3::sext(encode(*sum.operands[0], false), 8),
                       b = z3::sext(encode(*sum.operands[1], false), 8);
        const z3::expr wide = sum.op == NodeKind::Add   ? a + b
                              : sum.op == NodeKind::Sub ? a - b
                              : sum.op == NodeKind::Mul ? a * b
                                                        : z3::sext(result, 8);
        assumed.push_back(wide == z3::sext(result, 8));
        return result;
    }

    z3::expr on_booleans(NodeKind op, const z3::expr &a, const z3::expr &b) {
        switch (op) {
        case NodeKind::Min: return a && b;
        case NodeKind::Max: return a || b;
        case NodeKind::EQ: return a == b;
        case NodeKind::NE: return a != b;
        case NodeKind::LT: return !a && b;
        default: return !a || b;
        }
    }

    // unsat: the rule holds.
    z3::check_result refute(const Rule &r) {
        z3::solver solver(c);
        z3::params params(c);
        params.set("rlimit", 1500000u);  // of steps, not of time: the same on every machine
        solver.set(params);
        bool boolean = shape.root_boolean;
        if (r.condition.defined()) solver.add(encode_condition(*r.condition.share()));
        folds_fit = r.domain == Domain::Wide;
        solver.add(encode(*r.before.share(), boolean) != encode(*r.after.share(), boolean));
        for (const z3::expr &fits : assumed) solver.add(fits);
        return solver.check();
    }

    z3::expr encode_condition(const PatternNode &p) {
        // A condition is about numbers, whatever the rule is about.
        if (p.form != PatternNode::Operation) return encode(p, false);
        if (p.op == NodeKind::And) {
            return encode_condition(*p.operands[0]) && encode_condition(*p.operands[1]);
        }
        z3::expr a = encode_condition(*p.operands[0]), b = encode_condition(*p.operands[1]);
        switch (p.op) {
        case NodeKind::EQ: return a == b;
        case NodeKind::NE: return a != b;
        case NodeKind::LT: return less(a, b);
        case NodeKind::LE: return less_equal(a, b);
        case NodeKind::Mod: return divide(a, b, false);
        default: throw InternalError("a condition that the proof cannot express");
        }
    }

private:
    z3::context &c;
    const Shape &shape;
    Numbers numbers;
    bool folds_fit = false;
    std::vector<z3::expr> assumed;
};

// ---- by trying all small numbers ----

class Exhaustive {
public:
    explicit Exhaustive(const Rule &r) : rule(r), shape(r) {}

    bool holds() {
        std::vector<int64_t *> numbers;
        for (size_t i = 0; i < wild.size(); i++) {
            if (shape.sorts.wild[i]) numbers.push_back(&wild[i]);
        }
        for (size_t i = 0; i < constant.size(); i++) {
            if (shape.sorts.constant[i]) numbers.push_back(&constant[i]);
        }
        int64_t reach = numbers.size() <= 3 ? 12 : numbers.size() == 4 ? 6 : 3;
        return try_from(numbers, 0, reach);
    }

private:
    bool try_from(std::vector<int64_t *> &numbers, size_t i, int64_t reach) {
        if (i == numbers.size()) {
            if (rule.condition.defined() && !value(*rule.condition.share())) return true;
            return value(*rule.before.share()) == value(*rule.after.share());
        }
        for (*numbers[i] = -reach; *numbers[i] <= reach; ++*numbers[i]) {
            if (!try_from(numbers, i + 1, reach)) return false;
        }
        return true;
    }

    int64_t value(const PatternNode &p) {
        switch (p.form) {
        case PatternNode::Wild:
            return shape.sorts.wild[p.index] == 2 ? wild[p.index] > 0 : wild[p.index];
        case PatternNode::Constant: return constant[p.index];
        case PatternNode::Literal: return p.value;
        case PatternNode::Folded: return value(*p.operands[0]);
        case PatternNode::Operation: break;
        }
        int64_t a = value(*p.operands[0]);
        if (p.op == NodeKind::Not) return !a;
        if (p.op == NodeKind::Select) return value(*p.operands[a ? 1 : 2]);
        int64_t b = value(*p.operands[1]);
        switch (p.op) {
        case NodeKind::Add: return a + b;
        case NodeKind::Sub: return a - b;
        case NodeKind::Mul: return a * b;
        case NodeKind::Div: return euclidean_div(a, b);
        case NodeKind::Mod: return euclidean_mod(a, b);
        case NodeKind::Min: return std::min(a, b);
        case NodeKind::Max: return std::max(a, b);
        case NodeKind::EQ: return a == b;
        case NodeKind::NE: return a != b;
        case NodeKind::LT: return a < b;
        case NodeKind::LE: return a <= b;
        case NodeKind::And: return a && b;
        default: return a || b;
        }
    }

    const Rule &rule;
    Shape shape;
    std::array<int64_t, 6> wild{};
    std::array<int64_t, 4> constant{};
};

}  // namespace

TEST_SUITE("rules") {
    TEST_CASE("each rule gives each operand the sort of a number or of a boolean") {
        for (const NamedTable &table : all_tables()) {
            for (const Rule &r : table.table->all()) {
                CHECK_MESSAGE(Shape(r).sorts.consistent, text_of(r));
            }
        }
    }
    TEST_CASE("each rule keeps the value for random operands") {
        int tried = 0, rules = 0;
        for (const NamedTable &table : all_tables()) {
            for (const Rule &r : table.table->all()) {
                rules++;
                Seeds seeds(0.01, 25);
                while (auto seed = seeds.next()) {
                    Random random(*seed);
                    std::string failure = try_rule(r, random, tried);
                    CHECK_MESSAGE(failure.empty(), "TESSERA_SEED=" << *seed << " " << failure);
                    if (!failure.empty()) break;
                }
            }
        }
        MESSAGE(rules << " rules, " << tried << " instances");
    }
    TEST_CASE("each rule is proved by Z3") {
        z3::context context;
        int proved = 0, queries = 0;
        std::vector<std::string> unknown;
        for (const NamedTable &table : all_tables()) {
            for (const Rule &r : table.table->all()) {
                Shape shape(r);
                std::vector<Numbers> kinds{Numbers::Integers};
                bool wraps = r.domain == Domain::Integer || r.domain == Domain::Any;
                if (wraps)
                    kinds = {Numbers::Integers, Numbers::SignedBytes, Numbers::UnsignedBytes};
                // Data of 32 and 64 bits wraps as a byte does.
                if (r.domain == Domain::Wide) kinds = {Numbers::Integers, Numbers::SignedBytes};
                bool all = true;
                for (Numbers kind : kinds) {
                    queries++;
                    z3::check_result result = Prover(context, shape, kind).refute(r);
                    CHECK_MESSAGE(result != z3::sat, text_of(r));
                    all &= result == z3::unsat;
                }
                if (all) {
                    proved++;
                } else {
                    unknown.push_back(text_of(r));
                    CHECK_MESSAGE(Exhaustive(r).holds(), text_of(r));
                }
            }
        }
        MESSAGE(proved << " rules proved by Z3 in " << queries << " queries; " << unknown.size()
                       << " only checked for all small numbers:");
        for (const std::string &text : unknown) MESSAGE("    " << text);
    }
}
