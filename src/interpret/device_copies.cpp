#include "interpret/device_copies.h"
#include "base/error.h"

namespace tessera::interpret {

void DeviceCopies::add(Word handle, const MemoryRef &on_host, int64_t elements) {
    auto copy = std::make_shared<Copy>();
    copy->here = on_host;
    copy->elements = elements;
    by_handle[handle] = by_memory[on_host.get()] = copy;
}

void DeviceCopies::add_argument(Word handle, const MemoryRef &on_host, bool host_dirty) {
    auto copy = std::make_shared<Copy>();
    copy->here = on_host;
    copy->host_dirty = host_dirty;
    copy->is_argument = true;
    by_handle[handle] = by_memory[on_host.get()] = copy;
}

void DeviceCopies::check_all_freed() const {
    for (const auto &[handle, copy] : by_handle) {
        if (copy->is_argument) continue;
        throw RuntimeError(str("the pipeline has ended, and ", copy->here->name,
                               " still has memory on the device"));
    }
}

DeviceCopies::Copy &DeviceCopies::at(Word handle) {
    const auto found = by_handle.find(handle);
    if (found == by_handle.end()) throw RuntimeError("a copy of what is no buffer of a device");
    return *found->second;
}

void DeviceCopies::copy_to_host(Word handle) {
    Copy &copy = at(handle);
    if (copy.device_dirty) copy.here->copy_from(*copy.there);
    copy.device_dirty = false;
}

void DeviceCopies::copy_to_device(Word handle) {
    Copy &copy = at(handle);
    if (!copy.there && !copy.here->is_empty()) copy.there = copy.here->unwritten_twin();
    if (!copy.there) {
        copy.there = std::make_shared<Memory>(copy.here->name, copy.here->type, copy.elements, 0,
                                              TaskTree::root);
    }
    if (copy.host_dirty) copy.there->copy_from(*copy.here);
    copy.host_dirty = false;
}

void DeviceCopies::mark(Word handle, bool on_device) {
    Copy &copy = at(handle);
    (on_device ? copy.device_dirty : copy.host_dirty) = true;
    if (copy.device_dirty && copy.host_dirty) {
        throw RuntimeError(
            str(copy.here->name, " has been written by the host and by a kernel, with no copy"));
    }
}

void DeviceCopies::free(Word handle) {
    const auto found = by_handle.find(handle);
    if (found == by_handle.end()) return;
    if (found->second->there) found->second->there->free();
    by_memory.erase(found->second->here.get());
    by_handle.erase(found);
}

Memory &DeviceCopies::seen_by_host(Memory &on_host) const {
    const auto found = by_memory.find(&on_host);
    if (found != by_memory.end() && found->second->device_dirty) {
        throw RuntimeError(
            str("the host uses ", on_host.name, ", whose newest contents are on the device"));
    }
    return on_host;
}

Memory &DeviceCopies::seen_by_kernel(Memory &on_host) const {
    const auto found = by_memory.find(&on_host);
    if (found == by_memory.end() || !found->second->there)
        throw RuntimeError(str("a kernel uses ", on_host.name, ", which is not on the device"));
    if (found->second->host_dirty) {
        throw RuntimeError(
            str("a kernel uses ", on_host.name, ", whose newest contents are on the host"));
    }
    return *found->second->there;
}

Memory &DeviceCopies::newest(Memory &on_host) const {
    const auto found = by_memory.find(&on_host);
    return found != by_memory.end() && found->second->device_dirty ? *found->second->there
                                                                   : on_host;
}

}  // namespace tessera::interpret
