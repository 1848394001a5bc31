#pragma once
#include "HalideRuntime.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#define HALIDE_RUNTIME_BUFFER_H 1
// Coordinates are not checked, and memory begins at a multiple of this.
#ifndef HALIDE_RUNTIME_BUFFER_CHECK_INDICES
#define HALIDE_RUNTIME_BUFFER_CHECK_INDICES 0
#endif
#ifndef HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
#define HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT 128
#endif

// Halide::Runtime::Buffer: a view of memory by value. A copy has a shape of its own and shares the
// memory. It needs the runtime alone.
namespace Halide {

constexpr int AnyDims = -1;

namespace Runtime {

using Halide::AnyDims;
inline constexpr int DynamicDims = AnyDims;

enum struct BufferDeviceOwnership : int {
    Allocated,
    WrappedNative,
    Unmanaged,
    AllocatedDeviceAndHost,
    Cropped
};

namespace detail {

inline void *(*default_allocate)(size_t) = nullptr;
inline void (*default_deallocate)(void *) = nullptr;

template<typename... Args>
constexpr bool all_ints = (std::is_convertible_v<Args, int> && ...);

// Memory on a device, which the copies of a Buffer share: the last of them gives it back.
struct DeviceMemory {
    DeviceMemory(const halide_buffer_t &b, BufferDeviceOwnership o)
        : buf(b), shape(b.dim, b.dim + b.dimensions), ownership(o) {
        buf.dim = shape.data();
        buf.flags = 0;
    }
    DeviceMemory(const DeviceMemory &) = delete;
    ~DeviceMemory() {
        if (ownership == BufferDeviceOwnership::AllocatedDeviceAndHost) {
            halide_device_and_host_free(nullptr, &buf);
        } else if (buf.device) {
            give_back();
        }
    }
    void give_back() {
        switch (ownership) {
        case BufferDeviceOwnership::Allocated: halide_device_free(nullptr, &buf); break;
        case BufferDeviceOwnership::WrappedNative:
            halide_device_detach_native(nullptr, &buf);
            break;
        case BufferDeviceOwnership::Cropped: halide_device_release_crop(nullptr, &buf); break;
        case BufferDeviceOwnership::Unmanaged:
        case BufferDeviceOwnership::AllocatedDeviceAndHost: break;
        }
    }
    halide_buffer_t buf;
    std::vector<halide_dimension_t> shape;
    BufferDeviceOwnership ownership;
};

// Holds what all Buffers have, whatever their static type.
struct BufferData {
    halide_buffer_t buf{};
    std::vector<halide_dimension_t> shape;
    std::shared_ptr<void> memory;  // null: somebody else's
    // Null where nobody has asked yet: a pipeline may have allocated what buf has.
    mutable std::shared_ptr<DeviceMemory> device_memory;

