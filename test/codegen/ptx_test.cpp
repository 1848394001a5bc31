// Kernels as PTX, and what ptxas says of it where it is installed.
#include "codegen/nvptx/device_image.h"
#include "codegen/nvptx/ptx.h"
#include "codegen/nvptx/ptxas.h"
#include "ir/parser.h"
#include "lower/gpu/canonical_kernels.h"
#include "lower/gpu/outline_kernels.h"
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <optional>

#ifndef PTXAS
#define PTXAS ""
#endif

using namespace tessera;

namespace {

// Of a function with buffers src, out and mid, and an int32 n.
ir::Module kernels_of(const std::string &body, const std::string &type = "float32") {
    ir::Module m =
        ir::parse_module("module \"m\"\nfunc \"f\"(src: input " + type + "[1], mid: input " + type +
                         "[1], out: output " + type + "[1] of out, n: int32):\n" + body);
    m.functions[0].body = lower::canonical_kernels(m.functions[0].body, {});
    return lower::outline_kernels(m);
}
std::string ptx_of(const std::string &body, const std::string &target,
                   const std::string &type = "float32") {
    const Target wanted(target);
    codegen::KernelReports reports;
    return codegen::to_ptx(kernels_of(body, type), wanted, wanted.cuda_capabilities().front(),
                           reports);
}

std::vector<codegen::DeviceImage> images_of(const std::string &target);

// A variable of the environment, until the end of the scope.
class Environment {
public:
    Environment(const char *name, const char *value) : name(name) {
        if (const char *was = std::getenv(name)) before = was;
        setenv(name, value, 1);
    }
    Environment(const Environment &) = delete;
    ~Environment() {
        if (before)
            setenv(name, before->c_str(), 1);
        else
            unsetenv(name);
    }

private:
    const char *name;
    std::optional<std::string> before;
};

size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

// Whether ptxas takes it; true where there is none.
bool assembles(const std::string &ptx, const std::string &architecture) {
    if (std::string(PTXAS).empty()) return true;
    char file[] = "/tmp/ptx_XXXXXX";
    const int descriptor = mkstemp(file);
    REQUIRE(descriptor >= 0);
    std::ofstream(file) << ptx;
    const std::string command =
        std::string(PTXAS) + " -arch=" + architecture + " -o /dev/null " + file + " >&2";
    const bool taken = std::system(command.c_str()) == 0;
    std::remove(file);
    return taken;
}

const std::string copy = "    gpu_block for b in [0, +n): gpu_thread for t in [0, +32):\n"
                         "        out[b*32 + t] = src[b*32 + t]\n";
const std::string stencil = "    gpu_block for b in [0, +n):\n"
                            "        allocate f: float32[34] in Auto\n"
                            "        gpu_thread for i in [0, +34): f[i] = src[b*32 + i]\n"
                            "        gpu_thread for x in [0, +32): "
                            "out[b*32 + x] = f[x] + f[x + 2]\n";
// A requirement with values in its message, before a barrier, and an assertion.
const std::string checked =
    "    gpu_block for b in [0, +n):\n"
    "        allocate f: float32[32] in Auto\n"
    "        gpu_thread for i in [0, +32):\n"
    "            f[i] = require(src[b*32 + i] > 0.0, src[b*32 + i], \"f.cpp:7\", \"at \", "
    "b*32 + i, \" is \", src[b*32 + i], \", \", src[b*32 + i] > 1.0)\n"
    "        gpu_thread for x in [0, +32):\n"
    "            assert f[31 - x] < 9.0, -7\n"
    "            out[b*32 + x] = f[31 - x]\n";

std::vector<codegen::DeviceImage> images_of(const std::string &target) {
    ir::Module m = ir::parse_module("module \"m\"\nfunc \"f\"(src: input float32[1], out: output "
                                    "float32[1] of out, n: int32):\n" +
                                    copy);
    m.functions[0].body = lower::canonical_kernels(m.functions[0].body, {});
    return codegen::device_code(lower::outline_kernels(m), Target(target)).images;
}

}  // namespace

