// Random pipelines with kernels, run with the driver that needs no GPU (runtime/fake_cuda.h), in a
// process of their own: kernels do nothing there, all else is as on a card.
#include "../runtime/fake_cuda.h"
#include "check.h"
#include "runtime/tessera_runtime_cuda.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera::fuzz;

namespace {

const FakeCuda &driver() {
    static const FakeCuda &it = []() -> const FakeCuda & {
        setenv("TESSERA_CUDA_DRIVER", FAKE_CUDA, 1);
        void *library = dlopen(FAKE_CUDA, RTLD_NOW);
        return *reinterpret_cast<const FakeCuda *(*)()>(dlsym(library, "fake_cuda"))();
    }();
    return it;
}

// Bytes on the device, without those that are freed and kept for later.
uint64_t bytes_in_use() {
    tessera_cuda_release_unused_device_allocations(nullptr);
    return driver().live_bytes();
}

// Returns how many of them did not end well.
int run_pipelines(int count) {
    driver().reset();
    driver().add_kernel({"*", 0, [](const FakeLaunch &) {}});
    int bad = 0;
    for (uint64_t seed = first_gpu_seed + 1; count > 0; seed++) {
        const Report r = run_on_device(draw_plan(seed), bytes_in_use);
        if (r.outcome == Outcome::Refused) continue;
        count--;
        if (r.outcome == Outcome::Agrees) continue;
        std::printf("seed %lu: %s: %s\n", seed, r.kind.c_str(), r.message.c_str());
        bad++;
    }
    return bad;
}

}  // namespace

TEST_SUITE("memory of the device") {
    TEST_CASE("random pipelines free all that they allocate") {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            constexpr int count = 300;
            const int bad = run_pipelines(count);
            std::fflush(stdout);
            // Each run of each pipeline has a kernel, if not all are refused or run on the host.
            const bool is_used = driver().calls("cuLaunchKernel") > count;
            _exit(bad == 0 && is_used ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
    }
}
