#include "base/str.h"
#include "gpu_driver.h"

using namespace tessera;

// Libraries with kernels, in programs that have the driver of tests instead of a GPU, or none.
namespace {

const std::string both = "host-cuda-cuda_capability_80-cuda_capability_90";

void generate(const std::string &words, const std::string &environment = "") {
    run(environment + " '" GENERATORS "' -g scaled -f scaled -o . " + words);
}

const std::string calls = R"(
#include "scaled.h"
#include "tessera_runtime_cuda.h"
#include <stdio.h>
#include <string.h>
static tessera_buffer_t buffer(int32_t *data, tessera_dimension_t *dim) {
    tessera_buffer_t b;
    memset(&b, 0, sizeof(b));
    b.host = (uint8_t *)data;
    b.type.code = tessera_type_int;
    b.type.bits = 32;
    b.type.lanes = 1;
    b.dimensions = 1;
    b.dim = dim;
    return b;
})";

// Calls the function twice.
constexpr const char *calls_twice = R"(
int main(void) {
    static int32_t in[16], out[16];
    tessera_dimension_t dim = {0, 16, 1, 0};
    tessera_buffer_t a = buffer(in, &dim), b = buffer(out, &dim);
    int i, round;
    for (round = 0; round < 2; round++) {
        for (i = 0; i < 16; i++) in[i] = i + round;
        a.flags |= tessera_buffer_flag_host_dirty;
        i = scaled(&a, &b);
        if (i) return printf("error %d\n", i), 0;
        printf(b.flags & tessera_buffer_flag_device_dirty ? "there " : "here ");
        if (tessera_copy_to_host(NULL, &b)) return 1;
        for (i = 0; i < 16; i++) {
            if (out[i] != 2 * (i + round) + i % 4 * 10 + 1) return printf("wrong %d\n", i), 0;
        }
    }
    fflush(stdout);
    tessera_device_free(NULL, &a);
    tessera_device_free(NULL, &b);
    return 0;
})";

// Builds the program; `more` are libraries beside scaled.a.
void build(const std::string &more = "", const std::string &main = calls_twice) {
    write("main.c", calls + main);
    run(c_compiler + "-std=c99 -Wall -Wextra -Werror -pedantic -c main.c -o main.o" +
        include_runtime);
    run(cxx_compiler + "main.o scaled.a " + more + " -o main -lpthread -ldl");
}

std::string run_on(const std::string &capability) {
    return run(on_fake_gpu + "CAPABILITY=" + capability + " ./main");
}

// The library's table of constants has its own memory on the device, as long as the program runs.
std::string launched(const std::string &what) {
    return "there there 2 launches of " + what + "\nmemory is left on the device\n";
}
std::string code() { return launched(has_ptxas() ? "machine code" : "PTX"); }

}  // namespace

