#include "cuda_fixture.h"
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

namespace {

// A program's own context and stream, handed on as the user context, and the calls for it.
struct Own {
    CUctx_st *context;
    CUstream_st *stream;
    int fail = 0;
    std::atomic<int> acquired{0}, released{0};
};

void use_own() {
    tessera_set_cuda_acquire_context([](void *user, CUctx_st **context, bool) {
        auto *own = static_cast<Own *>(user);
        own->acquired++;
        *context = own->fail ? nullptr : own->context;
        return own->fail;
    });
    tessera_set_cuda_release_context([](void *user) {
        static_cast<Own *>(user)->released++;
        return 0;
    });
    tessera_set_cuda_get_stream([](void *user, CUctx_st *, CUstream_st **stream) {
        *stream = static_cast<Own *>(user)->stream;
        return 0;
    });
}

void add_one(const FakeLaunch &launch) {
    const uint64_t pointer = *static_cast<uint64_t *>(launch.args[0]);
    ++*static_cast<int *>(FakeGpu::driver()->memory(pointer));
}

const tessera_cuda_image_t ptx{80, true, false, "ptx 80", 7, false};
const tessera_cuda_kernels_t kernels{&ptx, 1};

int add_one_to(Own &own, tessera_buffer_t &buffer) {
    void *args[] = {&buffer.device};
    const int32_t shape[] = {1, 1, 1, 1, 1, 1, 0};
    return tessera_cuda_run(&own, &kernels, "add_one", shape, args);
}

// Nothing of the runtime's is left in it.
void leave(Own &own) { tessera_device_release(&own, gpu_interface()); }

}  // namespace

