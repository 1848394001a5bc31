#pragma once
#include "runtime/message.h"
#include "runtime/tessera_runtime_cuda.h"

// NVIDIA's driver: the types and numbers of its interface (cuda.h) that the runtime uses, and its
// functions, which are found when it is first needed.

struct CUmod_st;
struct CUfunc_st;
struct CUevent_st;
struct CUmemPoolHandle_st;

namespace tessera::cuda {

using Result = int;
using Device = int;
using Address = uint64_t;
using Context = CUctx_st *;
using Stream = CUstream_st *;
using Module = CUmod_st *;
using Function = CUfunc_st *;
using Event = CUevent_st *;
using Pool = CUmemPoolHandle_st *;

namespace result {
constexpr Result success = 0;
constexpr Result invalid_value = 1;
constexpr Result out_of_memory = 2;
constexpr Result deinitialized = 4;
constexpr Result no_device = 100;
constexpr Result invalid_image = 200;
constexpr Result no_binary_for_gpu = 209;
constexpr Result invalid_ptx = 218;
constexpr Result unsupported_ptx_version = 222;
constexpr Result not_found = 500;
}  // namespace result

namespace device_attribute {
constexpr int max_threads_per_block = 1;
constexpr int max_block_x = 2;  // then y, z
constexpr int max_grid_x = 5;   // then y, z
constexpr int max_pitch = 11;
constexpr int processors = 16;
constexpr int capability_major = 75;
constexpr int capability_minor = 76;
constexpr int max_shared_opt_in = 97;
constexpr int pools = 115;
}  // namespace device_attribute

namespace function_attribute {
constexpr int max_threads_per_block = 0;
constexpr int static_shared = 1;
constexpr int max_dynamic_shared = 8;
}  // namespace function_attribute

namespace launch_attribute {
constexpr int programmatic_serialization = 6;  // the kernel waits by itself for those before it
}  // namespace launch_attribute

struct LaunchAttribute {  // CUlaunchAttribute
    int id = 0, unused = 0;
    int value[16] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfiguration {  // CUlaunchConfig
    unsigned blocks[3], threads[3], shared;
    Stream stream;
    const LaunchAttribute *attributes;
    unsigned count;
};
static_assert(sizeof(LaunchConfiguration) == 56);

enum class MemoryKind : int { None = 0, Host = 1, Device = 2 };
constexpr int pointer_attribute_kind = 2;
constexpr int pool_release_threshold = 4;
constexpr unsigned event_without_time = 2;

struct Copy2D {  // CUDA_MEMCPY2D_v2
    size_t src_x, src_y;
    MemoryKind src_kind;
    const void *src_host;
    Address src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    MemoryKind dst_kind;
    void *dst_host;
    Address dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
};

struct PoolProperties {       // CUmemPoolProps
    int allocation_kind = 1;  // pinned, which is what memory of a device is
    int handle_kinds = 0;
    int location_kind = 1;  // a device
    int location = 0;
    void *security = nullptr;
    size_t max_size = 0;
    unsigned char reserved[56] = {};
};
static_assert(sizeof(Copy2D) == 128 && sizeof(PoolProperties) == 88);

// Finds functions in the library; remembers the first that is not there.
class Library {
public:
    explicit Library(void *handle) : handle(handle) {}
    void *find(const char *name, bool must_be = true);

    void *handle;
    const char *missing = nullptr;
};

template<typename... Args> struct Call {
    Call(Library &library, const char *name, bool must_be = true)
        : name(name), pointer(reinterpret_cast<Result (*)(Args...)>(library.find(name, must_be))) {}
    Result operator()(Args... args) const { return pointer(args...); }
    explicit operator bool() const { return pointer; }

    const char *name;
    Result (*pointer)(Args...);
};

// The versions of the functions that the oldest driver in question has; those that need not be
// there (false) may lack.
struct Driver {
    explicit Driver(void *handle) : library(handle) {}