    BufferData() = default;
    BufferData(const BufferData &o)
        : buf(o.buf), shape(o.shape), memory(o.memory), device_memory(o.shared_device()) {
        relink();
    }
    BufferData(BufferData &&o) noexcept
        : buf(o.buf), shape(std::move(o.shape)), memory(std::move(o.memory)),
          device_memory(std::move(o.device_memory)) {
        relink();
        o.forget();
    }
    BufferData &operator=(const BufferData &o) {
        BufferData copy(o);
        return *this = std::move(copy);
    }
    BufferData &operator=(BufferData &&o) noexcept {
        if (this == &o) return *this;
        leave_device();
        buf = o.buf;
        shape = std::move(o.shape);
        memory = std::move(o.memory);
        device_memory = std::move(o.device_memory);
        relink();
        o.forget();
        return *this;
    }
    ~BufferData() { leave_device(); }
    // Null if the Buffer is on no device. The struct itself may have been given other memory, or
    // lost it, since somebody asked.
    const std::shared_ptr<DeviceMemory> &shared_device() const {
        if (device_memory && device_memory->buf.device != buf.device) {
            device_memory->buf.device = 0;
            device_memory.reset();
        }
        if (!device_memory && buf.device) own_device(BufferDeviceOwnership::Allocated);
        return device_memory;
    }
    void own_device(BufferDeviceOwnership how) const {
        device_memory = std::make_shared<DeviceMemory>(buf, how);
    }
    void leave_device() {
        shared_device();
        device_memory.reset();
        buf.device = 0;
        buf.device_interface = nullptr;
    }
    // Becomes an alias of what the region `to` has of that memory, made by `alias`.
    template<typename Alias>
    void alias_device(std::vector<halide_dimension_t> to, Alias &&alias) {
        if (!buf.device) return;
        halide_buffer_t part = buf;
        part.dim = to.data();
        part.dimensions = int(to.size());
        part.device = 0;
        part.device_interface = nullptr;
        part.set_device_dirty(false);
        alias(&part);
        leave_device();
        buf.device = part.device;
        buf.device_interface = part.device_interface;
        buf.flags = part.flags;
        if (part.device) {
            device_memory =
                std::make_shared<DeviceMemory>(part, BufferDeviceOwnership::Cropped);
        }
    }
    void relink() {
        buf.dim = shape.data();
        buf.dimensions = int(shape.size());
    }
    void forget() {
        memory.reset();
        device_memory.reset();
        buf.host = nullptr;
        buf.flags = 0;
        buf.device = 0;
        buf.device_interface = nullptr;
        set_shape({});
    }
    void set_shape(std::vector<halide_dimension_t> s) {
        shape = std::move(s);
        relink();
    }
};

// Dense; `order` lists the dimensions, innermost first.
inline std::vector<halide_dimension_t> dense(const std::vector<int> &sizes,
                                             const std::vector<int> &order = {}) {
    std::vector<halide_dimension_t> shape(sizes.size());
    int stride = 1;
    for (size_t i = 0; i < sizes.size(); i++) {
        size_t d = order.empty() ? i : size_t(order[i]);
        shape[d] = {0, sizes[d], stride};
        stride *= sizes[d];
    }
    return shape;
}

template<typename Array>
constexpr int rank_of_array = int(std::rank_v<Array>);

template<typename Array>
void array_sizes(std::vector<int> &sizes) {
    if constexpr (std::is_array_v<Array>) {
        array_sizes<std::remove_extent_t<Array>>(sizes);
        sizes.push_back(int(std::extent_v<Array>));
    }
}

}  // namespace detail

template<typename T = void, int Dims = AnyDims,
         int InClassDimStorage = (Dims == AnyDims ? 4 : std::max(Dims, 1))>
class Buffer : protected detail::BufferData {
    template<typename T2, int D2, int S2>
    friend class Buffer;

    static constexpr bool is_void = std::is_void_v<T>;
    using Element = std::conditional_t<is_void, std::byte, T>;
    using Value = std::remove_const_t<Element>;
    using Plain = std::remove_const_t<T>;
    using Void = std::conditional_t<std::is_const_v<T>, const void, void>;
    template<int Dims2>
    using WithDims = Buffer<T, Dims2>;
    static constexpr int fewer = Dims == AnyDims ? AnyDims : Dims - 1;
    static constexpr int more = Dims == AnyDims ? AnyDims : Dims + 1;

public:
    using ElemType = T;
    static constexpr bool has_static_halide_type = !is_void;
    static constexpr halide_type_t static_halide_type() {
        if constexpr (is_void) {
            return {};
        } else {
            return halide_type_of<Plain>();
        }
    }
    static constexpr bool has_static_dimensions = Dims != AnyDims;
    static constexpr int static_dimensions() { return Dims; }

    // One dimension, and its coordinates: for (int x : b.dim(0)).
    class Dimension {
    public:
        explicit Dimension(const halide_dimension_t &d) : d(d) {}
        int min() const { return d.min; }
        int extent() const { return d.extent; }
        int stride() const { return d.stride; }
        int max() const { return d.min + d.extent - 1; }
        struct iterator {
            int val;
            int operator*() const { return val; }
            bool operator!=(const iterator &o) const { return val != o.val; }
            iterator &operator++() {
                val++;
                return *this;
            }
        };
        iterator begin() const { return {min()}; }
        iterator end() const { return {min() + extent()}; }

    private:
        halide_dimension_t d;
    };

