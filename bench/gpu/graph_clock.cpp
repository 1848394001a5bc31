#include "gpu/graph_clock.h"
#include "tessera.h"
#include "tessera_runtime_cuda.h"

#include <stdexcept>
#include <string>

namespace tessera::bench {

namespace {

void *stream_of_all = nullptr;

template<typename... Args> void driver(const char *name, Args... args) {
    const auto function =
        reinterpret_cast<int (*)(Args...)>(tessera_cuda_get_symbol(nullptr, name));
    const int failed = function ? function(args...) : -1;
    if (failed) throw std::runtime_error(std::string(name) + " returns " + std::to_string(failed));
}

}  // namespace

GraphClock::GraphClock() {
    // The runtime makes the primary context.
    Buffer<float> first(32);
    first.device_malloc(get_device_interface_for_device_api(DeviceAPI::CUDA, Target("host-cuda")));
    void *context = nullptr;
    driver("cuDevicePrimaryCtxRetain", &context, 0);
    driver("cuCtxSetCurrent", context);
    constexpr unsigned no_blocking = 1, with_time = 0;
    driver("cuStreamCreate", &of_calls, no_blocking);
    driver("cuEventCreate", &begin, with_time);
    driver("cuEventCreate", &end, with_time);
    stream_of_all = of_calls;
    tessera_set_cuda_get_stream([](void *, CUctx_st *, CUstream_st **stream) {
        *stream = static_cast<CUstream_st *>(stream_of_all);
        return 0;
    });
}

void GraphClock::wait() { driver("cuStreamSynchronize", of_calls); }

void *GraphClock::capture(const std::function<void()> &calls) {
    void *graph = nullptr, *executable = nullptr;
    constexpr int relaxed = 2;
    driver("cuStreamBeginCapture_v2", of_calls, relaxed);
    calls();
    driver("cuStreamEndCapture", of_calls, &graph);
    driver("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
    driver("cuGraphDestroy", graph);
    return executable;
}

void GraphClock::release(void *graph) { driver("cuGraphExecDestroy", graph); }

double GraphClock::microseconds(void *graph) {
    driver("cuEventRecord", begin, of_calls);
    driver("cuGraphLaunch", graph, of_calls);
    driver("cuEventRecord", end, of_calls);
    driver("cuEventSynchronize", end);
    float ms = 0;
    driver("cuEventElapsedTime", &ms, begin, end);
    return double(ms) * 1e3;
}

}  // namespace tessera::bench
