#pragma once
#include "runtime/tessera_runtime.h"
#include <atomic>
#include <memory>
#include <string>

// A kind of device tells the profiler by these functions how long its kernels and copies take.
namespace tessera {

struct DeviceWork {
    std::string name;
    tessera_profiler_work_t work;
    std::atomic<uint64_t> time{0}, times{0}, bytes{0};

    void add(uint64_t ns, uint64_t copied) {
        time += ns;
        times++;
        bytes += copied;
    }
};

// Returns the entry that this thread's next work is booked to: NULL if nobody asks. It may be added
// to at any time, also when the profiler has forgotten it.
std::shared_ptr<DeviceWork> profiled_work(tessera_profiler_work_t work);

// `finish` is called before the table is read, by any thread: it waits for what is still to be
// booked. There is one kind of device so far.
void set_device_finisher(void (*finish)());

}  // namespace tessera