    // ---- Made ----
    Buffer() {
        buf.type = static_halide_type();
        set_shape(std::vector<halide_dimension_t>(Dims == AnyDims ? 0 : size_t(Dims)));
    }
    explicit Buffer(const halide_buffer_t &b,
                    BufferDeviceOwnership ownership = BufferDeviceOwnership::Unmanaged) {
        assert(is_void || b.type == static_halide_type());
        buf = b;
        set_shape({b.dim, b.dim + b.dimensions});
        if (buf.device) own_device(ownership);
    }
    // Makes a Buffer of a Halide::Buffer, whose memory it keeps.
    template<typename B>
    requires(!std::is_base_of_v<detail::BufferData, B> && requires(B &b) {
        { b.raw_buffer() } -> std::same_as<halide_buffer_t *>;
        b.set_name("");
    })
    Buffer(const B &other) : Buffer(*other.raw_buffer()) {
        memory = std::make_shared<B>(other);
    }
    template<typename T2, int D2, int S2>
    Buffer(const Buffer<T2, D2, S2> &other) : BufferData(other) {
        static_assert(may_convert<T2, D2>());
        assert_can_convert_from(other);
    }
    template<typename T2, int D2, int S2>
    Buffer(Buffer<T2, D2, S2> &&other) {
        static_assert(may_convert<T2, D2>());
        assert_can_convert_from(other);
        BufferData::operator=(std::move(other));
    }
    template<typename T2, int D2, int S2>
    Buffer &operator=(const Buffer<T2, D2, S2> &other) {
        static_assert(may_convert<T2, D2>());
        assert_can_convert_from(other);
        BufferData::operator=(other);
        return *this;
    }
    template<typename... Rest>
    requires(detail::all_ints<Rest...>)
    explicit Buffer(int first, Rest... rest) : Buffer(std::vector<int>{first, int(rest)...}) {}
    template<typename... Rest>
    requires(detail::all_ints<Rest...>)
    Buffer(halide_type_t t, int first, Rest... rest)
        : Buffer(t, std::vector<int>{first, int(rest)...}) {}
    explicit Buffer(const std::vector<int> &sizes) : Buffer(static_halide_type(), sizes) {}
    Buffer(halide_type_t t, const std::vector<int> &sizes) { describe(t, detail::dense(sizes)).make(); }
    Buffer(const std::vector<int> &sizes, const std::vector<int> &order)
        : Buffer(static_halide_type(), sizes, order) {}
    // The same: three numbers in braces would be a type, too.
    Buffer(std::initializer_list<int> sizes, std::initializer_list<int> order)
        : Buffer(std::vector<int>(sizes), std::vector<int>(order)) {}
    Buffer(halide_type_t t, const std::vector<int> &sizes, const std::vector<int> &order) {
        describe(t, detail::dense(sizes, order)).make();
    }
    // Makes a Buffer of memory that outlives it.
    template<typename... Rest>
    requires(detail::all_ints<Rest...>)
    explicit Buffer(Element *data, int first, Rest &&...rest)
        requires(!is_void)
        : Buffer(data, std::vector<int>{first, int(rest)...}) {}
    explicit Buffer(Element *data, const std::vector<int> &sizes)
        requires(!is_void)
    {
        describe(static_halide_type(), detail::dense(sizes)).wrap(data);
    }
    explicit Buffer(Element *data, int d, const halide_dimension_t *s)
        requires(!is_void)
    {
        describe(static_halide_type(), {s, s + d}).wrap(data);
    }
    explicit Buffer(Element *data, const std::vector<halide_dimension_t> &s)
        requires(!is_void)
    {
        describe(static_halide_type(), s).wrap(data);
    }
    template<typename... Rest>
    requires(detail::all_ints<Rest...>)
    explicit Buffer(halide_type_t t, Void *data, int first, Rest &&...rest)
        : Buffer(t, data, std::vector<int>{first, int(rest)...}) {}
    explicit Buffer(halide_type_t t, Void *data, const std::vector<int> &sizes) {
        describe(t, detail::dense(sizes)).wrap(data);
    }
    explicit Buffer(halide_type_t t, Void *data, int d, const halide_dimension_t *s) {
        describe(t, {s, s + d}).wrap(data);
    }
    explicit Buffer(halide_type_t t, Void *data, const std::vector<halide_dimension_t> &s) {
        describe(t, s).wrap(data);
    }
    // Makes a Buffer of a C array, whose last index becomes dimension 0.
    template<typename Array, size_t N>
    explicit Buffer(Array (&values)[N]) {
        std::vector<int> sizes;
        detail::array_sizes<Array[N]>(sizes);
        describe(halide_type_of<std::remove_cv_t<std::remove_all_extents_t<Array>>>(),
                 detail::dense(sizes))
            .wrap(&values);
    }
    static Buffer make_scalar() {
        return Buffer(std::vector<int>{});
    }
    static Buffer<Void, Dims> make_scalar(halide_type_t t) {
        return Buffer<Void, Dims>(t, std::vector<int>{});
    }
    static Buffer make_scalar(T *data) { return Buffer(data, std::vector<int>{}); }
    static Buffer make_interleaved(int width, int height, int channels) {
        return Buffer(std::vector<int>{width, height, channels}, std::vector<int>{2, 0, 1});
    }
    static Buffer<void, Dims> make_interleaved(halide_type_t t, int width, int height,
                                               int channels) {
        return Buffer<void, Dims>(t, std::vector<int>{width, height, channels},
                                  std::vector<int>{2, 0, 1});
    }
    static Buffer make_interleaved(T *data, int width, int height, int channels) {
        Buffer b;
        b.describe(static_halide_type(), detail::dense({width, height, channels}, {2, 0, 1}))
            .wrap(data);
        return b;
    }
    static Buffer<Void, Dims> make_interleaved(halide_type_t t, T *data, int width, int height,
                                               int channels) {
        Buffer<Void, Dims> b;
        b.describe(t, detail::dense({width, height, channels}, {2, 0, 1})).wrap(data);
        return b;
    }
    // New memory for the same region, in the same order of dimensions.
    template<typename T2, int D2, int S2>
    static Buffer make_with_shape_of(const Buffer<T2, D2, S2> &src,
                                     void *(*allocate)(size_t) = nullptr,
                                     void (*deallocate)(void *) = nullptr) {
        Buffer b;
        b.describe(is_void ? src.type() : static_halide_type(), src.dense_like_this());
        b.allocate(allocate, deallocate);
        return b;
    }
    void reset() { *this = Buffer(); }

