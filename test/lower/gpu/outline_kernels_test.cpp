#include "ir/parser.h"
#include "ir/printer.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/outline_kernels.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::lower;

namespace {

ir::Module outlined(const std::string &body) {
    return outline_kernels(ir::parse_module(
        "module \"m\"\nfunc \"f\"(src: input float32[1], out: output float32[1] of "
        "out, n: int32):\n" +
        body));
}
bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("outline_kernels") {
    TEST_CASE("a nest of blocks becomes a function, and where it stood a launch") {
        const ir::Module m =
            outlined("    gpu_block for b in [0, +n): gpu_thread for t in [0, +32):\n"
                     "        out[b*32 + t] = src[b*32 + t]\n");
        REQUIRE(m.functions.size() == 2);
        const ir::LoweredFunction &kernel = m.functions[1];
        CHECK(kernel.kind == ir::FunctionKind::Kernel);
        CHECK(kernel.args.size() == launch_arguments + 3);  // n, src, out
        CHECK(contains(ir::to_string(m.functions[0].body), "(n, 1, 1, 32, 1, 1, 0, n, "));
        CHECK(contains(ir::to_string(kernel.body), "gpu_block for b"));
    }
    TEST_CASE("the innermost loops are those of x") {
        const ir::Module m =
            outlined("    gpu_block for y in [0, +n): gpu_block for x in [0, +4):\n"
                     "        gpu_thread for v in [0, +8): gpu_thread for u in [0, +16):\n"
                     "            out[(y*4 + x)*128 + v*16 + u] = 1.0\n");
        CHECK(contains(ir::to_string(m.functions[0].body), "(4, n, 1, 16, 8, 1, 0, "));
    }
    TEST_CASE("blocks of clusters are along x") {
        const ir::Module m =
            outlined("    gpu_cluster for d in [0, +3): gpu_cluster for c in [0, +n):\n"
                     "        gpu_block for b in [0, +4): out[b] = 1.0\n");
        CHECK(contains(ir::to_string(m.functions[0].body), "(n * 4, 3, 1, 1, 1, 1, 0, "));
    }
    TEST_CASE("the host makes maps of what is copied, by the values of the kernel's lets") {
        const ir::Module m =
            outlined("    gpu_block for b in [0, +n):\n"
                     "        let is_whole = n % 2 == 0\n"
                     "        let s = select(is_whole, n % 4, 0)\n"
                     "        allocate f: float32[32] in GPUShared\n"
                     "        allocate bar: uint64[1] in GPUShared\n"
                     "        gpu_thread for t in [0, +32):\n"
                     "            machine_op copy_tile(\"cp.async.bulk.tensor.1d.b32.32\", "
                     "address_of(f[0]), address_of(bar[0]), "
                     "tensor_map(address_of(src[0]), 4, 0, 1, n, 32, 1, s, 128), 0, b*32 + s):\n"
                     "                for i in [0, +32): f[i] = src[b*32 + i]\n");
        REQUIRE(m.functions.size() == 2);
        CHECK(contains(ir::to_string(m.functions[0].body),
                       "tensor_map(device_address(src), 4, 0, 1, n, 32, 1, select(n % 2 == 0, n % "
                       "4, 0), 128)"));
    }
    TEST_CASE("the memory of a block is what its allocations take, each aligned") {
        const ir::Module m = outlined("    gpu_block for b in [0, +n):\n"
                                      "        allocate f: float32[33] in GPUShared\n"
                                      "        allocate g: uint8[3] in GPUShared\n"
                                      "        gpu_thread for t in [0, +32): f[t] = 1.0\n");
        CHECK(contains(ir::to_string(m.functions[0].body), "(n, 1, 1, 32, 1, 1, 384, "));
        // The largest of a size that depends on the block.
        CHECK(contains(ir::to_string(outlined("    gpu_block for b in [0, +9):\n"
                                              "        allocate f: float32[b*32] in GPUShared\n"
                                              "        gpu_thread for t in [0, +32): f[t] = 1.0\n")
                                         .functions[0]
                                         .body),
                       "(9, 1, 1, 32, 1, 1, 1024)"));
        CHECK_THROWS_WITH_AS(outlined("    gpu_block for b in [0, +n):\n"
                                      "        allocate f: float32[int32(src[b]:float32)] in "
                                      "GPUShared\n"
                                      "        gpu_thread for t in [0, +32): f[t] = 1.0\n"),
                             doctest::Contains("not the same for all blocks"), CompileError);
    }
}
