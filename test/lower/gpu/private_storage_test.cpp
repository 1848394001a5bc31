#include "lower/gpu/canonical_kernels.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}
// Of a block of 8 threads with `size` elements in registers.
std::string of_block(int size, const std::string &body) {
    return run(canonical_kernels, str("gpu_block for b in [0, +n):\n    allocate f: int32[", size,
                                      "] in Register\n", body));
}
std::string refusal(int size, const std::string &body) {
    try {
        of_block(size, body);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_SUITE("private storage of a block") {
    TEST_CASE("a thread has the elements that it alone accesses, without gaps") {
        const std::string text = of_block(80, "    gpu_thread for t in [0, +8):\n"
                                              "        f[t] = b\n"
                                              "        f[t + 40] = b + 1\n"
                                              "    gpu_thread for u in [0, +8):\n"
                                              "        g[u + b*8] = f[u + 40] - f[u]\n");
        CAPTURE(text);
        CHECK(contains(text, "allocate f: int32[2] in Register"));
        CHECK(contains(text, "f[0] = b"));
        CHECK(contains(text, "f[1] = b + 1"));
        CHECK(contains(text, "= f[1] - f[0]"));
        CHECK(!contains(text, "gpu_barrier"));
    }
    TEST_CASE("vectors are rows of it, and a serial loop goes through it") {
        const std::string text = of_block(32, "    gpu_thread for t in [0, +8):\n"
                                              "        f[ramp(t*4, 1, 4)] = x4(b)\n"
                                              "    gpu_thread for t in [0, +8):\n"
                                              "        for i in [0, +4): g[t] = f[t*4 + i]\n");
        CAPTURE(text);
        CHECK(contains(text, "allocate f: int32[4] in Register"));
        CHECK(contains(text, "f[ramp(0, 1, 4)] = x4(b)"));
        CHECK(contains(text, "g[t] = f[i"));
    }
    TEST_CASE("threads that run no access have nothing") {
        const std::string text = of_block(8, "    gpu_thread for t in [0, +8): f[t] = b\n"
                                             "    gpu_thread for t in [0, +32): g[t] = b\n"
                                             "    gpu_thread for t in [0, +8): h[t] = f[t]\n");
        CHECK(contains(text, "allocate f: int32[1] in Register"));
    }
    TEST_CASE("what is another thread's is refused") {
        const char *of_neighbour = "    gpu_thread for t in [0, +8): f[t] = b\n"
                                   "    gpu_thread for t in [0, +7): g[t] = f[t + 1]\n";
        CHECK(contains(refusal(8, of_neighbour), "one thread accesses what is another one's"));
        const char *mirrored = "    gpu_thread for t in [0, +8): f[t] = b\n"
                               "    gpu_thread for t in [0, +8): g[t] = f[7 - t]\n";
        CHECK(contains(refusal(8, mirrored), "one access is of other elements of a thread"));
        const char *of_all = "    gpu_thread for t in [0, +8): f[t] = b\n"
                             "    gpu_thread for t in [0, +8): for i in [0, +8): g[t] = f[i]\n";
        CHECK(contains(refusal(8, of_all), "private to each thread"));
        const char *of_block_itself = "    gpu_thread for t in [0, +8): f[t] = b\n"
                                      "    if 0 < f[0]: gpu_thread for t in [0, +8): g[t] = 1\n";
        CHECK(contains(refusal(8, of_block_itself), "accessed outside of them"));
        const char *of_unknown = "    gpu_thread for t in [0, +8): f[t] = b\n"
                                 "    gpu_thread for t in [0, +8): g[t] = f[t + m]\n";
        CHECK(contains(refusal(8, of_unknown), "is known"));
    }
}
