#pragma once
#include "runtime/copy_plan.h"

namespace tessera {

// Locates one side of a copy by the address of the element at the minimum of every dimension.
struct CopySide {
    uint64_t address;
    bool on_device;
};

}  // namespace tessera

// Lists the operations that a kind of device implements. Arguments have been checked, and no other
// thread works on the buffer. All but `release` return 0 or the code of an error that has been
// reported.
struct tessera_device_interface_impl_t {
    // The handle of new memory for the buffer.
    int (*allocate)(void *user_context, const tessera_buffer_t &buffer, uint64_t &handle);
    // Forgets one use of the memory; the last one frees it.
    int (*free)(void *user_context, uint64_t handle);
    // `alias`: an address within the memory that `handle` lies in, one more use of it.
    int (*share)(void *user_context, uint64_t handle, uint64_t alias);
    int (*unshare)(void *user_context, uint64_t alias);
    int (*sync)(void *user_context);
    void (*release)(void *user_context);
    // At least one side is on the device. To the host: waits. From the host: its memory may be
    // changed when the function returns.
    int (*copy)(void *user_context, const tessera::CopyPlan &plan, tessera::CopySide src,
                tessera::CopySide dst);
};
