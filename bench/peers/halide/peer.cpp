// The shared library of a Halide: the apps that it has compiled, and its runtime.
#include "bench/cpu/peer.h"
#include "runtime/tessera_runtime.h"

#include <HalideRuntime.h>

#include <cstddef>
#include <iterator>
#include <mutex>
#include <string>

// The caller describes arguments, and reads metadata, by Tessera's structs.
#define SAME_SIZE(name) static_assert(sizeof(halide_##name) == sizeof(tessera_##name))
#define SAME_PLACE(name, field)                                                                    \
    static_assert(offsetof(halide_##name, field) == offsetof(tessera_##name, field))

SAME_SIZE(type_t);
SAME_PLACE(type_t, code);
SAME_PLACE(type_t, bits);
SAME_PLACE(type_t, lanes);
SAME_SIZE(dimension_t);
SAME_PLACE(dimension_t, min);
SAME_PLACE(dimension_t, extent);
SAME_PLACE(dimension_t, stride);
SAME_SIZE(buffer_t);
SAME_PLACE(buffer_t, host);
SAME_PLACE(buffer_t, flags);
SAME_PLACE(buffer_t, type);
SAME_PLACE(buffer_t, dimensions);
SAME_PLACE(buffer_t, dim);
SAME_SIZE(scalar_value_t);
SAME_SIZE(filter_argument_t);
SAME_PLACE(filter_argument_t, name);
SAME_PLACE(filter_argument_t, kind);
SAME_PLACE(filter_argument_t, dimensions);
SAME_PLACE(filter_argument_t, type);
SAME_PLACE(filter_argument_t, scalar_def);
SAME_PLACE(filter_argument_t, scalar_estimate);
SAME_PLACE(filter_argument_t, buffer_estimates);
SAME_SIZE(filter_metadata_t);
SAME_PLACE(filter_metadata_t, num_arguments);
SAME_PLACE(filter_metadata_t, arguments);
SAME_PLACE(filter_metadata_t, name);

#define FUNCTION(generator, params, schedule, name)                                                \
    extern "C" int name##_argv(void **arguments);                                                  \
    extern "C" const halide_filter_metadata_t *name##_metadata();
#include "functions.inc"
#undef FUNCTION

namespace {

#define FUNCTION(generator, params, schedule, name)                                                \
    {generator, params, schedule, name##_argv, name##_metadata()},
const PeerFunction functions[] = {
#include "functions.inc"
};

// The thread that fails may be one of Halide's own: the message is kept for whoever asks.
std::mutex mutex;
std::string message;

void keep_message(void *, const char *text) {
    const std::lock_guard lock(mutex);
    message = text;
}

const char *last_error() {
    thread_local std::string copy;
    const std::lock_guard lock(mutex);
    copy = message;
    return copy.c_str();
}

// To work with fewer threads, Halide's pool has to begin anew: those that there are go on.
void set_threads(int count) {
    halide_shutdown_thread_pool();
    halide_set_num_threads(count);
}

int device_sync(void *buffer) {
    return halide_device_sync(nullptr, static_cast<halide_buffer_t *>(buffer));
}

int copy_to_host(void *buffer) {
    return halide_copy_to_host(nullptr, static_cast<halide_buffer_t *>(buffer));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Peer *bench_peer() {
    static const Peer peer{PEER_NAME, set_threads, last_error,  int(std::size(functions)),
                           functions, device_sync, copy_to_host};
    halide_reuse_device_allocations(nullptr, true);
    halide_set_error_handler(keep_message);
    return &peer;
}
