#include "lower/gpu/canonical_kernels.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

std::string kernel(std::string_view body) {
    return run(canonical_kernels, str("gpu_block for b in [0, +n):\n", body));
}
size_t barriers(const std::string &text) {
    size_t count = 0;
    for (size_t at = text.find("gpu_barrier"); at != std::string::npos;
         at = text.find("gpu_barrier", at + 1))
        count++;
    return count;
}
bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

constexpr const char *stencil =
    "    allocate f: int32[34] in Auto\n"
    "    produce f: gpu_thread for i in [0, +34): f[i] = src[b*32 + i]\n"
    "    consume f: gpu_thread for x in [0, +32): "
    "out[b*32 + x] = f[x] + f[x + 2]\n";

}  // namespace

TEST_SUITE("canonical_kernels") {
    TEST_CASE("all that a block does is in one nest of threads, with shared storage around it") {
        const std::string text = kernel(stencil);
        CAPTURE(text);
        CHECK(contains(text, "let f_size = 34"));
        CHECK(contains(text, "gpu_thread for thread_x in [0, +34)"));
        CHECK(contains(text, "if thread_x < 32"));
        CHECK(barriers(text) == 1);
    }
    TEST_CASE("threads do not wait for one another over elements that are one thread's each") {
        // `offset`: of what the loop reads.
        const auto down = [](const char *offset, const char *row = "32") {
            return barriers(kernel(str("    allocate f: int32[n*", row,
                                       " + 32] in Heap\n"
                                       "    gpu_thread for x in [0, +32): f[x] = src[x]\n"
                                       "    for y in [1, +n): gpu_thread for x in [0, +32): f[y*",
                                       row, " + x] = f[y*", row, " + x - ", offset, "]\n")));
        };
        CHECK(down("32") == 0);
        CHECK(down("64") == 0);
        CHECK(down("33") > 0);  // its neighbour's
        CHECK(down("31") > 0);
        CHECK(down("31", "31") > 0);  // the first of a row is the last thread's of the one before
        CHECK(down("36", "36") == 0);
        CHECK(down("m", "m") > 0);  // rows of nobody knows how many
        // All threads write the first element.
        CHECK(barriers(kernel("    allocate f: int32[32] in Heap\n"
                              "    gpu_thread for x in [0, +32): f[0] = x\n"
                              "    gpu_thread for x in [0, +32): out[x] = f[0]\n")) == 1);
        // Only the threads whose y is 0 write.
        CHECK(barriers(kernel("    allocate f: int32[32] in Heap\n"
                              "    gpu_thread for x in [0, +32): f[x] = x\n"
                              "    gpu_thread for y in [0, +4): gpu_thread for x in [0, +32): "
                              "out[y*32 + x] = f[x]\n")) == 1);
        // Vectors of four, one after the other, and one that reaches into the next thread's.
        const auto of_four = [](const char *read) {
            return barriers(kernel(str(
                "    allocate f: int32[n*128 + 128] in Heap\n"
                "    for y in [0, +n): gpu_thread for x in [0, +32): f[ramp(y*128 + x*4, 1, 4)] = "
                "src[ramp(x*4, 1, 4)]\n"
                "    gpu_thread for x in [0, +32): out[x] = f[m*256 + ",
                read, "]\n")));
        };
        CHECK(of_four("x*4 + 3") == 0);
        CHECK(of_four("x*4 + 4") > 0);
    }
    TEST_CASE("threads meet before a loop for what was done before it, and not in each iteration") {
        const std::string text =
            kernel("    allocate f: int32[32] in Auto\n"
                   "    allocate own: int32[32] in Heap\n"
                   "    gpu_thread for x in [0, +32): f[x] = src[x]\n"
                   "    for y in [0, +n): gpu_thread for x in [0, +32): own[x] = f[31 - x]*y\n"
                   "    gpu_thread for x in [0, +32): f[x] = own[x]\n");
        CAPTURE(text);
        CHECK(barriers(text) == 2);
        CHECK(text.find("gpu_barrier") < text.find("for y"));
        // Where iterations meet anyway, they do so at their beginning; the loop may have none.
        const std::string both =
            kernel("    allocate f: int32[32] in Auto\n"
                   "    gpu_thread for x in [0, +32): f[x] = src[x]\n"
                   "    for y in [0, +n): gpu_thread for x in [0, +32): f[x] = f[31 - x]\n"
                   "    gpu_thread for x in [0, +32): g[x] = f[31 - x]\n");
        CAPTURE(both);
        CHECK(barriers(both) == 2);
        CHECK(both.find("for y") < both.find("gpu_barrier"));
    }
    TEST_CASE("parts of one production write what they write without waiting for one another") {
        const auto produce = [&](const std::string &parts) {
            return "    allocate f: int32[64] in Auto\n    for i in [0, +n):\n        produce "
                   "f:\n" +
                   parts + "        consume f: gpu_thread for x in [0, +64): out[x] = f[63 - x]\n";
        };
        const auto store = [&](const char *offset, const char *stage = "") {
            return str("            gpu_thread for x in [0, +32) of f x", stage, ": f[x + ", offset,
                       "] = x\n");
        };
        // Before it is read, and before the next iteration writes it.
        CHECK(barriers(kernel(produce(store("0") + store("32")))) == 2);
        CHECK(barriers(kernel(produce("            for y in [0, +2): gpu_thread for x in [0, +32) "
                                      "of f x: f[x + y*32] = x\n"))) == 2);
        // An update may write anything.
        CHECK(barriers(kernel(produce(store("0") + store("32", " update 1")))) == 3);
        // What the kernel computes is in no production within it; what it reads may be.
        CHECK(barriers(kernel("    for i in [0, +n):\n        produce f:\n" + store("i*32") +
                              "        consume f:\n            for j in [0, +n): gpu_thread for x "
                              "in [0, +32) of g x: g[i*32 + x] = 1\n")) == 1);
        // Nor is there an order of two iterations without a meeting.
        CHECK(barriers(kernel("    allocate f: int32[64] in Auto\n    for i in [0, +n):\n"
                              "        produce f:\n" +
                              store("i"))) == 1);
    }
    TEST_CASE(
        "what lanes have in registers at the level of a block is in the block's memory else") {
        const auto after = [](const std::string &rows) {
            return kernel("    allocate f: int32[96] in Register\n" + rows +
                          "    gpu_lane for x in [0, +32): out[x] = f[x] + f[x + 64]\n");
        };
        const std::string by_row = after("    gpu_lane for x in [0, +32): f[x] = src[x]\n"
                                         "    gpu_lane for x in [0, +32): f[x + 64] = src[x]\n");
        CHECK(contains(by_row, "allocate f: int32[2] in Register"));
        CHECK(barriers(by_row) == 0);
        for (const char *rows : {"3", "m"}) {
            CHECK(contains(after(str("    for y in [0, +", rows,
                                     "): gpu_lane for x in [0, +32): f[y*32 + x] = src[x]\n")),
                           "in GPUShared"));
        }
    }
    TEST_CASE("the innermost loop is that of x, and leaves of fewer dimensions run once") {
        const std::string text =
            kernel("    gpu_thread for i in [0, +8): gpu_thread for j in [0, +4): f[i*4 + j] = 1\n"
                   "    gpu_thread for k in [0, +16): g[k] = 2\n"
                   "    h[b] = 3\n");
        CAPTURE(text);
        CHECK(contains(text, "gpu_thread for thread_y in [0, +8)"));
        CHECK(contains(text, "gpu_thread for thread_x in [0, +16)"));
        CHECK(contains(text, "if thread_x < 4"));
        CHECK(contains(text, "if thread_y == 0"));
        CHECK(contains(text, "if thread_x == 0"));
        CHECK(barriers(text) == 0);
    }
    TEST_CASE("storage that is used one after the other is in the same memory, after a barrier") {
        const std::string text =
            kernel("    allocate f: int32[8] in Auto:\n"
                   "        gpu_thread for i in [0, +8): f[i] = 1\n"
                   "        gpu_thread for i in [0, +8): out[i] = f[7 - i]\n"
                   "    allocate g: int16[64] in Auto:\n"
                   "        gpu_thread for i in [0, +8): g[i] = int16(i)\n"
                   "        allocate h: int32[8] in Auto:\n"
                   "            gpu_thread for i in [0, +8): h[i] = int32(g[7 - i])\n"
                   "            gpu_thread for i in [0, +8): out[i + 8] = h[7 - i]\n");
        CAPTURE(text);
        CHECK(contains(text, "allocate g: int16[g_size] in GPUShared within f"));
        CHECK(contains(text, "let f_size = 32"));                           // the 128 bytes of g
        CHECK(contains(text, "allocate h: int32[h_size] in GPUShared\n"));  // g is still used
        CHECK(barriers(text) == 4);
        // Of a loop, what is first in an iteration follows what is last in the one before.
        const std::string loop =
            kernel("    for k in [0, +n):\n"
                   "        allocate f: int32[8] in Auto:\n"
                   "            gpu_thread for i in [0, +8): f[i] = k\n"
                   "            gpu_thread for i in [0, +8): out[i] = f[7 - i]\n"
                   "        allocate g: int32[8] in Auto:\n"
                   "            gpu_thread for i in [0, +8): g[i] = k\n"
                   "            gpu_thread for i in [0, +8): out[i + 8] = g[7 - i]\n");
        CAPTURE(loop);
        CHECK(barriers(loop) == 4);
    }
    TEST_CASE("storage whose copies are waited for has no barriers, and memory of its own") {
        const std::string text = "    allocate f: int32[32] in GPUShared pipelined swizzle 128\n"
                                 "    gpu_thread for x in [0, +32): f[x] = src[x]\n"
                                 "    gpu_thread for x in [0, +32): out[x] = f[31 - x]\n"
                                 "    allocate g: int32[32] in GPUShared\n"
                                 "    gpu_thread for x in [0, +32): g[x] = src[x]\n";
        const auto without = [&](const char *fact) {
            std::string other = text;
            return kernel(other.erase(other.find(fact), std::string(fact).size()));
        };
        CHECK(barriers(kernel(text)) == 0);
        CHECK(contains(kernel(text), "in GPUShared pipelined swizzle 128"));
        CHECK(barriers(without(" pipelined")) == 1);
    }
    TEST_CASE("a thread's own storage is small; what is large is in the memory of the device") {
        const auto of_size = [](const char *memory, int elements) {
            return kernel(str("    gpu_thread for t in [0, +8):\n        allocate f: int32[",
                              elements, "] in ", memory,
                              "\n        f[t] = t\n        out[t] = f[t]\n"));
        };
        CHECK(contains(of_size("Auto", 4096), "allocate f: int32[4096] in Auto"));
        CHECK(contains(of_size("Auto", 4097), "in Heap"));
        CHECK(contains(of_size("Stack", 131072), "int32[131072] in Stack"));
        CHECK_THROWS_WITH_AS(of_size("Stack", 131073), doctest::Contains("524288 bytes"),
                             CompileError);
    }
    TEST_CASE("no barrier where nothing is shared, one where a later statement needs it") {
        CHECK(barriers(kernel("    gpu_thread for i in [0, +8): f[i] = 1\n"
                              "    gpu_thread for i in [0, +8): g[i] = 2\n")) == 0);
        CHECK(barriers(kernel("    gpu_thread for i in [0, +8): f[i] = 1\n"
                              "    gpu_thread for i in [0, +8): g[i] = 2\n"
                              "    gpu_thread for i in [0, +8): h[i] = f[7 - i] + g[7 - i]\n")) ==
              1);
        CHECK(barriers(kernel("    gpu_thread for i in [0, +8): f[i] = g[i]\n"
                              "    gpu_thread for i in [0, +8): g[i] = 2\n")) == 1);
    }
    TEST_CASE("a serial loop whose next iteration overwrites what this one reads ends with one") {
        const std::string text =
            kernel("    allocate f: int32[8] in Auto\n"
                   "    for k in [0, +4):\n"
                   "        gpu_thread for i in [0, +8): f[i] = src[k*8 + i]\n"
                   "        gpu_thread for i in [0, +8): out[k*8 + i] = f[7 - i]\n");
        CAPTURE(text);
        CHECK(barriers(text) == 2);
        // Two copies in turns need it once an iteration.
        CHECK(barriers(kernel("    for k in [0, +4):\n"
                              "        gpu_thread for i in [0, +8): f[i] = src[k*8 + i]\n"
                              "        gpu_thread for i in [0, +8): g[i] = f[7 - i]\n"
                              "        gpu_thread for i in [0, +8): out[k*8 + i] = g[7 - i]\n")) ==
              2);
    }
    TEST_CASE("each arm of a condition is brought into the form by itself") {
        const std::string text = kernel(
            "    if b < m:\n"
            "        gpu_thread for i in [0, +8): gpu_thread for j in [0, +4): f[i*4 + j] = 1\n"
            "    else:\n"
            "        gpu_thread for k in [0, +4): f[k] = f[k] + 1\n");
        CAPTURE(text);
        CHECK(contains(text, "if thread_y == 0"));
    }
    TEST_CASE("storage that is private to threads stands within them, or is that of lanes") {
        CHECK_THROWS_WITH_AS(kernel("    allocate f: int32[8] in Register\n"
                                    "    gpu_thread for i in [0, +8): f[i] = src[i]\n"
                                    "    gpu_thread for i in [0, +8): out[i] = f[7 - i]\n"),
                             doctest::Contains("private to each thread"), CompileError);
        const std::string lanes = kernel("    allocate f: int32[8] in Register\n"
                                         "    gpu_lane for i in [0, +8): f[i] = src[i]\n"
                                         "    gpu_lane for i in [0, +8): out[i] = f[7 - i]\n");
        CAPTURE(lanes);
        CHECK(contains(lanes, "let f_size = 8"));
        CHECK(barriers(lanes) == 1);
    }
    TEST_CASE("storage has room for the largest of sizes that depend on the block's loops") {
        const std::string text = "    for k in [0, +4):\n"
                                 "        allocate f: int32[k + 8] in Auto\n"
                                 "        gpu_thread for i in [0, +8): f[i] = src[k*8 + i]\n";
        CHECK(contains(kernel(text), "let f_size = 11"));
        const std::string unknown = "    for k in [0, +4):\n"
                                    "        allocate f: int32[src[k]] in Auto\n"
                                    "        gpu_thread for i in [0, +8): f[i] = 1\n";
        CHECK_THROWS_WITH_AS(kernel(unknown), doctest::Contains("has no bound"), CompileError);
    }
    TEST_CASE("the product of sizes does not wrap around") {
        const std::string text = kernel("    allocate f: int32[n, m] in Heap\n"
                                        "    gpu_thread for i in [0, +8): f[i] = src[i]\n");
        CAPTURE(text);
        CHECK(contains(text, "let f_size = int32(min(int64(max(n, 0)) * int64(max(m, 0)), "
                             "2147483647:int64))"));
        CHECK(contains(text, "allocate f: int32[f_size, max(n, 0)] in Heap"));
        const std::string shared = kernel("    allocate f: int32[n, m] in GPUShared\n"
                                          "    gpu_thread for i in [0, +8): f[i] = src[i]\n");
        CAPTURE(shared);
        CHECK(contains(shared, "262144:int64"));  // what no launch grants
        CHECK_THROWS_WITH_AS(kernel("    allocate f: int32[65536, 65536] in Heap\n"
                                    "    gpu_thread for i in [0, +8): f[i] = src[i]\n"),
                             doctest::Contains("has no bound"), CompileError);
    }
    TEST_CASE("a copy of storage that one thread alone uses has a name of its own") {
        const std::string text = kernel("    allocate f: int32[8] in Auto:\n"
                                        "        gpu_thread for i in [0, +8): f[i] = src[i]\n"
                                        "        gpu_thread for i in [0, +8): out[i] = f[7 - i]\n"
                                        "    for k in [0, +2):\n"
                                        "        allocate f: int32[8] in Auto\n"
                                        "        f[0] = k\n"
                                        "        out[8 + k] = f[0]\n");
        CAPTURE(text);
        CHECK(contains(text, "out[8 + k] = f.1[0]"));
    }
    TEST_CASE("lanes of a row wait for one another, and have storage of the row") {
        const std::string text =
            kernel("    gpu_thread for y in [0, +4):\n"
                   "        allocate f: int32[10] in Auto\n"
                   "        gpu_lane for i in [0, +10): f[i] = src[i + y]\n"
                   "        gpu_lane for i in [0, +8): out[y*8 + i] = f[i] + f[i + 2]\n");
        CAPTURE(text);
        CHECK(contains(text, "allocate f: int32[f_size * 4] in GPUShared"));
        CHECK(contains(text, "gpu_thread for thread_x in [0, +16)"));  // a power of two
        CHECK(contains(text, "gpu_warp_barrier(16)"));
        CHECK(barriers(text) == 0);
        CHECK(contains(text, "if thread_x < 10"));
        CHECK_THROWS_WITH_AS(kernel("    gpu_thread for y in [0, +4):\n"
                                    "        gpu_lane for i in [0, +40): f[i] = src[i + y]\n"),
                             doctest::Contains("at most 32 threads along x"), CompileError);
    }
    TEST_CASE("a block has at most 1,024 threads") {
        CHECK_THROWS_WITH_AS(kernel("    gpu_thread for y in [0, +33):\n"
                                    "        gpu_thread for x in [0, +32): f[y*32 + x] = 1\n"),
                             doctest::Contains("1056 threads, and can have 1024"), CompileError);
    }
    TEST_CASE("unrolled copies of what is computed share one allocation, of one size") {
        const std::string text = kernel("    gpu_thread for i in [0, +32):\n"
                                        "        for j in [0, +1):\n"
                                        "            allocate f: int32[n] in Heap\n"
                                        "            f[0] = src[i]\n"
                                        "        for k in [0, +1):\n"
                                        "            allocate f: int32[n + 3] in Heap\n"
                                        "            f[1] = src[i]\n");
        CAPTURE(text);
        CHECK(text.find("allocate f") == text.rfind("allocate f"));
        CHECK(contains(text, "let f_size = max(n + 3, 0)"));
        CHECK(contains(text, "f[0 + (thread_x + b * f_size * 32)]"));
        CHECK(contains(text, "f[32 + (thread_x + b * f_size * 32)]"));
    }
    TEST_CASE("storage on the heap is a slice of one allocation outside of the kernel") {
        const std::string blocks = kernel("    allocate f: int32[8] in Heap\n"
                                          "    gpu_thread for i in [0, +8): f[i] = src[i]\n"
                                          "    gpu_thread for i in [0, +8): out[i] = f[7 - i]\n");
        CAPTURE(blocks);
        CHECK(blocks.find("allocate f") < blocks.find("gpu_block"));
        CHECK(contains(blocks, "allocate f: int32[f_size, max(n, 0)] in Heap"));
        CHECK(barriers(blocks) == 1);
        // Neighbouring threads have neighbouring elements.
        const std::string threads = kernel("    gpu_thread for i in [0, +32):\n"
                                           "        allocate f: int32[4] in Heap\n"
                                           "        for j in [0, +4): f[j] = src[i + j]\n"
                                           "        out[i] = f[2]\n");
        CAPTURE(threads);
        CHECK(contains(threads, "allocate f: int32[f_size, 32 * max(n, 0)] in Heap"));
        CHECK(contains(threads, "j * 32"));
    }
    TEST_CASE("of copies of storage by unrolling, the lanes may have one and the row another") {
        const ir::Stmt own = ir::parse_stmt("gpu_block for b in [0, +n):\n"
                                            "    gpu_thread for r in [0, +4):\n"
                                            "        allocate f: int32[2] in Tile\n"
                                            "        gpu_lane for x in [0, +2): f[0] = src[x]\n"
                                            "        gpu_lane for x1 in [0, +2): f[1] = f[0]\n");
        const auto &block = *own.as<ir::For>();
        const auto &row = *block.body.as<ir::For>();
        const auto &a = *row.body.as<ir::Allocate>();
        const auto both = [&](MemoryType second) {
            const ir::Stmt s = ir::Block::make(row.body, a.with<&ir::Allocate::memory>(second));
            const ir::Stmt kernel = block.with<&ir::For::body>(row.with<&ir::For::body>(s));
            return ir::to_string(apply(canonical_kernels, kernel));
        };
        CHECK(!contains(both(MemoryType::Tile), "gpu_warp_barrier"));
        CHECK(contains(both(MemoryType::Auto), "gpu_warp_barrier"));
    }
    TEST_CASE("a kernel without threads has none") {
        CHECK(kernel("    for x in [0, +8): f[b*8 + x] = 1\n") ==
              printed("gpu_block for b in [0, +n):\n    for x in [0, +8): f[b*8 + x] = 1"));
    }
}
