#pragma once
#include "ir/written_expr.h"
#include "lang/buffer_contents.h"
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

// A view of memory by value, such as another library's, that describes itself as the runtime does.
template<typename B>
concept BufferView = requires(const std::remove_cvref_t<B> &b) {
    { b.raw_buffer() } -> std::same_as<const tessera_buffer_t *>;
};

// One dimension, and the range of its coordinates: for (int x : buffer.dim(0)) ...
class BufferDimension {
public:
    explicit BufferDimension(const tessera_dimension_t &d) : d(d) {}

    int min() const { return d.min; }
    int max() const { return d.min + d.extent - 1; }
    int extent() const { return d.extent; }
    int stride() const { return d.stride; }  // in elements; may be negative

    struct Iterator {
        int at;
        int operator*() const { return at; }
        Iterator &operator++() {
            at++;
            return *this;
        }
        bool operator==(const Iterator &) const = default;
    };
    Iterator begin() const { return {d.min}; }
    Iterator end() const { return {d.min + d.extent}; }

private:
    tessera_dimension_t d;
};

// Stands for an argument that is not given. A pack of arguments could have no line of the caller
// behind it.
struct Absent {};

// The types of the extents and the name that a Buffer is made with, and of the coordinates of an
// element.
template<typename A>
concept BufferSize = std::convertible_to<A, int>;
template<typename A>
concept BufferSizeOrName =
    BufferSize<A> || std::convertible_to<A, std::string> || std::same_as<A, Absent>;
template<typename A>
concept BufferCoordinate = std::integral<A> || std::same_as<A, Absent>;

// Up to 12 arguments of the types of a concept, which may all be left out.
#define TESSERA_UP_TO_12(Type)                                                                     \
    template<Type A = Absent, Type B = Absent, Type C = Absent, Type D = Absent, Type E = Absent,  \
             Type F = Absent, Type G = Absent, Type H = Absent, Type I = Absent, Type J = Absent,  \
             Type K = Absent, Type L = Absent>
#define TESSERA_12_PARAMETERS                                                                      \
    A a = {}, B b = {}, C c = {}, D d = {}, E e = {}, F f = {}, G g = {}, H h = {}, I i = {},      \
      J j = {}, K k = {}, L l = {}
#define TESSERA_12_ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l

// A Buffer of this many dimensions can have any number, found out when the program runs.
constexpr int AnyDims = -1;

// True if a Buffer<T2, Dims2> can be one of type Buffer<T, Dims>, perhaps after a look at it.
template<typename T2, int Dims2, typename T, int Dims> constexpr bool buffers_convert() {
    using Plain = std::remove_const_t<T>;
    using Plain2 = std::remove_const_t<T2>;
    bool type_fits = std::is_void_v<T> || std::is_void_v<T2> || std::is_same_v<Plain, Plain2>;
    bool const_fits = std::is_const_v<T> || !std::is_const_v<T2>;
    return type_fits && const_fits && (Dims == AnyDims || Dims2 == AnyDims || Dims == Dims2);
}

namespace detail {
// The runtime's functions for it, in any target or in the one given. RuntimeError if there are
// none.
DeviceInterface device_of(DeviceAPI api, const Target &target, const Location &at);
}  // namespace detail

