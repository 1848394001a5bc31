#include "lower/gpu/check_gpu_loops.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

Context with_cuda() {
    Context context;
    context.target = Target("x86-64-linux-cuda");
    return context;
}

// The message with which the nest is refused; empty: it is not.
std::string refusal(std::string_view text, const Context &context = with_cuda()) {
    try {
        apply(check_gpu_loops, ir::parse_stmt(text), context);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}
bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("check_gpu_loops") {
    TEST_CASE("copies are made ahead for all threads of a block, and not within one of them") {
        const auto nest = [](const char *threads) {
            return str("gpu_block for b in [0, +n):\n", threads,
                       "        for k in [0, +m):\n"
                       "            hoist f copies 2\n"
                       "            realize f: {float32} in GPUShared async over [0, +8]\n"
                       "            f(0) = 1.0\n");
        };
        CHECK(refusal(nest("    if n > 0:\n")).empty());
        CHECK(contains(refusal(nest("    gpu_thread for t in [0, +8):\n")),
                       "outside of loops over threads"));
    }

    TEST_CASE("what is a kernel passes") {
        CHECK(
            refusal("gpu_block for by in [0, +n): gpu_block for bx in [0, +n):\n"
                    "    gpu_thread for ty in [0, +8): gpu_thread for tx in [0, +8): f(tx) = 1") ==
            "");
        CHECK(refusal("gpu_block for b in [0, +n):\n"
                      "    if b < m:\n        let z = b * 2\n"
                      "        gpu_thread for t in [0, +8): f(t) = z") == "");
        CHECK(refusal("for n in [0, +2): gpu_block for b in [0, +n): f(b) = 1") == "");
        CHECK(refusal("gpu_block for b in [0, +n): for k in [0, +4):\n"
                      "    gpu_thread for t in [0, +8): gpu_lane for l in [0, +32): f(t) = 1") ==
              "");
        CHECK(refusal("for x in [0, +n): f(x) = 1", Context()) == "");
    }
    TEST_CASE("a target without a GPU") {
        Context context;
        context.target = Target("x86-64-linux");
        CHECK(contains(refusal("gpu_block for b in [0, +n): f(b) = 1", context),
                       "the target x86-64-linux has no GPU"));
    }
    TEST_CASE("more than three loops over blocks, or over threads and lanes") {
        CHECK(contains(
            refusal("gpu_block for a in [0, +n): gpu_block for b in [0, +n):\n"
                    "    gpu_block for c in [0, +n): gpu_block for d in [0, +n): f(a) = 1"),
            "three are the most"));
        CHECK(contains(refusal("gpu_block for a in [0, +n): gpu_thread for b in [0, +n):\n"
                               "    gpu_thread for c in [0, +n): gpu_thread for d in [0, +n):\n"
                               "        gpu_lane for e in [0, +n): f(a) = 1"),
                       "three of threads and lanes are the most"));
    }
    TEST_CASE("something between two loops over blocks") {
        const std::string message = refusal("gpu_block for a in [0, +n): for k in [0, +n):\n"
                                            "    gpu_block for b in [0, +n): f(a) = 1");
        CHECK(contains(message, "the loop b over blocks is within a kernel"));
        CHECK(contains(message, "  gpu_block for a:\n    for k:\n      gpu_block for b"));
        CHECK(contains(refusal("gpu_block for a in [0, +n): produce f:\n"
                               "    gpu_block for b in [0, +n): f(b) = 1"),
                       "\"produce f\""));
        CHECK(contains(refusal("gpu_block for a in [0, +n):\n    realize f: {int32} over [0, +9]\n"
                               "    gpu_block for b in [0, +n): f(b) = 1"),
                       "\"store f\""));
    }
    TEST_CASE("loops in the wrong order") {
        CHECK(contains(refusal("gpu_block for b in [0, +n): gpu_thread for t in [0, +n):\n"
                               "    gpu_block for c in [0, +n): f(b) = 1"),
                       "over blocks is within a loop over threads"));
        CHECK(contains(refusal("gpu_thread for t in [0, +n): f(t) = 1"), "in no loop over blocks"));
        CHECK(contains(refusal("gpu_lane for t in [0, +n): f(t) = 1"), "in no loop over blocks"));
        CHECK(contains(refusal("gpu_block for b in [0, +n): gpu_lane for l in [0, +n):\n"
                               "    gpu_thread for t in [0, +n): f(b) = 1"),
                       "over threads is within a loop over lanes"));
        CHECK(contains(refusal("gpu_block for b in [0, +n): gpu_lane for l in [0, +n):\n"
                               "    gpu_lane for t in [0, +n): f(b) = 1"),
                       "within another loop over lanes"));
    }
    TEST_CASE("threads of a producer within threads of its consumer") {
        CHECK(contains(refusal("gpu_block for b in [0, +n): gpu_thread for t in [0, +8):\n"
                               "    realize f: {int32} over [0, +9]\n"
                               "    produce f: gpu_thread for u in [0, +9): f(u) = 1\n"
                               "    consume f: g(t) = f(t)"),
                       "each thread has values of its own and computes only a part of them"));
        // The lanes of a warp share what they compute.
        CHECK(refusal("gpu_block for b in [0, +n): gpu_thread for t in [0, +8):\n"
                      "    realize f: {int32} over [0, +9]\n"
                      "    produce f: gpu_lane for u in [0, +9): f(u) = 1\n"
                      "    consume f: g(t) = f(t)") == "");
        CHECK(refusal("gpu_block for b in [0, +n):\n"
                      "    realize f: {int32} over [0, +9]\n"
                      "    produce f: gpu_thread for u in [0, +9): f(u) = 1\n"
                      "    consume f: gpu_thread for t in [0, +8): g(t) = f(t)") == "");
    }
    TEST_CASE("parallel loops and asynchronous Funcs within a kernel") {
        CHECK(contains(refusal("gpu_block for b in [0, +n): parallel for t in [0, +n): f(b) = 1"),
                       "is within a kernel"));
        CHECK(contains(
            refusal("gpu_block for b in [0, +n):\n    realize f: {int32} async over [0, +9]\n"
                    "    f(b) = 1"),
            "no other threads can compute ahead"));
    }
    TEST_CASE("clusters are of blocks, and of GPUs that have them") {
        const auto refused = [](std::string_view text) {
            Context context;
            context.target = Target("x86-64-linux-cuda-cuda_capability_90");
            return refusal(text, context);
        };
        const char *pair = "gpu_cluster for c in [0, +n): gpu_block for b in [0, +2): f(c) = 1";
        CHECK(refused(pair) == "");
        CHECK(contains(refusal(pair), "which GPUs have from compute capability 9.0 on"));
        CHECK(refused("gpu_cluster for d in [0, +n): gpu_cluster for c in [0, +n):\n"
                      "    realize f: {int32} in GPUShared over [0, +9]\n"
                      "    produce f: gpu_block for b in [0, +2): f(c) = 1\n"
                      "    consume f: gpu_block for a in [0, +2): gpu_block for b in [0, +2):\n"
                      "        gpu_thread for t in [0, +2): g(t) = f(c)") == "");
        CHECK(contains(refused("gpu_cluster for c in [0, +n): f(c) = 1"),
                       "has no loops over blocks within, which are its blocks"));
        CHECK(
            contains(refused("gpu_block for b in [0, +2): gpu_cluster for c in [0, +n): f(c) = 1"),
                     "over clusters is within a loop over blocks"));
        CHECK(contains(refused("gpu_block for b in [0, +2): gpu_thread for t in [0, +2):\n"
                               "    gpu_cluster for c in [0, +n): f(c) = 1"),
                       "over clusters is within a loop over threads"));
        CHECK(contains(refused("gpu_cluster for c in [0, +n): for k in [0, +2):\n"
                               "    gpu_cluster for d in [0, +n): gpu_block for b in [0, +2): "
                               "f(c) = 1"),
                       "between them there is \"for k\"; a cluster has blocks"));
        CHECK(refused("gpu_cluster for c in [0, +n): for k in [0, +2):\n"
                      "    gpu_block for b in [0, +2): f(c) = 1") == "");
        CHECK(
            contains(refused("gpu_cluster for c in [0, +n): gpu_thread for t in [0, +2): f(c) = 1"),
                     "has no loops over blocks"));
        CHECK(contains(refused("gpu_cluster for a in [0, +n): gpu_cluster for b in [0, +n):\n"
                               "    gpu_cluster for c in [0, +n): gpu_cluster for d in [0, +n):\n"
                               "        gpu_block for e in [0, +2): f(c) = 1"),
                       "three other loops over clusters"));
    }
    TEST_CASE("what is computed at a loop over clusters is for its blocks, in their memory") {
        Context context;
        context.target = Target("x86-64-linux-cuda-interpret");
        const auto refused = [&](const char *memory, const char *produced) {
            return refusal(str("gpu_cluster for c in [0, +n):\n    realize f: {int32} in ", memory,
                               " over [0, +9]\n    produce f: ", produced,
                               "\n    consume f: gpu_block for a in [0, +2): g(a) = f(c)"),
                           context);
        };
        CHECK(refused("Auto", "gpu_block for b in [0, +2): f(b) = 1") == "");
        CHECK(contains(refused("Auto", "for b in [0, +2): f(b) = 1"),
                       "f is computed in a loop over clusters, and in none over blocks"));
        CHECK(contains(refused("Auto", "gpu_thread for b in [0, +2): f(b) = 1"),
                       "in no loop over blocks"));
        for (const char *memory : {"Heap", "Register", "GPUSharedAsync"})
            CHECK(contains(refused(memory, "gpu_block for b in [0, +2): f(b) = 1"),
                           "which is in the memory of its blocks"));
        CHECK(contains(refused("Auto async", "gpu_block for b in [0, +2): f(b) = 1"),
                       "no other threads can compute ahead"));
    }
    TEST_CASE("the memory of a block outside of kernels") {
        CHECK(contains(refusal("realize f: {int32} in GPUShared over [0, +9]\nf(3) = 1"),
                       "f is computed outside of kernels"));
        CHECK(refusal(
                  "gpu_block for b in [0, +n):\n    realize f: {int32} in GPUShared over [0, +9]\n"
                  "    f(b) = 1") == "");
    }
}