TEST_SUITE("PTX") {
    TEST_CASE("a kernel reads which block and thread it is, and has no loops for them") {
        const std::string ptx = ptx_of(copy, "x86-64-linux-cuda-cuda_capability_90");
        CAPTURE(ptx);
        CHECK(count_of(ptx, ".visible .entry") == 1);
        CHECK(count_of(ptx, ".maxntid 32") == 1);
        CHECK(count_of(ptx, "%ctaid.x") == 1);
        CHECK(count_of(ptx, "%tid.x") == 1);
        CHECK(count_of(ptx, "bra") == 0);
        CHECK(count_of(ptx, "ld.global.nc") == 1);  // nobody writes it
        CHECK(count_of(ptx, "st.global") == 1);
    }
    TEST_CASE("loads of what nobody writes need not wait for stores, many rows on as well") {
        std::string rows = "    gpu_block for b in [0, +n): gpu_thread for t in [0, +32):\n";
        constexpr int count = 24;
        for (int i = 0; i < count; i++) {
            const std::string index = str("[(b*", count, " + ", i, ")*n + t]");
            rows += "        out" + index + " = src" + index + "\n";
        }
        const std::string ptx = ptx_of(rows, "x86-64-linux-cuda-cuda_capability_90");
        CAPTURE(ptx);
        CHECK(count_of(ptx, "ld.global.nc") == count);
    }
    TEST_CASE("what a block shares is in its memory, and its threads meet once") {
        const std::string ptx = ptx_of(stencil, "x86-64-linux-cuda-cuda_capability_90");
        CAPTURE(ptx);
        CHECK(count_of(ptx, "bar.sync") == 1);
        CHECK(count_of(ptx, "st.shared") == 1);
        CHECK(count_of(ptx, "ld.shared") == 2);
        CHECK(count_of(ptx, ".extern .shared") == 1);
    }
    TEST_CASE("a copy that fills with zeros writes to the place that the branch taken has") {
        const auto copied = [](const std::string &zeros) {
            return ptx_of("    gpu_block for b in [0, +2):\n"
                          "        allocate f: float32[8] in GPUShared\n"
                          "        gpu_thread for t in [0, +4):\n"
                          "            machine_op copy_async():\n"
                          "                if b*4 + t < n:\n"
                          "                    f[t] = src[b*4 + t]\n"
                          "                else:\n"
                          "                    f[" +
                              zeros +
                              "] = 0.0\n"
                              "            async_commit():int32\n"
                              "            async_wait(0):int32\n"
                              "            gpu_barrier():int32\n"
                              "            out[b*4 + t] = f[3 - t]\n",
                          "x86-64-linux-cuda-cuda_capability_80");
        };
        const std::string same = copied("t"), other = copied("t + 4");
        CAPTURE(other);
        CHECK(count_of(same, "cp.async.ca.shared.global") == count_of(same, ".entry"));
        CHECK(count_of(other, "cp.async.ca.shared.global") == count_of(other, ".entry"));
        CHECK(count_of(same, "selp.b") == count_of(same, ".entry"));
        CHECK(count_of(other, "selp.b") == 2 * count_of(other, ".entry"));
        CHECK(assembles(other, "sm_80"));
    }
    TEST_CASE("vectors of 16 bytes are accessed at once where they are aligned") {
        const std::string ptx =
            ptx_of("    gpu_block for b in [0, +n):\n"
                   "        allocate f: float32[128] in Auto\n"
                   "        gpu_thread for t in [0, +32):\n"
                   "            f[ramp(t*4, 1, 4) aligned(4, 0)] = x4(2.0)\n"
                   "        gpu_thread for t in [0, +32): out[b*32 + t] = f[127 - t*4]\n",
                   "x86-64-linux-cuda-cuda_capability_80");
        CAPTURE(ptx);
        CHECK(count_of(ptx, "st.shared.v4") == 1);
    }
    TEST_CASE("large constants are added to an index, and not to an address") {
        const std::string text = ptx_of(
            "    gpu_block for b in [0, +n):\n"
            "        gpu_thread for t in [0, +64):\n"
            "            out[t + b*64] = src[t + b*64 - 2097152] + src[t + b*64 - 2097153]\n",
            "host-cuda-cuda_capability_90");
        CAPTURE(text);
        CHECK(count_of(text, "mov.b32") >= 2);
        CHECK(count_of(text, "+-8388") == 0);
    }
    TEST_CASE("only kernels with many elements for each thread ask for few registers") {
        const auto kernel = [](int elements) {
            return "    gpu_block for b in [0, +n):\n"
                   "        gpu_thread for t in [0, +64):\n"
                   "            allocate mine: float32[" +
                   std::to_string(elements) +
                   "] in Stack\n"
                   "            mine[n % 2] = src[t]\n"
                   "            out[t + b*64] = mine[0]\n";
        };
        const char *target = "host-cuda-cuda_capability_90";
        CHECK(count_of(ptx_of(kernel(64), target), ".minnctapersm 8") == 1);
        CHECK(count_of(ptx_of(kernel(8), target), ".minnctapersm") == 0);
    }
    TEST_CASE("the schedule may say for how many blocks there is room") {
        const auto kernel = [](const std::string &said) {
            return "    gpu_block for b in [0, +n) of out b" + said +
                   ":\n"
                   "        gpu_thread for t in [0, +64):\n"
                   "            out[t + b*64] = src[t]\n";
        };
        const char *target = "host-cuda-cuda_capability_90";
        CHECK(count_of(ptx_of(kernel(" resident 3"), target), ".minnctapersm 3") == 1);
        CHECK(count_of(ptx_of(kernel(""), target), ".minnctapersm") == 0);
    }
    TEST_CASE("the arms of a branch load what they need, and loops stay loops") {
        const std::string text =
            ptx_of("    gpu_block for b in [0, +n):\n"
                   "        gpu_thread for t in [0, +64):\n"
                   "            if b < 7:\n"
                   "                out[t + b*64] = src[t] * 2.0 + mid[t + b]\n"
                   "            else:\n"
                   "                out[t + b*64] = src[t + b*3] * 2.0 + mid[t + b*5]\n",
                   "host-cuda-cuda_capability_90");
        CAPTURE(text);
        CHECK(count_of(text, "ld.global") == 4);
        CHECK(count_of(text, "st.global") == 2);
        const std::string loop = ptx_of("    gpu_block for b in [0, +n):\n"
                                        "        gpu_thread for t in [0, +64):\n"
                                        "            for i in [0, +4):\n"
                                        "                out[t + b*64 + i*n] = src[t + i*n]\n",
                                        "host-cuda-cuda_capability_90");
        CAPTURE(loop);
        CHECK(count_of(loop, "ld.global") == 1);
    }
    TEST_CASE("products of few bits are computed in 32") {
        const std::string text =
            ptx_of("    gpu_block for b in [0, +n):\n"
                   "        gpu_thread for t in [0, +64):\n"
                   "            out[t + b*64] = src[t] * src[t + 1] * 3:uint16 + "
                   "src[t + 2] * src[t + n]\n",
                   "host-cuda-cuda_capability_90", "uint16");
        CAPTURE(text);
        CHECK(count_of(text, "lo.s16") == 0);
        CHECK(count_of(text, "lo.s32") >= 3);
    }
    TEST_CASE("a division by a constant is a product, unless it is strict") {
        const std::string kernel = "    gpu_block for b in [0, +n):\n"
                                   "        gpu_thread for t in [0, +64):\n"
                                   "            out[t + b*64] = src[t] / 3.0\n";
        const std::string text = ptx_of(kernel, "host-cuda-cuda_capability_90");
        CHECK(count_of(text, "div.") == 0);
        CHECK(count_of(text, "mul.f32") == 1);
        const std::string strict =
            ptx_of("    gpu_block for b in [0, +n):\n"
                   "        gpu_thread for t in [0, +64):\n"
                   "            out[t + b*64] = strict_float(src[t] / 3.0)\n",
                   "host-cuda-cuda_capability_90");
        CHECK(count_of(strict, "div.rn.f32") == 1);
        const std::string by_variable = ptx_of("    gpu_block for b in [0, +n):\n"
                                               "        gpu_thread for t in [0, +64):\n"
                                               "            out[t + b*64] = 3.0 / src[t]\n",
                                               "host-cuda-cuda_capability_90");
        CHECK(count_of(by_variable, "div.rn.f32") == 1);
    }
    TEST_CASE("every capability takes it") {
        for (int capability : {75, 80, 86, 89, 90, 100, 120}) {
            CAPTURE(capability);
            const std::string target =
                "x86-64-linux-cuda-cuda_capability_" + std::to_string(capability);
            const std::string sm = "sm_" + std::to_string(capability);
            for (const std::string &body : {copy, stencil}) {
                const std::string ptx = ptx_of(body, target);
                CHECK(count_of(ptx, ".target " + sm) == 1);
                CHECK(assembles(ptx, sm));
            }
        }
    }
    TEST_CASE("mathematics is libdevice's") {
        const std::string ptx =
            ptx_of("    gpu_block for b in [0, +n): out[b] = sin(src[b]) + pow(src[b], 1.5)\n",
                   "x86-64-linux-cuda-cuda_capability_90");
        CHECK(count_of(ptx, "call") == count_of(ptx, "__internal_"));  // all else is inlined
        CHECK(count_of(ptx, ".visible .func") == 0);
        CHECK(assembles(ptx, "sm_90"));
    }
    TEST_CASE("machine code of each capability, and PTX of the lowest") {
        if (std::string(PTXAS).empty()) return;
        const Environment assembler("TESSERA_PTXAS", PTXAS), cache("TESSERA_CACHE_DIR", "");
        const auto images = images_of("x86-64-linux-cuda-cuda_capability_80-cuda_capability_90");
        REQUIRE(images.size() == 3);
        CHECK(images[0].capability == 80);
        CHECK(images[1].capability == 90);
        for (size_t i : {0, 1}) CHECK(std::string(images[i].bytes.data() + 1, 3) == "ELF");
        CHECK(images[2].is_ptx);
        CHECK(images[2].capability == 80);
        CHECK(images[2].bytes.back() == 0);
    }
    TEST_CASE("without an assembler there is PTX alone") {
        const Environment assembler("TESSERA_PTXAS", "");
        const auto images = images_of("x86-64-linux-jit-cuda-cuda_capability_90");
        REQUIRE(images.size() == 1);
        CHECK(images[0].is_ptx);
    }
    TEST_CASE("machine code is kept by its contents, and what ptxas refuses is told") {
        if (std::string(PTXAS).empty()) return;
        char folder[] = "/tmp/kept_XXXXXX";
        REQUIRE(mkdtemp(folder));
        const Environment assembler("TESSERA_PTXAS", PTXAS), cache("TESSERA_CACHE_DIR", folder);
        const std::string ptx = ptx_of(copy, "x86-64-linux-cuda-cuda_capability_90");
        const auto made = codegen::assemble_ptx(ptx, "sm_90");
        REQUIRE(made);
        size_t files = 0;
        for (const auto &file : std::filesystem::directory_iterator(folder)) {
            files++;
            std::ofstream(file.path()) << "kept";
        }
        CHECK(files == 1);
        const auto again = codegen::assemble_ptx(ptx, "sm_90");
        CHECK(std::string(again->begin(), again->end()) == "kept");
        CHECK(codegen::assemble_ptx(ptx, "sm_100") != again);
        CHECK_THROWS_WITH_AS(codegen::assemble_ptx("no PTX", "sm_90"),
                             doctest::Contains("cannot assemble"), CompileError);
        std::filesystem::remove_all(folder);
    }
    TEST_CASE("fast functions are instructions of the machine") {
        const std::string ptx =
            ptx_of("    gpu_block for b in [0, +n): gpu_thread for t in [0, +32):\n"
                   "        let i = b*32 + t\n"
                   "        out[i] = fast_exp(src[i]) + fast_log(src[i]) + fast_inverse(mid[i]) + "
                   "fast_inverse_sqrt(mid[i])\n"
                   "        out[ramp(i*2, 1, 2)] = fast_exp(src[ramp(i*2, 1, 2)])\n",
                   "x86-64-linux-cuda-cuda_capability_75");
        CAPTURE(ptx);
        CHECK(count_of(ptx, "ex2.approx.ftz.f32") == 3);
        CHECK(count_of(ptx, "lg2.approx.ftz.f32") == 1);
        CHECK(count_of(ptx, "rcp.approx.ftz.f32") == 1);
        CHECK(count_of(ptx, "rsqrt.approx.ftz.f32") == 1);
        for (const char *slow : {"div.", "sqrt.rn", "cvt.rni", "call"})
            CHECK(count_of(ptx, slow) == 0);
        CHECK(assembles(ptx, "sm_75"));
    }
    TEST_CASE("an assertion that does not hold is written down once, and its thread ends") {
        for (int capability : {75, 80, 86, 89, 90, 100, 120}) {
            const std::string sm = "sm_" + std::to_string(capability);
            const std::string ptx =
                ptx_of(checked, "x86-64-linux-cuda-cuda_capability_" + std::to_string(capability));
            CAPTURE(ptx);
            CHECK(count_of(ptx, "atom.relaxed.sys.global.cas.b32") == 2);
            CHECK(count_of(ptx, "exit;") >= 2);
            CHECK(count_of(ptx, "trap") == 0);
            CHECK(count_of(ptx, "st.volatile.global") == 4 + 1);  // a word says which it is
            CHECK(assembles(ptx, sm));
        }
        CHECK(count_of(ptx_of(copy, "x86-64-linux-cuda-cuda_capability_90"), "atom.") == 0);
    }
    TEST_CASE("a line that is printed takes room for its values") {
        const std::string body =
            "    gpu_block for b in [0, +n):\n"
            "        out[b] = return_second(extern int32 tessera_print(user_context(), "
            "stringify(src[b], \" at \", b, \"\\n\")), src[b])\n";
        for (int capability : {75, 80, 86, 89, 90, 100, 120}) {
            const std::string ptx =
                ptx_of(body, "x86-64-linux-cuda-cuda_capability_" + std::to_string(capability));
            CAPTURE(ptx);
            CHECK(count_of(ptx, "atom.global.add.u64") == 2);
            CHECK(count_of(ptx, "st.volatile.global") == 3);
            CHECK(assembles(ptx, "sm_" + std::to_string(capability)));
        }
    }
    TEST_CASE("pointers are values of messages") {
        ir::Module m = ir::parse_module(
            "module \"m\"\nfunc \"f\"(out: output float32[1] of out, text: handle, n: int32):\n"
            "    gpu_block for b in [0, +n): out[b] = return_second(extern int32 "
            "tessera_print(user_context(), stringify(text, b)), 1.0)\n");
        m.functions[0].body = lower::canonical_kernels(m.functions[0].body, {});
        codegen::KernelReports reports;
        const std::string ptx =
            codegen::to_ptx(lower::outline_kernels(m), Target("x86-64-linux-cuda"), 80, reports);
        CAPTURE(ptx);
        CHECK(count_of(ptx, "st.volatile.global") == 3);
        CHECK(assembles(ptx, "sm_80"));
    }
    TEST_CASE("code for all capabilities numbers what it reports alike") {
        const ir::Module m = kernels_of(checked);
        codegen::KernelReports reports;
        const Target target("x86-64-linux-cuda");
        const std::string first = codegen::to_ptx(m, target, 80, reports);
        const std::string again = codegen::to_ptx(m, target, 80, reports);
        CHECK(first == again);
        const auto *all = reports.of("f.kernel.0");
        REQUIRE(all);
        REQUIRE(all->size() == 2);
        CHECK((*all)[0].operands.size() == 3);
        CHECK((*all)[0].words() == 4);
        CHECK((*all)[1].operands.empty());
        codegen::KernelReports none;
        codegen::to_ptx(kernels_of(copy), target, 80, none);
        CHECK(!none.of("f.kernel.0"));
    }
    TEST_CASE("a message of a kernel has so many values, and no more") {
        const auto with = [](int lanes) {
            return ptx_of("    gpu_block for b in [0, +n): out[b] = require(src[b] > 0.0, src[b], "
                          "\"p\", \"all\", x" +
                              std::to_string(lanes) + "(src[b]))\n",
                          "x86-64-linux-cuda");
        };
        CHECK(count_of(with(127), "st.volatile.global") == 128);
        CHECK_THROWS_WITH_AS(with(128),
                             doctest::Contains("has 128 values, counting the lanes of vectors; 127 "
                                               "are the most"),
                             CompileError);
    }
    TEST_CASE("what kernels cannot do is refused") {
        CHECK_THROWS_WITH_AS(
            ptx_of("    gpu_block for b in [0, +n): out[b] = extern float32 blur(src[b])\n",
                   "x86-64-linux-cuda"),
            doctest::Contains("cannot be done within a kernel"), CompileError);
    }
}
