#include "gpu.h"

// Buffers that pipelines hand on from the host to the device and back.
namespace {

const Target with_cuda("host-cuda-cuda_capability_80");
Var x("x"), xi("xi");

// Stands for the kernel of `increment`, whose arguments are numbers, the input and the output.
void run_increment(const FakeLaunch &launch) {
    std::vector<int *> buffers;
    for (int i = 0; i < 6; i++) {
        const uint64_t address = *static_cast<uint64_t *>(launch.args[i]);
        void *p = i < 4 ? nullptr : Gpu::driver()->memory(address);
        if (p) buffers.push_back(static_cast<int *>(p));
    }
    const unsigned n = launch.blocks[0] * launch.threads[0];
    for (unsigned i = 0; i < n && buffers.size() == 2; i++) buffers[1][i] = buffers[0][i] + 1;
}

struct Increment {
    Increment() : in(Int(32), 1, "an_input"), f("increment") {
        f(x) = in(x) + k;
        k.set(1);
        f.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
        Gpu::driver()->add_kernel({"increment_pipeline_kernel_0", arguments, run_increment});
    }
    static constexpr int arguments = 6;
    ImageParam in;
    Param<int> k{"k"};
    Func f;
};

Buffer<int> counted(int n) {
    Buffer<int> b(n);
    b.fill([](int i) { return i; });
    return b;
}

}  // namespace

PROGRAM(kernels_hand_on_what_is_on_the_device) {
    Gpu gpu;
    Increment next;
    {
        Buffer<int> a = counted(16), b(16), c(16);
        next.in.set(a);
        next.f.realize(b, with_cuda);
        const int uploads = gpu->calls("cuMemcpyHtoDAsync_v2");
        next.in.set(b);
        next.f.realize(c, with_cuda);
        // What is there already is not copied again.
        EXPECT(gpu->calls("cuMemcpyHtoDAsync_v2") == uploads && !a.host_dirty());
        EXPECT(gpu->calls("cuMemcpyDtoHAsync_v2") == 0 && b.device_dirty() && c.device_dirty());
        c.copy_to_host();
        b.copy_to_host();
        EXPECT(c(9) == 11 && b(9) == 10);
        next.in.reset();
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(host_device_host_device) {
    Gpu gpu;
    Increment next;
    {
        Func twice("twice");
        twice(x) = next.in(x) * 2;
        Buffer<int> a = counted(16), b(16), c(16), d(16);
        next.in.set(a);
        next.f.realize(b, with_cuda);
        next.in.set(b);
        // A pipeline of the CPU says that its input is on the device.
        bool refused = false;
        try {
            twice.realize(c, get_host_target());
        } catch (const RuntimeError &) {
            refused = true;
        }
        EXPECT(refused);
        b.copy_to_host();
        twice.realize(c);
        next.in.set(c);
        next.f.realize(d, with_cuda);
        d.copy_to_host();
        EXPECT(d(5) == 13);
        next.in.reset();
    }
    gpu.errors();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(pipelines_take_buffers_that_are_on_the_device_alone) {
    Gpu gpu;
    Increment next;
    {
        Runtime::Buffer<int> in(nullptr, 16), out(nullptr, 16);
        EXPECT(in.device_malloc(cuda()) == 0 && out.device_malloc(cuda()) == 0);
        for (int i = 0; i < 16; i++) on_device(in, i) = 3 * i;
        Callable c = next.f.compile_to_callable({next.in, next.k}, with_cuda);
        EXPECT(c(in, 1, out) == 0 && out.device_dirty() && on_device(out, 5) == 16);
        out.set_device_dirty(false);
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(crops_and_slices_take_part_in_pipelines) {
    Gpu gpu;
    Increment next;
    {
        Buffer<int> whole(16, 4);
        whole.fill([](int i, int j) { return i + 100 * j; });
        whole.copy_to_device(with_cuda);
        Buffer<int> row = whole.sliced(1, 2), result(8, 3), into = result.sliced(1, 1);
        Buffer<int> part = row.cropped(0, 4, 8);
        part.set_min(0);
        whole.reset();
        row.reset();
        next.in.set(part);
        EXPECT(part.has_device_allocation());
        next.f.realize(into, with_cuda);
        into.copy_to_host();
        EXPECT(into(3) == 208 && result(3, 1) == 208);
        next.in.reset();
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(pipelines_run_again_after_a_release) {
    Gpu gpu;
    Increment next;
    std::vector<Buffer<int>> alive;
    for (int i = 0; i < 5; i++) {
        Buffer<int> a = counted(16), b(16);
        next.in.set(a);
        next.f.realize(b, with_cuda);
        b.copy_to_host();
        EXPECT(b(7) == 8);
        if (i % 2) alive.push_back(b);
        halide_device_release(nullptr, cuda());
        EXPECT(gpu->modules() == 0);
    }
    for (Buffer<int> &b : alive) {
        b.set_device_dirty(false);
        EXPECT(b(15) == 16 && b.device_free() == 0);
    }
    next.in.reset();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(a_buffer_outlives_the_pipeline_that_gave_it_memory) {
    Gpu gpu;
    Buffer<int> b(16);
    {
        Increment next;
        next.in.set(counted(16));
        next.f.realize(b, with_cuda);
    }
    EXPECT(b.copy_to_host() == 0 && b(3) == 4);
    b.reset();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(a_failed_launch_leaves_the_output_as_it_was) {
    Gpu gpu;
    Increment next;
    {
        Buffer<int> a = counted(16), b(16);
        b.fill(5);
        next.in.set(a);
        gpu->fail("cuLaunchKernel", 1, 700);
        bool failed = false;
        try {
            next.f.realize(b, with_cuda);
        } catch (const RuntimeError &) {
            failed = true;
        }
        EXPECT(failed && !b.device_dirty());
        next.in.reset();
    }
    gpu.errors();
    return 0;
}
