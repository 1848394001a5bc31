// Kernels in the oracle: what each fault that a kernel can have is told as.
#include "interpret/statement.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "lower/gpu/canonical_kernels.h"
#include "lower/gpu/outline_kernels.h"
#include "runtime/tessera_runtime.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::interpret;

namespace {

// Each block reverses eight numbers, in the memory that its threads share.
constexpr const char *reverse = "    gpu_block for b in [0, +4):\n"
                                "        allocate f: int32[8] in GPUShared\n"
                                "        gpu_thread for t in [0, +8):\n"
                                "            f[t] = src[b*8 + t]\n"
                                "            gpu_barrier():int32\n"
                                "            out[b*8 + t] = f[7 - t]\n";

// The same by asynchronous copies: of each thread, and of one for all.
constexpr const char *copying = "    gpu_block for b in [0, +4):\n"
                                "        allocate f: int32[8] in GPUShared\n"
                                "        gpu_thread for t in [0, +8):\n"
                                "            machine_op copy_async():\n"
                                "                f[t] = src[b*8 + t]\n"
                                "            async_commit():int32\n"
                                "            async_wait(0):int32\n"
                                "            gpu_barrier():int32\n"
                                "            out[b*8 + t] = f[7 - t]\n";
constexpr const char *by_one =
    "    gpu_block for b in [0, +4):\n"
    "        allocate f: int32[8] in GPUShared\n"
    "        allocate bar: uint64[1] in GPUShared\n"
    "        gpu_thread for t in [0, +8):\n"
    "            if t == 0:\n"
    "                barrier_init(address_of(bar[0]))\n"
    "                barrier_expect(address_of(bar[0]), 32)\n"
    "                machine_op copy_tile(\"cp.async.bulk.tensor.1d.b32.8\", address_of(f[0]), "
    "address_of(bar[0]), tensor_map(address_of(src[0]), 4, 0, 1, 32, 8, 1, 0, 0), 0, b*8):\n"
    "                    for i in [0, +8): f[i] = src[b*8 + i]\n"
    "            gpu_barrier():int32\n"
    "            barrier_wait(address_of(bar[0]), 0)\n"
    "            out[b*8 + t] = f[7 - t]\n";

// The same by a map, to a part of f in which rows are swizzled in all ways.
constexpr const char *by_map =
    "    gpu_block for b in [0, +4):\n"
    "        allocate f: int32[256] in GPUShared swizzle 128\n"
    "        allocate bar: uint64[1] in GPUShared\n"
    "        gpu_thread for t in [0, +8):\n"
    "            if t == 0:\n"
    "                barrier_init(address_of(bar[0]))\n"
    "                barrier_expect(address_of(bar[0]), 32)\n"
    "                machine_op copy_tile(\"cp.async.bulk.tensor.1d.b32.8\", address_of(f[224]), "
    "address_of(bar[0]), tensor_map(address_of(src[0]), 4, 0, 1, 32, 8, 1, 0, 128), 0, b*8):\n"
    "                    for i in [0, +8): f[224 + i] = src[b*8 + i]\n"
    "            gpu_barrier():int32\n"
    "            barrier_wait(address_of(bar[0]), 0)\n"
    "            out[b*8 + t] = f[224 + 7 - t]\n";

std::string with(std::string text, const std::string &before, const std::string &after) {
    const size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    return text.replace(at, before.size(), after);
}

// What is reversed; RuntimeError if a rule is broken.
std::vector<int32_t> run(const std::string &body, bool as_kernel = false) {
    std::vector<int32_t> in(32), out(32, -1);
    for (int i = 0; i < 32; i++) in[size_t(i)] = i;
    tessera_dimension_t dim{0, 32, 1, 0};
    tessera_buffer_t buffers[2] = {};
    for (int i = 0; i < 2; i++) {
        buffers[i].host = reinterpret_cast<uint8_t *>(i ? in.data() : out.data());
        buffers[i].type = {tessera_type_int, 32, 1};
        buffers[i].dimensions = 1;
        buffers[i].dim = &dim;
    }
    Module m = parse_module(
        "module \"m\"\nfunc \"f\"(out: output int32[1], src: input int32[1]):\n" + body);
    if (as_kernel) m = lower::outline_kernels(m);
    void *args[] = {&buffers[0], &buffers[1]};
    StatementOptions options;
    options.module = &m;
    const int code = run_statement(m.functions[0], args, options);
    CHECK(code == 0);
    return out;
}

bool is_reversed(const std::vector<int32_t> &out) {
    for (int i = 0; i < 32; i++) {
        if (out[size_t(i)] != i / 8 * 8 + 7 - i % 8) return false;
    }
    return true;
}

}  // namespace

