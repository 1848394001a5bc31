/* Pipelines on NVIDIA's GPUs, by way of the driver (libcuda.so.1), which is looked for at the first
 * use; nothing of it is needed to compile or to link.
 *
 * Unless a program says otherwise, all happens in the device's primary context, which is the one
 * that PyTorch and the CUDA runtime use, and on the default stream. A context is made current only
 * while a function runs, and the caller's is restored after. A buffer's `device` is the CUdeviceptr
 * of the element at the minimum of every dimension.
 *
 * TESSERA_CUDA_DRIVER names another library than libcuda.so.1. */
#pragma once
#include "tessera_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

const tessera_device_interface_t *tessera_cuda_device_interface(void);

/* Numbers the features of a GPU: each bit of tessera_can_use_target_features says that it is one of
 * at least this compute capability. They come beside those of tessera_cpu_feature_t. */
typedef enum tessera_gpu_feature_t {
    tessera_gpu_cuda_75 = 40,
    tessera_gpu_cuda_80 = 41,
    tessera_gpu_cuda_86 = 42,
    tessera_gpu_cuda_89 = 43,
    tessera_gpu_cuda_90 = 44,
    tessera_gpu_cuda_100 = 45,
    tessera_gpu_cuda_120 = 46
} tessera_gpu_feature_t;

/* tessera_device_wrap_native and its inverse. The memory must stay until it is detached. */
int tessera_cuda_wrap_device_ptr(void *user_context, tessera_buffer_t *buffer, uint64_t pointer);
int tessera_cuda_detach_device_ptr(void *user_context, tessera_buffer_t *buffer);
/* 0 if the buffer is not on such a device. */
uint64_t tessera_cuda_get_device_ptr(void *user_context, tessera_buffer_t *buffer);

/* A function of the driver, by its name in the driver's library (such as cuStreamCreate). NULL if
 * there is none; where there is no driver that is reported. */
void *tessera_cuda_get_symbol(void *user_context, const char *name);

/* Gives memory that has been freed, and is kept for the next allocation, back to the system. */
int tessera_cuda_release_unused_device_allocations(void *user_context);
/* Sets whether freed memory is kept; it is, unless told otherwise. */
int tessera_reuse_device_allocations(void *user_context, bool reuse);
bool tessera_can_reuse_device_allocations(void *user_context);

/* Sets the device that the default context is of, counted from 0. -1, as at the start: the one that
 * the environment variable TESSERA_GPU_DEVICE (or HL_GPU_DEVICE) names, else the first. A program
 * may define tessera_get_gpu_device itself. */
void tessera_set_gpu_device(int n);
int tessera_get_gpu_device(void *user_context);

/* ---- A program's own contexts and streams ----
 *
 * Each function of the runtime that needs a context acquires and releases exactly once, also where
 * it fails; what it starts is put on the stream. The functions return 0 or an error code, and are
 * called from any thread. With `create` false there may be no context: *context is NULL then.
 * A program may define the three functions of these names itself instead. A context that is
 * destroyed must be released before (tessera_device_release). */

struct CUctx_st;
struct CUstream_st;
typedef int (*tessera_cuda_acquire_context_t)(void *user_context, struct CUctx_st **context,
                                              bool create);
typedef int (*tessera_cuda_release_context_t)(void *user_context);
typedef int (*tessera_cuda_get_stream_t)(void *user_context, struct CUctx_st *context,
                                         struct CUstream_st **stream);
int tessera_cuda_acquire_context(void *user_context, struct CUctx_st **context, bool create);
int tessera_cuda_release_context(void *user_context);
int tessera_cuda_get_stream(void *user_context, struct CUctx_st *context,
                            struct CUstream_st **stream);
tessera_cuda_acquire_context_t
tessera_set_cuda_acquire_context(tessera_cuda_acquire_context_t handler);
tessera_cuda_release_context_t
tessera_set_cuda_release_context(tessera_cuda_release_context_t handler);
tessera_cuda_get_stream_t tessera_set_cuda_get_stream(tessera_cuda_get_stream_t handler);

/* ---- What compiled pipelines call ---- */

/* A flag of buffers, which compiled pipelines set on those of their stages: one call alone uses
 * what is allocated for it on the device, on one stream. It is freed in the order of that stream,
 * and nobody waits, whatever other streams there are. */
enum { tessera_buffer_flag_temporary = 1 << 16 };

