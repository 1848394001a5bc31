#include "c_source.h"
#include <doctest/doctest.h>
#include <interpret/definition.h>
#include <interpret/statement.h>
#include <ir/equal.h>
#include <limits>
#include <lower/lower.h>
#include <tessera.h>
#include <type_traits>

using namespace tessera;

// Integers of 32 and 64 bits wrap, each operation on its own, whatever is computed where: small
// expressions of numbers at the ends of their types are the same inline, with each operation
// stored, in vectors, as C source, by both oracles, and in plain C++.
namespace {

// ---- numbers of C++ that wrap ----

template<typename T>
struct Plain {
    using Unsigned = std::make_unsigned_t<T>;
    T v = 0;
    Plain(T v) : v(v) {}
    template<typename U>
    requires(std::is_same_v<U, int> && !std::is_same_v<T, int>) Plain(U v) : v(T(v)) {}

    friend Plain operator+(Plain a, Plain b) { return T(Unsigned(a.v) + Unsigned(b.v)); }
    friend Plain operator-(Plain a, Plain b) { return T(Unsigned(a.v) - Unsigned(b.v)); }
    friend Plain operator*(Plain a, Plain b) { return T(Unsigned(a.v) * Unsigned(b.v)); }
    friend Plain operator%(Plain a, Plain b) {
        if (b.v == 0 || b.v == T(-1)) return std::is_signed_v<T> || b.v == 0 ? T(0) : T(a.v % b.v);
        const T r = T(a.v % b.v);
        const Unsigned size = b.v < 0 ? Unsigned(0) - Unsigned(b.v) : Unsigned(b.v);
        return r < 0 ? T(Unsigned(r) + size) : r;
    }
    friend Plain operator/(Plain a, Plain b) {
        if (b.v == 0) return T(0);
        if (std::is_signed_v<T> && b.v == T(-1)) return Plain(T(0)) - a;
        const T q = T(a.v / b.v);
        return a.v % b.v < 0 ? T(b.v > 0 ? q - 1 : q + 1) : q;
    }
    friend Plain operator<<(Plain a, int k) { return T(Unsigned(a.v) << k); }
    friend Plain operator>>(Plain a, int k) { return T(a.v >> k); }
    friend Plain operator&(Plain a, Plain b) { return T(a.v & b.v); }
    friend bool operator<(Plain a, Plain b) { return a.v < b.v; }
    friend bool operator<=(Plain a, Plain b) { return a.v <= b.v; }
    friend bool operator>(Plain a, Plain b) { return a.v > b.v; }
    friend bool operator>=(Plain a, Plain b) { return a.v >= b.v; }
    friend bool operator==(Plain a, Plain b) { return a.v == b.v; }
    friend bool operator!=(Plain a, Plain b) { return a.v != b.v; }
    friend Plain min(Plain a, Plain b) { return a.v < b.v ? a : b; }
    friend Plain max(Plain a, Plain b) { return a.v > b.v ? a : b; }
    friend Plain clamp(Plain a, Plain low, Plain high) { return max(min(a, high), low); }
    friend Plain choose(bool c, Plain a, Plain b) { return c ? a : b; }
    friend Plain size_of(Plain a) { return a.v < 0 ? Plain(T(0)) - a : a; }
    friend Plain<int64_t> wide(Plain a) { return int64_t(a.v); }
    friend Plain narrow(Plain<int64_t> a, Plain) { return T(a.v); }
};

// ---- expressions, each of whose operations may be a function of its own ----

const Var x("x");

// The operations of one pipeline that are functions of their own, and what reads them: what several
// expressions have in common is stored once.
using StoredOperations = std::vector<std::pair<Expr, Expr>>;
StoredOperations *operations = nullptr;

Expr stored(const Expr &e) {
    if (!operations) return e;
    for (const auto &[operation, read] : *operations) {
        if (ir::equal(operation, e)) return read;
    }
    Func f("stored");
    f(x) = e;
    f.compute_root();
    operations->emplace_back(e, f(x));
    return operations->back().second;
}

struct Condition {
    Expr e;
};
struct Staged {
    Expr e;
    Staged(int v) : e(v) {}
    explicit Staged(const Expr &v) : e(v) {}
};

#define ARITHMETIC(op)                                                                             \
    Staged operator op(const Staged &a, const Staged &b) { return Staged(stored(a.e op b.e)); }
ARITHMETIC(+)
ARITHMETIC(-)
ARITHMETIC(*)
ARITHMETIC(/)
ARITHMETIC(%)
ARITHMETIC(&)
#undef ARITHMETIC
#define COMPARISON(op)                                                                             \
    Condition operator op(const Staged &a, const Staged &b) { return {stored(a.e op b.e)}; }
COMPARISON(<)
COMPARISON(<=)
COMPARISON(>)
COMPARISON(>=)
COMPARISON(==)
COMPARISON(!=)
#undef COMPARISON
Staged operator<<(const Staged &a, int k) { return Staged(stored(a.e << k)); }
Staged operator>>(const Staged &a, int k) { return Staged(stored(a.e >> k)); }
Staged min(const Staged &a, const Staged &b) { return Staged(stored(tessera::min(a.e, b.e))); }
Staged max(const Staged &a, const Staged &b) { return Staged(stored(tessera::max(a.e, b.e))); }
Staged clamp(const Staged &a, const Staged &low, const Staged &high) {
    return Staged(stored(tessera::clamp(a.e, low.e, high.e)));
}
Staged choose(const Condition &c, const Staged &a, const Staged &b) {
    Expr yes = a.e, no = b.e;
    match_types(yes, no);
    return Staged(stored(select(c.e, yes, no)));
}
Staged size_of(const Staged &a) { return Staged(stored(cast(a.e.type(), abs(a.e)))); }
Staged wide(const Staged &a) { return Staged(stored(cast<int64_t>(a.e))); }
Staged narrow(const Staged &a, const Staged &like) {
    return Staged(stored(cast(like.e.type(), a.e)));
}

// ---- the expressions ----

template<typename V>
using Values = std::vector<std::pair<const char *, V>>;

// These hold for signed and unsigned numbers alike.
template<typename V>
Values<V> of_any(const V &a, const V &b) {
    const V one(1), zero(0), two(2);
    auto flag = [&](const auto &c) { return choose(c, V(a - a + one), V(a - a)); };
#define E(...)                                                                                     \
    {                                                                                              \
        #__VA_ARGS__, __VA_ARGS__                                                                  \
    }
    return {
        E((a + 100) / 2),
        E((a + 100) % 10),
        E((a - 100) / 7),
        E((a - 100) % 7),
        E((a * 4) / 4),
        E((a * 4) % 12),
        E((a * 3) % 3),
        E((a * 6 + b) % 3),
        E((a * 6 + 4) / 2),
        E((a * 2 + 2) / 2),
        E((a * 256 + b) / 256),
        E((a * 256 + 7) / 256),
        E((a * 12 + 5) % 8),
        E((a * 5) / 10),
        E((a + 100) % 16),
        E((a + 3) / 4 * 4 - a),
        E((a + b) / 7 + (a - b) % 7),
        E((a + b) % b),
        E((a * b) / b),
        E((a * b) % b),
        E((a * b + 3) % b),
        E((a - b) % b),
        E((a * b) * 3 / 3),
        E(a / (zero - b)),
        E(a % (zero - b)),
        E(a % b + a / b * b),
        E((a / 3 + b) / 3),
        E((a % 1000 + b) % 1000),
        E((a + b + 1) / 2),
        E((a << 3) / 8),
        E((a << 3) >> 3),
        E((a << 2) % 12),
        E((a >> 2) * 4 + (a & 3)),
        E(((a & 255) + b) / 2),
        E(((a + 100) / 2 + 3) / 4),
        E((a + 1) / 2 - (a - 1) / 2),
        E((a + 100) / 2 * 2 + (a + 100) % 2),
        E(((a + 100) / 3 * 3 + (a + 100) % 3) / 5),
        E(max(a + 100, a)),
        E(min(a - 100, a)),
        E(max(a + b, b)),
        E(min(a * 2, b * 2)),
        E(max(a + 7, b + 7)),
        E(min(a - b, a)),
        E(max(min(a + 5, 100), 3) / 4),
        E(min(a * 4, b) / 4),
        E(max(a * 4 + 3, b) / 4),
        E(clamp(a + 100, 3, 50)),
        E(clamp(a * 2, 0, 1000) / 3),
        E((min(a, b) + max(a, b)) / 2),
        E((max(a, 5) + 100) / 2),
        E(min(min(a + 1, b), a + 2)),
        E(max(a + 3, b) - min(b, a + 3)),
        E(flag(a + 100 > zero)),
        E(flag(a - 100 < b)),
        E(flag(a + b < a)),
        E(flag(a + 1 > a)),
        E(flag(a + b == b + a)),
        E(flag(a + 100 == b + 100)),
        E(flag(a + 1 == a)),
        E(flag(a * 2 == 4)),
        E(flag(a * 2 != b * 2)),
        E(flag(a * 2 < b * 2)),
        E(flag(a * 3 <= b * 3)),
        E(flag(a - b > zero)),
        E(flag(a - 5 > b - 5)),
        E(flag(a + b <= a + 3)),
        E(flag(a + 7 >= b + 3)),
        E(flag((a + 100) / 2 < 60)),
        E(flag(a / 4 * 4 <= a - 3)),
        E(flag((a + 9) % 5 < 5)),
        E(flag(max(a, 5) + 100 > 100)),
        E(flag(max(a, b) - a + b > b)),
        E(flag(min(a + 100, b) < a)),
        E(flag(a * a + 1 > zero)),
        E(flag(choose(a > b, a, V(b + 3)) + choose(a > b, b, V(a + 3)) > a)),
        E(flag(choose(a > b, b, a) < choose(a > b, V(a + 1), V(b + 1)))),
        E(choose(a > b, a - b, b - a)),
        E(choose(a < b, a + 5, b + 5) / 3),
        E(choose(a + 3 > b, V(a + 3), b)),
        E(choose(a < b + 1, a, V(b + 1))),
        E(choose(a + 100 > 100, V((a + 100) / 2), V(a / 2))),
        E(choose(a > 10, V(max(a + 100, 10)), b)),
        E(narrow(wide(a + 100) / 2, a)),
        E(narrow((wide(a) + 100) / 2, a)),
        E(flag(wide(a + b) == wide(a) + wide(b))),
        E(narrow(wide(a * 3) - wide(a) * 3, a)),
        E((a / 16 + two) / 16 * 16),
        E((a + b) / 2 - (b + a) / 2),
        E((a * 7 - b * 7) / 7),
        E((a - b + 8) / 8 * 8),
        E((a + b - a) / 3),
    };
}

// These ask for negative numbers.
template<typename V>
Values<V> of_signed(const V &a, const V &b) {
    const V one(1), zero(0);
    auto flag = [&](const auto &c) { return choose(c, V(a - a + one), V(a - a)); };
    return {
        E((a + 100) / -2),
        E((a - 7) % -5),
        E((zero - a) / 3),
        E((zero - a) % 5),
        E((a * -4) / 4),
        E((a * -6 + b) % 3),
        E(a / -1),
        E(a % -1),
        E((a + 1) / -1),
        E(clamp(a + 100, -50, 50)),
        E((min(a, -1) - 5) % 3),
        E(size_of(a)),
        E(size_of(a - 100)),
        E(size_of(a) / 2),
        E(size_of(a - b) % 7),
        E(max(size_of(a), a)),
        E(max(a * -2, b * -2)),
        E(flag(a + 100 == -50)),
        E(flag(zero - a < b)),
        E(flag(5 - a > b)),
        E(flag(100 - a < zero)),
        E(flag(a * -3 < b * -3)),
        E(flag(size_of(a) >= zero)),
        E(flag(max(a, 0) + max(b, 0) >= zero)),
        E(flag(max(a, 1) * max(b, 1) > zero)),
        E(flag(min(a, 0) - max(b, 0) <= zero)),
        E(flag(a - b < zero)),
        E((a - 100) >> 2),
        E((a >> 31) + 1),
        E(flag((a >> 1) - 1 < a)),
        E((max(a, -3) + 3) / 2),
    };
}
#undef E

template<typename T>
std::vector<T> ends() {
    constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    std::vector<T> all{low,         T(low + 1),
                       T(low + 5),  T(low + 100),
                       T(low / 2),  T(low / 2 - 1),
                       0,           1,
                       2,           3,
                       7,           50,
                       99,          100,
                       101,         65536,
                       T(high / 2), T(high / 2 + 1),
                       T(high / 3), T(high - 100),
                       T(high - 6), T(high - 1),
                       high};
    for (int v : {-1, -2, -3, -100, -101, -65537}) all.push_back(T(v));
    return all;
}

template<typename V>
Values<V> all_of(const V &a, const V &b, bool is_signed) {
    Values<V> all = of_any(a, b);
    if (is_signed) {
        for (const auto &one : of_signed(a, b)) all.push_back(one);
    }
    return all;
}

// One pipeline is made of so many expressions.
constexpr size_t group = 16;

template<typename T>
class Case {
public:
    Case() : numbers(ends<T>()), n(int(numbers.size())), first(n * n), second(n * n) {
        for (int i = 0; i < n * n; i++) {
            first(i) = numbers[size_t(i % n)];
            second(i) = numbers[size_t(i / n)];
        }
    }
    size_t size() const { return all_of<Plain<T>>(T(0), T(0), is_signed).size(); }

