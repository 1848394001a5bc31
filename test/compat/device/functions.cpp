#include "gpu.h"

// The functions of the runtime, and the members of the interface, by Halide's names.
namespace {

struct Plain {
    explicit Plain(int first = 0, int size = 6) {
        dim = halide_dimension_t(first, size, 1);
        for (int i = 0; i < 8; i++) data[i] = i;
        b.host = reinterpret_cast<uint8_t *>(data);
        b.type = halide_type_of<int>();
        b.dimensions = 1;
        b.dim = &dim;
    }
    Plain(const Plain &) = delete;
    halide_dimension_t dim;
    int data[8];
    halide_buffer_t b = {};
};

CUctx_st *own_context;
CUstream_st *own_stream;
int acquired, released, streams;

int acquire(void *, CUctx_st **context, bool) { return acquired++, *context = own_context, 0; }
int release(void *) { return released++, 0; }
int get_stream(void *, CUctx_st *, CUstream_st **stream) {
    return streams++, *stream = own_stream, 0;
}

}  // namespace

PROGRAM(device_functions_by_their_names) {
    Gpu gpu;
    Plain p;
    EXPECT(halide_device_malloc(nullptr, &p.b, cuda()) == 0 && p.b.device);
    p.b.set_host_dirty();
    EXPECT(halide_copy_to_device(nullptr, &p.b, nullptr) == 0 && !p.b.host_dirty());
    on_device(&p.b, 2) = 42;
    p.b.set_device_dirty();
    EXPECT(halide_device_sync(nullptr, &p.b) == 0);
    EXPECT(halide_device_sync_global(nullptr, cuda()) == 0);
    EXPECT(halide_copy_to_host(nullptr, &p.b) == 0 && p.data[2] == 42);
    Plain part(2, 3);
    EXPECT(halide_device_crop(nullptr, &p.b, &part.b) == 0 && on_device(&part.b, 0) == 42);
    EXPECT(halide_device_release_crop(nullptr, &part.b) == 0 && !part.b.device);
    halide_buffer_t scalar = {};
    scalar.type = p.b.type;
    EXPECT(halide_device_slice(nullptr, &p.b, 0, 2, &scalar) == 0 && on_device(&scalar, 0) == 42);
    EXPECT(halide_device_release_crop(nullptr, &scalar) == 0);
    Plain wrapped;
    EXPECT(halide_cuda_wrap_device_ptr(nullptr, &wrapped.b, p.b.device) == 0);
    EXPECT(halide_cuda_get_device_ptr(nullptr, &wrapped.b) == p.b.device);
    EXPECT(halide_cuda_detach_device_ptr(nullptr, &wrapped.b) == 0);
    EXPECT(halide_device_wrap_native(nullptr, &wrapped.b, p.b.device, cuda()) == 0);
    EXPECT(halide_device_detach_native(nullptr, &wrapped.b) == 0 && !wrapped.b.device);
    EXPECT(halide_device_free(nullptr, &p.b) == 0 && !p.b.device && !p.b.device_interface);
    Plain both;
    both.b.host = nullptr;
    EXPECT(halide_device_and_host_malloc(nullptr, &both.b, cuda()) == 0 && both.b.host);
    EXPECT(halide_device_and_host_free(nullptr, &both.b) == 0 && !both.b.host && !both.b.device);
    halide_device_release(nullptr, cuda());
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(the_device_interface_has_members) {
    Gpu gpu;
    const halide_device_interface_t *d = cuda();
    Plain p, q;
    p.b.set_host_dirty();
    EXPECT(d->copy_to_device(nullptr, &p.b, d) == 0 && d->device_sync(nullptr, &p.b) == 0);
    EXPECT(d->buffer_copy(nullptr, &p.b, d, &q.b) == 0 && q.b.device_dirty());
    EXPECT(d->copy_to_host(nullptr, &q.b) == 0 && d->device_free(nullptr, &q.b) == 0);
    Plain part(1, 2);
    EXPECT(d->device_crop(nullptr, &p.b, &part.b) == 0);
    EXPECT(d->device_release_crop(nullptr, &part.b) == 0);
    EXPECT(d->wrap_native(nullptr, &q.b, p.b.device, d) == 0 &&
           d->detach_native(nullptr, &q.b) == 0);
    halide_buffer_t scalar = {};
    scalar.type = p.b.type;
    EXPECT(d->device_slice(nullptr, &p.b, 0, 1, &scalar) == 0);
    EXPECT(d->device_release_crop(nullptr, &scalar) == 0 && d->device_free(nullptr, &p.b) == 0);
    p.b.host = nullptr;
    EXPECT(d->device_and_host_malloc(nullptr, &p.b, d) == 0);
    EXPECT(d->device_and_host_free(nullptr, &p.b) == 0);
    EXPECT(d->device_malloc(nullptr, &q.b, d) == 0 && d->device_free(nullptr, &q.b) == 0);
    int major = 0, minor = 1;
    EXPECT(d->compute_capability(nullptr, &major, &minor) == 0 && major == 9 && minor == 0);
    d->device_release(nullptr, d);
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(buffers_are_copied_between_sides) {
    Gpu gpu;
    Plain src(0, 6), dst(4, 4), host(-1, 4);
    for (int &v : dst.data) v = 100;
    src.b.set_host_dirty();
    // Host to device, device to device, device to host, host to host: what both have.
    EXPECT(halide_copy_to_device(nullptr, &src.b, cuda()) == 0);
    EXPECT(halide_buffer_copy(nullptr, &src.b, cuda(), &dst.b) == 0 && dst.b.device_dirty());
    EXPECT(halide_copy_to_host(nullptr, &dst.b) == 0);
    EXPECT(dst.data[0] == 4 && dst.data[1] == 5 && dst.data[2] == 100);
    on_device(&src.b, 1) = 21;
    src.b.set_device_dirty();
    EXPECT(halide_buffer_copy(nullptr, &src.b, nullptr, &host.b) == 0 && host.b.host_dirty());
    EXPECT(host.data[0] == 0 && host.data[2] == 21 && host.data[3] == 2);
    Plain far(50, 3), nowhere;
    EXPECT(halide_buffer_copy(nullptr, &src.b, nullptr, &far.b) == 0 && far.data[0] == 0);
    nowhere.b.host = nullptr;
    EXPECT(halide_buffer_copy(nullptr, &src.b, nullptr, &nowhere.b) ==
           halide_error_code_host_is_null);
    EXPECT(gpu.errors() != "");
    halide_device_free(nullptr, &src.b);
    halide_device_free(nullptr, &dst.b);
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(device_errors_have_their_codes) {
    Gpu gpu;
    Plain p;
    EXPECT(halide_device_malloc(nullptr, nullptr, cuda()) == halide_error_code_buffer_is_null);
    EXPECT(halide_device_malloc(nullptr, &p.b, nullptr) == halide_error_code_no_device_interface);
    p.b.flags = halide_buffer_flag_host_dirty | halide_buffer_flag_device_dirty;
    EXPECT(halide_copy_to_host(nullptr, &p.b) == halide_error_code_host_and_device_dirty);
    p.b.flags = 0;
    p.b.device_interface = cuda();
    EXPECT(halide_device_sync(nullptr, &p.b) == halide_error_code_device_interface_no_device);
    p.b.device_interface = nullptr;
    halide_device_malloc(nullptr, &p.b, cuda());
    Plain part(0, 20);
    EXPECT(halide_device_crop(nullptr, &p.b, &part.b) == halide_error_code_device_crop_failed);
    halide_device_interface_t other = *cuda();
    EXPECT(halide_device_malloc(nullptr, &p.b, &other) ==
           halide_error_code_incompatible_device_interface);
    halide_reuse_device_allocations(nullptr, false);
    gpu->fail("cuMemFreeAsync", 1, 1);
    EXPECT(halide_device_free(nullptr, &p.b) == halide_error_code_device_free_failed);
    halide_reuse_device_allocations(nullptr, true);
    gpu->fail("cuMemAllocFromPoolAsync", 1, 1);
    Plain q;
    EXPECT(halide_device_malloc(nullptr, &q.b, cuda()) == halide_error_code_device_malloc_failed);
    EXPECT(gpu.errors() != "" && halide_error_code_gpu_device_error == -29);
    return 0;
}

PROGRAM(programs_bring_contexts_and_streams) {
    Gpu gpu;
    own_context = gpu->new_context(1);
    own_stream = gpu->new_stream();
    acquired = released = streams = 0;
    halide_cuda_acquire_context_t a = halide_set_cuda_acquire_context(acquire);
    halide_cuda_release_context_t r = halide_set_cuda_release_context(release);
    halide_cuda_get_stream_t s = halide_set_cuda_get_stream(get_stream);
    Plain p;
    p.b.set_host_dirty();
    EXPECT(halide_copy_to_device(nullptr, &p.b, cuda()) == 0);
    EXPECT(acquired > 0 && acquired == released && streams > 0 && gpu->retained(0) == 0);
    EXPECT(gpu->pending(own_stream) > 0);
    EXPECT(halide_device_sync(nullptr, &p.b) == 0 && gpu->pending(own_stream) == 0);
    halide_device_free(nullptr, &p.b);
    halide_device_release(nullptr, cuda());
    EXPECT(acquired == released);
    halide_set_cuda_acquire_context(a);
    halide_set_cuda_release_context(r);
    halide_set_cuda_get_stream(s);
    CUctx_st *theirs = nullptr;
    EXPECT(halide_cuda_acquire_context(nullptr, &theirs, false) == 0 && theirs != own_context);
    EXPECT(halide_cuda_release_context(nullptr) == 0);
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(devices_are_chosen_and_memory_is_kept) {
    Gpu gpu;
    const int before = halide_get_gpu_device(nullptr);
    halide_set_gpu_device(1);
    EXPECT(halide_get_gpu_device(nullptr) == 1);
    Plain p;
    EXPECT(halide_can_reuse_device_allocations(nullptr));
    EXPECT(halide_device_malloc(nullptr, &p.b, cuda()) == 0 && gpu->retained(1) == 1);
    const auto kept = [&] { return gpu->live_bytes() + gpu->kept_bytes(); };
    EXPECT(halide_device_free(nullptr, &p.b) == 0 && kept() > 0);
    EXPECT(halide_cuda_release_unused_device_allocations(nullptr) == 0 && kept() == 0);
    halide_device_malloc(nullptr, &p.b, cuda());
    halide_device_free(nullptr, &p.b);
    EXPECT(halide_reuse_device_allocations(nullptr, false) == 0 && kept() == 0);
    EXPECT(!halide_can_reuse_device_allocations(nullptr));
    halide_reuse_device_allocations(nullptr, true);
    halide_device_release(nullptr, cuda());
    EXPECT(gpu->retained(1) == 0);
    halide_set_gpu_device(-1);
    EXPECT(halide_get_gpu_device(nullptr) == before && gpu.is_clean());
    return 0;
}

PROGRAM(what_a_gpu_has_is_told_like_what_a_cpu_has) {
    Gpu gpu;
    uint64_t words[(halide_target_feature_end + 63) / 64] = {};
    const int n = int(std::size(words));
    auto add = [&](int feature) { words[feature / 64] |= uint64_t(1) << (feature % 64); };
    add(halide_target_feature_cuda);
    EXPECT(halide_default_can_use_target_features(n, words) == 1);
    add(halide_target_feature_cuda_capability86);
    EXPECT(halide_can_use_target_features(n, words) == 1);
    add(halide_target_feature_cuda_capability100);
    EXPECT(halide_can_use_target_features(n, words) == 0);
    return 0;
}

PROGRAM(functions_of_the_driver_are_found) {
    Gpu gpu;
    using Version = int (*)(int *);
    int version = 0;
    auto get = reinterpret_cast<Version>(halide_cuda_get_symbol(nullptr, "cuDriverGetVersion"));
    EXPECT(get && get(&version) == 0 && version == 13000);
    EXPECT(!halide_cuda_get_symbol(nullptr, "cuNothing"));
    EXPECT(gpu.is_clean());
    return 0;
}
