#include "arrays.h"

// Buffers offer other libraries the table of DLPack 1.3: tensors without a call of Python.
namespace tessera::python {
namespace {

int managed_from_object(void *object, dlpack::ManagedVersioned **tensor) {
    try {
        *tensor = managed_tensor(*nb::inst_ptr<Buffer<>>(static_cast<PyObject *>(object)));
        return 0;
    } catch (...) {
        raise_current();
        return -1;
    }
}

Buffer<> buffer_of_tensor(dlpack::ManagedVersioned *tensor) {
    ArrayView view;
    take_managed(tensor, true, [] { return std::string("Buffer"); }, view);
    return buffer_of(std::move(view), "");
}

int object_from_managed(dlpack::ManagedVersioned *tensor, void **object) {
    try {
        *object = nb::cast(buffer_of_tensor(tensor)).release().ptr();
        return 0;
    } catch (...) {
        raise_current();
        return -1;
    }
}

// Memory for elements as those of a tensor, dense, where that one is.
Buffer<> buffer_like(const dlpack::Tensor &like) {
    ArrayView view;
    read_tensor(like, true, [] { return std::string("Buffer"); }, view);
    const std::vector<tessera_dimension_t> dims(view.raw.dim, view.raw.dim + view.raw.dimensions);
    std::vector<int> sizes;
    for (const tessera_dimension_t &d : dims) sizes.push_back(d.extent);
    if (!view.is_on_device) return Buffer<>(Type(view.raw.type), sizes);
    Buffer<> made(Type(view.raw.type), static_cast<void *>(nullptr), sizes);
    made.contents().device_malloc(tessera_cuda_device_interface(), nullptr, {});
    made.contents().raw.set_device_dirty();
    return made;
}

int allocate(dlpack::Tensor *like, dlpack::ManagedVersioned **tensor, void *context,
             void (*set_error)(void *context, const char *kind, const char *message)) {
    try {
        *tensor = managed_tensor(buffer_like(*like));
        return 0;
    } catch (const std::exception &e) {
        set_error(context, "BufferError", e.what());
        return -1;
    }
}

int stream_of_work(int32_t device_kind, int32_t, void **stream) {
    *stream = device_kind == dlpack::cuda ? current_stream().stream : nullptr;
    return 0;
}

// Without tensors that borrow: the extents of a Buffer are no 64-bit numbers that stay in memory.
dlpack::ExchangeTable table = {
    {1, 3}, nullptr, allocate, managed_from_object, object_from_managed, nullptr, stream_of_work};

}  // namespace

void define_exchange_table(nb::class_<Buffer<>> &c) {
    nb::setattr(c, "__dlpack_c_exchange_api__",
                nb::steal(PyCapsule_New(&table, "dlpack_exchange_api", nullptr)));
}

}  // namespace tessera::python