    // The expressions from this one on, of what is read; where `passed`, of an argument instead.
    Func make(size_t from, bool stores, bool passed) {
        StoredOperations own;
        operations = stores ? &own : nullptr;
        const Expr a = passed ? Expr(p) : Expr(first(x));
        const auto values = all_of(Staged(a), Staged(Expr(second(x))), is_signed);
        operations = nullptr;
        std::vector<Expr> exprs;
        for (size_t i = from; i < std::min(from + group, values.size()); i++) {
            exprs.push_back(cast<T>(values[i].second.e));
        }
        Func f("f");
        f(x) = Tuple(exprs);
        return f;
    }
    std::vector<Buffer<T>> outputs(size_t from) const {
        std::vector<Buffer<T>> all;
        for (size_t i = from; i < std::min(from + group, size()); i++) all.emplace_back(n * n);
        return all;
    }
    // `only`: the argument's value, in place of what is read.
    void compare(size_t from, const std::vector<Buffer<T>> &got, const std::string &how,
                 const T *only = nullptr) const {
        std::vector<int> wrong(got.size());
        for (int i = 0; i < n * n; i++) {
            const Plain<T> a(only ? *only : first(i)), b(second(i));
            const auto expected = all_of(a, b, is_signed);
            for (size_t k = 0; k < got.size(); k++) {
                const auto &[text, value] = expected[from + k];
                if (got[k](i) == value.v || wrong[k]++) continue;
                FAIL_CHECK(how << " " << text << " of " << a.v << " and " << b.v << " is "
                               << got[k](i) << ", not " << value.v);
            }
        }
    }

