#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;

// Programs on which the fuzzer has found wrong code, as small as they became.

TEST_CASE("interleaved stores of an unrolled loop keep the lets of each copy apart") {
    Var x("x"), xo("xo"), xi("xi"), xoo("xoo"), xoi("xoi");
    for (int width : {1, 31, 32, 37, 100}) {
        Func f("f");
        f(x) = x * 3 + 1;
        f.split(x, xo, xi, 8, TailStrategy::PredicateStores).unroll(xi);
        f.split(xo, xoo, xoi, 4, TailStrategy::PredicateLoads).vectorize(xoi);
        Buffer<int> result = f.realize({width});
        for (int i = 0; i < width; i++) {
            CAPTURE(width);
            CAPTURE(i);
            REQUIRE(result(i) == i * 3 + 1);
        }
    }
}

TEST_CASE("a mirrored image is read within its bounds, and only there") {
    Var x("x");
    Buffer<int> image(5);
    for (int i = 0; i < 5; i++) image(i) = i;
    Func mirrored = BoundaryConditions::mirror_image(image), out("out");
    out(x) = mirrored(x);
    Buffer<int> result(13);
    result.set_min(-4);
    out.realize(result);
    const int expected[] = {3, 2, 1, 0, 0, 1, 2, 3, 4, 4, 3, 2, 1};
    for (int i = 0; i < 13; i++) CHECK(result(i - 4) == expected[i]);
}