    template<typename T2, int D2, int S2>
    static bool can_convert_from(const Buffer<T2, D2, S2> &other) {
        return may_convert<T2, D2>() && (is_void || other.type() == static_halide_type()) &&
               (Dims == AnyDims || other.dimensions() == Dims);
    }
    template<typename T2, int D2, int S2>
    static void assert_can_convert_from(const Buffer<T2, D2, S2> &other) {
        if (!can_convert_from(other)) {
            tessera_error(nullptr, "Runtime::Buffer: the type or the number of dimensions differs");
            std::abort();
        }
    }
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2> &as() & {
        Buffer<T2, D2>::assert_can_convert_from(*this);
        return static_cast<Buffer<T2, D2> &>(static_cast<BufferData &>(*this));
    }
    template<typename T2, int D2 = Dims>
    const Buffer<T2, D2> &as() const & {
        Buffer<T2, D2>::assert_can_convert_from(*this);
        return static_cast<const Buffer<T2, D2> &>(static_cast<const BufferData &>(*this));
    }
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2> as() && {
        Buffer<T2, D2>::assert_can_convert_from(*this);
        return Buffer<T2, D2>(std::move(*this));
    }
    Buffer<std::add_const_t<T>, Dims> as_const() const { return *this; }
    operator Buffer<std::add_const_t<T>, Dims> &() &
        requires(!std::is_const_v<T>)
    {
        return static_cast<Buffer<std::add_const_t<T>, Dims> &>(static_cast<BufferData &>(*this));
    }
    operator Buffer<Void, Dims> &() &
        requires(!is_void)
    {
        return static_cast<Buffer<Void, Dims> &>(static_cast<BufferData &>(*this));
    }

    // ---- What it is ----
    halide_buffer_t *raw_buffer() { return &buf; }
    const halide_buffer_t *raw_buffer() const { return &buf; }
    operator halide_buffer_t *() { return &buf; }
    halide_type_t type() const { return buf.type; }
    int dimensions() const { return buf.dimensions; }
    Dimension dim(int i) const { return Dimension(buf.dim[i]); }
    int min(int i) const { return buf.dim[i].min; }
    int extent(int i) const { return buf.dim[i].extent; }
    int stride(int i) const { return buf.dim[i].stride; }
    int width() const { return dimensions() > 0 ? extent(0) : 1; }
    int height() const { return dimensions() > 1 ? extent(1) : 1; }
    int channels() const { return dimensions() > 2 ? extent(2) : 1; }
    int left() const { return min(0); }
    int right() const { return dim(0).max(); }
    int top() const { return min(1); }
    int bottom() const { return dim(1).max(); }
    size_t number_of_elements() const { return buf.number_of_elements(); }
    size_t size_in_bytes() const { return buf.size_in_bytes(); }
    T *data() const { return reinterpret_cast<T *>(buf.host); }
    T *begin() const { return reinterpret_cast<T *>(buf.begin()); }
    T *end() const { return reinterpret_cast<T *>(buf.end()); }
    bool owns_host_memory() const { return memory != nullptr; }
    bool is_bounds_query() const { return buf.is_bounds_query(); }
    bool contains(const std::vector<int> &at) const {
        for (size_t d = 0; d < at.size(); d++) {
            if (at[d] < min(int(d)) || at[d] > dim(int(d)).max()) return false;
        }
        return true;
    }
    bool contains(const int *at) const {
        return contains(std::vector<int>(at, at + dimensions()));
    }
    template<typename... Args>
    requires(detail::all_ints<Args...>)
    bool contains(Args... at) const {
        return contains(std::vector<int>{int(at)...});
    }

