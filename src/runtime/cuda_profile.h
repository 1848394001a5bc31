#pragma once
#include "runtime/cuda_context.h"
#include "runtime/device_profile.h"

namespace tessera::cuda {

// While it lives, what is put on the scope's stream is timed by two events, if the profiler asks;
// they are looked at when its table is read. Work whose events fail is not timed; that is no error.
class Timed {
public:
    Timed(const Scope &scope, tessera_profiler_work_t work, int64_t bytes);
    ~Timed();
    Timed(const Timed &) = delete;
    Timed &operator=(const Timed &) = delete;

private:
    const Scope &scope;
    std::shared_ptr<DeviceWork> booked_to;  // NULL: nobody asks
    int64_t bytes;
    Event start = nullptr;
};

// Books all that was timed in the context, which is current, and destroys its events.
void finish_timing(const Driver &driver, Context context);

}  // namespace tessera::cuda
