#include "lower/finish/lower_prefetch.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("lower_prefetch") {
    TEST_CASE("the address of the first element, extents and strides in bytes") {
        CHECK(run(lower_prefetch, "realize f: {uint16} over [0, +9]\n"
                                  "prefetch f: {uint16} over [a, +n] if a < 3: f(0) = 1") ==
              printed("realize f: {uint16} over [0, +9]\n"
                      "if a < 3: prefetch(address_of(f(a)), n, f.stride[0] * 2)\nf(0) = 1"));
    }
    TEST_CASE("of an image") {
        CHECK(run(lower_prefetch, "prefetch i: {float32} over [a, +n] if true: f(0) = 1") ==
              printed("prefetch(address_of(image i(a):float32), n, i.stride[0] * 4)\nf(0) = 1"));
    }
    TEST_CASE("a function without storage here is not prefetched") {
        ir::NamedSymbols scope;
        Context context;
        context.functions[scope["f"]] = make_ref<program::FunctionContents>();
        ir::Stmt s = ir::parse_stmt("prefetch f: {uint16} over [a, +n] if true: g(0) = 1", scope);
        CHECK(to_string(lower_prefetch(s, context)) == printed("g(0) = 1"));
    }
}