    const std::vector<T> numbers;
    const int n;
    Buffer<T> first, second;
    Param<T> p{"p"};
    static constexpr bool is_signed = std::is_signed_v<T>;
};

template<typename T>
std::vector<tessera_buffer_t *> raw(const std::vector<Buffer<T>> &buffers) {
    std::vector<tessera_buffer_t *> all;
    for (const Buffer<T> &b : buffers) all.push_back(b.raw_buffer());
    return all;
}
template<typename T>
Realization realization(const std::vector<Buffer<T>> &buffers) {
    return Realization(std::vector<Buffer<>>(buffers.begin(), buffers.end()));
}

// The loop nests before any pass has seen them: values in them are as they were written.
template<typename T>
void run_first_statement(const Func &f, const std::vector<Buffer<T>> &outputs) {
    const Pipeline pipeline(f);
    lower::Lowering nests = lower::nests(pipeline.program(), get_host_target());
    interpret::StatementOptions options;
    std::vector<void *> args;
    size_t next = 0;
    for (const ir::Argument &a : nests.function.args) {
        if (a.kind == ir::ArgumentKind::OutputBuffer) {
            options.buffers[a.func].push_back(a.name);
            args.push_back(outputs.at(next++).raw_buffer());
            continue;
        }
        auto *p = const_cast<program::Parameter *>(
            dynamic_cast<const program::Parameter *>(a.referent.get()));
        REQUIRE(p);
        args.push_back(p->is_buffer ? static_cast<void *>(p->buffer) : &p->scalar_bits);
    }
    CHECK(interpret::run_statement(nests.function, args, options) == 0);
}

template<typename T>
void check_what_is_read(Type t) {
    Case<T> c;
    CAPTURE(t);
    CHECK(c.size() > 50);
    for (size_t from = 0; from < c.size(); from += group) {
        for (const std::string how : {"inline", "in vectors", "stored"}) {
            Func f = c.make(from, how == "stored", false);
            if (how == "in vectors") f.vectorize(x, 8);
            auto out = c.outputs(from);
            f.realize(realization(out));
            c.compare(from, out, how);
        }
        const Func f = c.make(from, false, false);
        auto by_definition = c.outputs(from), by_statement = c.outputs(from);
        interpret::evaluate_definition(Pipeline(f).program(), raw(by_definition));
        c.compare(from, by_definition, "by definition");
        run_first_statement(f, by_statement);
        c.compare(from, by_statement, "by the first statement");
    }
}

}  // namespace

