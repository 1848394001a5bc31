#include "cuda_fixture.h"
#include <string>

namespace {

using Work = tessera_profiler_device_stats_t;

void nothing(const FakeLaunch &) {}

const tessera_cuda_image_t ptx{80, true, false, "ptx 80", 7, false};
const tessera_cuda_kernels_t kernels{&ptx, 1};

int run(const char *kernel = "nothing") {
    const int32_t shape[] = {1, 1, 1, 1, 1, 1, 0};
    return tessera_cuda_run(nullptr, &kernels, kernel, shape, nullptr);
}

struct Kernels : FakeGpu {
    Kernels() {
        (*this)->add_kernel({"nothing", 0, nothing});
        REQUIRE(tessera_profiler_reset() == 0);
    }
    ~Kernels() { tessera_cuda_unload(&kernels); }
};

// A run of a pipeline that is profiled.
struct Run {
    Run() {
        static const char *const funcs[] = {"overhead"};
        REQUIRE(tessera_profiler_instance_start(nullptr, "p", 1, funcs, &instance) == 0);
    }
    ~Run() { tessera_profiler_instance_end(nullptr, &instance); }
    template<typename F> void timed(const char *name, F f) {
        tessera_profiler_device_begin(&instance, name);
        f();
        tessera_profiler_device_end(&instance);
    }
    tessera_profiler_instance_t instance;
};

std::vector<Work> all_work() {
    std::vector<Work> all;
    Work work;
    for (int i = 0; tessera_profiler_get_device_work("p", i, &work); i++) all.push_back(work);
    return all;
}

}  // namespace

TEST_SUITE("profile of a device") {
    TEST_CASE("kernels and copies are timed by events, for which nobody waits") {
        Kernels gpu;
        Picture p({{0, 8, 1, 0}});
        {
            Run one;
            one.timed("in", [&] { CHECK(p.upload() == 0); });
            one.timed("f", [&] { CHECK(run() == 0); });
            one.timed("f.update(0)", [&] { CHECK(run() + run() == 0); });
            one.timed("f", [&] { CHECK(run() == 0); });
            CHECK(run() == 0);  // belongs to nothing
        }
        CHECK(gpu->calls("cuEventSynchronize") == 0);
        CHECK(gpu->calls("cuStreamSynchronize") == 0);
        {
            Run another;
            another.timed("in", [&] { CHECK(p.download() == 0); });
        }
        const std::vector<Work> all = all_work();
        REQUIRE(all.size() == 4);
        CHECK(std::string(all[0].name) == "in");
        CHECK(all[0].work == tessera_profiler_copy_to_device);
        CHECK((all[0].times == 1 && all[0].time_ns == 1000000 && all[0].bytes == 32));
        CHECK(std::string(all[1].name) == "f");
        CHECK(all[1].work == tessera_profiler_kernel);
        CHECK((all[1].times == 2 && all[1].time_ns == 2000000 && all[1].bytes == 0));
        CHECK(std::string(all[2].name) == "f.update(0)");
        CHECK((all[2].times == 2 && all[2].time_ns == 2000000));
        CHECK(all[3].work == tessera_profiler_copy_to_host);
        CHECK((all[3].times == 1 && all[3].bytes == 32));
        CHECK(p.free() == 0);
    }
    TEST_CASE("the table has them below the Funcs") {
        Kernels gpu;
        Picture p({{0, 1000000, 1, 0}});
        {
            Run one;
            one.timed("in", [&] { CHECK(p.upload() == 0); });
            one.timed("f", [&] { CHECK(run() + run() == 0); });
        }
        tessera_profiler_report(nullptr);
        CAPTURE(gpu.capture.text());
        CHECK(gpu.capture.has("p\n  total time: "));
        CHECK(gpu.capture.has("  copy to the device: in: 1 ms, copies: 1, mean: 1 ms, "
                              "bytes: 4000000, GB/s: 4\n"));
        CHECK(gpu.capture.has("  kernel of f: 2 ms, launches: 2, mean: 1 ms\n"));
        CHECK(p.free() == 0);
    }
    TEST_CASE("a launch that nobody profiles takes no events") {
        Kernels gpu;
        CHECK(run() == 0);
        CHECK(gpu->calls("cuEventCreate") == 0);
        {
            Run one;
            CHECK(run() == 0);
        }
        CHECK(gpu->calls("cuEventCreate") == 0);
        CHECK(all_work().empty());
    }
    TEST_CASE("events are used again, and go with the context") {
        Kernels gpu;
        for (int i = 0; i < 3; i++) {
            Run one;
            one.timed("f", [&] { CHECK(run() == 0); });
            CHECK(all_work().size() == 1);
        }
        CHECK(gpu->events() == 2);
        {
            Run one;
            one.timed("f", [&] { CHECK(run() == 0); });
        }
        tessera_device_release(nullptr, gpu_interface());
        CHECK(gpu->events() == 0);
        CHECK(all_work()[0].times == 4);
    }
    TEST_CASE("what is not looked at is booked at some time") {
        Kernels gpu;
        Run one;
        one.timed("f", [&] {
            for (int i = 0; i < 10000; i++) REQUIRE(run() == 0);
        });
        CHECK(gpu->events() < 9000);
        CHECK(all_work()[0].times == 10000);
        CHECK(all_work()[0].time_ns == 10000000000);
    }
    TEST_CASE("a pipeline that fails leaves nothing behind that is timed") {
        Kernels gpu;
        {
            Run failing;
            tessera_profiler_device_begin(&failing.instance, "f");
            CHECK(run("nobody") != 0);
        }
        CHECK(run() == 0);
        Run next;
        CHECK(run() == 0);
        CHECK(gpu->calls("cuEventCreate") == 0);
        CHECK(all_work().empty());
    }
    TEST_CASE("without events the pipeline runs as ever") {
        Kernels gpu;
        Run one;
        for (const char *function : {"cuEventCreate", "cuEventRecord", "cuEventElapsedTime"}) {
            gpu->fail(function, 1, 2);
            one.timed("f", [&] { CHECK(run() == 0); });
            CHECK(all_work()[0].times == 0);
        }
        one.timed("f", [&] { CHECK(run() == 0); });
        CHECK(all_work()[0].times == 1);
        CHECK(gpu.capture.text().empty());
    }
    TEST_CASE("a reset forgets it, whatever is still to be booked") {
        Kernels gpu;
        {
            Run one;
            one.timed("f", [&] { CHECK(run() == 0); });
        }
        CHECK(tessera_profiler_reset() == 0);
        CHECK(all_work().empty());
        tessera_profiler_report(nullptr);
        CHECK(gpu.capture.text().empty());
    }
}