    // ---- Elements ----
    template<typename... Args>
    requires(detail::all_ints<Args...>)
    Element *address_of(Args... args) const {
        std::array<int, sizeof...(args)> at{int(args)...};
        return at_position(at.data(), int(at.size()));
    }
    Element *address_of(const int *at) const { return at_position(at, dimensions()); }
    template<typename... Rest>
    requires(detail::all_ints<Rest...>)
    const Element &operator()(int first, Rest... rest) const {
        check_is_here();
        return *address_of(first, int(rest)...);
    }
    template<typename... Rest>
    requires(detail::all_ints<Rest...>)
    Element &operator()(int first, Rest... rest) {
        note_write();
        return *address_of(first, int(rest)...);
    }
    const Element &operator()() const { return check_is_here(), *address_of(); }
    Element &operator()() { return note_write(), *address_of(); }
    const Element &operator()(const int *at) const { return check_is_here(), *address_of(at); }
    Element &operator()(const int *at) { return note_write(), *address_of(at); }

    // ---- Memory ----
    static void set_default_allocate_fn(void *(*f)(size_t)) { detail::default_allocate = f; }
    static void set_default_deallocate_fn(void (*f)(void *)) { detail::default_deallocate = f; }
    void check_overflow() {
        size_t bytes = size_t(type().bytes());
        for (int d = 0; d < dimensions(); d++) {
            bool fits = extent(d) == 0 || bytes <= std::numeric_limits<size_t>::max() /
                                                       size_t(extent(d));
            assert(fits && "the size of this Buffer overflows");
            if (!fits) std::abort();
            bytes *= size_t(extent(d));
        }
    }
    void allocate(void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) {
        check_overflow();
        deallocate();
        if (!allocate_fn) allocate_fn = detail::default_allocate;
        if (!deallocate_fn) deallocate_fn = detail::default_deallocate;
        if (!allocate_fn) allocate_fn = [](size_t n) { return std::malloc(n); };
        if (!deallocate_fn) deallocate_fn = [](void *p) { std::free(p); };
        const size_t alignment = HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT;
        void *raw = allocate_fn(size_in_bytes() + alignment);
        memory = std::shared_ptr<void>(raw, deallocate_fn);
        auto address = (reinterpret_cast<uintptr_t>(raw) + alignment - 1) & ~(alignment - 1);
        buf.host = reinterpret_cast<uint8_t *>(address) + (buf.host - buf.begin());
    }
    void deallocate() {
        leave_device();
        memory.reset();
        buf.host = nullptr;
    }

    // ---- On a device ----
    // The memory there is shared by copies of a Buffer that were made when it was there, and goes
    // with the last of them. All return 0 or an error code.
    void set_host_dirty(bool v = true) {
        assert((!v || !device_dirty()) && "the newest contents are on a device: copy_to_host()");
        buf.set_host_dirty(v);
    }
    void set_device_dirty(bool v = true) {
        assert((!v || !host_dirty()) && "the newest contents are on the host: copy_to_device()");
        buf.set_device_dirty(v);
    }
    bool host_dirty() const { return buf.host_dirty(); }
    bool device_dirty() const { return buf.device_dirty(); }
    bool has_device_allocation() const { return buf.device != 0; }
    BufferDeviceOwnership device_ownership() const {
        return shared_device() ? device_memory->ownership : BufferDeviceOwnership::Allocated;
    }
    int copy_to_host(void *context = nullptr) {
        return device_dirty() ? halide_copy_to_host(context, &buf) : 0;
    }
    int copy_to_device(const halide_device_interface_t *device, void *context = nullptr) {
        return host_dirty() ? halide_copy_to_device(context, &buf, device) : 0;
    }
    int device_malloc(const halide_device_interface_t *device, void *context = nullptr) {
        return halide_device_malloc(context, &buf, device);
    }
    int device_sync(void *context = nullptr) { return halide_device_sync(context, &buf); }
    // Frees memory that this Buffer alone has. (If others have it, too, it stays until they go.)
    int device_free(void *context = nullptr) {
        if (!shared_device()) return 0;
        assert(device_memory->ownership == BufferDeviceOwnership::Allocated &&
               "device_free() is for what was allocated: see device_detach_native()");
        assert(device_memory.use_count() == 1 && "copies of this Buffer use its device memory");
        return release_device(context, halide_device_free);
    }
    // Lets go of it, however it was got.
    void device_deallocate() {
        leave_device();
        buf.set_device_dirty(false);
    }
    // Uses memory that somebody else owns.
    int device_wrap_native(const halide_device_interface_t *device, uint64_t handle,
                           void *context = nullptr) {
        const int error = halide_device_wrap_native(context, &buf, handle, device);
        if (!error) own_device(BufferDeviceOwnership::WrappedNative);
        return error;
    }
    int device_detach_native(void *context = nullptr) {
        if (!shared_device()) return 0;
        assert(device_memory->ownership == BufferDeviceOwnership::WrappedNative &&
               "only memory that was wrapped can be detached");
        return release_device(context, halide_device_detach_native);
    }
    int device_and_host_malloc(const halide_device_interface_t *device, void *context = nullptr) {
        const int error = halide_device_and_host_malloc(context, &buf, device);
        if (error) return error;
        own_device(BufferDeviceOwnership::AllocatedDeviceAndHost);
        memory = device_memory;
        return 0;
    }
    int device_and_host_free(const halide_device_interface_t * = nullptr,
                             void * = nullptr) {
        deallocate();
        buf.flags = 0;
        return 0;
    }