/* One image of a pipeline's kernels: machine code of a compute capability, or PTX for the driver to
 * compile, which ends by a zero. */
typedef struct tessera_cuda_image_t {
    /* 90 for 9.0: machine code runs on the same major and an equal or higher minor number, PTX on
     * any that is not lower. */
    int32_t capability;
    uint8_t is_ptx;
    uint8_t is_exact; /* such as 9.0a: on just this capability */
    const void *data;
    uint64_t bytes;
    uint8_t waits; /* each kernel waits by itself for those before it, and may begin before they
                    * have ended */
} tessera_cuda_image_t;

typedef struct tessera_cuda_kernels_t {
    const tessera_cuda_image_t *images;
    int32_t count;
} tessera_cuda_kernels_t;

/* Starts `kernel` on the user's stream. `shape`: blocks x, y, z, threads x, y, z, bytes of dynamic
 * shared memory. `args`: the address of each argument, in order. Does nothing where there are no
 * blocks or threads. The first launch in a context loads the best image for its device. */
int tessera_cuda_run(void *user_context, const tessera_cuda_kernels_t *kernels, const char *kernel,
                     const int32_t *shape, void **args);
/* The number of multiprocessors of the device that kernels are run on; 1 if there is none, which a
 * launch then says. */
int32_t tessera_cuda_processors(void *user_context);
/* Writes a tensor map (a CUtensorMap: 128 bytes, at a multiple of 64) of an array on the device,
 * for copies of boxes to or from the memory of a block; what is outside of the array is 0, and is
 * not stored. `shape`: 0 for boxes, 1 for places of a convolution, or 2 for boxes that are stored;
 * the number n of dimensions, up to 5; n extents; the distances of all dimensions but the first;
 * what is copied at once (below); the distance of the first dimension (1), in elements of
 * `element_bytes`; how many elements before a row its coordinates count from (0 for boxes that are
 * stored); and the swizzle of the memory of the block, in bytes: 0 (none), 32, 64 or 128. What is
 * copied at once are n extents of a box. Or they are so many channels (dimension 0) and places,
 * which follow one another along dimensions 1 to n - 2 of each image (dimension n - 1), one number
 * for each of these: the steps from one place to the next; the first places; and the last ones,
 * from the last element on.
 *
 * Boxes begin at multiples of 16 bytes of what their coordinates count; if the address or a
 * distance is no multiple of 16 bytes, or the elements before a row are more than 0, the map is of
 * a copy of the array, which is freed when the thread has launched the next kernel. An error if
 * they are fewer than 0 (boxes do not begin at such multiples), rows that are copied overlap, what
 * is stored to would have to be copied, or the driver has no such maps. */
int tessera_cuda_tensor_map(void *user_context, void *map, void *address, int32_t element_bytes,
                            const int32_t *shape);

/* Holds what a kernel tells the host: the first assertion that does not hold, and lines to print.
 * Each is a record: a word whose lower half says which of the kernel's reports it is, from 1, and
 * whose upper half how many words it has, this one counted; then the values, a word each. */
#define TESSERA_CUDA_RECORD_WORDS 128 /* that one has at most */
typedef struct tessera_cuda_reports_t {
    uint32_t failed; /* not 0: the thread that has set it writes `failure` */
    uint64_t words;  /* of `lines` that have been asked for: maybe more than there are */
    uint64_t lost;   /* lines for which there was no room */
    uint64_t failure[TESSERA_CUDA_RECORD_WORDS];
    uint64_t lines[(1 << 17) - 3 - TESSERA_CUDA_RECORD_WORDS];
} tessera_cuda_reports_t;

/* Raises the error of a record, and returns its code; or prints the line. */
typedef int (*tessera_cuda_report_t)(void *user_context, const uint64_t *record);

/* Likewise, and waits for the kernel. Its first argument is a tessera_cuda_reports_t in memory of
 * the host; whatever args[0] is, the runtime puts it there. Then `report` is told of its lines, and
 * of the assertion that has failed, whose code is returned. */
int tessera_cuda_run_reporting(void *user_context, const tessera_cuda_kernels_t *kernels,
                               const char *kernel, const int32_t *shape, void **args,
                               tessera_cuda_report_t report);
/* Unloads what was loaded of them, in all contexts; the JIT calls it before the code goes. */
void tessera_cuda_unload(const tessera_cuda_kernels_t *kernels);

#ifdef __cplusplus
}
#endif
