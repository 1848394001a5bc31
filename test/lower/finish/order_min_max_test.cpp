#include "lower/finish/order_min_max.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string ordered(std::string_view body, const char *target = "x86-64-linux") {
    return run(order_min_max, body, {.target = Target(target)});
}

}  // namespace

TEST_SUITE("order_min_max") {
    TEST_CASE("an operand that is a number comes second in a comparison") {
        CHECK(ordered("f[0] = max(0.0, a:float32)") ==
              printed("f[0] = select(a:float32 > 0.0, a:float32, 0.0)"));
        CHECK(ordered("f[0] = min(a:float32, float32(i))") ==
              printed("f[0] = select(a:float32 < float32(i), a:float32, float32(i))"));
        CHECK(ordered("let c = min(a:float32, 1.0)\nf[0] = max(b:float32, c)") ==
              printed("let c = select(a:float32 < 1.0, a:float32, 1.0)\n"
                      "f[0] = select(b:float32 > c, b:float32, c)"));
    }
    TEST_CASE("what may both be no numbers stays, and so do integers") {
        for (const char *text :
             {"f[0] = max(a:float32, b:float32)", "f[0] = max(a:float32, sqrt(2.0 - b:float32))",
              "f[0] = min(i, 3)", "f[0] = max(a:float32, nan)",
              "let c = a:float32 * 2.0\nf[0] = max(b:float32, c)"}) {
            CHECK(ordered(text) == printed(text));
        }
    }
    TEST_CASE("other machines, and kernels, have instructions of that meaning") {
        const char *text = "f[0] = max(0.0, a:float32)",
                   *kernel = "gpu_block for x in [0, +9): f[x] = max(0.0, g[x]:float32)";
        CHECK(ordered(text, "arm-64-linux") == printed(text));
        CHECK(ordered(kernel) == printed(kernel));
    }
    TEST_CASE("storage to which numbers alone are stored holds numbers") {
        const std::string start = "allocate f: float32[2] in Stack\nf[0] = 0.0\n",
                          update = "f[0] = max(f[0]:float32, g[0]:float32)";
        CHECK(ordered(start + update) ==
              printed(start + "f[0] = select(g[0]:float32 > f[0]:float32, g[0]:float32, "
                              "f[0]:float32)"));
        for (const char *other : {"\nf[1] = b:float32", "\nf[1] = f[0]:float32 * 2.0",
                                  "\nprefetch(address_of(f[0]:float32), n, 4)"}) {
            CHECK(ordered(start + update + other) == printed(start + update + other));
        }
    }
    TEST_CASE("an output holds what is stored, unless its old values are read") {
        const ir::Module m = ir::parse_module("module \"m\"\nfunc \"f\"(f: output float32[1]):\n"
                                              "    f[0] = 0.0\n"
                                              "    f[0] = max(f[0]:float32, g[0]:float32)");
        Context context{.target = Target("x86-64-linux")};
        const auto orders = [&] {
            const ir::Stmt body = order_min_max(m.functions[0], context);
            return ir::to_string(body).find("select(") != std::string::npos;
        };
        CHECK(orders());
        context.kept_outputs.insert(m.functions[0].args[0].name);
        CHECK_FALSE(orders());
    }
}