TEST_SUITE("contexts of CUDA") {
    TEST_CASE("the primary context is used, and the caller's own is current again after") {
        FakeGpu gpu;
        CUctx_st *mine = gpu->new_context(0);
        gpu->make_current(mine);
        Picture p({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        CHECK(gpu->current() == mine);
        gpu->fail("cuMemcpyHtoDAsync_v2", 1, 1);
        CHECK(p.upload() != 0);
        CHECK(gpu->current() == mine);
        CHECK(gpu->retained(0) == 1);
        CHECK(p.free() == 0);
        gpu->make_current(nullptr);
    }
    TEST_CASE("where the context is current already it is not made so again") {
        FakeGpu gpu;
        CUctx_st *mine = gpu->new_context(0);
        gpu->make_current(mine);
        Own own{mine, nullptr};
        use_own();
        Picture p({{0, 8, 1, 0}});
        CHECK(tessera_device_malloc(&own, &p.buffer, gpu_interface()) == 0);
        CHECK(gpu->calls("cuCtxPushCurrent_v2") == 0);
        CHECK(gpu->current() == mine);
        CHECK(tessera_device_free(&own, &p.buffer) == 0);
        leave(own);
        gpu->make_current(nullptr);
    }
    TEST_CASE("devices are chosen by number") {
        FakeGpu gpu;
        Picture p({{0, 8, 1, 0}});
        tessera_set_gpu_device(1);
        CHECK(tessera_get_gpu_device(nullptr) == 1);
        CHECK(p.upload() == 0);
        CHECK(gpu->retained(0) == 0);
        CHECK(gpu->retained(1) == 1);
        tessera_set_gpu_device(0);
        CHECK(p.free() == 0);  // where it is
        tessera_set_gpu_device(2);
        CHECK(p.upload() == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("There is no GPU 2: this process has 2 GPUs, counted from 0"));
        int major = 7, minor = 7;
        CHECK(gpu_interface()->compute_capability(nullptr, &major, &minor) == 0);
        CHECK(major == 0);
        CHECK(minor == 0);
        tessera_set_gpu_device(-1);
        CHECK(tessera_get_gpu_device(nullptr) == 0);
    }
    TEST_CASE("each function acquires and releases once, also where it fails") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        Own own{gpu->new_context(1), gpu->new_stream()};
        use_own();
        Picture p({{0, 8, 1, 0}}), q({{0, 8, 1, 0}});
        auto once = [&](int wanted, auto f) {
            own.acquired = own.released = 0;
            CHECK(f() == wanted);
            CHECK(own.acquired == 1);
            CHECK(own.released == 1);
        };
        tessera_buffer_t *b = &p.buffer;
        once(0, [&] { return tessera_device_malloc(&own, b, gpu_interface()); });
        b->set_host_dirty();
        once(0, [&] { return tessera_copy_to_device(&own, b, nullptr); });
        once(0, [&] { return add_one_to(own, *b); });
        once(0, [&] { return tessera_device_sync(&own, b); });
        b->set_device_dirty();
        once(0, [&] { return tessera_copy_to_host(&own, b); });
        CHECK(p.memory[0] == 1);
        b->set_device_dirty();
        once(0, [&] { return tessera_device_buffer_copy(&own, b, nullptr, &q.buffer); });
        b->flags = 0;
        once(0, [&] { return tessera_device_sync_global(&own, gpu_interface()); });
        once(0, [&] { return tessera_cuda_release_unused_device_allocations(&own); });
        gpu->fail("cuMemcpyHtoDAsync_v2", 1, 1);
        b->set_host_dirty();
        once(tessera_error_code_copy_to_device_failed,
             [&] { return tessera_copy_to_device(&own, b, nullptr); });
        gpu->fail("cuLaunchKernel", 1, 1);
        once(tessera_error_code_gpu_device_error, [&] { return add_one_to(own, *b); });
        gpu->fail("cuCtxPushCurrent_v2", 1, 201);
        once(tessera_error_code_gpu_device_error, [&] { return tessera_device_sync(&own, b); });
        own.fail = -77;
        once(-77, [&] { return tessera_device_sync(&own, b); });
        own.fail = 0;
        once(0, [&] { return tessera_device_free(&own, b); });
        once(0, [&] {
            int major = 0, minor = 0;
            return gpu_interface()->compute_capability(&own, &major, &minor);
        });
        tessera_cuda_unload(&kernels);
        once(0, [&] { return leave(own), 0; });
        own.context = nullptr;
        once(tessera_error_code_gpu_device_error,
             [&] { return tessera_device_sync_global(&own, gpu_interface()); });
        CHECK(gpu.capture.has("the program's own function gave no context"));
    }
    TEST_CASE("what is asked for is put on the user's stream") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        Own own{gpu->new_context(0), gpu->new_stream()};
        use_own();
        Picture p({{0, 8, 1, 0}});
        p.buffer.set_host_dirty();
        CHECK(tessera_copy_to_device(&own, &p.buffer, gpu_interface()) == 0);
        CHECK(gpu->pending(own.stream) == 1);
        CHECK(add_one_to(own, p.buffer) == 0);
        CHECK(gpu->pending(own.stream) == 2);
        CHECK(p.on_device({0}) == int(0xcdcdcdcd));
        CHECK(tessera_device_sync(&own, &p.buffer) == 0);
        CHECK(p.on_device({0}) == 1);
        CHECK(tessera_device_free(&own, &p.buffer) == 0);
        CHECK(gpu->calls("cuCtxSynchronize") == 0);
        tessera_cuda_unload(&kernels);
        leave(own);
    }
    TEST_CASE("memory that another stream may use is freed when that is done") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        Own own{gpu->new_context(0), gpu->new_stream()}, other{own.context, nullptr};
        use_own();
        Picture p({{0, 8, 1, 0}});
        p.buffer.set_host_dirty();
        CHECK(tessera_copy_to_device(&other, &p.buffer, gpu_interface()) == 0);
        CHECK(tessera_device_sync(&other, &p.buffer) == 0);
        CHECK(add_one_to(own, p.buffer) == 0);  // would write to what is gone
        CHECK(tessera_device_free(&other, &p.buffer) == 0);
        CHECK(gpu->pending(own.stream) == 0);
        tessera_cuda_unload(&kernels);
        leave(own);
    }
    TEST_CASE("a temporary is freed in the order of its stream, whatever other streams there are") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        CUctx_st *context = gpu->new_context(0);
        Own side{context, gpu->new_stream()}, first{context, nullptr};
        use_own();
        uint64_t kept = 0;
        for (Own *own : {&side, &first, &side, &first}) {
            Picture p({{0, 8, 1, 0}});
            p.buffer.set_flag(tessera_buffer_flag_temporary, true);
            p.buffer.set_host_dirty();
            CHECK(tessera_copy_to_device(own, &p.buffer, gpu_interface()) == 0);
            CHECK(add_one_to(*own, p.buffer) == 0);
            // What the default stream has freed, it alone has again, though it is still used.
            if (own == &side) CHECK(p.buffer.device != kept);
            if (own == &first && kept) CHECK(p.buffer.device == kept);
            if (own == &first) kept = p.buffer.device;
            CHECK(tessera_device_free(own, &p.buffer) == 0);
        }
        CHECK(gpu->pending(side.stream) == 6);  // copies, kernels, and memory that goes
        for (const char *wait : {"cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"})
            CHECK(gpu->calls(wait) == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 3);
        CHECK(gpu->calls("cuMemFreeAsync") == 2);
        tessera_cuda_unload(&kernels);
        leave(side);
    }
    TEST_CASE("threads whose streams share a context have temporaries of their own") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        use_own();
        CUctx_st *context = gpu->new_context(0);
        std::atomic<int> wrong{0};
        std::mutex mutex;
        std::map<uint64_t, int> in_use;  // by which thread
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; t++) {
            threads.emplace_back([&, t] {
                Own own{context, t ? gpu->new_stream() : nullptr};
                for (int i = 0; i < 50; i++) {
                    Picture p({{0, 8, 1, 0}});
                    p.buffer.set_flag(tessera_buffer_flag_temporary, true);
                    p.buffer.set_host_dirty();
                    wrong += tessera_copy_to_device(&own, &p.buffer, gpu_interface()) != 0;
                    const uint64_t at = p.buffer.device;
                    {
                        std::lock_guard lock(mutex);
                        wrong += !in_use.emplace(at, t).second;
                    }
                    wrong += add_one_to(own, p.buffer) != 0;
                    {
                        std::lock_guard lock(mutex);
                        in_use.erase(at);
                    }
                    wrong += tessera_device_free(&own, &p.buffer) != 0;
                }
            });
        }
        for (std::thread &t : threads) t.join();
        CHECK(wrong == 0);
        CHECK(gpu->calls("cuCtxSynchronize") == 0);
        Own any{context, nullptr};
        tessera_cuda_unload(&kernels);
        leave(any);
        CHECK(gpu->live_bytes() == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == gpu->calls("cuMemFreeAsync"));
    }
    TEST_CASE("each context has its own kernels, and releases them alone") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        Own a{gpu->new_context(0), gpu->new_stream()}, b{gpu->new_context(1), gpu->new_stream()};
        use_own();
        Picture p({{0, 8, 1, 0}}), q({{0, 8, 1, 0}});
        for (int i = 0; i < 3; i++) {
            CHECK(tessera_copy_to_device(&a, &p.buffer, gpu_interface()) == 0);
            CHECK(tessera_copy_to_device(&b, &q.buffer, gpu_interface()) == 0);
            CHECK(add_one_to(a, p.buffer) == 0);
            CHECK(add_one_to(b, q.buffer) == 0);
        }
        CHECK(gpu->modules() == 2);
        leave(a);
        CHECK(gpu->modules() == 1);
        CHECK(add_one_to(b, q.buffer) == 0);
        CHECK(add_one_to(a, p.buffer) == 0);
        CHECK(gpu->modules() == 2);
        tessera_cuda_unload(&kernels);
        CHECK(gpu->modules() == 0);
        CHECK(tessera_device_free(&a, &p.buffer) == 0);
        CHECK(tessera_device_free(&b, &q.buffer) == 0);
        leave(a);
        leave(b);
    }
    TEST_CASE("many threads, each with its own context and stream") {
        FakeGpu gpu;
        gpu->add_kernel({"add_one", 1, add_one});
        use_own();
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; t++) {
            threads.emplace_back([&, t] {
                Own own{gpu->new_context(t % 2), gpu->new_stream()};
                Picture p({{0, 8, 1, 0}});
                for (int i = 0; i < 50; i++) {
                    p.buffer.set_host_dirty();
                    wrong += tessera_copy_to_device(&own, &p.buffer, gpu_interface()) != 0;
                    wrong += add_one_to(own, p.buffer) != 0;
                    p.buffer.set_device_dirty();
                    wrong += tessera_copy_to_host(&own, &p.buffer) != 0;
                    wrong += p.memory[0] != i + 1;
                    wrong += tessera_device_free(&own, &p.buffer) != 0;
                }
                leave(own);
                wrong += own.acquired != own.released;
            });
        }
        for (std::thread &t : threads) t.join();
        CHECK(wrong == 0);
        CHECK(gpu->modules() == 0);
    }
    TEST_CASE("setters return what was there, and NULL restores it") {
        FakeGpu gpu;
        auto old =
            tessera_set_cuda_get_stream([](void *, CUctx_st *, CUstream_st **) { return -5; });
        CHECK(drain_gpu() == -5);
        CHECK((tessera_set_cuda_get_stream(nullptr) != old));
        CHECK((tessera_set_cuda_get_stream(nullptr) == old));
        CHECK(drain_gpu() == 0);
    }
    TEST_CASE("an error handler may throw: what was acquired is released") {
        FakeGpu gpu;
        Own own{gpu->new_context(0), nullptr};
        use_own();
        gpu->fail("cuStreamSynchronize", 1, 1);
        auto handler =
            tessera_set_error_handler([](void *, const char *text) { throw std::string(text); });
        CHECK_THROWS_AS(tessera_device_sync_global(&own, gpu_interface()), std::string);
        gpu->fail("cuCtxPushCurrent_v2", 1, 1);
        CHECK_THROWS_AS(tessera_device_sync_global(&own, gpu_interface()), std::string);
        tessera_set_error_handler(handler);
        CHECK(own.acquired == 2);
        CHECK(own.released == 2);
        CHECK(gpu->current() == nullptr);
        leave(own);
    }
}