    Library library;
    Call<int *> version{library, "cuDriverGetVersion"};
    Call<unsigned> init{library, "cuInit"};
    Call<int *> device_count{library, "cuDeviceGetCount"};
    Call<Device *, int> device{library, "cuDeviceGet"};
    Call<char *, int, Device> device_name{library, "cuDeviceGetName"};
    Call<int *, int, Device> device_attribute{library, "cuDeviceGetAttribute"};
    Call<Context *, Device> retain_primary{library, "cuDevicePrimaryCtxRetain"};
    Call<Device> release_primary{library, "cuDevicePrimaryCtxRelease_v2"};
    Call<Context *> current{library, "cuCtxGetCurrent"};
    Call<Context> push{library, "cuCtxPushCurrent_v2"};
    Call<Context *> pop{library, "cuCtxPopCurrent_v2"};
    Call<Device *> context_device{library, "cuCtxGetDevice"};
    Call<> context_synchronize{library, "cuCtxSynchronize"};
    Call<Module *, const void *, unsigned, int *, void **> load_module{library,
                                                                       "cuModuleLoadDataEx"};
    Call<Module> unload_module{library, "cuModuleUnload"};
    Call<Function *, Module, const char *> function{library, "cuModuleGetFunction"};
    Call<int *, int, Function> function_attribute{library, "cuFuncGetAttribute"};
    Call<Function, int, int> set_function_attribute{library, "cuFuncSetAttribute"};
    Call<Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
         void **, void **>
        launch{library, "cuLaunchKernel"};
    Call<const LaunchConfiguration *, Function, void **, void **> launch_with_attributes{
        library, "cuLaunchKernelEx", false};
    Call<void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *,
         const unsigned *, int, int, int, int>
        encode_tiled{library, "cuTensorMapEncodeTiled", false};
    Call<void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *,
         const int *, unsigned, unsigned, const unsigned *, int, int, int, int>
        encode_im2col{library, "cuTensorMapEncodeIm2col", false};
    Call<Address *, size_t> allocate{library, "cuMemAlloc_v2"};
    Call<Address> free{library, "cuMemFree_v2"};
    Call<void **, size_t> allocate_host{library, "cuMemAllocHost_v2"};
    Call<void *> free_host{library, "cuMemFreeHost"};
    Call<void *, int, Address> pointer_attribute{library, "cuPointerGetAttribute"};
    Call<Address, const void *, size_t, Stream> host_to_device{library, "cuMemcpyHtoDAsync_v2"};
    Call<void *, Address, size_t, Stream> device_to_host{library, "cuMemcpyDtoHAsync_v2"};
    Call<Address, Address, size_t, Stream> device_to_device{library, "cuMemcpyDtoDAsync_v2"};
    Call<const Copy2D *, Stream> copy_2d{library, "cuMemcpy2DAsync_v2"};
    Call<Address, unsigned char, size_t, Stream> fill{library, "cuMemsetD8Async"};
    Call<Stream> synchronize{library, "cuStreamSynchronize"};
    Call<Event *, unsigned> create_event{library, "cuEventCreate"};
    Call<Event, Stream> record{library, "cuEventRecord"};
    Call<Event> wait{library, "cuEventSynchronize"};
    Call<float *, Event, Event> elapsed{library, "cuEventElapsedTime"};
    Call<Event> destroy_event{library, "cuEventDestroy_v2"};
    Call<Result, const char **> error_name{library, "cuGetErrorName"};
    Call<Result, const char **> error_text{library, "cuGetErrorString"};
    Call<Pool *, const PoolProperties *> create_pool{library, "cuMemPoolCreate", false};
    Call<Pool> destroy_pool{library, "cuMemPoolDestroy", false};
    Call<Pool, int, void *> set_pool_attribute{library, "cuMemPoolSetAttribute", false};
    Call<Pool, size_t> trim_pool{library, "cuMemPoolTrimTo", false};
    Call<Address *, size_t, Pool, Stream> allocate_from_pool{library, "cuMemAllocFromPoolAsync",
                                                             false};
    Call<Address, Stream> free_to_pool{library, "cuMemFreeAsync", false};
};

// The driver, initialized; else NULL, after `why` has been given the reason. The next call tries
// again what has failed.
const Driver *find_driver(Message &why);
// Likewise; reports the reason.
const Driver *driver(void *user_context);
// NULL if it has not been needed so far.
const Driver *driver_in_use();

// The context, or the whole driver, has failed for good; all calls return such a result.
bool is_fault(Result r);
// A fault that somebody has been told of, or the driver has shut down: there is nothing to give
// back any more, and nothing to say.
bool is_gone(Result r);

// Reports that `what` failed, and returns `code`.
int raise(void *user_context, tessera_error_code_t code, const Driver &driver, Result r,
          const Message &what);

}  // namespace tessera::cuda