    // ---- Changes of shape ----
    // Those that have a part keep what this Buffer has on a device, too; the flags of each say how
    // it is in its own part.
    void crop(int d, int new_min, int new_extent) {
        std::vector<halide_dimension_t> to = shape;
        to[size_t(d)].min = new_min;
        to[size_t(d)].extent = new_extent;
        alias_device(to, [&](halide_buffer_t *part) { halide_device_crop(nullptr, &buf, part); });
        if (buf.host) buf.host += ptrdiff_t(new_min - min(d)) * stride(d) * type().bytes();
        set_shape(std::move(to));
    }
    void crop(const std::vector<std::pair<int, int>> &rect) {
        for (size_t d = 0; d < rect.size(); d++) crop(int(d), rect[d].first, rect[d].second);
    }
    Buffer cropped(int d, int new_min, int new_extent) const {
        Buffer b = *this;
        b.crop(d, new_min, new_extent);
        return b;
    }
    Buffer cropped(const std::vector<std::pair<int, int>> &rect) const {
        Buffer b = *this;
        b.crop(rect);
        return b;
    }
    void translate(int d, int delta) { shape[size_t(d)].min += delta; }
    void translate(const std::vector<int> &delta) {
        for (size_t d = 0; d < delta.size(); d++) translate(int(d), delta[d]);
    }
    Buffer translated(int d, int delta) const {
        Buffer b = *this;
        b.translate(d, delta);
        return b;
    }
    Buffer translated(const std::vector<int> &delta) const {
        Buffer b = *this;
        b.translate(delta);
        return b;
    }
    void set_min(const std::vector<int> &mins) {
        for (size_t d = 0; d < mins.size(); d++) shape[d].min = mins[d];
    }
    template<typename... Args>
    requires(detail::all_ints<Args...>)
    void set_min(Args... mins) {
        set_min(std::vector<int>{int(mins)...});
    }
    void transpose(int d1, int d2) { std::swap(shape[size_t(d1)], shape[size_t(d2)]); }
    void transpose(const std::vector<int> &order) {
        std::vector<halide_dimension_t> before = shape;
        for (size_t d = 0; d < order.size(); d++) shape[d] = before[size_t(order[d])];
    }
    Buffer transposed(int d1, int d2) const {
        Buffer b = *this;
        b.transpose(d1, d2);
        return b;
    }
    Buffer transposed(const std::vector<int> &order) const {
        Buffer b = *this;
        b.transpose(order);
        return b;
    }
    void slice(int d, int pos) {
        static_assert(Dims == AnyDims, "a Buffer of a static number of dimensions has sliced()");
        remove_dimension(d, pos);
    }
    void slice(int d) { slice(d, min(d)); }
    WithDims<fewer> sliced(int d, int pos) const {
        Buffer<T, AnyDims> b = *this;
        b.remove_dimension(d, pos);
        return b;
    }
    WithDims<fewer> sliced(int d) const { return sliced(d, min(d)); }
    void embed(int d, int pos = 0) {
        static_assert(Dims == AnyDims, "a Buffer of a static number of dimensions has embedded()");
        insert_dimension(d, pos);
    }
    WithDims<more> embedded(int d, int pos = 0) const {
        Buffer<T, AnyDims> b = *this;
        b.insert_dimension(d, pos);
        return b;
    }
    void add_dimension() {
        static_assert(Dims == AnyDims);
        insert_dimension(dimensions(), 0);
    }
    void add_dimension_with_stride(int s) {
        add_dimension();
        shape.back().stride = s;
    }

