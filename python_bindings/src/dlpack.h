#pragma once
#include <cstdint>

// The structs of DLPack 1.3, by which libraries hand arrays to one another: their layout is fixed.
namespace tessera::python::dlpack {

// Kinds of devices.
constexpr int32_t host = 1, cuda = 2, cuda_host = 3, cuda_managed = 13;
// Flags of a tensor.
constexpr uint64_t is_read_only = 1, is_copied = 2;

struct Version {
    uint32_t major, minor;
};
// The version that this package speaks.
constexpr Version version = {1, 1};

struct Device {
    int32_t kind, index;
};
struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};
enum TypeCode : uint8_t {
    Int = 0,
    UInt = 1,
    Float = 2,
    Bfloat = 4,
    Bool = 6,
    Float8E4M3 = 10,
    Float8E5M2 = 12
};

struct Tensor {
    void *data;
    Device device;
    int32_t axes;
    DataType type;
    int64_t *shape;
    int64_t *strides;  // in elements; null: dense, last axis innermost
    uint64_t byte_offset;
};

// A tensor, and what frees it.
struct Managed {
    Tensor tensor;
    void *context;
    void (*deleter)(Managed *);
};
struct ManagedVersioned {
    Version version;
    void *context;
    void (*deleter)(ManagedVersioned *);
    uint64_t flags;
    Tensor tensor;
};

// A type offers this as `__dlpack_c_exchange_api__`: tensors without a call of Python, and the
// stream on which its framework works at the moment. Functions return -1 with an error of Python's.
struct ExchangeTable {
    Version version;
    ExchangeTable *previous;
    // Makes a tensor like the first one. Errors go to the function, with their context and kind.
    int (*allocate)(Tensor *like, ManagedVersioned **tensor, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*managed_from_object)(void *object, ManagedVersioned **tensor);
    int (*object_from_managed)(ManagedVersioned *tensor, void **object);
    int (*tensor_from_object)(void *object, Tensor *tensor);  // may be null
    int (*current_stream)(int32_t device_kind, int32_t device, void **stream);
};

}  // namespace tessera::python::dlpack
