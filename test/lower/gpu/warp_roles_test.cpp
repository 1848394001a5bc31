#include "lower/gpu/canonical_kernels.h"
#include "lower/gpu/warp_roles.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::lower;

namespace {

bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

// A kernel whose consumers exchange what a producer has copied.
std::string kernel(const char *facts) {
    return run(canonical_kernels,
               str("gpu_block for b in [0, +n) of out x ", facts,
                   ":\n"
                   "    allocate empty: uint64[2] in GPUSharedAsync\n"
                   "    allocate f: int32[64] in GPUShared\n"
                   "    barrier_init(address_of(empty[0]), 0)\n"
                   "    gpu_barrier():int32\n"
                   "    if gpu_is_producer():\n"
                   "        for k in [0, +m): barrier_wait(address_of(empty[0]), k % 2)\n"
                   "    else:\n"
                   "        for k in [0, +m):\n"
                   "            gpu_thread for t in [0, +64): f[t] = k\n"
                   "            gpu_thread for t in [0, +64): out[t + k*64] = f[63 - t]\n"
                   "            barrier_arrive(address_of(empty[0]))\n"));
}

}  // namespace

TEST_SUITE("warp_roles") {
    TEST_CASE("each role has a body with the loops and lets that it needs") {
        const Stmt marked =
            parse_stmt("for turn in [0, +n):\n"
                       "    let first = turn*m\n"
                       "    sum[0] = 0\n"
                       "    for k in [0, +m):\n"
                       "        if gpu_is_producer(): copy[k % 2] = src[first + k]\n"
                       "        sum[0] = sum[0] + copy[k % 2]\n"
                       "    out[turn] = sum[0]\n");
        CHECK(to_string(split_roles(marked)) ==
              printed("if gpu_is_producer():\n"
                      "    for turn in [0, +n):\n"
                      "        let first = turn*m\n"
                      "        for k in [0, +m): copy[k % 2] = src[first + k]\n"
                      "else:\n"
                      "    for turn in [0, +n):\n"
                      "        let first = turn*m\n"
                      "        sum[0] = 0\n"
                      "        for k in [0, +m):\n"
                      "            no_op\n"
                      "            sum[0] = sum[0] + copy[k % 2]\n"
                      "        out[turn] = sum[0]\n"));
    }
    TEST_CASE("a body without marks stays as it is") {
        const Stmt body = parse_stmt("for k in [0, +m): out[k] = k\n");
        CHECK(split_roles(body).same_as(body));
    }
    TEST_CASE("a warp more than the consumers need is the producer") {
        const std::string text = kernel("producers 32");
        CAPTURE(text);
        CHECK(contains(text, "gpu_thread for thread_x in [0, +96)"));
        CHECK(contains(text, "if thread_x < 64:"));
        CHECK(contains(text, "if thread_x == 64"));
        CHECK(contains(text, "gpu_role_barrier(1, 64)"));
        CHECK(contains(text, "barrier_init(address_of(empty[0]), 2)"));
        CHECK(!contains(text, "gpu_is_producer"));
        CHECK(!contains(text, "gpu_set_registers"));
        const size_t meet = text.find("gpu_barrier()");
        CHECK(meet != std::string::npos);
        CHECK(text.find("gpu_barrier()", meet + 1) == std::string::npos);
    }
    TEST_CASE("a warpgroup of the producer gives registers to the consumers") {
        const std::string text = kernel("producers 128 registers 24 and 160");
        CAPTURE(text);
        CHECK(contains(text, "gpu_thread for thread_x in [0, +192)"));
        CHECK(contains(text, "gpu_set_registers(160, 1)"));
        CHECK(contains(text, "gpu_set_registers(24, 0)"));
    }
}
