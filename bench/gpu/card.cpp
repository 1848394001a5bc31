#include "gpu/card.h"

#include "tessera.h"
#include "tessera_runtime_cuda.h"

#include <stdexcept>

namespace tessera::bench {

namespace {

template<typename... Args> void driver(const char *name, Args... args) {
    const auto function =
        reinterpret_cast<int (*)(Args...)>(tessera_cuda_get_symbol(nullptr, name));
    const int failed = function ? function(args...) : -1;
    if (failed) throw std::runtime_error(std::string(name) + " returns " + std::to_string(failed));
}

}  // namespace

std::string name_of_card() {
    const auto find = [](const char *name) { return tessera_cuda_get_symbol(nullptr, name); };
    const auto get_device = reinterpret_cast<int (*)(int *, int)>(find("cuDeviceGet"));
    const auto get_name = reinterpret_cast<int (*)(char *, int, int)>(find("cuDeviceGetName"));
    const auto get_version = reinterpret_cast<int (*)(int *)>(find("cuDriverGetVersion"));
    int device = 0, version = 0;
    char name[128] = "";
    if (!get_device || !get_name || !get_version) return "";
    if (get_device(&device, tessera_get_gpu_device(nullptr)) || get_version(&version) ||
        get_name(name, sizeof name, device)) {
        return "";
    }
    return std::string(name) + ", driver for CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
}

EventClock::EventClock() {
    // The runtime makes the primary context.
    Buffer<float> first(32);
    first.device_malloc(get_device_interface_for_device_api(DeviceAPI::CUDA, Target("host-cuda")));
    void *context = nullptr;
    driver("cuDevicePrimaryCtxRetain", &context, 0);
    driver("cuCtxSetCurrent", context);
    constexpr unsigned with_time = 0;
    driver("cuEventCreate", &begin, with_time);
    driver("cuEventCreate", &end, with_time);
}

double EventClock::microseconds(const std::function<void()> &call, int calls) {
    void *const default_stream = nullptr;
    driver("cuEventRecord", begin, default_stream);
    for (int i = 0; i < calls; i++) call();
    driver("cuEventRecord", end, default_stream);
    driver("cuEventSynchronize", end);
    float ms = 0;
    driver("cuEventElapsedTime", &ms, begin, end);
    return double(ms) * 1e3 / calls;
}

}  // namespace tessera::bench
