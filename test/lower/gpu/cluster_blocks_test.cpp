#include "lower/gpu/cluster_blocks.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string clustered(const std::string &text) { return run(cluster_blocks, text); }

// f of 32 elements a block, computed by `writers` blocks; out by four.
std::string exchange(int writers, const std::string &written, const std::string &used,
                     const std::string &elements = "128") {
    return "gpu_cluster for c in [0, +n):\n"
           "    allocate f: float32[" +
           elements +
           "] in Auto\n"
           "    gpu_block for u in [0, +" +
           std::to_string(writers) +
           "):\n"
           "        gpu_thread for t in [0, +32):\n            " +
           written +
           "\n"
           "    gpu_block for v in [0, +4):\n"
           "        gpu_thread for t in [0, +32):\n            " +
           used + "\n";
}
const std::string write_32 = "f[u*32 + t] = src[c*128 + u*32 + t]:float32";

std::string refusal(const std::string &text) {
    try {
        clustered(text);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}
bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}
size_t barriers_in(const std::string &text) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find("gpu_cluster_barrier", at)) != text.npos; at++) count++;
    return count;
}

}  // namespace

TEST_SUITE("cluster_blocks") {
    TEST_CASE("blocks have what they write, and read what others have") {
        const std::string after =
            clustered(exchange(4, write_32, "out[v*32 + t] = f[127 - v*32 - t]:float32"));
        CAPTURE(after);
        CHECK(contains(after, "gpu_cluster for c in [0, +n):\n"
                              "    gpu_block for rank in [0, +4) partition Never:\n"
                              "        allocate f: float32[32] in GPUShared\n"));
        CHECK(contains(after, "f[u * 32 + t - rank * 32] = src["));
        CHECK(contains(after, "cluster_load(address_of(f[(31 - t) % 32]), "
                              "(31 - t) / 32 - v + 3)"));
        // Before others read, and before the memory is given up.
        CHECK(barriers_in(after) == 2);
        CHECK(after.ends_with("gpu_cluster_barrier()\n"));
    }
    TEST_CASE("what a block reads of its own alone needs no barrier of the cluster") {
        const std::string after =
            clustered(exchange(4, write_32, "out[v*32 + t] = f[v*32 + 31 - t]:float32"));
        CAPTURE(after);
        CHECK(barriers_in(after) == 0);
        CHECK(!contains(after, "cluster_load"));
        CHECK(contains(after, "f[v * 32 - t - rank * 32 + 31]"));
    }
    TEST_CASE("a stage of fewer blocks leaves the others idle") {
        const std::string after =
            clustered(exchange(2, "f[u*32 + t] = 1.0", "out[v*32 + t] = f[v + t]", "64"));
        CAPTURE(after);
        CHECK(contains(after, "if rank < 2:\n"));
        CHECK(!contains(after, "if rank < 4:\n"));
        CHECK(contains(after, "allocate f: float32[32]"));
    }
    TEST_CASE("stages that follow one another meet once for each exchange") {
        const std::string text = "gpu_cluster for c in [0, +n):\n"
                                 "    allocate f: float32[4] in Auto\n"
                                 "    allocate g: float32[4] in Auto\n"
                                 "    gpu_block for u in [0, +4): f[u] = 0.0\n"
                                 "    gpu_block for u in [0, +4): f[u] = f[u] + src[u]:float32\n"
                                 "    gpu_block for u in [0, +4): g[u] = f[3 - u]\n"
                                 "    gpu_block for u in [0, +4): g[u] = g[u] + f[(u + 1) % 4]\n"
                                 "    gpu_block for u in [0, +4): out[u] = g[3 - u]\n";
        const std::string after = clustered(text);
        CAPTURE(after);
        // Between f and g, between g and out; the end of g, which is that of f.
        CHECK(barriers_in(after) == 3);
        const size_t g = after.find("g[u - rank] = cluster_load");
        CHECK(after.find("gpu_cluster_barrier") < g);
        CHECK(after.find("gpu_cluster_barrier", g) > after.find("g[u - rank] = g[u - rank]"));
    }
    TEST_CASE("what is written again after others have read it") {
        const std::string text = "gpu_cluster for c in [0, +n):\n"
                                 "    allocate f: float32[4] in Auto\n"
                                 "    gpu_block for u in [0, +4): f[u] = 0.0\n"
                                 "    gpu_block for u in [0, +4): out[u] = f[3 - u]\n"
                                 "    gpu_block for u in [0, +4): f[u] = 1.0\n";
        CHECK(barriers_in(clustered(text)) == 2);
    }
    TEST_CASE("blocks meet in each iteration of a loop around them that exchanges anything") {
        const std::string before =
                              "gpu_cluster for c in [0, +n):\n"
                              "    allocate f: float32[4] in Auto\n"
                              "    for k in [0, +m):\n"
                              "        gpu_block for u in [0, +4): f[u] = src[k*4 + u]:float32\n",
                          used = "        gpu_block for u in [0, +4): out[k*4 + u] = ";
        const std::string other = clustered(before + used + "f[3 - u]\n");
        CAPTURE(other);
        // Before and after others read, and, if there was no iteration, at the end: nothing.
        CHECK(barriers_in(other) == 2);
        CHECK(!other.ends_with("\n        gpu_cluster_barrier()\n"));
        CHECK(barriers_in(clustered(before + used + "f[u]\n")) == 0);
    }
    TEST_CASE("several loops over blocks are numbered, the innermost fastest") {
        const std::string after =
            clustered("gpu_cluster for c in [0, +n):\n"
                      "    allocate f: float32[24] in Auto\n"
                      "    gpu_block for v in [0, +2):\n"
                      "        gpu_block for u in [5, +3):\n"
                      "            for i in [0, +4): f[v*12 + u*4 - 20 + i] = 1.0\n"
                      "    gpu_block for b in [0, +6): out[b] = f[b*4 + 1]\n");
        CAPTURE(after);
        CHECK(contains(after, "allocate f: float32[4] in GPUShared"));
        CHECK(contains(after, "let v = rank / 3"));
        CHECK(contains(after, "let u = rank % 3 + 5"));
        CHECK(barriers_in(after) == 0);
    }
    TEST_CASE("vectors of what others have are read element by element") {
        const std::string after = clustered(
            exchange(4, write_32, "out[ramp(v*2, 1, 2)] = f[ramp(62 - v*31, 1, 2)]:float32x2"));
        CAPTURE(after);
        CHECK(contains(after, "cluster_load(address_of(f[(30 - v * 31) % 32]), "
                              "(30 - v * 31) / 32 + 1)"));
        CHECK(contains(after, "cluster_load(address_of(f[(31 - v * 31) % 32]), "
                              "(31 - v * 31) / 32 + 1)"));
    }
    TEST_CASE("blocks that overlap, or whose elements are not known") {
        CHECK(contains(refusal(exchange(4, "f[u*31 + t] = 1.0", "out[v] = f[v]")),
                       "its blocks write 0 to 31, 31 to 62, 62 to 93, 93 to 124"));
        CHECK(contains(refusal(exchange(4, "f[t*4 + u] = 1.0", "out[v] = f[v]")),
                       "no pieces of one size"));
        CHECK(contains(refusal(exchange(4, "f[src2[u]:int32] = 1.0", "out[v] = f[v]")),
                       "is not known when the pipeline is compiled"));
    }
    TEST_CASE("an exchange within one stage") {
        CHECK(contains(refusal(exchange(4, "f[u*32 + t] = f[127 - u*32 - t]", "out[v] = f[v]")),
                       "they meet only between two stages"));
    }
    TEST_CASE("too many blocks, and blocks whose number is not known") {
        CHECK(
            contains(refusal("gpu_cluster for c in [0, +n): gpu_block for u in [0, +9): f[u] = 1"),
                     "have 9 blocks, and a cluster has 8 at most"));
        CHECK(
            contains(refusal("gpu_cluster for c in [0, +n): gpu_block for u in [0, +m): f[u] = 1"),
                     "has to be known when the pipeline is compiled"));
        CHECK(contains(
            clustered("gpu_cluster for c in [0, +n):\n"
                      "    gpu_block for u in [0, +min(m, 3)): f[u] = 1"),
            "gpu_block for rank in [0, +3) partition Never:\n        if rank < min(m, 3)"));
    }
    TEST_CASE("kernels without clusters stay as they are") {
        const std::string text = "gpu_block for b in [0, +n): gpu_thread for t in [0, +32): "
                                 "f[b*32 + t] = 1";
        CHECK(clustered(text) == printed(text));
    }
}
