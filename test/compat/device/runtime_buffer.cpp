#include "gpu.h"
#include "halide_image_io.h"
#include <filesystem>

// Runtime::Buffer on a device: who has the memory, and when it goes.
namespace {

template<typename T = void, int D = -1>
using View = Halide::Runtime::Buffer<T, D>;
using Ownership = Halide::Runtime::BufferDeviceOwnership;

View<int> numbers(int width, int height) {
    View<int> b(width, height);
    b.fill([](int x, int y) { return x + 10 * y; });
    return b;
}

}  // namespace

PROGRAM(a_runtime_buffer_goes_to_the_device_and_back) {
    Gpu gpu;
    View<int> b = numbers(4, 3);
    EXPECT(b.host_dirty() && !b.has_device_allocation() && b.copy_to_host() == 0);
    EXPECT(b.copy_to_device(cuda()) == 0 && !b.host_dirty() && b.has_device_allocation());
    EXPECT(b.device_ownership() == Ownership::Allocated);
    on_device(b, 5) = 77;
    b.set_device_dirty();
    EXPECT(b.device_sync() == 0 && b.copy_to_host() == 0 && !b.device_dirty() && b(1, 1) == 77);
    b.set_host_dirty(false);
    EXPECT(b.device_free() == 0 && !b.has_device_allocation() && b.device_sync() == 0);
    EXPECT(b.device_malloc(cuda()) == 0 && !b.host_dirty() && !b.device_dirty());
    b.device_deallocate();
    EXPECT(!b.has_device_allocation() && b(1, 1) == 77);
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(the_last_copy_of_a_runtime_buffer_frees_what_it_has_on_the_device) {
    Gpu gpu;
    View<int> before = numbers(4, 3), first = before;
    EXPECT(first.device_malloc(cuda()) == 0 && !before.has_device_allocation());
    {
        View<int> second;
        {
            View<int> third = first;
            second = third;
            EXPECT(third.raw_buffer()->device == first.raw_buffer()->device);
        }
        first = View<int>();
        EXPECT(second.has_device_allocation() && gpu.bytes_of_buffers() >= 48);
        View<int> moved = std::move(second);
        EXPECT(!second.has_device_allocation() && moved.has_device_allocation());
        second = numbers(2, 2);
        moved = std::move(moved);
        moved = second;
        EXPECT(!moved.has_device_allocation() && gpu.bytes_of_buffers() == 0);
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(a_pipeline_may_allocate_for_a_runtime_buffer) {
    Gpu gpu;
    {
        View<int> b = numbers(4, 3);
        EXPECT(halide_copy_to_device(nullptr, b.raw_buffer(), cuda()) == 0);
        View<int> copy = b;
        EXPECT(b.device_ownership() == Ownership::Allocated);
        EXPECT(copy.raw_buffer()->device == b.raw_buffer()->device);
    }
    EXPECT(gpu.bytes_of_buffers() == 0);
    {
        // Freed, and allocated again, behind its back.
        View<int> b = numbers(4, 3), copy;
        b.device_malloc(cuda());
        copy = b;
        copy.reset();
        EXPECT(halide_device_free(nullptr, b.raw_buffer()) == 0);
        EXPECT(halide_device_malloc(nullptr, b.raw_buffer(), cuda()) == 0);
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(a_runtime_buffer_wraps_memory_of_the_device) {
    Gpu gpu;
    View<int> owner = numbers(4, 3);
    owner.copy_to_device(cuda());
    const uint64_t handle = owner.raw_buffer()->device;
    {
        View<int> b(nullptr, 4, 3), host = numbers(4, 3);
        EXPECT(b.device_wrap_native(cuda(), handle) == 0 && b.has_device_allocation());
        EXPECT(b.device_ownership() == Ownership::WrappedNative && !b.is_bounds_query());
        EXPECT(halide_cuda_get_device_ptr(nullptr, b.raw_buffer()) == handle);
        View<int> copy = b;
        EXPECT(host.device_wrap_native(cuda(), handle) == 0);
        EXPECT(host.device_detach_native() == 0 && !host.has_device_allocation());
        EXPECT(host.device_detach_native() == 0);
        EXPECT(b.device_wrap_native(cuda(), handle) == halide_error_code_device_wrap_native_failed);
        EXPECT(gpu.errors().find("the buffer has some already") != std::string::npos);
    }
    on_device(owner.raw_buffer(), 0) = 5;
    owner.set_device_dirty();
    EXPECT(owner.copy_to_host() == 0 && owner(0, 0) == 5);
    owner = View<int>();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(a_runtime_buffer_allocated_on_both_sides) {
    Gpu gpu;
    {
        View<int> b(nullptr, 4, 3);
        EXPECT(b.device_and_host_malloc(cuda()) == 0 && b.data() && b.has_device_allocation());
        EXPECT(b.device_ownership() == Ownership::AllocatedDeviceAndHost);
        b.fill(3);
        EXPECT(b.copy_to_device(cuda()) == 0 && on_device(b, 11) == 3);
        View<int> row = b.sliced(1, 2);
        EXPECT(row.device_ownership() == Ownership::Cropped);
        View<int> freed(nullptr, 4);
        EXPECT(freed.device_and_host_malloc(cuda()) == 0);
        EXPECT(freed.device_and_host_free(cuda()) == 0 && freed.is_bounds_query());
        b.deallocate();
        EXPECT(b.is_bounds_query() && row(3) == 3);
        row(3) = 4;
        EXPECT(row.copy_to_device(cuda()) == 0 && on_device(row, 3) == 4);
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(crops_and_slices_of_a_runtime_buffer_share_the_device) {
    Gpu gpu;
    View<int> part, row;
    {
        View<int> whole = numbers(8, 6);
        whole.copy_to_device(cuda());
        part = whole.cropped({{2, 4}, {1, 3}});
        EXPECT(part.device_ownership() == Ownership::Cropped);
        EXPECT(on_device(part, 0) == 12 && on_device(part, 8) == 22);
        row = part.sliced(1, 2);
        EXPECT(row.dimensions() == 1 && on_device(row, 0) == 22);
        part.crop(0, 3, 2);
        EXPECT(on_device(part, 0) == 13 && part(3, 1) == 13);
        // What each knows of who is newer is its own.
        row.set_device_dirty();
        EXPECT(!part.device_dirty() && !whole.device_dirty());
        on_device(row, 1) = 500;
        EXPECT(row.copy_to_host() == 0 && std::as_const(whole)(3, 2) == 500);
        whole.set_device_dirty();
        EXPECT(whole.cropped(0, 0, 2).device_dirty());
        whole.set_device_dirty(false);
    }
    EXPECT(on_device(part, 0) == 13 && gpu.bytes_of_buffers() > 0);
    View<int> moved = part.translated(0, 10).embedded(2, 4);
    EXPECT(moved.has_device_allocation() && on_device(moved, 0) == 13);
    moved.device_deallocate();
    part = View<int>();
    EXPECT(on_device(row, 0) == 22);
    row.reset();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(a_runtime_buffer_describes_what_somebody_else_sees_to) {
    Gpu gpu;
    View<int> owner = numbers(4, 3);
    owner.copy_to_device(cuda());
    {
        View<int> view(*owner.raw_buffer()), copy = view;
        EXPECT(view.device_ownership() == Ownership::Unmanaged && copy.has_device_allocation());
        View<int> taken(*owner.raw_buffer(), Ownership::WrappedNative);
        EXPECT(taken.device_ownership() == Ownership::WrappedNative);
    }
    EXPECT(gpu.bytes_of_buffers() > 0 && on_device(owner, 1) == 1);
    // Of the language, which keeps it while the view lives.
    Halide::Buffer<int> image(4, 3);
    image.fill(6);
    image.copy_to_device(DeviceAPI::CUDA);
    View<int> seen = image;
    image.reset();
    EXPECT(on_device(seen, 11) == 6);
    Halide::Buffer<int> back{View<int>(seen)};
    seen.reset();
    owner.device_free();
    EXPECT(back.has_device_allocation() && on_device(back.raw_buffer(), 0) == 6);
    back.reset();
    EXPECT(gpu.is_clean());
    return 0;
}

namespace {

// The picture, a point of which has another value on the device, is saved from there.
template<typename Picture>
bool is_saved_from_the_device(Picture picture, int as_is) {
    const std::string path = std::filesystem::temp_directory_path().string() +
                             "/saved_from_a_device_" + std::to_string(getpid()) + ".pgm";
    picture.fill(10);
    picture.set_host_dirty();
    if (picture.copy_to_device(cuda())) return false;
    halide_device_sync_global(nullptr, cuda());
    static_cast<uint8_t *>(Gpu::driver()->memory(picture.raw_buffer()->device))[5] = 77;
    picture.set_device_dirty();
    if (as_is == 0) Tools::save_image(picture, path);
    if (as_is == 1) Tools::convert_and_save_image(picture, path);
    if (as_is == 2 && !Tools::save(picture, path)) return false;
    const Buffer<uint8_t> back = Tools::load_image(path);
    std::remove(path.c_str());
    return !picture.device_dirty() && back(1, 1) == 77 && back(0, 0) == 10;
}

}  // namespace

PROGRAM(pictures_are_saved_from_the_device) {
    Gpu gpu;
    for (int way = 0; way < 3; way++) {
        EXPECT(is_saved_from_the_device(View<uint8_t>(4, 3), way));
        EXPECT(is_saved_from_the_device(Buffer<uint8_t>(4, 3), way));
    }
    EXPECT(gpu.is_clean());
    return 0;
}