TEST_SUITE("libraries with kernels") {
    TEST_CASE("have code for each capability, and PTX for those to come") {
        Folder folder;
        generate("-e static_library,c_header,device_code target=" + both);
        const std::string ptx = contents_of("scaled.ptx");
        CHECK(has(ptx, ".target sm_80\n"));
        write_gpu_driver(ptx);
        build();
        for (const char *capability : {"80", "86", "90"}) CHECK(run_on(capability) == code());
        CHECK(run_on("120") == launched("PTX"));
        const std::string old = run_on("75");
        CHECK(has(old, "this pipeline has no kernels for the GPU Fake GPU, which has compute "
                       "capability 7.5"));
        CHECK(has(old, "error -29"));
    }
    TEST_CASE("say why they cannot run where there is no GPU") {
        Folder folder;
        generate("-e static_library,c_header,device_code target=" + both);
        write_gpu_driver(contents_of("scaled.ptx"));
        build();
        const std::string none = run("TESSERA_CUDA_DRIVER=/no/driver ./main");
        CHECK(has(none, "There is no driver for NVIDIA's GPUs, which this pipeline runs on: cannot "
                        "load /no/driver"));
        CHECK(has(none, "error -29"));
        CHECK(has(run("FAKE_CUDA_DEVICES=0 " + on_fake_gpu + "./main"),
                  "There is no NVIDIA GPU that can be used: cuInit says CUDA_ERROR_NO_DEVICE"));
    }
    TEST_CASE("for several targets run on the GPU where there is one that they are for") {
        Folder folder;
        generate("-e static_library,c_header,device_code,object "
                 "target=x86-64-linux,x86-64-linux-cuda-cuda_capability_80,"
                 "x86-64-linux-cuda-cuda_capability_90");
        CHECK(has(contents_of("scaled-x86-64-linux.ptx"), "has no kernels for"));
        CHECK(has(contents_of("scaled-x86-64-linux-cuda-cuda_capability_90.ptx"), ".target sm_90"));
        build();
        write_gpu_driver(contents_of("scaled-x86-64-linux-cuda-cuda_capability_80.ptx"));
        CHECK(run_on("80") == code());
        CHECK(run_on("75") == "here here ");
        CHECK(run("FAKE_CUDA_DEVICES=0 " + on_fake_gpu + "./main") == "here here ");
        CHECK(run("TESSERA_CUDA_DRIVER=/no/driver ./main") == "here here ");
        write_gpu_driver(contents_of("scaled-x86-64-linux-cuda-cuda_capability_90.ptx"));
        CHECK(run_on("90") == code());
        CHECK(run_on("120") == launched("PTX"));
    }
    TEST_CASE("use a runtime of its own, too") {
        Folder folder;
        generate("-e static_library,c_header,device_code target=" + both + "-no_runtime");
        run("'" GENERATORS "' -r runtime -o . target=" + both);
        write_gpu_driver(contents_of("scaled.ptx"));
        build("runtime.a");
        CHECK(run_on("90") == code());
    }
    TEST_CASE("tell of a requirement that does not hold, run on, and print") {
        Folder folder;
        run("'" GENERATORS "' -g checked -f scaled -o . -e static_library,c_header,device_code "
            "target=" +
            both);
        write_gpu_driver(contents_of("scaled.ptx"), R"(
static void run(const FakeLaunch &launch) {
    static int launches = 0;
    auto *reports = *static_cast<tessera_cuda_reports_t **>(launch.args[0]);
    if (++launches != 1) {
        const uint64_t line[] = {uint64_t(3) << 32 | 2, 84, 6};
        std::memcpy(reports->lines, line, sizeof(line));
        reports->words = 3;
        return;
    }
    reports->failed = 1;
    const uint64_t record[] = {uint64_t(3) << 32 | 1, 7, uint32_t(-60)};
    std::memcpy(reports->failure, record, sizeof(record));
})");
        build("", R"(
int main(void) {
    static int32_t in[16], out[16];
    tessera_dimension_t dim = {0, 16, 1, 0};
    tessera_buffer_t a = buffer(in, &dim), b = buffer(out, &dim);
    int first = scaled(&a, &b), second = scaled(&a, &b);
    fflush(stdout);
    printf("first %d, second %d\n", first, second);
    fflush(stdout);
    tessera_device_free(NULL, &a);
    tessera_device_free(NULL, &b);
    return 0;
})");
        for (const char *capability : {"80", "90", "120"}) {
            const std::string said = run_on(capability);
            CHECK(has(said, "Requirement failed: in 7 is -60"));
            CHECK(has(said, "generators.cpp:"));
            CHECK(has(said, "84 twice that at 6\n"));
            CHECK(has(said, "first -27, second 0\n2 launches of "));
        }
    }
    TEST_CASE("tell the profiler what kernels and copies take") {
        Folder folder;
        generate("-e static_library,c_header,device_code target=" + both + "-profile");
        write_gpu_driver(contents_of("scaled.ptx"));
        build("", R"(
int main(void) {
    static int32_t in[16], out[16];
    tessera_dimension_t dim = {0, 16, 1, 0};
    tessera_buffer_t a = buffer(in, &dim), b = buffer(out, &dim);
    int i = scaled(&a, &b) + scaled(&a, &b);
    if (i) return printf("error %d\n", i), 0;
    tessera_profiler_report(NULL);
    fflush(stdout);
    tessera_device_free(NULL, &a);
    tessera_device_free(NULL, &b);
    return 0;
})");
        const std::string said = run_on("90");
        CHECK(has(said, "2 launches of "));
        CHECK(has(said, "  kernel of out: 2 ms, launches: 2, mean: 1 ms\n"));
        CHECK(has(said, "  copy to the device: in: 1 ms, copies: 1, mean: 1 ms, "
                        "bytes: 64, GB/s: "));
    }
    TEST_CASE("are shown as texts") {
        Folder folder;
        write("show", "#!/bin/sh\necho \"shown: $1 */\"\n");
        run("chmod +x show");
        const std::string texts = "-e assembly,stmt,device_code target=" + both;
        generate(texts, "TESSERA_NVDISASM= TESSERA_CUOBJDUMP=");
        const std::string stmt = contents_of("scaled.stmt"), assembly = contents_of("scaled.s");
        CHECK(has(stmt, "gpu_block for"));
        CHECK(has(stmt, "gpu_thread for"));
        CHECK(has(assembly, "\n/*\nPTX for compute capability 8.0:\n"));
        CHECK(has(assembly, contents_of("scaled.ptx")));
        run(c_compiler + "-c scaled.s -o scaled.o");
        if (!has_ptxas()) return;
        CHECK(has(assembly, "\n/*\nMachine code for compute capability 9.0:\n"));
        CHECK(has(assembly, " bytes, which nvdisasm or cuobjdump could show; neither is found"));
        generate(texts, "TESSERA_NVDISASM=$PWD/show");
        CHECK(has(contents_of("scaled.s"), "9.0:\nshown: -c * /"));
        generate(texts, "TESSERA_NVDISASM= TESSERA_CUOBJDUMP=$PWD/show");
        CHECK(has(contents_of("scaled.s"), "9.0:\nshown: -sass * /"));
        run(c_compiler + "-c scaled.s -o scaled.o");
    }
}
