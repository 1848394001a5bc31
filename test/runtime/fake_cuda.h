#pragma once
#include <cstddef>
#include <cstdint>

// How tests steer the driver that stands in for NVIDIA's (fake_cuda.cpp), a library of its own.
//
// Its devices are pieces of the host's memory whose addresses cannot be used on the host. What is
// put on a stream happens when somebody waits for it, so that memory that is used too early or too
// late shows. Errors of the caller (addresses that belong to nothing, handles that are gone, no
// current context) are refused as the real driver does.

struct CUctx_st;
struct CUstream_st;

struct FakeLaunch {
    unsigned blocks[3], threads[3], shared;
    CUstream_st *stream;
    void **args;  // of copies that were made at the launch
};

using FakeKernelFunction = void (*)(const FakeLaunch &launch);

// A kernel that every module has; its arguments have 8 bytes each. One named "*" stands for all
// others.
struct FakeKernel {
    const char *name;
    int arguments;
    FakeKernelFunction run;
    int max_threads = 1024;
    int static_shared = 0;
};

struct FakeCuda {
    // As new: no memory, no contexts, counters at 0; two devices of capability 9.0.
    void (*reset)();
    // How often a function of the driver has been called.
    int (*calls)(const char *function);
    // Calls of all functions.
    int (*all_calls)();
    // The nth call from now (1: the next) of a function fails.
    void (*fail)(const char *function, int nth, int result);
    // Everything fails from now on, but perhaps for what selects contexts.
    void (*fail_all)(int result, bool contexts_too);
    void (*add_kernel)(const FakeKernel &kernel);
    // Where the element of a device lies on the host; NULL if there is no such memory.
    void *(*memory)(uint64_t address);
    uint64_t (*live_bytes)();            // allocated
    uint64_t (*kept_bytes)();            // freed to pools, which keep them
    void (*set_memory)(uint64_t bytes);  // of each device
    void (*set_capability)(int capability);
    void (*set_pools)(bool has_pools);
    int (*modules)();             // that are loaded
    const char *(*last_image)();  // the text of the last module
    const char *(*last_map)();    // what the last tensor map has been made of, as text
    int (*dynamic_shared)();      // the most that the last kernel has been allowed
    int (*retained)(int device);  // how often the primary context is
    CUctx_st *(*current)();
    CUctx_st *(*new_context)(int device);
    void (*make_current)(CUctx_st *context);
    CUstream_st *(*new_stream)();
    int (*pending)(CUstream_st *stream);  // how much waits on it
    void *(*pinned)(size_t bytes);        // pinned memory of a test's own
    int (*pinned_blocks)();
    int (*events)();  // that are not destroyed
};

extern "C" const FakeCuda *fake_cuda();
