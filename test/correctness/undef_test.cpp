#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), y("y");
int calls = 0;

extern "C" int undef_test_counted(int i) {
    calls++;
    return i;
}
TesseraExtern_1(int, undef_test_counted, int)

    // The definitions hold for an update that is computed one by one and in vectors.
    template<typename Define> void check_update(Define define) {
    for (bool vectorized : {false, true}) {
        CAPTURE(vectorized);
        Func f("f");
        define(f);
        if (vectorized) f.update().vectorize(x, 4, TailStrategy::GuardWithIf);
        Lowered(f).check_definition({11});
    }
}

Expr odd_or_undef(const Expr &value) { return select(x % 2 == 1, value, undef(value.type())); }

}  // namespace

TEST_SUITE("undef") {
    TEST_CASE("within operations, casts and functions leaves alone what it is chosen for") {
        check_update([](Func &f) {
            f(x) = x;
            f(x) += odd_or_undef(100);
        });
        check_update([](Func &f) {
            f(x) = x;
            f(x) = cast<int>(sqrt(cast<float>(odd_or_undef(x * x)))) - abs(cast<int16_t>(f(x)));
        });
        check_update([](Func &f) {
            f(x) = x;
            f(x) = max(odd_or_undef(x) * 3, select(x < 4, 7, undef<int>())) << 1;
        });
        check_update([](Func &f) {
            f(x) = x;
            f(x) = odd_or_undef(x) - odd_or_undef(x) + 0 * odd_or_undef(x);
        });
    }
    TEST_CASE("within nested choices, conditions and both branches") {
        check_update([](Func &f) {
            f(x) = x;
            f(x) = 5 + select(x < 6, select(x < 3, undef<int>(), 1), odd_or_undef(2) * 10);
        });
        check_update([](Func &f) {
            f(x) = x;
            f(x) = select(odd_or_undef(x) > 4, 50, select(x == 1, undef<int>(), 60));
        });
        check_update([](Func &f) {
            f(x) = x;
            f(x) = select(x < 100 || odd_or_undef(x) == 5, 1, 2);
        });
    }
    TEST_CASE("in one value of a Tuple leaves the others as they are") {
        check_update([](Func &f) {
            f(x) = Tuple(x, 100 + x, cast<uint8_t>(x));
            f(x) = Tuple(f(x)[1] + odd_or_undef(1), 2 * select(x > 5, undef<int>(), f(x)[0]),
                         f(x)[2] + cast<uint8_t>(7));
        });
    }
    TEST_CASE("of a Func that is computed inline") {
        for (bool vectorized : {false, true}) {
            Func g("g"), f("f");
            g(x) = select(x > 3, undef<int>(), x * 2);
            f(x) = g(x) + g(x + 1) * 100 + 1;
            if (vectorized) f.vectorize(x, 4);
            Lowered l(f);
            l.outputs_have_values = true;
            l.check_definition({9});
        }
    }
    TEST_CASE("in reductions") {
        RDom r(0, 16, "r");
        Expr third = select(r % 3 == 0, undef<int>(), r);
        for (int way = 0; way < 5; way++) {
            CAPTURE(way);
            Func f("f");
            Var u("u");
            RVar ro("ro"), ri("ri");
            f(x) = x;
            f(r % 4) += third;
            if (way == 1) f.update().atomic().vectorize(r, 8);
            if (way == 2) f.update().atomic().parallel(r);
            if (way == 3) f.update().unroll(r, 2);
            if (way == 4) f.update().split(r, ro, ri, 4).rfactor(ri, u).compute_root();
            Lowered(f).check_definition({8});
        }
        Func s("s"), blended("blended");
        s() = 0;
        s() += third;
        s.update().atomic().vectorize(r, 8);
        Lowered(s).check_definition({});
        blended(x) = x;
        blended(x) += odd_or_undef(100);
        blended.update().vectorize(x, 8, TailStrategy::ShiftInwardsAndBlend);
        Lowered(blended).check_definition({13});
        Func exchanged("exchanged");
        RDom pairs(0, 4, "pairs");
        exchanged(x) = x;
        exchanged(scatter(2 * pairs, 2 * pairs + 1)) =
            gather(exchanged(2 * pairs + 1),
                   1 + select(pairs % 2 == 0, undef<int>(), exchanged(2 * pairs)));
        Lowered(exchanged).check_definition({8});
    }
    TEST_CASE("a C function in the condition is called once for each point") {
        Func f("f");
        f(x) = 1 + select(undef_test_counted(x) % 2 == 0, undef<int>(), 5);
        Buffer<int> b(8);
        b.fill(-3);
        calls = 0;
        f.realize(b);
        CHECK(calls == 8);
        CHECK(b(2) == -3);
        CHECK(b(3) == 6);
    }
    TEST_CASE("what is undefined is not traced, and what is, is what is stored") {
        Func f("f");
        f(x) = x;
        f(x) = 1000 - odd_or_undef(f(x));
        f.trace_stores();
        std::vector<int> stored;
        JITUserContext context;
        static std::vector<int> *told;
        told = &stored;
        context.handlers.custom_trace = [](JITUserContext *, const tessera_trace_event_t *e) {
            if (e->event == tessera_trace_store) {
                told->push_back(*static_cast<const int *>(e->value));
            }
            return int32_t(1);
        };
        Buffer<int> b = f.realize(&context, {4});
        CHECK(stored == std::vector<int>{0, 1, 2, 3, 999, 997});
        CHECK(b(2) == 2);
        CHECK(b(3) == 997);
    }
    TEST_CASE("one value of an update is kept, the other reads what it was") {
        Var x("x");
        Func f("f");
        f(x) = Tuple(x, 100 + x);
        f(x) = Tuple(f(x)[1], select(x % 2 == 0, undef<int>(), f(x)[0]));
        Realization result = f.realize({8});
        Buffer<int> first(result[0]), second(result[1]);
        for (int i = 0; i < 8; i++) {
            CHECK(first(i) == 100 + i);
            CHECK(second(i) == (i % 2 == 0 ? 100 + i : i));
        }
    }
}
