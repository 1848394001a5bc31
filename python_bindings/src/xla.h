#pragma once
#include <cstddef>
#include <cstdint>

// Declares what the package uses of the interface by which XLA calls functions of others (its FFI,
// version 0): structs of a C ABI. Each begins with its size, and newer versions add members at the
// end only.
namespace tessera::python::xla {

struct Context;
struct Error;

struct Extension {
    size_t size;
    int kind;
    Extension *next;
};

struct Version {
    size_t size;
    Extension *extensions;
    int major, minor;
};
constexpr int major_version = 0, first_minor_version = 1;

// An extension of a call by which XLA asks what a function is like, in place of running it.
constexpr int metadata = 1;
struct Metadata {
    size_t size;
    Version version;
    uint32_t traits;
};
struct MetadataExtension {
    Extension base;
    Metadata *metadata;
};

enum DataType : int {
    Bool = 1,
    Int8 = 2,
    Int16 = 3,
    Int32 = 4,
    Int64 = 5,
    UInt8 = 6,
    UInt16 = 7,
    UInt32 = 8,
    UInt64 = 9,
    Float16 = 10,
    Float32 = 11,
    Float64 = 12,
    BFloat16 = 16,
    Float8E5M2 = 19,
    Float8E4M3 = 20
};

// An array, dense, its last axis innermost.
struct Buffer {
    size_t size;
    Extension *extensions;
    int type;  // a DataType
    void *data;
    int64_t axes;
    int64_t *shape;
};

struct Buffers {
    size_t size;
    Extension *extensions;
    int64_t count;
    int *kinds;
    Buffer **all;
};
constexpr int is_buffer = 1;  // of kinds

struct Text {
    const char *begin;
    size_t length;
};
struct Scalar {
    int type;
    void *value;
};
// Holds what a call is given beside arrays, by name.
struct Attributes {
    size_t size;
    Extension *extensions;
    int64_t count;
    int *kinds;
    Text **names;
    void **all;
};
constexpr int is_scalar = 3, is_text = 4;  // of kinds

struct ErrorArguments {
    size_t size;
    Extension *extensions;
    const char *message;
    int code;
};
constexpr int invalid_argument = 3;  // of codes

struct StreamArguments {
    size_t size;
    Extension *extensions;
    Context *context;
    void *stream;  // is set
};

struct Api {
    size_t size;
    Extension *extensions;
    Version version;
    const void *internal;
    Error *(*make_error)(ErrorArguments *);
    void *error_details, *destroy_error, *register_handler;
    Error *(*stream)(StreamArguments *);
};

struct Call {
    size_t size;
    Extension *extensions;
    const Api *api;
    Context *context;
    int stage;
    Buffers inputs, outputs;
    Attributes attributes;
};
constexpr int execute = 3;  // of stages

}  // namespace tessera::python::xla
