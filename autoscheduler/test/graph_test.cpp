#include "autoscheduler/cost.h"
#include "autoscheduler/simple.h"
#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;
using namespace tessera::autoscheduler;

TEST_SUITE("autoscheduler, graph") {
    TEST_CASE("what is required of each function follows from the estimates of the output") {
        Var x("x"), y("y");
        ImageParam in(Float(32), 2, "in");
        Func blur_x("blur_x"), blur("blur");
        blur_x(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
        blur(x, y) = blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2);
        blur.set_estimates({{0, 1000}, {0, 500}});
        const Graph graph(program::Algorithm({blur.function()}),
                          program::schedule_of({blur.function()}));
        const int of_blur_x = graph.find(blur_x.function()->name);
        REQUIRE(of_blur_x >= 0);
        CHECK(graph.functions[size_t(of_blur_x)].required == Box{{0, 999}, {0, 501}});
        REQUIRE(graph.images.size() == 1);
        CHECK(graph.images[0].box == Box{{0, 1001}, {0, 501}});
    }
}