TEST_SUITE("integers that wrap") {
    TEST_CASE("expressions of data of int32") { check_what_is_read<int32_t>(Int(32)); }
    TEST_CASE("expressions of data of int64") { check_what_is_read<int64_t>(Int(64)); }
    TEST_CASE("expressions of data of uint32") { check_what_is_read<uint32_t>(UInt(32)); }
    TEST_CASE("expressions of data of uint64") { check_what_is_read<uint64_t>(UInt(64)); }
    TEST_CASE("expressions of an argument and of data") {
        Case<int32_t> c;
        for (size_t from = 0; from < c.size(); from += group) {
            Func f = c.make(from, false, true);
            f.vectorize(x, 8);
            for (int32_t value : c.numbers) {
                c.p.set(value);
                auto out = c.outputs(from);
                f.realize(realization(out));
                c.compare(from, out, "of an argument:", &value);
            }
        }
    }
    TEST_CASE("C source computes what wraps as it is written") {
        Case<int32_t> c;
        Case<int64_t> wide;
        for (size_t from = 0; from < c.size(); from += group) {
            auto out = c.outputs(from);
            fuzz::run_c_source(Pipeline(c.make(from, false, false)), raw(out), nullptr);
            c.compare(from, out, "as C source");
            auto wide_out = wide.outputs(from);
            fuzz::run_c_source(Pipeline(wide.make(from, false, false)), raw(wide_out), nullptr);
            wide.compare(from, wide_out, "as C source");
        }
    }
    TEST_CASE("what is promoted from int16 and summed fits, and is divided as such") {
        const int n = 8;
        Buffer<int16_t> data(n);
        for (int i = 0; i < n; i++) data(i) = int16_t(i * 9362 - 32768);
        const Expr a = cast<int>(data(x)), b = cast<int>(data(n - 1 - x));
        Func f("f");
        f(x) = Tuple((a * 4 + b) / 4, (a + 100) % 10, max(a + 100, a),
                     select(a * b > a * b - 7, 1, 0));
        f.vectorize(x, 8);
        Realization r = f.realize({n});
        Buffer<int> quotient = r[0], rest = r[1], largest = r[2], flag = r[3];
        for (int i = 0; i < n; i++) {
            const Plain<int> u(data(i)), v(data(n - 1 - i));
            CHECK(quotient(i) == ((u * 4 + v) / 4).v);
            CHECK(rest(i) == ((u + 100) % 10).v);
            CHECK(largest(i) == u.v + 100);
            CHECK(flag(i) == 1);
        }
    }
}