// A handle to an array of `Dims` dimensions in memory: input, output or constant of a pipeline.
// Copying a handle shares everything, as does passing it by value; copy() copies the elements.
// T void: the element type is known only when the program runs, and as<T>() gives access.
// Misuse throws RuntimeError; so do coordinates outside of the buffer, which are not checked in
// builds with NDEBUG. (By Halide's rules, zeros may follow the coordinates, and `&b(n)` may be one
// past the end.)
template<typename T = void, int Dims = AnyDims> class Buffer {
    template<typename T2, int D2> friend class Buffer;

    static constexpr bool typed = !std::is_void_v<T>;
    // T, or something that takes its place where a declaration needs one.
    using Element = std::conditional_t<typed, T, std::byte>;
    using Value = std::remove_const_t<Element>;
    // A Buffer of so many dimensions more.
    template<int More> using WithDimensions = Buffer<T, Dims == AnyDims ? AnyDims : Dims + More>;

    // Converts to an element, and is nothing that could be called.
    template<typename A>
    static constexpr bool is_value =
        (std::is_constructible_v<Value, A> && !std::is_class_v<A>) || NarrowFloatType<A>;
    template<typename Array>
    static constexpr bool is_array_of_elements =
        typed && std::is_same_v<std::remove_all_extents_t<Array>, Element>;
    template<typename T2, int D2>
    static constexpr bool may_convert = buffers_convert<T2, D2, T, Dims>();

public:
    using ElemType = T;

    static constexpr bool has_static_type = typed;
    static constexpr int AnyDims = tessera::AnyDims;
    static constexpr bool has_static_halide_type = typed;
    static constexpr tessera_type_t static_halide_type() { return static_type(); }
    template<typename T2, int D2>
    static bool can_convert_from(const Buffer<T2, D2> &other) {
        if (!may_convert<T2, D2>) return false;
        return !other.defined() || ((!typed || other.type() == static_type()) &&
                                    (Dims == AnyDims || other.dimensions() == Dims));
    }
    static constexpr bool has_static_dimensions = Dims != AnyDims;
    static constexpr Type static_type() {
        if constexpr (typed) {
            return type_of<T>();
        } else {
            return Type();
        }
    }
    static constexpr int static_dimensions() { return Dims; }

    // Undefined.
    Buffer() = default;

    // The same buffer, seen with another static type; RuntimeError if it has not that type.
    template<typename T2, int D2, std::enable_if_t<may_convert<T2, D2>, int> = 0>
    Buffer(const Buffer<T2, D2> &other, Location at = std::source_location::current())
        : contents_ref(other.contents_ref) {
        if (contents_ref) check_conversion(*contents_ref, static_type(), Dims, at);
    }
    // A copy of the view is kept: what keeps its memory alive keeps that of the Buffer.
    template<BufferView B>
    Buffer(B &&view, const std::string &name = "") {
        auto kept = std::make_shared<std::remove_cvref_t<B>>(std::forward<B>(view));
        const auto *described = std::as_const(*kept).raw_buffer();
        auto made = std::make_shared<BufferContents>(*described, name);
        made->memory = kept;
        *this = Buffer(made);
    }
    explicit Buffer(BufferContentsRef contents, Location at = std::source_location::current())
        : contents_ref(std::move(contents)) {
        if (contents_ref) check_conversion(*contents_ref, static_type(), Dims, at);
    }
    // A Buffer of the memory that `raw` describes, which stays its owner's.
    explicit Buffer(const tessera_buffer_t &raw, const std::string &name = "")
        : Buffer(std::make_shared<BufferContents>(raw, name)) {}

    // New memory, dense, dimension 0 innermost: Buffer<float>(640, 480), and a name if you like.
    TESSERA_UP_TO_12(BufferSizeOrName)
    explicit Buffer(int first, TESSERA_12_PARAMETERS, Here at = Here::current())
        : Buffer(static_type(), Sizes(first, TESSERA_12_ARGUMENTS), at) {
        static_assert(typed, "a Buffer<> needs the Type of its elements before the sizes");
    }
    TESSERA_UP_TO_12(BufferSizeOrName)
    Buffer(Type type, int first, TESSERA_12_PARAMETERS, Here at = Here::current())
        : Buffer(type, Sizes(first, TESSERA_12_ARGUMENTS), at) {}
    explicit Buffer(const std::vector<int> &sizes, const std::string &name = "",
                    Here at = Here::current()) requires typed
        : Buffer(static_type(), sizes, name, at) {}
    explicit Buffer(std::initializer_list<int> sizes, const std::string &name = "",
                    Here at = Here::current()) requires typed
        : Buffer(static_type(), std::vector<int>(sizes), name, at) {}
    explicit Buffer(std::initializer_list<int> sizes, const char *name, Here at = Here::current())
        requires typed
        : Buffer(sizes, std::string(name), at) {}
    explicit Buffer(std::initializer_list<int> sizes, std::initializer_list<int> order,
                    const std::string &name = "", Here at = Here::current()) requires typed
        : Buffer(static_type(), std::vector<int>(sizes), std::vector<int>(order), name, at) {}
    Buffer(Type type, const std::vector<int> &sizes, const std::string &name = "",
           Here at = Here::current())
        : Buffer(type, sizes, {}, name, at) {}
    // `order` lists the dimensions, innermost first.
    Buffer(const std::vector<int> &sizes, const std::vector<int> &order,
           const std::string &name = "", Here at = Here::current()) requires typed
        : Buffer(static_type(), sizes, order, name, at) {}
    Buffer(Type type, const std::vector<int> &sizes, const std::vector<int> &order,
           const std::string &name = "", Here at = Here::current())
        : Buffer(
              called_at(at, [&] { return make_contents(type, dense_shape(sizes, order), name); }),
              at) {}

    // A Buffer of foreign memory, which has to outlive the Buffer. Null: a shape without memory.
    TESSERA_UP_TO_12(BufferSizeOrName)
    Buffer(Element *data, int first, TESSERA_12_PARAMETERS, Here at = Here::current())
        : Buffer(wrap(static_type(), data, Sizes(first, TESSERA_12_ARGUMENTS), at)) {
        static_assert(typed, "a Buffer<> needs the Type of its elements before the memory");
    }
    Buffer(Element *data, const std::vector<int> &sizes, const std::string &name = "",
           Here at = Here::current()) requires typed
        : Buffer(wrap(static_type(), data, {sizes, name}, at)) {}
    Buffer(Element *data, int dimensions, const tessera_dimension_t *shape,
           const std::string &name = "") requires typed
        : Buffer(wrap(static_type(), data, {shape, shape + dimensions}, name)) {}
    TESSERA_UP_TO_12(BufferSizeOrName)
    Buffer(Type type, void *data, int first, TESSERA_12_PARAMETERS, Here at = Here::current())
        : Buffer(wrap(type, data, Sizes(first, TESSERA_12_ARGUMENTS), at)) {}
    Buffer(Type type, void *data, const std::vector<int> &sizes, const std::string &name = "",
           Here at = Here::current())
        : Buffer(wrap(type, data, {sizes, name}, at)) {}
    Buffer(Type type, void *data, int dimensions, const tessera_dimension_t *shape,
           const std::string &name = "")
        : Buffer(wrap(type, data, {shape, shape + dimensions}, name)) {}
    // A Buffer of a C array, whose last index becomes dimension 0.
    template<typename Array, size_t N, std::enable_if_t<is_array_of_elements<Array>, int> = 0>
    explicit Buffer(Array (&values)[N], const std::string &name = "") {
        std::vector<int> sizes;
        array_sizes<Array[N]>(sizes);
        auto *first = reinterpret_cast<Element *>(&values);
        *this = wrap(static_type(), first, dense_shape(sizes), name);
    }

    static Buffer make_scalar(const std::string &name = "") requires typed {
        return Buffer(std::vector<int>(), name);
    }
    static Buffer make_scalar(Type type, const std::string &name = "") {
        return Buffer(type, std::vector<int>(), name);
    }
    static Buffer make_scalar(Element *data, const std::string &name = "") requires typed {
        return Buffer(data, std::vector<int>(), name);
    }
    // Dimensions x, y, c with the channels of a pixel side by side in memory.
    static Buffer make_interleaved(int width, int height, int channels,
                                   const std::string &name = "", Here at = Here::current())
        requires typed {
        return make_interleaved(static_type(), width, height, channels, name, at);
    }
    static Buffer make_interleaved(Type type, int width, int height, int channels,
                                   const std::string &name = "", Here at = Here::current()) {
        return Buffer(type, {width, height, channels}, std::vector<int>{2, 0, 1}, name, at);
    }
    static Buffer make_interleaved(Element *data, int width, int height, int channels,
                                   const std::string &name = "") requires typed {
        return wrap(static_type(), data, dense_shape({width, height, channels}, {2, 0, 1}), name);
    }
    static Buffer make_interleaved(Type type, void *data, int width, int height, int channels,
                                   const std::string &name = "") {
        return wrap(type, data, dense_shape({width, height, channels}, {2, 0, 1}), name);
    }
    // New memory for the same region, in the same order of dimensions.
    template<typename T2, int D2>
    static Buffer make_with_shape_of(const Buffer<T2, D2> &other, const std::string &name = "") {
        Type type = typed ? static_type() : other.type();
        return Buffer(make_contents(type, dense_shape_like(other.contents()), name));
    }

    bool defined() const { return contents_ref != nullptr; }
    // Returns true if both are handles to the same buffer.
    template<typename T2, int D2> bool same_as(const Buffer<T2, D2> &other) const {
        return contents_ref == other.contents_ref;
    }
    BufferContents &contents(Here at = Here::current()) const {
        if (!contents_ref) throw_undefined_buffer(at);
        return *contents_ref;
    }
    BufferContents &contents(const Location &at) const {
        if (!contents_ref) throw_undefined_buffer(at);
        return *contents_ref;
    }
    const BufferContentsRef &shared_contents() const { return contents_ref; }
    tessera_buffer_t *raw_buffer(Here at = Here::current()) const { return &contents(at).raw; }
    operator tessera_buffer_t *() const { return contents_ref ? &contents_ref->raw : nullptr; }
    // The same buffer with another static type.
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2> as(Location at = std::source_location::current()) const {
        return Buffer<T2, D2>(contents_ref, at);
    }

    const std::string &name(Here at = Here::current()) const { return contents(at).name; }
    void set_name(const std::string &name, Here at = Here::current()) {
        contents(at).set_name(name);
    }
    Type type(Here at = Here::current()) const { return contents(at).type(); }

    // ---- Shape ----
    int dimensions(Here at = Here::current()) const { return contents(at).dimensions(); }
    BufferDimension dim(int d, Here at = Here::current()) const {
        return BufferDimension(contents(at).dim(d, at));
    }
    int min(int d, Here at = Here::current()) const { return contents(at).dim(d, at).min; }
    int extent(int d, Here at = Here::current()) const { return contents(at).dim(d, at).extent; }
    int stride(int d, Here at = Here::current()) const { return contents(at).dim(d, at).stride; }
    int width(Here at = Here::current()) const { return dimensions(at) > 0 ? extent(0) : 1; }
    int height(Here at = Here::current()) const { return dimensions(at) > 1 ? extent(1) : 1; }
    int channels(Here at = Here::current()) const { return dimensions(at) > 2 ? extent(2) : 1; }
    int left(Here at = Here::current()) const { return min(0, at); }
    int right(Here at = Here::current()) const { return dim(0, at).max(); }
    int top(Here at = Here::current()) const { return min(1, at); }
    int bottom(Here at = Here::current()) const { return dim(1, at).max(); }
    size_t number_of_elements(Here at = Here::current()) const {
        return size_t(contents(at).number_of_elements());
    }
    // From the lowest to past the highest element, gaps included.
    size_t size_in_bytes(Here at = Here::current()) const {
        return size_t(contents(at).size_in_bytes());
    }
    template<BufferSize... Args> bool contains(Args... pos) const {
        return contains(std::vector<int>{int(pos)...});
    }
    bool contains(const std::vector<int> &pos) const {
        return contents().contains(pos.data(), int(pos.size()));
    }

    // ---- Elements ----
    // That at the minimum of all coordinates.
    auto *data(Here at = Here::current()) const {
        if constexpr (typed) {
            return reinterpret_cast<T *>(contents(at).raw.host);
        } else {
            return static_cast<T *>(contents(at).raw.host);
        }
    }
    // The lowest address, and one past the highest.
    Element *begin(Here at = Here::current()) const requires typed {
        return data(at) + contents(at).lowest();
    }
    Element *end(Here at = Here::current()) const requires typed {
        return data(at) + contents(at).past_highest();
    }
    TESSERA_UP_TO_12(BufferCoordinate)
    Element *address_of(TESSERA_12_PARAMETERS, Here at = Here::current()) const {
        static_assert(typed, "the elements of a Buffer<> are reached through as<T>()");
        return address_of(Position(TESSERA_12_ARGUMENTS), at);
    }
    Element *address_of(const int *pos, Here at = Here::current()) const requires typed {
        return address_of(pos, dimensions(at), at);
    }
    // One coordinate per dimension; those left out are at their minimum.
    TESSERA_UP_TO_12(BufferCoordinate)
    Element &operator()(TESSERA_12_PARAMETERS, Here at = Here::current()) {
        note_write(at);
        return *address_of(Position(TESSERA_12_ARGUMENTS), at);
    }
    TESSERA_UP_TO_12(BufferCoordinate)
    const Element &operator()(TESSERA_12_PARAMETERS, Here at = Here::current()) const {
        return *address_of(Position(TESSERA_12_ARGUMENTS), at);
    }
    Element &operator()(const int *pos, Here at = Here::current()) requires typed {
        note_write(at);
        return *address_of(pos, at);
    }
    const Element &operator()(const int *pos, Here at = Here::current()) const requires typed {
        return *address_of(pos, at);
    }
    ir::Expr operator()(const std::vector<ir::Expr> &args,
                        Location at = std::source_location::current()) const {
        return image_element(contents_ref, args, at);
    }
    // In a definition: f(x, y) = buffer(x, y) + 1.
    template<std::convertible_to<ir::Expr>... Rest>
    ir::Expr operator()(const ir::WrittenExpr &first, const Rest &...rest) const {
        return image_element(contents_ref, {first, ir::Expr(rest)...}, first.at);
    }

    // ---- Memory ----
    // New memory for the present shape.
    void allocate(Here at = Here::current()) {
        changes(at, [](BufferContents &b) { b.allocate(); });
    }
    void deallocate(Here at = Here::current()) { contents(at).deallocate(); }
    // Sets the allocator of all buffers from now on: a function like malloc (null if there is no
    // memory), and one like free, which gets what the first one gave. Null: the C library's.
    static void set_default_allocate_fn(void *(*allocate)(size_t)) {
        BufferContents::set_default_allocate_fn(allocate);
    }
    static void set_default_deallocate_fn(void (*deallocate)(void *)) {
        BufferContents::set_default_deallocate_fn(deallocate);
    }
    // Halide keeps its runtime's buffer within; here they are one.
    Buffer *get() { return this; }
    const Buffer *get() const { return this; }
    // This handle is of no buffer any more.
    void reset() { *this = Buffer(); }
    bool owns_host_memory() const { return contents().memory != nullptr; }
    // Has a shape, but no memory: a pipeline that gets it says which region it needs.
    bool is_bounds_query() const { return !contents().raw.host && !contents().raw.device; }
    bool host_dirty() const { return flag(tessera_buffer_flag_host_dirty); }
    bool device_dirty() const { return flag(tessera_buffer_flag_device_dirty); }
    bool has_device_allocation() const { return contents().raw.device != 0; }
    void set_host_dirty(bool dirty = true) { set_flag(tessera_buffer_flag_host_dirty, dirty); }
    void set_device_dirty(bool dirty = true) { set_flag(tessera_buffer_flag_device_dirty, dirty); }
    // ---- On a device ----
    // Beside memory here, a buffer may have memory on a device (a GPU), and says by its flags which
    // of the two is newer. A pipeline copies what it needs, and leaves results where they are; then
    // copy_to_host() brings them here. All wait for what runs on the device only as far as they
    // have to, give 0, and throw RuntimeError where the runtime fails. A crop or slice shares the
    // memory on the device; its flags are its own.
    // Copies what is newer here, if anything is; allocates.
    int copy_to_device(const Target &target = Target(), JITUserContext *context = nullptr,
                       Location at = std::source_location::current()) {
        return copy_to_device(DeviceAPI::Default_GPU, target, context, at);
    }
    int copy_to_device(DeviceAPI api, const Target &target = Target(),
                       JITUserContext *context = nullptr,
                       Location at = std::source_location::current()) {
        return copy_to_device(detail::device_of(api, target, at), context, at);
    }
    int copy_to_device(DeviceInterface device, JITUserContext *context = nullptr,
                       Location at = std::source_location::current()) {
        return contents(at).copy_to_device(device, context, at);
    }
    // Copies what is newer there, if anything is.
    int copy_to_host(JITUserContext *context = nullptr,
                     Location at = std::source_location::current()) {
        return contents(at).copy_to_host(context, at);
    }
    // Allocates there, and copies nothing.
    int device_malloc(const Target &target = Target(), JITUserContext *context = nullptr,
                      Location at = std::source_location::current()) {
        return device_malloc(DeviceAPI::Default_GPU, target, context, at);
    }
    int device_malloc(DeviceAPI api, const Target &target = Target(),
                      JITUserContext *context = nullptr,
                      Location at = std::source_location::current()) {
        return device_malloc(detail::device_of(api, target, at), context, at);
    }
    int device_malloc(DeviceInterface device, JITUserContext *context = nullptr,
                      Location at = std::source_location::current()) {
        return contents(at).device_malloc(device, context, at);
    }
    // Uses memory there that somebody else owns, and gives it back.
    int device_wrap_native(DeviceAPI api, uint64_t handle, const Target &target = Target(),
                           JITUserContext *context = nullptr,
                           Location at = std::source_location::current()) {
        return device_wrap_native(detail::device_of(api, target, at), handle, context, at);
    }
    int device_wrap_native(DeviceInterface device, uint64_t handle,
                           JITUserContext *context = nullptr,
                           Location at = std::source_location::current()) {
        return contents(at).device_wrap_native(device, handle, context, at);
    }
    int device_detach_native(JITUserContext *context = nullptr,
                             Location at = std::source_location::current()) {
        return contents(at).device_detach_native(context, at);
    }
    int device_sync(JITUserContext *context = nullptr,
                    Location at = std::source_location::current()) {
        return contents(at).device_sync(context, at);
    }
    // Gives memory there back, in whatever way it was got; nothing is copied.
    int device_free(JITUserContext *context = nullptr,
                    Location at = std::source_location::current()) {
        return contents(at).device_free(context, at);
    }
    int device_deallocate(JITUserContext *context = nullptr,
                          Location at = std::source_location::current()) {
        return contents(at).device_free(context, at);
    }
    BufferDeviceOwnership device_ownership() const { return contents().device_ownership; }

    // ---- Changes of shape ----
    // Changes this buffer and all handles to it; the forms that end in -ed make a new one that
    // shares the memory. A crop has to lie within the region.
    void crop(int d, int min, int extent, Here at = Here::current()) {
        changes(at, [&](BufferContents &b) { b.crop(d, min, extent); });
    }
    void crop(const std::vector<std::pair<int, int>> &rect, Here at = Here::current()) {
        for (size_t d = 0; d < rect.size(); d++) crop(int(d), rect[d].first, rect[d].second, at);
    }
    Buffer cropped(int d, int min, int extent, Here at = Here::current()) const {
        return changed(at, [&](Buffer &b) { b.crop(d, min, extent, at); });
    }
    Buffer cropped(const std::vector<std::pair<int, int>> &rect, Here at = Here::current()) const {
        return changed(at, [&](Buffer &b) { b.crop(rect, at); });
    }
    // Removes a dimension, keeping what lies at `pos`, or at its minimum.
    void slice(int d, int pos, Here at = Here::current()) requires(Dims == AnyDims) {
        changes(at, [&](BufferContents &b) { b.slice(d, pos); });
    }
    void slice(int d, Here at = Here::current()) requires(Dims == AnyDims) {
        slice(d, min(d, at), at);
    }
    WithDimensions<-1> sliced(int d, int pos, Here at = Here::current()) const {
        BufferContentsRef copy = contents(at).alias();
        called_at(at, [&] { copy->slice(d, pos); });
        return WithDimensions<-1>(copy, at);
    }
    auto sliced(int d, Here at = Here::current()) const { return sliced(d, min(d, at), at); }
    // Adds a dimension of extent 1 at `pos`: the opposite of slice.
    void embed(int d, int pos = 0, Here at = Here::current()) requires(Dims == AnyDims) {
        changes(at, [&](BufferContents &b) { b.embed(d, pos); });
    }
    WithDimensions<1> embedded(int d, int pos = 0, Here at = Here::current()) const {
        BufferContentsRef copy = contents(at).alias();
        called_at(at, [&] { copy->embed(d, pos); });
        return WithDimensions<1>(copy, at);
    }
    // Behind the others, of extent 1.
    void add_dimension(Here at = Here::current()) requires(Dims == AnyDims) {
        embed(dimensions(at), 0, at);
    }
    void add_dimension_with_stride(int stride, Here at = Here::current()) requires(Dims == AnyDims)
    {
        changes(at, [&](BufferContents &b) { b.add_dimension(stride); });
    }
    // Adds `delta` to the coordinates.
    void translate(int d, int delta, Here at = Here::current()) {
        changes(at, [&](BufferContents &b) { b.translate(d, delta); });
    }
    void translate(const std::vector<int> &delta, Here at = Here::current()) {
        for (size_t d = 0; d < delta.size(); d++) translate(int(d), delta[d], at);
    }
    Buffer translated(int d, int delta, Here at = Here::current()) const {
        return changed(at, [&](Buffer &b) { b.translate(d, delta, at); });
    }
    Buffer translated(const std::vector<int> &delta, Here at = Here::current()) const {
        return changed(at, [&](Buffer &b) { b.translate(delta, at); });
    }
    void set_min(const std::vector<int> &mins, Here at = Here::current()) {
        changes(at, [&](BufferContents &b) { b.set_min(mins); });
    }
    template<BufferSize... Args> void set_min(Args... mins) {
        set_min(std::vector<int>{int(mins)...});
    }
    // Exchanges two dimensions; or dimension i becomes what order[i] was.
    void transpose(int d1, int d2, Here at = Here::current()) {
        changes(at, [&](BufferContents &b) { b.transpose(d1, d2); });
    }
    void transpose(const std::vector<int> &order, Here at = Here::current()) {
        changes(at, [&](BufferContents &b) { b.transpose(order); });
    }
    Buffer transposed(int d1, int d2, Here at = Here::current()) const {
        return changed(at, [&](Buffer &b) { b.transpose(d1, d2, at); });
    }
    Buffer transposed(const std::vector<int> &order, Here at = Here::current()) const {
        return changed(at, [&](Buffer &b) { b.transpose(order, at); });
    }

    // ---- Copies ----
    // New memory with the same elements, dense, in the same order of dimensions.
    Buffer copy(Here at = Here::current()) const {
        return called_at(at, [&] { return copied(dense_shape_like(contents(at)), at); });
    }
    Buffer copy_to_interleaved(Here at = Here::current()) const {
        return called_at(at, [&] { return copied(ordered_shape({2, 0, 1}, at), at); });
    }
    Buffer copy_to_planar(Here at = Here::current()) const {
        return called_at(at, [&] { return copied(ordered_shape({}, at), at); });
    }
    // Overwrites those elements whose coordinates both have.
    template<typename T2, int D2>
    void copy_from(const Buffer<T2, D2> &src, Here at = Here::current()) {
        static_assert(!std::is_const_v<T>, "the elements of this Buffer are constant");
        changes(at, [&](BufferContents &b) { b.copy_from(src.contents(at)); });
    }

    // ---- All elements ----
    // f(element, the element of each other buffer), in any order; of equal extents, any strides.
    template<typename Fn, typename... Others>
    const Buffer &for_each_value(Fn &&f, const Others &...others) const {
        static_assert(typed, "the elements of a Buffer<> are reached through as<T>()");
        std::vector<ValueLoop> loops = value_loops({&contents(), &others.contents()...});
        (others.contents().check_is_here(), ...);
        contents().check_is_here();
        if (!loops.empty()) walk_values(f, loops, loops.size() - 1, data(), others.data()...);
        return *this;
    }
    // f(x, y, ...), or f(const int *position). By Halide's rules f may take fewer coordinates, and
    // is called once for those.
    template<typename Fn>
    const Buffer &for_each_element(Fn &&f, Here at = Here::current()) const {
        if constexpr (std::is_invocable_v<Fn, const int *>) {
            for_each_position(contents(at), [&](const int *pos) { f(pos); });
        } else {
            constexpr int n = arity<Fn>(std::make_index_sequence<0>());
            check_number_of_dimensions(size_t(n), dimensions(at), at);
            for_each_position(
                contents(at),
                [&](const int *pos) { call_at(f, pos, std::make_index_sequence<size_t(n)>()); },
                size_t(n));
        }
        return *this;
    }
    // Fills it with a value, or with f(x, y, ...), f(const int *position), or what f() gives for
    // each element in turn, such as a generator of random numbers.
    template<typename Fill> const Buffer &fill(Fill &&value, Here at = Here::current()) const {
        static_assert(typed, "the elements of a Buffer<> are reached through as<T>()");
        contents(at).raw.flags |= tessera_buffer_flag_host_dirty;
        if constexpr (is_value<std::remove_cvref_t<Fill>>) {
            const Value v(value);
            return for_each_value([&](Element &e) { e = v; });
        } else if constexpr (std::is_invocable_v<Fill &>) {
            return for_each_value([&](Element &e) { e = Element(value()); });
        } else if constexpr (std::is_invocable_v<Fill &, const int *>) {
            return for_each_element([&](const int *pos) { *address_of(pos) = value(pos); });
        } else {
            constexpr size_t n = size_t(arity<Fill &>(std::make_index_sequence<0>()));
            check_number_of_dimensions(n, dimensions(at), at);
            return for_each_element([&](const int *pos) {
                *address_of(pos) = call_at(value, pos, std::make_index_sequence<n>());
            });
        }
    }
    bool all_equal(const Value &value) const requires typed {
        bool equal = true;
        for_each_value([&](const Element &e) { equal = equal && e == value; });
        return equal;
    }

private:
    // The contents of a list of sizes with a name at its end.
    struct Sizes {
        Sizes(std::vector<int> sizes, std::string name)
            : sizes(std::move(sizes)), name(std::move(name)) {}
        template<BufferSize First, typename... Args>
        explicit Sizes(const First &first, const Args &...args) : sizes{int(first)} {
            (add(args), ...);
        }
        template<typename A> void add(const A &a) {
            if constexpr (BufferSize<A>) {
                sizes.push_back(int(a));
            } else if constexpr (!std::is_same_v<A, Absent>) {
                name = a;
            }
        }
        std::vector<int> sizes;
        std::string name;
    };
    Buffer(Type type, const Sizes &s, Here at) : Buffer(type, s.sizes, {}, s.name, at) {}

    // Coordinates; behind those that are given come zeros.
    struct Position {
        template<typename... Args>
        explicit Position(Args... args)
            : pos{coordinate(args)...}, given((int(!std::is_same_v<Args, Absent>) + ...)) {}
        static int coordinate(Absent) { return 0; }
        template<std::integral I> static int coordinate(I i) { return int(i); }
        int pos[12], given;
    };

    template<typename Array> static void array_sizes(std::vector<int> &sizes) {
        if constexpr (std::is_array_v<Array>) {
            array_sizes<std::remove_extent_t<Array>>(sizes);
            sizes.push_back(int(std::extent_v<Array>));
        }
    }
    static Buffer wrap(Type type, const void *data, BufferContents::Shape shape,
                       const std::string &name) {
        return Buffer(std::make_shared<BufferContents>(type, std::move(shape),
                                                       const_cast<void *>(data), name));
    }
    static Buffer wrap(Type type, const void *data, const Sizes &s, Here at) {
        return called_at(at, [&] { return wrap(type, data, dense_shape(s.sizes), s.name); });
    }
    // The element may be written to.
    void note_write(Here at) {
        if (contents(at).raw.device) set_host_dirty();
    }
    bool flag(uint64_t bit) const { return (contents().raw.flags & bit) != 0; }
    void set_flag(uint64_t bit, bool on) {
        uint64_t &flags = contents().raw.flags;
        flags = on ? flags | bit : flags & ~bit;
    }
    Element *address_of(const Position &p, Here at) const requires typed {
        return address_of(p.pos, p.given, at);
    }
    Element *address_of(const int *pos, int n, Here at) const requires typed {
#ifndef NDEBUG
        contents(at).check_position(pos, n, at);
#endif
        const tessera_buffer_t &raw = contents(at).raw;
        const int known = Dims != AnyDims && n <= Dims ? n : std::min(n, int(raw.dimensions));
        int64_t offset = 0;
        for (int d = 0; d < known; d++) {
            offset += (int64_t(pos[d]) - raw.dim[d].min) * raw.dim[d].stride;
        }
        return reinterpret_cast<Element *>(raw.host) + offset;
    }
    template<typename Change> void changes(Here at, Change change) {
        BufferContents &b = contents(at);
        called_at(at, [&] { change(b); });
    }
    template<typename Change> Buffer changed(Here at, Change change) const {
        Buffer result(contents(at).alias());
        change(result);
        return result;
    }
    BufferContents::Shape ordered_shape(const std::vector<int> &order, Here at) const {
        std::vector<int> extents;
        for (int d = 0; d < dimensions(at); d++) extents.push_back(extent(d, at));
        BufferContents::Shape shape = dense_shape(extents, order);
        for (int d = 0; d < dimensions(at); d++) shape[size_t(d)].min = min(d, at);
        return shape;
    }
    Buffer copied(BufferContents::Shape shape, Here at) const {
        Buffer result(make_contents(type(at), std::move(shape), name(at)));
        result.contents(at).copy_from(contents(at));
        return result;
    }
    template<typename Fn, typename... Pointers>
    static void walk_values(Fn &f, const std::vector<ValueLoop> &loops, size_t level,
                            Pointers... p) {
        const ValueLoop &loop = loops[level];
        for (int64_t i = 0; i < loop.extent; i++) {
            if (level == 0) {
                f(*p...);
            } else {
                walk_values(f, loops, level - 1, p...);
            }
            const int64_t *stride = loop.strides.data();
            ((p += *stride++), ...);
        }
    }
    // Returns the number of ints that f takes.
    template<typename Fn, size_t... I> static constexpr int arity(std::index_sequence<I...>) {
        static_assert(sizeof...(I) <= 16, "the function must take one int per dimension");
        if constexpr (std::is_invocable_v<Fn, decltype(int(I))...>) {
            return int(sizeof...(I));
        } else {
            return arity<Fn>(std::make_index_sequence<sizeof...(I) + 1>());
        }
    }
    template<typename Fn, size_t... I>
    static decltype(auto) call_at(Fn &f, const int *pos, std::index_sequence<I...>) {
        return f(pos[I]...);
    }

    BufferContentsRef contents_ref;
};

#undef TESSERA_UP_TO_12
#undef TESSERA_12_PARAMETERS
#undef TESSERA_12_ARGUMENTS

}  // namespace tessera
