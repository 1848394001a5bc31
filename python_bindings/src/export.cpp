#include "arrays.h"
#include "docs/buffer.h"
#include <bit>
#include <cstring>

// How a Buffer is seen by other libraries: the buffer protocol, array interfaces and DLPack.
namespace tessera::python {
namespace {

const tessera_buffer_t &raw_of(const Buffer<> &b) { return b.contents().raw; }

bool is_newest_on_gpu(const Buffer<> &b) {
    const tessera_buffer_t &raw = raw_of(b);
    const bool is_only_there = !raw.host || (is_seen_on_device(b.contents()) && !raw.host_dirty());
    return raw.device && (is_only_there || raw.device_dirty());
}

// Calls f(axis, dimension) for each axis, the first one first.
template<typename F> void for_each_axis(const Buffer<> &b, F f) {
    const int n = b.dimensions();
    for (int axis = 0; axis < n; axis++) f(axis, raw_of(b).dim[n - 1 - axis]);
}

// Returns true for floats that ml_dtypes has and NumPy itself has not.
bool is_of_ml_dtypes(Type t) { return t.is_bfloat() || t.is_float8(); }

// Like "<f4". Empty if NumPy has none.
std::string type_text(Type t) {
    if (is_of_ml_dtypes(t) || t.is_handle()) return {};
    const char kind = t.is_bool() ? 'b' : t.is_float() ? 'f' : t.is_int() ? 'i' : 'u';
    return str(t.bytes() > 1 ? "<" : "|", kind, t.bytes());
}

// ---- The buffer protocol ----

// The Py_buffer that Python has had since 3.0. The stable API names it from 3.11 on.
struct MemoryView {
    void *data;
    PyObject *owner;
    Py_ssize_t bytes, element;
    int is_read_only, axes;
    const char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
};
constexpr int get_buffer_slot = 1, release_buffer_slot = 2;
// Holds what a consumer asks for.
constexpr int is_writable = 1, with_format = 4, with_shape = 8, with_strides = 0x10 | with_shape,
              c_order = 0x20 | with_strides, fortran_order = 0x40 | with_strides,
              any_order = 0x80 | with_strides;

// Null for types that the protocol does not know.
const char *format_of(Type t) {
    if (is_of_ml_dtypes(t) || t.is_handle()) return nullptr;
    if (t.is_bool()) return "?";
    const int log = std::countr_zero(unsigned(t.bytes()));
    static const char *const floats[] = {nullptr, "e", "f", "d"}, *ints[] = {"b", "h", "i", "l"},
                             *uints[] = {"B", "H", "I", "L"};
    return t.is_float() ? floats[log] : t.is_int() ? ints[log] : uints[log];
}

// Holds what a view needs as long as it lives.
struct Viewed {
    std::shared_ptr<void> memory;
    Py_ssize_t *shape() { return reinterpret_cast<Py_ssize_t *>(this + 1); }
};

bool is_dense(const Buffer<> &b, bool last_axis_innermost) {
    const tessera_buffer_t &raw = raw_of(b);
    int64_t dense = 1;
    for (int i = 0; i < raw.dimensions; i++) {
        const tessera_dimension_t &d = raw.dim[last_axis_innermost ? i : raw.dimensions - 1 - i];
        if (d.extent == 0) return true;
        if (d.extent > 1 && d.stride != dense) return false;
        dense *= d.extent;
    }
    return true;
}

bool asks(int flags, int what) { return (flags & what) == what; }

void check_request(const Buffer<> &b, int flags) {
    if (asks(flags, is_writable) && is_read_only(b))
        throw nb::buffer_error("the Buffer shares the memory of a read-only array");
    const bool c = is_dense(b, true);
    const bool needs_c = asks(flags, c_order) || !asks(flags, with_strides);
    if (needs_c && !c)
        throw nb::buffer_error("the Buffer's elements are not dense; copy() of it has them so");
    if (asks(flags, fortran_order) && !is_dense(b, false))
        throw nb::buffer_error("the Buffer's first axis is not the innermost one in memory");
    if (asks(flags, any_order) && !c && !is_dense(b, false))
        throw nb::buffer_error("the Buffer's elements are not dense; copy() of it has them so");
}

void fill(MemoryView &view, const Buffer<> &b, int flags) {
    const char *format = format_of(b.type());
    if (!format)
        throw nb::buffer_error(
            str("the buffer protocol has no ", b.type(), ": numpy() and DLPack give arrays of it")
                .c_str());
    bring_to_host(b, {});
    check_request(b, flags);
    note_shared(b);
    const size_t axes = size_t(b.dimensions());
    void *place = std::malloc(sizeof(Viewed) + 2 * axes * sizeof(Py_ssize_t));
    if (!place) throw std::bad_alloc();
    auto *viewed = new (place) Viewed{b.contents().memory};
    view.data = raw_of(b).host;
    view.element = b.type().bytes();
    view.bytes = view.element * Py_ssize_t(b.number_of_elements());
    view.is_read_only = is_read_only(b);
    view.axes = int(axes);
    view.format = asks(flags, with_format) ? format : nullptr;
    Py_ssize_t *shape = viewed->shape(), *strides = shape + axes;
    for_each_axis(b, [&](int axis, const tessera_dimension_t &d) {
        shape[axis] = d.extent;
        strides[axis] = d.stride * view.element;
    });
    view.shape = asks(flags, with_shape) ? shape : nullptr;
    view.strides = asks(flags, with_strides) ? strides : nullptr;
    view.suboffsets = nullptr;
    view.internal = viewed;
}

int get_buffer(PyObject *self, MemoryView *view, int flags) noexcept {
    view->owner = nullptr;
    try {
        fill(*view, *nb::inst_ptr<Buffer<>>(self), flags);
    } catch (...) {
        raise_current();
        return -1;
    }
    Py_IncRef(self);
    view->owner = self;
    return 0;
}

void release_buffer(PyObject *, MemoryView *view) noexcept {
    auto *viewed = static_cast<Viewed *>(view->internal);
    viewed->~Viewed();
    std::free(viewed);
}

// ---- Array interfaces ----

nb::dict interface_of(const Buffer<> &b, uint64_t address) {
    const std::string type = type_text(b.type());
    if (type.empty())
        throw nb::attribute_error(
            str("array interfaces have no ", b.type(), ": use __dlpack__").c_str());
    nb::list shape, strides;
    for_each_axis(b, [&](int, const tessera_dimension_t &d) {
        shape.append(d.extent);
        strides.append(int64_t(d.stride) * b.type().bytes());
    });
    nb::dict d;
    d["version"] = 3;
    d["shape"] = nb::tuple(shape);
    d["strides"] = nb::tuple(strides);
    d["typestr"] = type;
    d["data"] = nb::make_tuple(address, is_read_only(b));
    return d;
}

nb::object array_interface(const Buffer<> &b) {
    bring_to_host(b, here());
    note_shared(b);
    return interface_of(b, uint64_t(uintptr_t(raw_of(b).host)));
}

nb::object cuda_array_interface(const Buffer<> &b) {
    if (!is_newest_on_gpu(b))
        throw nb::attribute_error("the newest contents of the Buffer are not on a GPU");
    wait_for_streams();
    nb::dict d = interface_of(b, raw_of(b).device);
    d["stream"] = 1;  // the default one, for which the consumer waits
    return d;
}

// ---- DLPack ----

dlpack::DataType dlpack_type(Type t) {
    const auto code = t.is_bool()         ? dlpack::Bool
                      : t.is_bfloat()     ? dlpack::Bfloat
                      : t == Float8E4M3() ? dlpack::Float8E4M3
                      : t == Float8E5M2() ? dlpack::Float8E5M2
                      : t.is_float()      ? dlpack::Float
                      : t.is_int()        ? dlpack::Int
                                          : dlpack::UInt;
    return {uint8_t(code), uint8_t(8 * t.bytes()), 1};
}

dlpack::Device device(bool on_gpu) {
    if (!on_gpu) return {dlpack::host, 0};
    return {dlpack::cuda, tessera_get_gpu_device(nullptr)};
}

// Holds what a consumer gets: memory on the host or on the GPU, of the Buffer or of a copy.
struct Handed {
    Buffer<> buffer;
    bool on_gpu, is_copied;
};

// A tensor with the Buffer that it is of.
template<typename Managed> struct Exported {
    Managed managed{};
    Buffer<> buffer;
    std::shared_ptr<void> memory;
    std::vector<int64_t> shape;  // and then the strides

    explicit Exported(const Handed &h) : buffer(h.buffer), memory(h.buffer.contents().memory) {
        const Buffer<> &b = h.buffer;
        const size_t n = size_t(b.dimensions());
        shape.resize(2 * n);
        for_each_axis(b, [&](int axis, const tessera_dimension_t &d) {
            shape[size_t(axis)] = d.extent;
            shape[n + size_t(axis)] = d.stride;
        });
        void *data = h.on_gpu ? reinterpret_cast<void *>(uintptr_t(raw_of(b).device))
                              : static_cast<void *>(raw_of(b).host);
        auto &tensor = static_cast<dlpack::Tensor &>(managed.*tensor_of(&managed));
        tensor = {data,         device(h.on_gpu), int32_t(n), dlpack_type(b.type()),
                  shape.data(), shape.data() + n, 0};
        managed.context = this;
        managed.deleter = [](Managed *m) { delete static_cast<Exported *>(m->context); };
    }
    static constexpr auto tensor_of(const Managed *) {
        if constexpr (std::is_same_v<Managed, dlpack::Managed>)
            return &dlpack::Managed::tensor;
        else
            return &dlpack::ManagedVersioned::tensor;
    }
};

// Frees a tensor that nobody has taken out of its capsule.
template<typename Managed> void free_capsule(PyObject *capsule, const char *name) {
    if (!PyCapsule_IsValid(capsule, name)) return;  // somebody has
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
}
constexpr const char *capsule_name = "dltensor", *versioned_name = "dltensor_versioned";

nb::object capsule(const Handed &h) {
    if (is_read_only(h.buffer))
        throw nb::buffer_error("a read-only Buffer needs DLPack 1.0: pass max_version=(1, 0)");
    auto *exported = new Exported<dlpack::Managed>(h);
    return nb::steal(PyCapsule_New(&exported->managed, capsule_name, [](PyObject *c) {
        free_capsule<dlpack::Managed>(c, capsule_name);
    }));
}
dlpack::ManagedVersioned *versioned_tensor(const Handed &h) {
    auto *exported = new Exported<dlpack::ManagedVersioned>(h);
    exported->managed.version = dlpack::version;
    exported->managed.flags =
        (is_read_only(h.buffer) ? dlpack::is_read_only : 0) | (h.is_copied ? dlpack::is_copied : 0);
    return &exported->managed;
}
nb::object versioned_capsule(const Handed &h) {
    return nb::steal(PyCapsule_New(versioned_tensor(h), versioned_name, [](PyObject *c) {
        free_capsule<dlpack::ManagedVersioned>(c, versioned_name);
    }));
}

// New memory on the GPU with the same elements.
Buffer<> copy_on_gpu(const Buffer<> &b) {
    auto made = std::make_shared<BufferContents>(b.type(), dense_shape_like(b.contents()), nullptr,
                                                 b.name());
    nb::gil_scoped_release no_gil;
    const auto *gpu = tessera_cuda_device_interface();
    made->device_malloc(gpu, nullptr, {});
    if (int code = tessera_device_buffer_copy(nullptr, b.raw_buffer(), gpu, &made->raw))
        throw RuntimeError(str("cannot copy buffer ", b.name(), " (error ", code, ")"));
    made->raw.flags = tessera_buffer_flag_device_dirty;
    return Buffer<>(made);
}

void copy_to_gpu(const Buffer<> &b) {
    const Here at = here();
    nb::gil_scoped_release no_gil;
    Buffer<>(b).copy_to_device(DeviceAPI::CUDA, Target("host-cuda"), nullptr, at);
    b.contents().raw.set_device_dirty();
}

// Returns true if the consumer wants the elements on the GPU, false for the host.
bool wants_gpu(nb::handle wanted) {
    const int kind = nb::cast<int>(nb::int_(nb::object(wanted[0])));
    const int index = nb::cast<int>(nb::int_(nb::object(wanted[1])));
    for (bool on_gpu : {false, true}) {
        if (device(on_gpu).kind == kind && device(on_gpu).index == index) return on_gpu;
    }
    throw nb::buffer_error(
        str("the Buffer cannot be seen on the device (", kind, ", ", index, ")").c_str());
}

// Brings the elements to where the consumer wants them; copies only if it may.
Handed hand_over(const Buffer<> &b, nb::handle wanted, nb::handle copy) {
    const bool must_copy = !copy.is_none() && nb::cast<bool>(copy);
    const bool is_there = is_newest_on_gpu(b);
    const bool on_gpu = wanted.is_none() ? is_there : wants_gpu(wanted);
    if (on_gpu != is_there && !copy.is_none() && !must_copy)
        throw nb::buffer_error(str("the Buffer is on the device (", device(is_there).kind, ", ",
                                   device(is_there).index, "), and nothing may be copied")
                                   .c_str());
    if (on_gpu && !is_there) copy_to_gpu(b);
    if (!on_gpu) bring_to_host(b, here());
    if (!must_copy) return {b, on_gpu, false};
    return {on_gpu ? copy_on_gpu(b) : b.copy(), on_gpu, true};
}

// The consumer's stream waits for what is done on the Buffer now.
void let_consumer_wait(nb::handle stream) {
    constexpr int64_t no_waiting = -1;
    if (!stream.is_none() && nb::cast<int64_t>(nb::int_(stream)) == no_waiting) return;
    if (!stream.is_none() && nb::cast<int64_t>(nb::int_(stream)) == 0)
        throw nb::value_error("stream: 0 stands for no stream of CUDA; 1 is the default one, 2 "
                              "that of a thread");
    wait_for_streams();
    let_wait(to_stream(stream), nullptr);
}

nb::object to_dlpack(const Buffer<> &b, nb::handle stream, nb::handle max_version,
                     nb::handle device, nb::handle copy) {
    const Handed handed = hand_over(b, device, copy);
    if (handed.on_gpu) {
        let_consumer_wait(stream);
    } else {
        const bool has_stream = !stream.is_none() && nb::cast<int64_t>(nb::int_(stream)) != -1;
        if (has_stream) throw nb::buffer_error("stream: the Buffer's elements are on the host");
        note_shared(handed.buffer);
    }
    const bool is_versioned =
        !max_version.is_none() && nb::cast<int>(nb::int_(nb::object(max_version[0]))) >= 1;
    return is_versioned ? versioned_capsule(handed) : capsule(handed);
}

// ---- NumPy and PyTorch ----

nb::object numpy() { return nb::module_::import_("numpy"); }

// An array of the elements' bits, seen as ml_dtypes' type.
nb::object as_ml_dtypes(const Buffer<> &b) {
    note_shared(b);
    Buffer<> bits(b.contents().alias());
    bits.contents().raw.type = UInt(b.type().bits());
    return numpy().attr("asarray")(nb::cast(bits)).attr("view")(numpy_dtype(b.type()));
}

nb::object as_array(nb::handle self, nb::handle dtype, nb::handle copy) {
    const nb::object a = as_numpy(self);
    const bool must_copy = !copy.is_none() && nb::cast<bool>(copy);
    if (dtype.is_none()) return must_copy ? a.attr("copy")() : a;
    const bool is_same = a.attr("dtype").equal(numpy().attr("dtype")(dtype));
    if (!is_same && !copy.is_none() && !must_copy)
        throw nb::value_error("an array of another type would be a copy, and copy is False");
    return a.attr("astype")(dtype, "copy"_a = must_copy || !is_same);
}

}  // namespace

dlpack::ManagedVersioned *managed_tensor(const Buffer<> &b) {
    const bool on_gpu = is_newest_on_gpu(b);
    if (!on_gpu) note_shared(b);
    return versioned_tensor({b, on_gpu, false});
}

std::string array_type_name(Type t) {
    return t == Float8E4M3() ? "float8_e4m3fn" : t.is_bool() ? "bool" : str(t);
}

nb::object numpy_dtype(Type t) {
    const std::string name = array_type_name(t);
    if (is_of_ml_dtypes(t)) return nb::module_::import_("ml_dtypes").attr(name.c_str());
    return numpy().attr("dtype")(nb::str(name.c_str()));
}

nb::object as_numpy(nb::handle self) {
    const Buffer<> &b = *nb::inst_ptr<Buffer<>>(self);
    if (!is_of_ml_dtypes(b.type())) return numpy().attr("asarray")(self);
    bring_to_host(b, here());
    return as_ml_dtypes(b);
}

const PyType_Slot *buffer_slots() {
    static const PyType_Slot slots[] = {
        {get_buffer_slot, reinterpret_cast<void *>(get_buffer)},
        {release_buffer_slot, reinterpret_cast<void *>(release_buffer)},
        {0, nullptr}};
    return slots;
}

void define_export(nb::class_<Buffer<>> &c) {
    c.def_prop_ro("__array_interface__", &array_interface)
        .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
        .def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a = nb::none(),
             "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none(),
             "Returns a capsule of DLPack 1.1 with the same memory: that on a GPU, where its "
             "contents are the newest. Dimension 0 is the last axis.")
        .def("__dlpack_device__",
             [](const Buffer<> &b) {
                 const dlpack::Device d = device(is_newest_on_gpu(b));
                 return std::pair(d.kind, d.index);
             })
        .def("__array__", &as_array, "dtype"_a = nb::none(), "copy"_a = nb::none())
        .def(
            "numpy_view",
            [](nb::handle self, bool reverse_axes) {
                const nb::object array = as_numpy(self);
                return reverse_axes ? array : nb::object(array.attr("T"));
            },
            "reverse_axes"_a = true, docs::buffer::numpy_view)
        .def("numpy", &as_numpy, docs::buffer::numpy)
        .def(
            "torch",
            [](nb::handle self) { return nb::module_::import_("torch").attr("from_dlpack")(self); },
            docs::buffer::torch);
}

}  // namespace tessera::python