TEST_SUITE("kernels in the statement interpreter") {
    TEST_CASE("threads of a block meet at barriers") {
        CHECK(is_reversed(run(reverse)));
        CHECK(is_reversed(run(reverse, true)));
    }
    TEST_CASE("what lowering makes of a nest agrees with the nest") {
        const char *nest = "    gpu_block for b in [0, +4):\n"
                           "        allocate f: int32[8] in Auto\n"
                           "        gpu_thread for t in [0, +8): f[t] = src[b*8 + t]\n"
                           "        gpu_thread for t in [0, +8): out[b*8 + t] = f[7 - t]\n";
        CHECK(is_reversed(run(nest)));
        const Stmt kernel = lower::canonical_kernels(
            parse_module("module \"m\"\nfunc \"f\"(out: output int32[1], src: input int32[1]):\n" +
                         std::string(nest))
                .functions[0]
                .body,
            {});
        std::string text = to_string(kernel), indented;
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('\n', at), text.size());
            indented += "    " + text.substr(at, end - at) + "\n";
            at = end + 1;
        }
        CHECK(is_reversed(run(indented)));
        CHECK(is_reversed(run(indented, true)));
    }
    TEST_CASE("a barrier within a serial loop, and leaves of other shapes") {
        const char *text =
            "    gpu_block for b in [0, +2):\n"
            "        allocate f: int32[16] in GPUShared\n"
            "        gpu_thread for ty in [0, +2):\n"
            "            gpu_thread for tx in [0, +8):\n"
            "                for k in [0, +2):\n"
            "                    if ty == 0: f[k*8 + tx] = src[b*16 + k*8 + tx]\n"
            "                    gpu_barrier():int32\n"
            "                if ty == 0:\n"
            "                    if tx < 2:\n"
            "                        for i in [0, +8): f[tx*8 + i] = f[tx*8 + i] + 1\n"
            "                gpu_barrier():int32\n"
            "                out[b*16 + ty*8 + tx] = f[15 - ty*8 - tx]\n";
        const std::vector<int32_t> out = run(text);
        CHECK(out[0] == 16);
        CHECK(out[31] == 17);
    }
    TEST_CASE("a barrier that is missing is a race") {
        CHECK_THROWS_AS(run(with(reverse, "            gpu_barrier():int32\n", "")), RuntimeError);
    }
    TEST_CASE("a block of more threads than there can be") {
        CHECK_THROWS_WITH_AS(run("    gpu_block for b in [0, +1): gpu_thread for y in [0, +33): "
                                 "gpu_thread for x in [0, +32): gpu_barrier()\n"),
                             doctest::Contains("33 x 1 threads per block"), RuntimeError);
    }
    TEST_CASE("a barrier that some threads do not come to") {
        CHECK_THROWS_WITH_AS(run("    gpu_block for b in [0, +4): gpu_thread for t in [0, +8):\n"
                                 "        if t < 4: gpu_barrier():int32\n"
                                 "        out[b*8 + t] = src[b*8 + t]\n"),
                             doctest::Contains("a barrier"), RuntimeError);
    }
    TEST_CASE("threads that wait at different barriers") {
        CHECK_THROWS_WITH_AS(run("    gpu_block for b in [0, +4): gpu_thread for t in [0, +8):\n"
                                 "        for i in [0, +t): gpu_barrier():int32\n"
                                 "        for i in [0, +8 - t): gpu_barrier():int32\n"
                                 "        out[b*8 + t] = src[b*8 + t]\n"),
                             doctest::Contains("at another one"), RuntimeError);
    }
    TEST_CASE("blocks of a cluster read one another's memory") {
        const std::string cluster =
            "    gpu_cluster for c in [0, +2):\n"
            "        gpu_block for b in [0, +2):\n"
            "            allocate f: int32[8] in GPUShared\n"
            "            gpu_thread for t in [0, +8):\n"
            "                f[t] = src[c*16 + b*8 + t]\n"
            "                gpu_cluster_barrier()\n"
            "                out[c*16 + b*8 + t] = cluster_load(address_of(f[7 - t]), b)\n"
            "                gpu_cluster_barrier()\n";
        CHECK(is_reversed(run(cluster)));
        CHECK(is_reversed(run(cluster, true)));
        const std::string others = with(cluster, "f[7 - t]), b)", "f[7 - t]), 1 - b)");
        const std::vector<int32_t> out = run(others, true);
        CHECK(out[0] == 15);
        CHECK(out[8] == 7);
        CHECK(out[31] == 16);
        // A barrier of the blocks alone does not order what another one does.
        const std::string meeting = "                gpu_cluster_barrier()\n";
        const std::string of_block = "                gpu_barrier()\n";
        CHECK(is_reversed(run(with(with(cluster, meeting, of_block), meeting, of_block))));
        CHECK_THROWS_AS(run(with(others, meeting, of_block)), RuntimeError);
        CHECK_THROWS_AS(run(with(with(others, meeting, of_block), meeting, of_block)),
                        RuntimeError);
        // Memory that is given up while another block reads it.
        CHECK_THROWS_WITH_AS(run(others.substr(0, others.rfind(meeting))),
                             doctest::Contains("while others may still read it"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(cluster, "f[7 - t]), b)", "f[7 - t]), 2)")),
                             doctest::Contains("block 2 is read in a cluster of 2"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(cluster, "                out[",
                                      "                f[t] = f[t] + 1\n                out[")),
                             doctest::Contains("the same element of f"), RuntimeError);
        CHECK_THROWS_WITH_AS(
            run(with(cluster, meeting, "                if b == 0: gpu_cluster_barrier()\n")),
            doctest::Contains("a barrier"), RuntimeError);
    }
    TEST_CASE("blocks of a cluster without threads, and several phases of barriers of both kinds") {
        CHECK(is_reversed(run("    gpu_cluster for c in [0, +4): gpu_block for b in [0, +8):\n"
                              "        allocate f: int32[1] in GPUShared\n"
                              "        f[0] = src[c*8 + b]\n"
                              "        gpu_cluster_barrier()\n"
                              "        out[c*8 + b] = cluster_load(address_of(f[0]), 7 - b)\n"
                              "        gpu_cluster_barrier()\n")));
        CHECK(is_reversed(run("    gpu_cluster for c in [0, +4): gpu_block for b in [0, +2):\n"
                              "        allocate f: int32[4] in GPUShared\n"
                              "        allocate g: int32[4] in GPUShared\n"
                              "        gpu_thread for t in [0, +4):\n"
                              "            f[3 - t] = src[c*8 + b*4 + t]\n"
                              "            gpu_barrier()\n"
                              "            g[t] = f[t]\n"
                              "            gpu_cluster_barrier()\n"
                              "            f[t] = cluster_load(address_of(g[3 - t]), 1 - b)\n"
                              "            gpu_barrier()\n"
                              "            out[c*8 + b*4 + t] = f[3 - t]\n"
                              "            gpu_cluster_barrier()\n")));
    }
    TEST_CASE("lanes of a row meet without the others, and race with them") {
        const std::string rows =
            "    gpu_block for b in [0, +2):\n"
            "        allocate f: int32[16] in GPUShared\n"
            "        gpu_thread for y in [0, +2): gpu_thread for x in [0, +8):\n"
            "            for i in [0, +y + 1):\n"
            "                f[y*8 + x] = src[b*16 + y*8 + x]\n"
            "                gpu_warp_barrier(8):int32\n"
            "            out[b*16 + y*8 + x] = f[y*8 + 7 - x]\n";
        CHECK(is_reversed(run(rows)));
        CHECK_THROWS_AS(run(with(rows, "                gpu_warp_barrier(8):int32\n", "")),
                        RuntimeError);
        // Of another row.
        CHECK_THROWS_AS(run(with(rows, "= f[y*8 + 7 - x]", "= f[15 - y*8 - x]")), RuntimeError);
    }
    TEST_CASE("lanes of a row show one another their registers") {
        const std::string rows =
            "    gpu_block for b in [0, +2):\n"
            "        gpu_thread for y in [0, +2): gpu_thread for x in [0, +8):\n"
            "            allocate f: int32[1] in Tile\n"
            "            f[0] = src[b*16 + y*8 + x]\n"
            "            let other = shuffle_lanes(f[0]:int32, 7 - x, 8)\n"
            "            f[0] = 0\n"
            "            out[b*16 + y*8 + x] = other\n";
        CHECK(is_reversed(run(rows)));
        const std::string again = with(rows, "            out[",
                                       "            let same = shuffle_lanes(f[0]:int32, 1, 8)\n"
                                       "            out[");
        CHECK(is_reversed(run(with(again, "= other", "= other + same"))));
        // Lanes that do not come, come to another place, or have nothing there.
        const std::string not_all =
            with(rows.substr(0, rows.find("            let other")), "f[0] = src[b*16 + y*8 + x]\n",
                 "f[0] = src[b*16 + y*8 + x]\n"
                 "            if x < 7:\n"
                 "                let other = shuffle_lanes(f[0]:int32, 7 - x, 8)\n"
                 "                out[b*16 + y*8 + x] = other\n");
        CHECK_THROWS_WITH_AS(run(not_all), doctest::Contains("a shuffle of a row of lanes"),
                             RuntimeError);
        CHECK_THROWS_AS(
            run(with(rows, "            f[0] = src", "            if x < 7: f[0] = src")),
            RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(rows, "7 - x, 8", "8 - x, 8")),
                             doctest::Contains("reads lane 8 of 8"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(rows, "7 - x, 8", "7 - x, 16")),
                             doctest::Contains("a shuffle of 16 lanes in a row of 8"),
                             RuntimeError);
    }
    TEST_CASE("copies that each thread begins, and waits for") {
        CHECK(is_reversed(run(copying)));
        // Who reads before the copy is done reads what nobody has written.
        CHECK_THROWS_AS(run(with(copying, "            async_wait(0):int32\n", "")), RuntimeError);
        CHECK_THROWS_AS(run(with(copying, "async_wait(0)", "async_wait(1)")), RuntimeError);
        CHECK_THROWS_AS(run(with(copying, "            async_commit():int32\n", "")), RuntimeError);
        // Others see it after a barrier.
        CHECK_THROWS_AS(run(with(copying, "            gpu_barrier():int32\n", "")), RuntimeError);
        // What is being copied to is nobody else's.
        CHECK_THROWS_AS(run(with(copying, "            async_wait(0):int32\n",
                                 "            out[b*8 + t] = f[7 - t]\n"
                                 "            async_wait(0):int32\n")),
                        RuntimeError);
    }
    TEST_CASE("copies that one thread begins, and all wait for at a barrier in memory") {
        CHECK(is_reversed(run(by_one)));
        // Without the wait nobody has written what is read.
        CHECK_THROWS_AS(run(with(by_one, "            barrier_wait(address_of(bar[0]), 0)\n", "")),
                        RuntimeError);
        // The phase before the first one is over already.
        CHECK_THROWS_AS(run(with(by_one, "address_of(bar[0]), 0)", "address_of(bar[0]), 1)")),
                        RuntimeError);
        CHECK_THROWS_AS(run(with(by_one, "barrier_init(address_of(bar[0]))", "no_op")),
                        RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(by_one, "barrier_expect(address_of(bar[0]), 32)", "no_op")),
                             doctest::Contains("expects nothing"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(by_one, "            barrier_wait(address_of(bar[0]), 0)\n",
                                      "            barrier_wait(address_of(bar[0]), 0)\n"
                                      "            barrier_wait(address_of(bar[0]), 1)\n")),
                             doctest::Contains("nobody has begun"), RuntimeError);
    }
    TEST_CASE("copies that bring fewer or more bytes than their barrier expects") {
        for (const char *text : {by_one, by_map}) {
            CHECK_THROWS_WITH_AS(
                run(with(text, "(bar[0]), 32)", "(bar[0]), 64)")),
                doctest::Contains("bytes that a barrier expects and no copy brings"), RuntimeError);
            CHECK_THROWS_WITH_AS(run(with(text, "(bar[0]), 32)", "(bar[0]), 16)")),
                                 doctest::Contains("copies bring 32 bytes, and their barrier "
                                                   "expects 16"),
                                 RuntimeError);
        }
    }
    TEST_CASE("boxes are what the map and the coordinates say, and not what the loops say") {
        for (const bool as_kernel : {false, true}) {
            const auto differs = [&](const char *before, const char *after) {
                CHECK_THROWS_WITH_AS(run(with(by_map, before, after), as_kernel),
                                     doctest::Contains("brings other elements, or to other places"),
                                     RuntimeError);
            };
            differs("128), 0, b*8)", "128), 0, b*4 + 4)");
            differs("address_of(f[224])", "address_of(f[192])");
            differs("0, 1, 32, 8", "0, 1, 28, 8");  // what is beyond is zero
            differs("[0, +8): f[224", "[0, +4): f[224");
            // Behind the fourth element of a row the machine takes the next row.
            const std::string of_rows =
                with(with(with(by_map, "0, 1, 32, 8, 1", "0, 2, 4, 8, 4, 4, 2, 1"), ", b*8)",
                          ", 0, b*2)"),
                     "1d.b32.8", "2d.b32.4x2");
            CHECK(is_reversed(run(of_rows, as_kernel)));
            CHECK_THROWS_AS(run(with(of_rows, "4, 8, 4, 4, 2", "4, 8, 8, 4, 2"), as_kernel),
                            RuntimeError);
            // An array that begins within a buffer.
            const std::string part = with(
                with(with(by_map, "src[0]), 4, 0, 1, 32, 8", "src[4]), 4, 0, 1, 28, 8"),
                     "128), 0, b*8)", "128), 0, b*8 - 4)"),
                "f[224 + i] = src[b*8 + i]", "f[224 + i] = select(b*8 + i < 4, 0, src[b*8 + i])");
            CHECK(run(part, as_kernel)[7] == 0);
            CHECK(run(part, as_kernel)[8] == 15);
            // Loops that leave zeros where a box is outside of the array.
            const std::string beyond =
                with(with(by_map, "0, 1, 32, 8", "0, 1, 24, 8"), "f[224 + i] = src[b*8 + i]",
                     "f[224 + i] = select(b < 3, src[b*8 + i], 0)");
            CHECK(run(beyond, as_kernel)[31] == 0);
            CHECK(is_reversed(
                run(with(by_map, "1, 0, 128), 0, b*8)", "1, 4, 128), 0, b*8 + 4)"), as_kernel)));
        }
        const auto refused = [&](const char *before, const char *after, const char *why) {
            CHECK_THROWS_WITH_AS(run(with(by_map, before, after)), doctest::Contains(why),
                                 RuntimeError);
        };
        refused("src[0]), 4, 0", "src[0]), 2, 0", "its elements have 4 bytes, and not 2");
        refused("32, 8, 1, 0, 128", "32, 8, 2, 0, 128", "its elements are 2 elements apart");
        refused("32, 8, 1, 0, 128", "32, 6, 1, 0, 128", "a row of its boxes has 24 bytes");
        refused("32, 8, 1, 0, 128", "32, 8, 1, -1, 128", "no shift of its rows");
        refused("128), 0, b*8)", "128), 0, b*8 - 2)", "begins at element -2 of a row");
        refused("32, 8, 1, 0, 128", "32, 64, 1, 0, 128",
                "a row of its boxes has 256 bytes, and is "
                "swizzled by 128");
        const auto contradicts = [&](const char *before, const char *after, const char *why) {
            CHECK_THROWS_WITH_AS(run(with(by_map, before, after)), doctest::Contains(why),
                                 InternalError);
        };
        contradicts("128), 0, b*8)", "128), 0, b*8, 0)", "with 7 operands of 6");
        contradicts("1d.b32.8", "1d.b32.4", "by a map of other boxes");
        contradicts("src[0]), 4, 0", "src[0]), 4, 2", "by a map of other boxes");
        contradicts("1d.b32.8", "1d.store.b32.8", "with 6 operands of 4");
        contradicts("1d.b32.8", "6d.b32.8", "has the name of an instruction that copies boxes");
    }
    TEST_CASE("memory is swizzled as the allocation says for threads, and for boxes as the map") {
        for (const char *swizzle : {"32", "64", "128"}) {
            const std::string same = with(with(by_map, "swizzle 128", str("swizzle ", swizzle)),
                                          "0, 128)", str("0, ", swizzle, ")"));
            CHECK(is_reversed(run(same)));
            CHECK(is_reversed(run(same, true)));
        }
        for (const char *swizzle : {"0", "32", "64"}) {
            CAPTURE(swizzle);
            CHECK_THROWS_AS(run(with(by_map, "0, 128)", str("0, ", swizzle, ")"))), RuntimeError);
            CHECK_THROWS_AS(run(with(by_map, "swizzle 128", str("swizzle ", swizzle))),
                            RuntimeError);
        }
        // Copies of threads go where their loads and stores go.
        CHECK(is_reversed(run(with(copying, "int32[8] in GPUShared",
                                   "int32[32] in GPUShared "
                                   "swizzle 128"))));
        CHECK_THROWS_WITH_AS(run(with(by_map, "int32[256]", "int32[250]")),
                             doctest::Contains("no whole number of rows of 128 bytes"),
                             RuntimeError);
    }
    TEST_CASE("what the machine accesses by 16 bytes at a time lies at multiples of as many") {
        CHECK_THROWS_WITH_AS(run(with(by_one, "address_of(f[0])", "address_of(f[4])")),
                             doctest::Contains("a copy of a box is made of f at byte 16, which is "
                                               "no multiple of 128"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(
            run(with(reverse, "out[b*8 + t]",
                     "machine_op store_quads(t, 0, 0, address_of(out[ramp(b*8 + t, 1, 4) "
                     "aligned(4, 0)]:int32x4)): out[b*8 + t]")),
            doctest::Contains("a misaligned access: threads store together of out at byte 28"),
            RuntimeError);
    }
    TEST_CASE("a slot that is copied to while others still read it is a race") {
        const std::string again =
            by_one + std::string("            if t == 0: machine_op copy_async():\n"
                                 "                f[3] = 7\n");
        CHECK_THROWS_AS(run(again), RuntimeError);
    }
    TEST_CASE("shared storage that is too small by one element") {
        CHECK_THROWS_AS(run(with(reverse, "int32[8]", "int32[7]")), RuntimeError);
    }
    TEST_CASE("an element that no thread has written") {
        CHECK_THROWS_AS(run(with(reverse, "f[t] = src[b*8 + t]", "if t < 7: f[t] = src[b*8 + t]")),
                        RuntimeError);
    }
    TEST_CASE("two threads, or two blocks, that write one element") {
        CHECK_THROWS_AS(run(with(reverse, "f[t] = src", "f[t / 2] = src")), RuntimeError);
        CHECK_THROWS_AS(run(with(reverse, "out[b*8 + t] = f", "out[t] = b + f")), RuntimeError);
    }
    TEST_CASE("what is kept from one phase to the next, by the same thread, is no race") {
        const char *twice = "    gpu_block for b in [0, +4):\n"
                            "        allocate f: int32[8] in GPUShared\n"
                            "        gpu_thread for t in [0, +8):\n"
                            "            for k in [0, +2):\n"
                            "                f[t] = src[b*8 + t]\n"
                            "                gpu_barrier():int32\n"
                            "                out[b*8 + t] = f[7 - t]\n"
                            "                gpu_barrier():int32\n";
        CHECK(is_reversed(run(twice)));
        const std::string text = twice;
        CHECK_THROWS_AS(run(text.substr(0, text.rfind("                gpu_barrier"))),
                        RuntimeError);
    }
}
