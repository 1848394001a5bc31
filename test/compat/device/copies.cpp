#include "gpu.h"

// Funcs that copy between host and device, and extern stages that use what is there.
namespace {

const Target with_cuda("host-cuda-cuda_capability_80");
Var x("x"), xi("xi");

// Stands for a kernel that adds 1. Which arguments are the addresses of its buffers, and which one
// says where in the second the first result goes, unless that is its beginning.
template<int from, int into, int place = -1>
void run_add(const FakeLaunch &launch) {
    const auto buffer = [&](int i) {
        const uint64_t address = *static_cast<uint64_t *>(launch.args[i]);
        return static_cast<int *>(Gpu::driver()->memory(address));
    };
    const int *in = buffer(from);
    int *out = buffer(into);
    if (place >= 0 && out) out += *static_cast<int *>(launch.args[place]);
    const unsigned n = launch.blocks[0] * launch.threads[0];
    for (unsigned i = 0; i < n && in && out; i++) out[i] = in[i] + 1;
}

Buffer<int> counted(int n) {
    Buffer<int> b(n);
    b.fill([](int i) { return i; });
    return b;
}

struct Counts {
    explicit Counts(const Gpu &gpu)
        : to_device(gpu->calls("cuMemcpyHtoDAsync_v2")),
          to_host(gpu->calls("cuMemcpyDtoHAsync_v2")),
          on_device(gpu->calls("cuMemcpyDtoDAsync_v2")) {}
    int to_device, to_host, on_device;
    // What has been copied since.
    bool are(const Gpu &gpu, int to_device_now, int to_host_now, int on_device_now) const {
        const Counts now(gpu);
        return now.to_device - to_device == to_device_now && now.to_host - to_host == to_host_now &&
               now.on_device - on_device == on_device_now;
    }
};

std::string seen;

// out(x) = 3 in(x), on the host, of buffers whose contents are on the device.
extern "C" HALIDE_EXPORT_SYMBOL int compat_triple(halide_buffer_t *in, halide_buffer_t *out) {
    if (in->is_bounds_query() || out->is_bounds_query()) {
        in->dim[0] = out->dim[0];
        return 0;
    }
    seen = std::string(in->host ? "host " : "no host ") +
           (in->device_dirty() ? "dirty " : "clean ") + (out->host ? "host" : "no host");
    if (in->host_dirty() || !in->device || !out->device) return 1;
    Runtime::Buffer<int> values(out->dim[0].extent);
    values.set_min(out->dim[0].min);
    if (halide_buffer_copy(nullptr, in, nullptr, values)) return 2;
    values.for_each_value([](int &v) { v *= 3; });
    return halide_buffer_copy(nullptr, values, out->device_interface, out) ? 3 : 0;
}

Func tripled(const ExternFuncArgument &of) {
    Func f("tripled");
    f.define_extern("compat_triple", {of}, Int(32), {x}, NameMangling::Default, DeviceAPI::CUDA);
    return f;
}

}  // namespace

PROGRAM(a_func_copies_to_the_device_and_another_back) {
    Gpu gpu;
    {
        Buffer<int> in = counted(16);
        Func there("there"), added("added"), back("back"), out("copied");
        there(x) = in(x);
        added(x) = there(x) + 1;
        back(x) = added(x);
        out(x) = back(x) * 2;
        there.compute_root().copy_to_device();
        added.compute_root().gpu_tile(x, xi, 8, TailStrategy::RoundUp);
        back.compute_root().copy_to_host();
        Gpu::driver()->add_kernel({"copied_pipeline_kernel_0", 4, run_add<2, 3>});
        const Counts before(gpu);
        Buffer<int> result = out.realize({16}, with_cuda);
        EXPECT(result(5) == 12 && !in.has_device_allocation());
        EXPECT(before.are(gpu, 1, 1, 0));
        // Nothing of the image is uploaded that is there already.
        in.copy_to_device(with_cuda);
        in.device_sync();
        const Counts again(gpu);
        result = out.realize({16}, with_cuda);
        EXPECT(result(15) == 32 && again.are(gpu, 0, 1, 1));
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(pieces_are_copied_each_by_itself) {
    Gpu gpu;
    {
        Buffer<int> in(16, 6);
        in.fill([](int i, int j) { return i + 100 * j; });
        Var y("y");
        Func piece("piece"), out("pieces");
        piece(x, y) = in(x, y);
        out(x, y) = piece(x, y) + 1;
        out.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
        piece.compute_at(out, y).copy_to_device();
        Gpu::driver()->add_kernel({"pieces_pipeline_kernel_0", 5, run_add<3, 4, 2>});
        const Counts before(gpu);
        Buffer<int> result = out.realize({16, 6}, with_cuda);
        EXPECT(before.are(gpu, 6, 1, 0) && gpu->calls("cuLaunchKernel") == 6);
        EXPECT(result(15, 5) == 516 && !in.has_device_allocation());
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(extern_stages_on_the_device) {
    Gpu gpu;
    {
        Buffer<int> in = counted(16);
        Func out = tripled(in);
        Buffer<int> result(16);
        const Counts before(gpu);
        out.realize(result, with_cuda);
        EXPECT(result.device_dirty() && in.has_device_allocation() && !in.device_dirty());
        EXPECT(before.are(gpu, 2, 0, 0) && seen == "host clean host");
        result.copy_to_host();
        EXPECT(result(7) == 21);
        // Between kernels nothing comes to the host but what the function copies itself.
        Func f("f"), twice("added");
        f(x) = in(x) + 1;
        Func g = tripled(f);
        twice(x) = g(x) + 1;
        f.compute_root().gpu_tile(x, xi, 8, TailStrategy::RoundUp);
        g.compute_root();
        twice.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
        Gpu::driver()->add_kernel({"added_pipeline_kernel_0", 6, run_add<4, 5>});
        Gpu::driver()->add_kernel({"added_pipeline_kernel_1", 5, run_add<4, 3>});
        const Counts between(gpu);
        Buffer<int> other(16);
        twice.realize(other, with_cuda);
        EXPECT(between.are(gpu, 1, 1, 0) && seen == "no host dirty no host");
        other.copy_to_host();
        EXPECT(other(7) == 25);
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(extern_stages_on_the_device_that_fail) {
    Gpu gpu;
    {
        Buffer<int> in = counted(16), result(16);
        Func out = tripled(in);
        gpu->fail("cuMemcpyHtoDAsync_v2", 2, 1);
        bool failed = false;
        try {
            out.realize(result, with_cuda);
        } catch (const RuntimeError &) {
            failed = true;
        }
        EXPECT(failed && !result.device_dirty());
    }
    gpu.errors();
    EXPECT(gpu.is_clean());
    return 0;
}
