#include "codegen/harness.h"

using namespace tessera;
using namespace tessera::test;

// A function with many loops in a row is written as many functions, which two threads may work on.
namespace {

constexpr int loops = 60, size = 64;

// Loops that each add to all of `out`; one of them fails if n is 7. `around`: what stands before
// them, and how far they are indented.
std::string module_of_loops(const std::string &around, const std::string &indent) {
    std::string text = "module \"m\"\nfunc \"f\"(out: output int32[1], n: int32):\n" + around;
    for (int i = 0; i < loops; i++) {
        std::string x = str("x", i), k = str("k", i);
        text += str(indent, "let ", k, " = n * ", i, "\n");
        text += str(indent, "for ", x, " in [0, +", size, "):\n");
        if (i == loops / 2) text += str(indent, "    assert n != 7, -42\n");
        text += str(indent, "    out[", x, "] = out[", x, "] + ", k, " * (", x, " + ", i, ")\n");
    }
    return text;
}

int32_t expected(int x, int n) {
    int32_t sum = 0;
    for (int i = 0; i < loops; i++) sum += n * i * (x + i);
    return sum;
}

}  // namespace

TEST_SUITE("many loops") {
    TEST_CASE("each of many loops in a row has a function of its own, and computes the same") {
        std::string text = module_of_loops("", "    ");
        std::string llvm = codegen::to_llvm_ir(parse_module(text), get_host_target(), checked());
        CHECK(llvm.find(str(".loop", loops - 1)) != std::string::npos);
        TestBuffer<int32_t> out(size);
        CHECK(run(text, out, 3) == 0);
        for (int x = 0; x < size; x++) CHECK(out[size_t(x)] == expected(x, 3));
    }
    TEST_CASE("so do many loops in a row inside of another") {
        TestBuffer<int32_t> out(size);
        CHECK(run(module_of_loops("    for y in [0, +2):\n", "        "), out, 5) == 0);
        for (int x = 0; x < size; x++) CHECK(out[size_t(x)] == 2 * expected(x, 5));
    }
    TEST_CASE("an error in one of them is the function's") {
        TestBuffer<int32_t> out(size);
        CHECK(run(module_of_loops("", "    "), out, 7) == -42);
        CHECK(out[1] < expected(1, 7));
    }
    TEST_CASE("code made on one thread and on several is the same") {
        std::string text = module_of_loops("", "    ");
        for (int threads : {1, 2, 5}) {
            codegen::Options options = checked();
            options.threads = threads;
            codegen::JitModule module(parse_module(text), get_host_target(), {}, options);
            TestBuffer<int32_t> out(size);
            auto f =
                reinterpret_cast<int (*)(void *, tessera_buffer_t *, int32_t)>(module.address("f"));
            CHECK(f(nullptr, out, 2) == 0);
            CHECK(out[size - 1] == expected(size - 1, 2));
        }
    }
}
