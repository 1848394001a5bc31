#pragma once
#include "base/symbol.h"
#include "base/target.h"
#include "ir/expr.h"
#include "ir/type.h"
#include "lang/location.h"
#include "runtime/tessera_runtime.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::program {
class Parameter;
}

// A Buffer is a handle to this.
namespace tessera {

struct JITUserContext;
using DeviceInterface = const tessera_device_interface_t *;

// The enumerators say how a buffer has got its memory on a device.
enum class BufferDeviceOwnership : uint8_t {
    Allocated,      // the runtime allocated it, and it goes with the buffer
    WrappedNative,  // it is somebody else's
    Unmanaged,      // whoever described the buffer sees to it
    AllocatedDeviceAndHost,
    Cropped  // a part of another buffer's, which lives as long
};

// The object that a Buffer is a handle to: the runtime's struct, its shape, its memory and its
// name; nothing of it knows the C++ type of the elements. Misuse throws RuntimeError.
class BufferContents {
public:
    using Shape = std::vector<tessera_dimension_t>;

    // Describes the memory at `host`; null: it is a shape without memory.
    BufferContents(Type type, Shape shape, void *host, const std::string &name);
    // Describes the same memory as `raw`, which has to outlive it.
    BufferContents(const tessera_buffer_t &raw, const std::string &name);
    BufferContents(const BufferContents &) = delete;
    ~BufferContents();
    BufferContents &operator=(const BufferContents &) = delete;

    // Shares the memory under a shape of its own.
    std::shared_ptr<BufferContents> alias() const;

    Type type() const { return raw.type; }
    int dimensions() const { return raw.dimensions; }
    // Throws if there is no such dimension.
    const tessera_dimension_t &dim(int d, const Location &at = {}) const;
    uint64_t number_of_elements() const;
    uint64_t size_in_bytes() const;
    // Return how far below and above `host` elements lie (the latter: past the last), in elements.
    int64_t lowest() const;
    int64_t past_highest() const;
    bool contains(const int *pos, int n) const;
    // Throws unless `pos` (n numbers) lies within the buffer.
    void check_position(const int *pos, int n, const Location &at) const;

    void allocate();
    void deallocate();
    // The functions that allocate and free the memory of all new buffers; null: the C library.
    static void set_default_allocate_fn(void *(*allocate)(size_t));
    static void set_default_deallocate_fn(void (*deallocate)(void *));
    void crop(int d, int min, int extent);
    void slice(int d, int pos);
    void embed(int d, int pos);
    void translate(int d, int delta);
    void set_min(const std::vector<int> &mins);
    void transpose(int d1, int d2);
    void transpose(const std::vector<int> &order);
    void add_dimension(int stride);
    void set_name(const std::string &new_name);
    // The symbol of this buffer in expressions; a crop or slice of it has another.
    Symbol symbol();
    // The elements that both have; the types and numbers of dimensions must be the same.
    void copy_from(const BufferContents &src);

    // Memory on a device, as Buffer's functions of these names say.
    int copy_to_device(DeviceInterface device, JITUserContext *context, const Location &at);
    int copy_to_host(JITUserContext *context, const Location &at);
    int device_malloc(DeviceInterface device, JITUserContext *context, const Location &at);
    int device_free(JITUserContext *context, const Location &at);
    int device_sync(JITUserContext *context, const Location &at);
    int device_wrap_native(DeviceInterface device, uint64_t handle, JITUserContext *context,
                           const Location &at);
    int device_detach_native(JITUserContext *context, const Location &at);
    // Throws if the newest contents are on a device.
    void check_is_here(const Location &at = {}) const {
        if (raw.flags & tessera_buffer_flag_device_dirty) throw_is_on_device(at);
    }

    // The runtime's view of the buffer; raw.dim points to `shape`.
    tessera_buffer_t raw{};
    std::shared_ptr<void> memory;  // null: somebody else's
    BufferDeviceOwnership device_ownership = BufferDeviceOwnership::Allocated;
    std::string name;

private:
    void shape_changed();
    bool is_place(const int *pos, int n) const;
    [[noreturn]] void throw_is_on_device(const Location &at) const;
    void share_device_memory(const BufferContents &owner);
    void crop_device_memory(const Shape &to);
    void release_device_memory();
    Shape shape;
    Symbol own_symbol;
};

using BufferContentsRef = std::shared_ptr<BufferContents>;

// The shape of a dense buffer of these extents; `order` lists the dimensions, innermost first.
BufferContents::Shape dense_shape(const std::vector<int> &extents, std::vector<int> order = {});
// Dense, in the order of the strides of `like`, and with its mins and extents.
BufferContents::Shape dense_shape_like(const BufferContents &like);
// Makes them with new memory.
BufferContentsRef make_contents(Type type, BufferContents::Shape shape, const std::string &name);

// Nested loops over the elements of several buffers of one shape, innermost first.
struct ValueLoop {
    int64_t extent;
    std::vector<int64_t> strides;  // one per buffer, in elements
};
// Throws if the shapes are not the same. Empty if there are no elements.
std::vector<ValueLoop> value_loops(const std::vector<const BufferContents *> &buffers);

// Calls f with each position of the buffer, dimension 0 fastest.
// Only of the first `dimensions`, where there are more; the others stay at their minima.
void for_each_position(const BufferContents &buffer, const std::function<void(const int *)> &f,
                       size_t dimensions = SIZE_MAX);

// The element at `args` as part of a Func's definition; the expression keeps the buffer alive.
ir::Expr image_element(const BufferContentsRef &buffer, std::vector<ir::Expr> args, Location at);
// The buffer as a parameter of a program that holds the buffer itself; each has the same symbol.
Ref<program::Parameter> embedded_parameter(const BufferContentsRef &buffer);

[[noreturn]] void throw_undefined_buffer(const Location &at);
// Throws RuntimeError if a buffer of this type and number of dimensions (-1: any) cannot be used
// as one of the wanted type (undefined: any) and number (-1: any).
void check_conversion(const BufferContents &buffer, Type wanted_type, int wanted_dimensions,
                      const Location &at = {});
void check_number_of_dimensions(size_t given, int wanted, const Location &at);

}  // namespace tessera
