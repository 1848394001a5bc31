#pragma once
#include "interpret/memory.h"
#include <memory>
#include <unordered_map>

namespace tessera::interpret {
// The buffers of a pipeline that have memory on a device, too: what is in each, and which of the
// two is newer. All that lowered code has to do by lower/gpu/device_copies.h is checked: kernels
// see nothing but what has been copied, and neither side may use what is older.
class DeviceCopies {
public:
    // A buffer with this handle, the address of its struct. `elements`: how many it has on the
    // device if it has no memory on the host.
    void add(Word handle, const MemoryRef &on_host, int64_t elements);
    // A buffer that the pipeline is called with.
    void add_argument(Word handle, const MemoryRef &on_host, bool host_dirty);
    // Throws RuntimeError if a buffer that is no argument has not been freed.
    void check_all_freed() const;
    void copy_to_host(Word handle);
    void copy_to_device(Word handle);
    void mark(Word handle, bool on_device);
    void free(Word handle);
    // The memory on the host of the buffer with this handle.
    MemoryRef on_host(Word handle) { return at(handle).here; }
    // Its memory on the device; null if it has none.
    MemoryRef on_device(Word handle) { return at(handle).there; }
    bool is_dirty(Word handle, bool on_device) {
        return on_device ? at(handle).device_dirty : at(handle).host_dirty;
    }

    // Return what a side sees of a buffer. RuntimeError if the other side's contents are newer, or
    // if it has no memory there.
    Memory &seen_by_host(Memory &on_host) const;
    Memory &seen_by_kernel(Memory &on_host) const;
    // The side where it is newest, of which neither need be said.
    Memory &newest(Memory &on_host) const;

private:
    struct Copy {
        MemoryRef here, there;  // the latter is made by the first copy to the device
        int64_t elements = 0;
        bool host_dirty = false, device_dirty = false, is_argument = false;
    };
    Copy &at(Word handle);

    std::unordered_map<Word, std::shared_ptr<Copy>> by_handle;
    std::unordered_map<const Memory *, std::shared_ptr<Copy>> by_memory;
};

}  // namespace tessera::interpret
