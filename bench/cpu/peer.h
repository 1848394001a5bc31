// A peer's shared library offers this: `bench_peer()` is the only function that it exports.
#pragma once

extern "C" {

struct PeerFunction {
    const char *generator;  // the app's
    const char *params;     // "name=value name=value", or ""
    const char *schedule;   // "manual", "mullapudi", ...
    int (*argv)(void **arguments);
    const void *metadata;  // halide_filter_metadata_t: laid out as tessera_filter_metadata_t
};

struct Peer {
    const char *name;  // "Halide 14"
    void (*set_threads)(int count);
    const char *(*last_error)();  // of this thread: what the peer's error handler was told
    int count;
    const PeerFunction *functions;
    // These are for a buffer (tessera_buffer_t) that functions of this peer have had on a device.
    int (*device_sync)(void *buffer);
    int (*copy_to_host)(void *buffer);
};

const Peer *bench_peer();
}
