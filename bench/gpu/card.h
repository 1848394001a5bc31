#pragma once

#include <functional>
#include <string>

namespace tessera::bench {

// The GPU that pipelines run on, and the CUDA version of its driver: "NVIDIA H100 80GB HBM3, driver
// for CUDA 13.0". Figures say nothing without it. Empty if there is none.
std::string name_of_card();

// Times calls by events on the default stream, on which pipelines and libraries run.
class EventClock {
public:
    // Makes the device's primary context current. Throws std::runtime_error if there is no GPU.
    EventClock();
    // Returns the microseconds of one of `calls` calls, which are begun one after the other.
    double microseconds(const std::function<void()> &call, int calls);

private:
    void *begin = nullptr, *end = nullptr;
};

}  // namespace tessera::bench
