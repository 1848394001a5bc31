#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

Var x("x"), y("y");

// Iterations of the first loop of the domain may run at once: by threads, and in vectors.
template<typename Define> void check_free(Define define) {
    for (bool vectorized : {false, true}) {
        CAPTURE(vectorized);
        Func f("f");
        RDom r(1, 24, 0, 3, "r");
        define(f, r);
        if (vectorized) {
            f.update().vectorize(r.x, 8);
        } else {
            f.update().parallel(r.x, 4);
        }
        Lowered(f).check_definition({64, 12});
    }
}

// They may not.
template<typename Define> void check_races(Define define) {
    Func f("f");
    RDom r(1, 24, 0, 3, "r");
    define(f, r);
    CHECK_THROWS_WITH_AS(f.update().parallel(r.x), doctest::Contains("may write an element that"),
                         CompileError);
}

}  // namespace

TEST_SUITE("races") {
    TEST_CASE("rows that are read and those that are written are other constants") {
        check_free([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, 2) += f(r.x - 1, 5) + r.y;
        });
        check_free([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, 7) += f(0, 1) + f(r.x, 7) + f(25 - r.x, 6) * r.y;
        });
    }
    TEST_CASE("rows differ by their remainder") {
        check_free([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, 2 * r.y) += f(r.x - 1, 2 * (r.x % 4) + 1);
        });
        check_free([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(2 * r.x, y) += f(2 * r.x + 1, y) + f(3 + 2 * (r.x / 2), y) + r.y;
        });
    }
    TEST_CASE("rows differ by their range") {
        check_free([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, r.y) += f(r.x - 1, r.x % 5 + 3);
        });
        check_free([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, y) += f(clamp(r.x * r.y, 0, 20) + 30, y);
        });
    }
    TEST_CASE("what may meet, does") {
        check_races([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, 2) += f(r.x - 1, 2) + r.y;
        });
        check_races([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, r.y) += f(r.x - 1, r.y + 1);
        });
        check_races([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, 2 * r.y) += f(r.x - 1, 2 * (r.x % 4) + 4);
        });
        check_races([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, f(0, 0)) += f(r.x - 1, f(0, 0) + 1) + r.y;
        });
        check_races([](Func &f, RDom &r) {
            f(x, y) = 10 * x + y;
            f(r.x, r.y) += f(r.x - 1, r.x % 5 + 2);
        });
    }
    TEST_CASE("a scatter of one value is done in any order, by threads and in vectors") {
        for (int way = 0; way < 4; way++) {
            CAPTURE(way);
            Func f("f");
            RDom r(0, 60, "r");
            RVar ro("ro"), ri("ri");
            f(x, y) = -1;
            r.where(r % 7 != 3);
            f((r * r + 3 * r) % 16, y) = 7 * y;
            Stage update = f.update();
            if (way == 0) update.split(r, ro, ri, 6).reorder(ro, y, ri);
            if (way == 1) update.atomic().parallel(r);
            if (way == 2) update.atomic().vectorize(r, 8);
            if (way == 3) update.split(r, ro, ri, 8).reorder(y, ro, ri).atomic().parallel(ri);
            Lowered(f).check_definition({16, 5});
        }
    }
    TEST_CASE("and not one of values that differ, or that are read") {
        auto refused = [](auto define) {
            Func f("f");
            RDom r(0, 60, "r");
            RVar ro("ro"), ri("ri");
            f(x, y) = -1;
            define(f, r);
            CHECK_THROWS_AS(f.update().split(r, ro, ri, 6).reorder(ro, ri), CompileError);
            CHECK_THROWS_AS(f.update().atomic().parallel(ro), CompileError);
        };
        refused([](Func &f, RDom &r) { f(r % 16, y) = r; });
        refused([](Func &f, RDom &r) { f(r % 16, y) = f(0, y) * 2; });
        refused([](Func &f, RDom &r) { f(r % 16, y) = random_int(); });
        refused([](Func &f, RDom &r) { f(scatter(r % 16, r % 5), y) = gather(1, 2); });
        refused([](Func &f, RDom &r) {
            r.where(f(r % 16, y) < 0);
            f(r % 8, y) = 4;
        });
    }
}
