#include "cuda_fixture.h"
#include <cstring>
#include <string>

// What kernels tell the host: assertions that do not hold, and lines to print.
namespace {

const tessera_cuda_image_t ptx{80, true, false, "ptx 80", 7, false};
const tessera_cuda_kernels_t kernels{&ptx, 1};

tessera_cuda_reports_t &reports_of(const FakeLaunch &launch) {
    return **static_cast<tessera_cuda_reports_t **>(launch.args[0]);
}

void write_record(uint64_t *at, std::vector<uint64_t> values, uint32_t number) {
    values.insert(values.begin(), (values.size() + 1) << 32 | number);
    std::memcpy(at, values.data(), values.size() * 8);
}

// As each thread does that prints.
void print(tessera_cuda_reports_t &reports, const std::vector<uint64_t> &values) {
    const uint64_t words = values.size() + 1, at = reports.words;
    reports.words += words;
    if (at + words <= std::size(reports.lines)) {
        write_record(reports.lines + at, values, 2);
    } else {
        reports.lost++;
    }
}

void hold(const FakeLaunch &launch) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&reports_of(launch));
    for (size_t i = 0; i < sizeof(tessera_cuda_reports_t); i++) REQUIRE(bytes[i] == 0);
}
void fail(const FakeLaunch &launch) {
    print(reports_of(launch), {5});
    print(reports_of(launch), {6, 7});
    reports_of(launch).failed = 1;
    write_record(reports_of(launch).failure, {30, 40}, 1);
}
void chatter(const FakeLaunch &launch) {
    for (uint64_t i = 0; i < 44000; i++) print(reports_of(launch), {i, 1});
}

// A failure of two values, and lines of any number of them.
int answer(void *user_context, const uint64_t *record) {
    std::string text = uint32_t(*record) == 1 ? "failed:" : "line:";
    for (uint64_t i = 1; i < *record >> 32; i++) text += " " + std::to_string(record[i]);
    text += "\n";
    if (uint32_t(*record) == 2) return tessera_print(user_context, text.c_str()), 0;
    tessera_error(user_context, text.c_str());
    return record[1] == 30 ? -30 : 0;
}

int run(const char *kernel, std::vector<int32_t> shape = {1, 1, 1, 1, 1, 1, 0}) {
    void *args[] = {nullptr};
    return tessera_cuda_run_reporting(nullptr, &kernels, kernel, shape.data(), args, answer);
}

struct Kernels : FakeGpu {
    Kernels() {
        (*this)->add_kernel({"hold", 1, hold});
        (*this)->add_kernel({"fail", 1, fail});
        (*this)->add_kernel({"chatter", 1, chatter});
    }
    ~Kernels() {
        tessera_cuda_unload(&kernels);
        tessera_device_release(nullptr, gpu_interface());
        CHECK((*this)->pinned_blocks() == 0);
    }
};

}  // namespace

TEST_SUITE("what kernels report") {
    TEST_CASE("lines, then what has failed, whose code the launch returns") {
        Kernels gpu;
        CHECK(run("hold") == 0);
        CHECK(gpu.capture.text().empty());
        CHECK(run("fail") == -30);
        CHECK(gpu.capture.text() == "line: 5\nline: 6 7\nfailed: 30 40\n");
        CHECK(gpu->current() == nullptr);
    }
    TEST_CASE("the context lives on, and the next launch begins anew, in the same memory") {
        Kernels gpu;
        for (const char *kernel : {"fail", "chatter"}) {
            run(kernel);
            CHECK(run("hold") == 0);
        }
        CHECK(gpu->pinned_blocks() == 1);
    }
    TEST_CASE("lines that find no room are counted") {
        Kernels gpu;
        CHECK(run("chatter") == 0);
        const size_t fit = ((1 << 17) - 3 - 128) / 3;
        CHECK(gpu.capture.has("line: " + std::to_string(fit - 1) + " 1\nCUDA: "));
        CHECK(gpu.capture.has("CUDA: " + std::to_string(44000 - fit) +
                              " more lines of the kernel chatter are lost: one launch can print "
                              "1047528 bytes\n"));
        CHECK(!gpu.capture.has("line: " + std::to_string(fit) + " 1\n"));
    }
    TEST_CASE("a code of 0 is a failure, too") {
        Kernels gpu;
        gpu->add_kernel({"other", 1, [](const FakeLaunch &launch) {
                             reports_of(launch).failed = 1;
                             write_record(reports_of(launch).failure, {1}, 1);
                         }});
        CHECK(run("other") == tessera_error_code_generic);
    }
    TEST_CASE("no blocks, no memory, no kernel, and one that faults") {
        Kernels gpu;
        CHECK(run("hold", {0, 1, 1, 1, 1, 1, 0}) == 0);
        CHECK(gpu->all_calls() == 0);
        gpu->fail("cuMemAllocHost_v2", 1, 2);
        CHECK(run("hold") == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("bytes for what a kernel reports failed: CUDA_ERROR_OUT_OF_MEMORY"));
        CHECK(run("nobody") == tessera_error_code_gpu_device_error);
        CHECK(run("hold", {1, 1, 1, 2048, 1, 1, 0}) == tessera_error_code_gpu_device_error);
        gpu->fail("cuStreamSynchronize", 1, 700);
        CHECK(run("hold") == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("waiting for the kernel hold failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
        CHECK(drain_gpu() == 0);
        CHECK(gpu->pinned_blocks() == 1);
    }
    TEST_CASE("what has failed is told of a kernel that ended by a fault, too") {
        Kernels gpu;
        gpu->add_kernel({"trap", 1, [](const FakeLaunch &launch) {
                             fail(launch);
                             FakeGpu::driver()->fail_all(719, false);
                         }});
        CHECK(run("trap") == -30);
        CHECK(gpu.capture.text() == "line: 5\nline: 6 7\nfailed: 30 40\n");
        CHECK(run("hold") == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("CUDA_ERROR_LAUNCH_FAILED"));
        gpu->fail_all(0, false);
    }
    TEST_CASE("a user's stream is what is waited for") {
        Kernels gpu;
        static CUstream_st *stream = nullptr;
        stream = gpu->new_stream();
        tessera_set_cuda_get_stream([](void *, CUctx_st *, CUstream_st **s) {
            *s = stream;
            return 0;
        });
        CHECK(run("fail") == -30);
        CHECK(gpu->pending(stream) == 0);
    }
}
