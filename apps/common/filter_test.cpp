#include "common/filter.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace tessera::apps;

// Checks what a program is told that asks its library for something else.
#define REFUSED(call, message) CHECK_THROWS_WITH_AS(call, message, std::runtime_error)

TEST_SUITE("filter") {
    TEST_CASE("a library is found by its generator and parameters") {
        Image<uint16_t> in(66, 34), out(64, 32);
        for (size_t i = 0; i < in.size(); i++) in.data()[i] = 7;
        PreparedFilter blur = prepare({"blur"}, {as_buffer(in, 2), as_buffer(out, 2)});
        CHECK(blur.prepared == "compiled ahead of time");
        blur.call();
        CHECK(out(63, 31) == 7);
        REFUSED(prepare({"blurr"}, {}), "no library of blurr with '' is linked with this program");
        REFUSED(prepare({"blur", "radius=2"}, {}),
                "no library of blur with 'radius=2' is linked with this program");
    }
    TEST_CASE("arguments are those of the compiled function") {
        Image<uint16_t> in(66, 34), out(64, 32);
        Image<float> floats(64, 32);
        REFUSED(prepare({"blur"}, {as_buffer(in, 2)}), "blur takes 2 arguments, not 1");
        REFUSED(prepare({"blur"}, {as_buffer(in, 3), as_buffer(out, 2)}),
                "input of blur is 2 dimensions of uint16, not 3 dimensions of uint16");
        REFUSED(prepare({"blur"}, {as_buffer(in, 2), as_buffer(floats, 2)}),
                "output of blur is 2 dimensions of uint16, not 2 dimensions of float32");
        REFUSED(prepare({"blur"}, {1, as_buffer(out, 2)}),
                "input of blur is 2 dimensions of uint16, not a number of int32");
    }
    TEST_CASE("what the compiled function refuses is an error") {
        Image<uint16_t> in(8, 8), out(64, 32);
        REFUSED(prepare({"blur"}, {as_buffer(in, 2), as_buffer(out, 2)}).call(),
                "blur failed with error -4");
    }
}
