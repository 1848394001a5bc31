#include "autoscheduler/test/support.h"
#include "lang/image_param.h"
#include <cstdint>

using namespace tessera;
using namespace tessera::autoscheduler;
using namespace tessera::autoscheduler::test;

namespace {

// The strides of an input of a pipeline that copies it, 300 by 200 by 3.
std::vector<int32_t> strides_of(const std::function<void(ImageParam &)> &constrain) {
    ImageParam in(UInt(8), 3, "in");
    Var x("x"), y("y"), c("c");
    Func out("out");
    out(x, y, c) = in(x, y, c);
    constrain(in);
    out.set_estimates({{0, 300}, {0, 200}, {0, 3}});
    const Problem problem(out);
    std::vector<int32_t> strides;
    for (const tessera_dimension_t &d :
         problem.workload.layout_of(*problem.workload.parameters().at(0)).dims)
        strides.push_back(d.stride);
    return strides;
}

using Strides = std::vector<int32_t>;

}  // namespace

TEST_SUITE("autoscheduler, inputs to measure with") {
    TEST_CASE("have the strides that the pipeline asks for, and are dense beside them") {
        CHECK(strides_of([](ImageParam &) {}) == Strides{1, 300, 60000});
        CHECK(strides_of([](ImageParam &in) { in.dim(0).set_stride(3).dim(2).set_stride(1); }) ==
              Strides{3, 900, 1});
        // RGBA, of which three are read; every other pixel; from right to left.
        CHECK(strides_of([](ImageParam &in) { in.dim(0).set_stride(4).dim(2).set_stride(1); }) ==
              Strides{4, 1200, 1});
        CHECK(strides_of([](ImageParam &in) { in.dim(0).set_stride(2); }) ==
              Strides{2, 600, 120000});
        CHECK(strides_of([](ImageParam &in) { in.dim(0).set_stride(-1); }) ==
              Strides{-1, 300, 60000});
        // Rows that are padded, to a number or to something beside their length.
        CHECK(strides_of([](ImageParam &in) { in.dim(1).set_stride(512); }) ==
              Strides{1, 512, 102400});
        CHECK(strides_of([](ImageParam &in) { in.dim(1).set_stride(in.dim(0).extent() + 20); }) ==
              Strides{1, 320, 64000});
        // Rows within channels within columns.
        CHECK(strides_of([](ImageParam &in) {
                  in.dim(0).set_stride(Expr()).dim(1).set_stride(1);
              }) == Strides{200, 1, 60000});
    }
    TEST_CASE("a pipeline with strides of its own is measured, and scheduled") {
        for (int k = 0; k < 6; k++) {
            CAPTURE(k);
            ImageParam in(UInt(8), 3, "in");
            Var x("x"), y("y"), c("c");
            Func out("out");
            out(x, y, c) = in(x, y, 2 - c) / 2 + in(x + 1, y, c) / 2;
            auto result = out.output_buffer();
            if (k == 0) in.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
            if (k == 1) result.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
            if (k == 2) in.dim(0).set_stride(4).dim(2).set_stride(1).set_bounds(0, 3);
            if (k == 3) in.dim(0).set_stride(-1);
            if (k == 4) in.dim(1).set_stride(640);
            if (k == 5) in.set_host_alignment(256);
            out.set_estimates({{0, 300}, {0, 200}, {0, 3}});
            const AutoschedulerParams params = {"tessera", {{"trials", "2"}, {"parallelism", "1"}}};
            CHECK_NOTHROW(Pipeline(out).apply_autoscheduler(get_host_target(), params));
        }
    }
    TEST_CASE("that do not fit into memory are refused by name, and only where they are needed") {
        ImageParam in(Float(32), 2, "in");
        Var x("x"), y("y");
        Func out("out");
        out(x, y) = in(x, y) + 1;
        out.set_estimates({{0, 100'000}, {0, 20'000}});
        const auto schedule = [&](const char *trials) {
            Pipeline(out).apply_autoscheduler(get_host_target(), {"tessera", {{"trials", trials}}});
        };
        in.dim(0).set_estimate(0, 200'000);
        in.dim(1).set_estimate(0, 1'000'000);
        CHECK_THROWS_WITH_AS(
            schedule("2"),
            doctest::Contains(
                "there is no memory to measure with: the input in of 200000x1000000 "
                "values needs 800000000000 bytes, and all inputs and outputs may have "),
            RuntimeError);
        CHECK_NOTHROW(schedule("0"));
    }
    TEST_CASE("lie elsewhere in each placement, with their values, as aligned as they have to be") {
        ArrayLayout layout{"in", {tessera_type_uint, 8, 1}, {{0, 1000, -1, 0}, {0, 3, 1000, 0}}, 1};
        CHECK(layout.bytes() == 3000);
        CHECK(layout.bytes_before() == 999);
        for (size_t alignment : {1, 256}) {
            layout.alignment = alignment;
            Array a(layout, 5);
            for (size_t i = 0; i < a.bytes(); i++) a.data()[i] = uint8_t(i % 251);
            std::vector<uintptr_t> places;
            for (int placement : {0, 1, 2, 1, 0}) {
                a.place(placement);
                CHECK(a.buffer.host == a.data() + 999);
                CHECK(uintptr_t(a.buffer.host) % alignment == 0);
                CHECK(a.data()[2999] == uint8_t(2999 % 251));
                CHECK(a.data()[0] == 0);
                places.push_back(uintptr_t(a.data()) % 4096);
            }
            CHECK(places[0] == places[4]);
            CHECK(places[0] != places[1]);
        }
    }
}