    // ---- Copies ----
    Buffer alias() const { return *this; }
    Buffer<Plain, Dims> copy(void *(*allocate_fn)(size_t) = nullptr,
                             void (*deallocate_fn)(void *) = nullptr) const {
        auto b = Buffer<Plain, Dims>::make_with_shape_of(*this, allocate_fn, deallocate_fn);
        b.copy_from(*this);
        return b;
    }
    Buffer<Plain, Dims> copy_to_interleaved(void *(*allocate_fn)(size_t) = nullptr,
                                            void (*deallocate_fn)(void *) = nullptr) const {
        return copy_in_order({2, 0, 1}, allocate_fn, deallocate_fn);
    }
    Buffer<Plain, Dims> copy_to_planar(void *(*allocate_fn)(size_t) = nullptr,
                                       void (*deallocate_fn)(void *) = nullptr) const {
        std::vector<int> order;
        for (int d = 0; d < dimensions(); d++) order.push_back(d);
        return copy_in_order(order, allocate_fn, deallocate_fn);
    }
    // The elements whose coordinates both have.
    template<typename T2, int D2, int S2>
    void copy_from(const Buffer<T2, D2, S2> &src) {
        static_assert(!std::is_const_v<T>, "the elements of this Buffer are constant");
        assert(type() == src.type() && dimensions() == src.dimensions());
        std::vector<std::pair<int, int>> both;
        for (int d = 0; d < dimensions(); d++) {
            int from = std::max(min(d), src.min(d));
            int to = std::min(dim(d).max(), src.dim(d).max());
            if (to < from) return;
            both.emplace_back(from, to - from + 1);
        }
        Buffer to = cropped(both);
        src.check_is_here();
        set_host_dirty();
        tessera_buffer_copy(nullptr, src.raw_buffer(), to.raw_buffer());
    }

