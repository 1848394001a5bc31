#include "lower/finish/lower_intrinsics.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {
Context for_avx2() {
    Context context;
    context.target = Target("x86-64-linux-avx2");
    return context;
}
}  // namespace

TEST_SUITE("lower_intrinsics") {
    TEST_CASE("lerp of bytes needs 16 bits") {
        CHECK(run(lower_intrinsics, "f[0] = lerp(a:uint8, b:uint8, w:uint8)") ==
              printed("f[0] = uint8((uint16(a:uint8) * (255 - uint16(w:uint8)) + "
                      "uint16(b:uint8) * uint16(w) + 127) / 255)"));
    }
    TEST_CASE("lerp of floats") {
        CHECK(run(lower_intrinsics, "f[0] = lerp(a:float32, b:float32, w:float32)") ==
              printed("f[0] = a:float32 * (1.0 - w:float32) + b:float32 * w"));
    }
    TEST_CASE("fast functions are polynomials, but in kernels") {
        const std::string store = "f[0] = fast_exp(a:float32) + fast_log(a)";
        const std::string after = run(lower_intrinsics, store);
        CAPTURE(after);
        CHECK(after.find("fast_") == after.npos);
        CHECK(after.find("1.44269") != after.npos);
        for (const char *kernel : {"gpu_block for b in [0, +n): ", "gpu_cluster for c in [0, +n): "
                                                                   "gpu_block for b in [0, +2): "})
            CHECK(run(lower_intrinsics, kernel + store) == printed(kernel + store));
    }
    TEST_CASE("random is the hash of its operands") {
        CHECK(run(lower_intrinsics, "f[0] = random(a):uint32").find("random") == std::string::npos);
    }
    TEST_CASE("a promise is checked where the target asks for it") {
        const char *text = "f[0] = unsafe_promise_clamped(a, 2, 9)";
        CHECK(run(lower_intrinsics, text) == printed(text));
        Context context;
        context.target.set_feature(Target::CheckUnsafePromises);
        CHECK(run(lower_intrinsics, text, context).find("require(2 <= a && a <= 9, a, ") !=
              std::string::npos);
    }
    TEST_CASE("what stands for several values is gone by then") {
        CHECK_THROWS_WITH_AS(run(lower_intrinsics, "f[0] = gather(a, b):int32"),
                             doctest::Contains("values of an update"), CompileError);
    }
    TEST_CASE("questions to the target are answered") {
        auto ask = [](std::string_view query) {
            return run(lower_intrinsics, str("f[0] = ", query), for_avx2());
        };
        CHECK(ask("target_query(\"bits\"):int32") == printed("f[0] = 64"));
        CHECK(ask(str("target_query(\"has_feature\", ", int(Target::AVX2), ")")) ==
              printed("f[0] = true"));
        CHECK(ask(str("target_query(\"has_feature\", ", int(Target::CUDA), ")")) ==
              printed("f[0] = false"));
        CHECK(ask("target_query(\"natural_vector_size\", 2, 32):int32") == printed("f[0] = 8"));
        CHECK(ask(str("target_query(\"arch_is\", ", int(Target::ARM), ")")) ==
              printed("f[0] = false"));
        CHECK(ask(str("target_query(\"os_is\", ", int(Target::Linux), ")")) ==
              printed("f[0] = true"));
        CHECK(ask(str("target_query(\"os_is\", ", int(Target::Windows), ")")) ==
              printed("f[0] = false"));
        Context small;
        small.target = Target("x86-32-windows");
        CHECK(run(lower_intrinsics, "f[0] = target_query(\"bits\"):int32", small) ==
              printed("f[0] = 32"));
        CHECK_THROWS_WITH_AS(ask("target_query(\"colour\")"), doctest::Contains("\"colour\""),
                             CompileError);
    }
}