    // ---- All elements ----
    bool all_equal(Value v) const {
        bool same = true;
        for_each_element([&](const int *at) { same = same && (*this)(at) == v; });
        return same;
    }
    template<typename Fill>
    Buffer &fill(Fill &&f) {
        set_host_dirty();
        if constexpr (std::is_convertible_v<Fill, Value>) {
            const Value v(f);
            return for_each_value([&](Element &e) { e = v; });
        } else if constexpr (std::is_invocable_v<Fill &>) {
            return for_each_value([&](Element &e) { e = Element(f()); });
        } else if constexpr (std::is_invocable_v<Fill, const int *>) {
            return for_each_element([&](const int *at) { *address_of(at) = f(at); });
        } else {
            return for_each_element([&](const int *at) {
                *address_of(at) = call_at(f, at, std::make_index_sequence<arity<Fill>()>());
            });
        }
    }
    // f(x, y, ...), or f(const int *position); dimension 0 fastest.
    template<typename Fn>
    Buffer &for_each_element(Fn &&f) {
        std::as_const(*this).for_each_element(f);
        return *this;
    }
    template<typename Fn>
    const Buffer &for_each_element(Fn &&f) const {
        for (int d = 0; d < dimensions(); d++) {
            if (extent(d) <= 0) return *this;
        }
        std::vector<int> at(size_t(dimensions()) + 1);
        for (int d = 0; d < dimensions(); d++) at[size_t(d)] = min(d);
        for (;;) {
            visit(f, at.data());
            int d = 0;
            while (d < dimensions() && ++at[size_t(d)] > dim(d).max()) {
                at[size_t(d)] = min(d);
                d++;
            }
            if (d == dimensions()) return *this;
        }
    }
    // f(element, the element of each other buffer); all of one shape, any strides.
    template<typename Fn, typename... Others>
    Buffer &for_each_value(Fn &&f, Others &&...others) {
        std::as_const(*this).for_each_value(f, others...);
        return *this;
    }
    template<typename Fn, typename... Others>
    const Buffer &for_each_value(Fn &&f, Others &&...others) const {
        for_each_element([&](const int *at) { f(*address_of(at), *others.address_of(at)...); });
        return *this;
    }

private:
    void check_is_here() const {
        assert(!device_dirty() && "the newest contents are on a device: copy_to_host()");
    }
    void note_write() {
        if constexpr (std::is_const_v<T>) {
            check_is_here();
        } else {
            set_host_dirty();
        }
    }
    // The memory is gone afterwards, whatever it was.
    int release_device(void *context, int (*release)(void *, halide_buffer_t *)) {
        int error = 0;
        if (device_memory.use_count() == 1) {
            error = release(context, &buf);
            device_memory->buf.device = 0;
        }
        device_deallocate();
        return error;
    }
    template<typename T2, int D2>
    static constexpr bool may_convert() {
        using Plain2 = std::remove_const_t<T2>;
        return (std::is_void_v<Plain> || std::is_void_v<Plain2> || std::is_same_v<Plain, Plain2>) &&
               (std::is_const_v<T> || !std::is_const_v<T2>) &&
               (Dims == AnyDims || D2 == AnyDims || Dims == D2);
    }
    Buffer &describe(halide_type_t t, std::vector<halide_dimension_t> s) {
        buf.type = t;
        set_shape(std::move(s));
        return *this;
    }
    // Nothing is allocated for a size of 0, which is how a shape without memory is written.
    void make() {
        for (const halide_dimension_t &d : shape) {
            if (d.extent == 0) return;
        }
        allocate();
    }
    void wrap(const void *data) {
        buf.host = static_cast<uint8_t *>(const_cast<void *>(data));
    }
    Element *at_position(const int *at, int n) const {
        ptrdiff_t offset = 0;
        n = std::min(n, dimensions());  // what follows stands for nothing
        for (int d = 0; d < n; d++) offset += ptrdiff_t(stride(d)) * (at[d] - min(d));
        return reinterpret_cast<Element *>(buf.host + offset * type().bytes());
    }
    void remove_dimension(int d, int pos) {
        std::vector<halide_dimension_t> to = shape;
        to.erase(to.begin() + d);
        alias_device(to, [&](halide_buffer_t *part) {
            halide_device_slice(nullptr, &buf, d, pos, part);
        });
        if (buf.host) buf.host += ptrdiff_t(pos - min(d)) * stride(d) * type().bytes();
        shape.erase(shape.begin() + d);
        relink();
    }
    void insert_dimension(int d, int pos) {
        int outer = shape.empty() ? 1 : shape.back().stride * shape.back().extent;
        int s = d < dimensions() ? stride(d) : outer;
        shape.insert(shape.begin() + d, halide_dimension_t(pos, 1, s));
        relink();
    }
    std::vector<halide_dimension_t> dense_like_this() const {
        std::vector<int> sizes, order;
        for (int d = 0; d < dimensions(); d++) {
            sizes.push_back(extent(d));
            order.push_back(d);
        }
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return std::abs(stride(a)) < std::abs(stride(b));
        });
        return with_mins(detail::dense(sizes, order));
    }
    std::vector<halide_dimension_t> with_mins(std::vector<halide_dimension_t> s) const {
        for (int d = 0; d < dimensions(); d++) s[size_t(d)].min = min(d);
        return s;
    }
    Buffer<Plain, Dims> copy_in_order(const std::vector<int> &order, void *(*allocate_fn)(size_t),
                                      void (*deallocate_fn)(void *)) const {
        std::vector<int> sizes;
        for (int d = 0; d < dimensions(); d++) sizes.push_back(extent(d));
        Buffer<Plain, Dims> b;
        b.describe(type(), with_mins(detail::dense(sizes, order)));
        b.allocate(allocate_fn, deallocate_fn);
        b.copy_from(*this);
        return b;
    }
    // Returns how many ints f takes.
    template<typename Fn, size_t N = 0>
    static constexpr size_t arity() {
        static_assert(N <= 16, "the function must take one int per dimension");
        if constexpr (takes_ints<Fn>(std::make_index_sequence<N>())) {
            return N;
        } else {
            return arity<Fn, N + 1>();
        }
    }
    template<typename Fn, size_t... I>
    static constexpr bool takes_ints(std::index_sequence<I...>) {
        return std::is_invocable_v<Fn, decltype(int(I))...>;
    }
    template<typename Fn, size_t... I>
    static decltype(auto) call_at(Fn &f, const int *at, std::index_sequence<I...>) {
        return f(at[I]...);
    }
    template<typename Fn>
    static void visit(Fn &f, const int *at) {
        if constexpr (std::is_invocable_v<Fn &, const int *>) {
            f(at);
        } else {
            call_at(f, at, std::make_index_sequence<arity<Fn &>()>());
        }
    }
};

}  // namespace Runtime
}  // namespace Halide
