#include "arrays.h"
#include <bit>
#include <map>
#include <vector>

namespace tessera::python {

// ---- Owners ----

namespace {

// Frees with the GIL, unless Python has ended: then nothing is left to free.
void release_object(void *object) {
    if (!Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DecRef(static_cast<PyObject *>(object));
    PyGILState_Release(state);
}

// Libraries see to the GIL in their deleters. Many crash once Python has ended.
template<typename Managed> void release_tensor(void *tensor) {
    auto *managed = static_cast<Managed *>(tensor);
    if (managed->deleter && Py_IsInitialized()) managed->deleter(managed);
}

}  // namespace

ArrayOwner::ArrayOwner(nb::handle object) : kept(object.inc_ref().ptr()), release(release_object) {}
ArrayOwner::ArrayOwner(dlpack::Managed *tensor)
    : kept(tensor), release(release_tensor<dlpack::Managed>) {}
ArrayOwner::ArrayOwner(dlpack::ManagedVersioned *tensor)
    : kept(tensor), release(release_tensor<dlpack::ManagedVersioned>) {}
ArrayOwner::ArrayOwner(std::shared_ptr<void> memory)
    : kept(new std::shared_ptr<void>(std::move(memory))),
      release([](void *p) { delete static_cast<std::shared_ptr<void> *>(p); }) {}

namespace {

// Frees what BufferContents::memory holds; its type says that this is a SharedMemory.
struct FreeShared {
    SharedMemory *shared;
    void operator()(void *) const { delete shared; }
};

std::shared_ptr<void> hold(SharedMemory &&memory) {
    auto *shared = new SharedMemory(std::move(memory));
    return std::shared_ptr<void>(static_cast<void *>(shared), FreeShared{shared});
}

}  // namespace

SharedMemory *shared_memory(const BufferContents &contents) {
    const auto *free = std::get_deleter<FreeShared>(contents.memory);
    return free ? free->shared : nullptr;
}

bool is_read_only(const Buffer<> &b) {
    const SharedMemory *shared = shared_memory(b.contents());
    return shared && shared->is_read_only;
}

bool is_seen_on_host(const BufferContents &c) {
    const SharedMemory *shared = c.raw.host ? shared_memory(c) : nullptr;
    return shared && !shared->is_on_device;
}

bool is_seen_on_device(const BufferContents &c) {
    const SharedMemory *shared = c.raw.device ? shared_memory(c) : nullptr;
    return shared && shared->is_on_device;
}

void note_shared(const Buffer<> &b) {
    BufferContents &c = b.contents();
    if (!c.memory || shared_memory(c)) return;
    SharedMemory shared;
    shared.owner = ArrayOwner(c.memory);
    c.memory = hold(std::move(shared));
}

void keep_both(BufferContents &contents, std::shared_ptr<void> other) {
    using Both = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
    SharedMemory shared;
    if (const auto *free = std::get_deleter<FreeShared>(other)) {
        shared.is_read_only = free->shared->is_read_only;
        shared.is_on_device = free->shared->is_on_device;
        shared.stream = free->shared->stream;
    }
    shared.owner = ArrayOwner(std::make_shared<Both>(contents.memory, std::move(other)));
    contents.memory = hold(std::move(shared));
}

Buffer<> buffer_of(ArrayView &&view, const std::string &name) {
    auto contents = std::make_shared<BufferContents>(view.raw, name);
    if (view.is_on_device) contents->device_ownership = BufferDeviceOwnership::WrappedNative;
    contents->memory =
        hold({std::move(view.owner), view.is_read_only, view.is_on_device, view.stream});
    return Buffer<>(std::move(contents));
}

std::string shape_text(const tessera_buffer_t &b) {
    std::vector<std::string> axes, dimensions;
    for (int d = 0; d < b.dimensions; d++) {
        dimensions.push_back(str(b.dim[d].extent));
        axes.insert(axes.begin(), dimensions.back());
    }
    const std::string shape = str("(", join(axes), axes.size() == 1 ? ",)" : ")");
    const Type type = b.type;
    if (axes.size() < 2) return str(shape, " ", type);
    return str(shape, " ", type, " (dimensions ", join(dimensions, " x "), ")");
}

// ---- What all arrays have ----

namespace {

[[noreturn]] void refuse_type(const What &what, const std::string &why) {
    refuse_argument(str(what(), ": ", why));
}
[[noreturn]] void refuse_value(const What &what, const std::string &why) {
    refuse_argument(str(what(), ": ", why));
}

// Stands for the memory of arrays without elements: a buffer without memory is a question.
alignas(128) uint8_t nothing[128];

bool fits_int32(int64_t value) { return value == int32_t(value); }

struct Axes {
    size_t count;
    const int64_t *shape;
    const int64_t *strides;  // null: dense, the last axis innermost
    int64_t unit;            // of the strides, in bytes
};

int64_t stride_of(const Axes &axes, size_t axis, int64_t dense, int64_t element, const What &what) {
    const int64_t stride = axes.strides ? axes.strides[axis] : dense;
    if (!axes.strides || axes.unit == element) return stride;
    // The number of bytes of an element is a power of two.
    if (stride & (element - 1))
        refuse_value(what, str("the stride of axis ", axis, " is ", stride,
                               " bytes, no multiple of the element's ", element,
                               "; pass a copy, such as numpy.ascontiguousarray(array)"));
    return stride >> std::countr_zero(uint64_t(element));
}

void set_shape(ArrayView &view, const Axes &axes, bool reverse_axes, const What &what) {
    const Type type = view.raw.type;
    const int64_t element = type.bytes();
    tessera_dimension_t *dims = view.shape_of(axes.count);
    int64_t dense = 1;
    bool is_empty = false;
    for (size_t axis = axes.count; axis-- > 0;) {
        const size_t d = reverse_axes ? axes.count - 1 - axis : axis;
        const int64_t extent = axes.shape[axis];
        int64_t stride = stride_of(axes, axis, dense, element, what);
        // Where there is one element, no stride is ever used; pipelines want 1 in dimension 0.
        if (extent <= 1 && (d == 0 || !fits_int32(stride))) stride = 1;
        if (!fits_int32(extent) || !fits_int32(stride))
            refuse_value(what, str("axis ", axis, " has the extent ", extent, " and the stride ",
                                   stride, " in elements: both have to fit 32 bits"));
        dims[d] = {0, int32_t(extent), int32_t(stride), 0};
        dense *= std::max<int64_t>(extent, 1);
        is_empty |= extent == 0;
    }
    if (!is_empty) return;
    // Some owners give such arrays strides of 0, which pipelines would refuse.
    int32_t stride = 1;
    for (int d = 0; d < view.raw.dimensions; d++) {
        dims[d].stride = stride;
        if (fits_int32(int64_t(stride) * dims[d].extent)) stride *= std::max(dims[d].extent, 1);
    }
    if (!view.raw.host && !view.raw.device) view.raw.host = nothing;
}

void put_on_host(ArrayView &view, void *data) {
    view.raw.host = static_cast<uint8_t *>(data);
    view.raw.flags = tessera_buffer_flag_host_dirty;
}

void put_on_gpu(ArrayView &view, void *data, int device, const What &what) {
    const int mine = tessera_get_gpu_device(nullptr);
    if (device != mine)
        refuse_value(what, str("the array is on GPU ", device, ", and pipelines run on GPU ", mine,
                               " (TESSERA_GPU_DEVICE says which); copy it to that one"));
    view.is_on_device = true;
    if (!data) return;
    view.raw.device = uint64_t(uintptr_t(data));
    view.raw.device_interface = tessera_cuda_device_interface();
    view.raw.flags = tessera_buffer_flag_device_dirty;
}

// ---- Arrays of NumPy's ----

// NumPy's own macros for C read these structs, so that their layout is part of what NumPy promises;
// it is tried out nevertheless before it is relied on.
struct NumpyDtype {
    PyObject head;
    PyTypeObject *scalar;
    char kind, letter, byte_order, flags;
    int number;
};
struct NumpyArray {
    PyObject head;
    char *data;
    int axes;
    Py_ssize_t *shape, *strides;
    PyObject *base;
    NumpyDtype *dtype;
    int flags;
};
constexpr int numpy_is_aligned = 0x100, numpy_is_writable = 0x400;

// The types by NumPy's numbers; `long long` is as long as `long`.
std::optional<Type> type_of_number(int number) {
    static const std::optional<Type> types[] = {
        Bool(),   Int(8),  UInt(8),  Int(16),   UInt(16),  Int(32), UInt(32), Int(64),
        UInt(64), Int(64), UInt(64), Float(32), Float(64), {},      {},       {},
        {},       {},      {},       {},        {},        {},      {},       Float(16)};
    if (number < 0 || size_t(number) >= std::size(types)) return {};
    return types[number];
}

// Those that ml_dtypes registers under numbers of its own.
std::optional<Type> type_of_scalar(PyTypeObject *scalar) {
    static std::map<PyTypeObject *, Type> known;
    if (!scalar) return {};
    if (auto found = known.find(scalar); found != known.end()) return found->second;
    const nb::handle object(reinterpret_cast<PyObject *>(scalar));
    const std::string name = nb::cast<std::string>(object.attr("__name__"));
    for (Type t : {BFloat(16), Float8E4M3(), Float8E5M2()}) {
        if (name != array_type_name(t)) continue;
        object.inc_ref();
        known[scalar] = t;
        return t;
    }
    return {};
}

Type type_of_numpy(const NumpyArray &a, nb::handle object, const What &what) {
    std::optional<Type> type = type_of_number(a.dtype->number);
    if (!type) type = type_of_scalar(a.dtype->scalar);
    if (!type)
        refuse_type(what, str("no Buffer has elements of the array's type, ",
                              text_of(object.attr("dtype"))));
    if (a.dtype->byte_order == '>')
        refuse_type(what, str("the array's numbers have the other order of bytes (",
                              text_of(object.attr("dtype")),
                              "); pass array.astype(array.dtype.newbyteorder(\"=\"))"));
    return *type;
}

void read_numpy(nb::handle object, Use use, bool reverse_axes, const What &what, ArrayView &view) {
    const auto &a = *reinterpret_cast<const NumpyArray *>(object.ptr());
    view.raw.type = type_of_numpy(a, object, what);
    if (!(a.flags & numpy_is_aligned))
        refuse_value(what, "the array's elements do not lie at multiples of their size; pass a "
                           "copy, array.copy()");
    put_on_host(view, a.data);
    view.is_read_only = !(a.flags & numpy_is_writable);
    set_shape(view, {size_t(a.axes), a.shape, a.strides, 1}, reverse_axes, what);
    if (use == Use::Kept) view.owner = ArrayOwner(object);
}

// Returns true if the structs above say of an array what NumPy says.
bool has_known_layout(nb::handle numpy) {
    const nb::object a = numpy.attr("zeros")(nb::make_tuple(2, 3), "int16");
    const nb::object part =
        a.attr("T").attr("__getitem__")(nb::slice(nb::int_(1), nb::none(), nb::none()));
    part.attr("setflags")("write"_a = false);
    const auto &struct_ = *reinterpret_cast<const NumpyArray *>(part.ptr());
    const nb::object data = part.attr("__array_interface__")["data"];
    return uint64_t(uintptr_t(struct_.data)) == nb::cast<uint64_t>(data[0]) && struct_.axes == 2 &&
           struct_.shape[0] == 2 && struct_.shape[1] == 2 && struct_.strides[0] == 2 &&
           struct_.strides[1] == 6 && struct_.dtype->number == 3 && struct_.dtype->kind == 'i' &&
           struct_.dtype->byte_order == '=' && !(struct_.flags & numpy_is_writable) &&
           (struct_.flags & numpy_is_aligned);
}

// NumPy's class of arrays; null until somebody has imported it, and where its layout is not known.
PyTypeObject *numpy_array_type() {
    static PyTypeObject *type = nullptr;
    static bool is_known = false;
    if (is_known) return type;
    PyObject *modules = PyImport_GetModuleDict();  // borrowed
    PyObject *module = PyDict_GetItemString(modules, "numpy");
    if (!module) return nullptr;
    const nb::object numpy = nb::borrow(module);
    if (!nb::hasattr(numpy, "ndarray") || !nb::hasattr(numpy, "zeros")) return nullptr;
    is_known = true;
    if (has_known_layout(numpy))
        type = reinterpret_cast<PyTypeObject *>(numpy.attr("ndarray").inc_ref().ptr());
    return type;
}

// ---- DLPack ----

std::optional<Type> type_of_tensor(const dlpack::DataType &t) {
    if (t.lanes != 1) return {};
    switch (t.code) {
    case dlpack::Int: return Int(t.bits);
    case dlpack::UInt: return UInt(t.bits);
    case dlpack::Float: return Float(t.bits);
    case dlpack::Bfloat: return BFloat(t.bits);
    case dlpack::Float8E4M3: return Float8E4M3();
    case dlpack::Float8E5M2: return Float8E5M2();
    case dlpack::Bool: return Bool();
    default: return {};
    }
}

bool is_gpu(int kind) { return kind == dlpack::cuda || kind == dlpack::cuda_managed; }

}  // namespace

void read_tensor(const dlpack::Tensor &t, bool reverse_axes, const What &what, ArrayView &view) {
    const std::optional<Type> type = type_of_tensor(t.type);
    const bool has_size =
        t.type.bits == 8 || t.type.bits == 16 || t.type.bits == 32 || t.type.bits == 64;
    if (!type || !has_size)
        refuse_type(what, str("no Buffer has elements of the array's type (DLPack's code ",
                              int(t.type.code), ", ", int(t.type.bits), " bits, ",
                              int(t.type.lanes), " lanes)"));
    view.raw.type = *type;
    void *data = t.data ? static_cast<uint8_t *>(t.data) + t.byte_offset : nullptr;
    if (t.device.kind == dlpack::host || t.device.kind == dlpack::cuda_host)
        put_on_host(view, data);
    else if (is_gpu(t.device.kind))
        put_on_gpu(view, data, t.device.index, what);
    else
        refuse_type(what, str("the array is on a device of another kind (DLPack's number ",
                              t.device.kind, "); CPUs and CUDA's GPUs are known"));
    set_shape(view, {size_t(t.axes), t.shape, t.strides, type->bytes()}, reverse_axes, what);
}

namespace {

// DLPack's number for a stream: 1 is the default one.
uint64_t number_of_stream(void *stream) { return stream ? uint64_t(uintptr_t(stream)) : 1; }

// The stream on which the library of an array works at the moment, where it has no table.
ArrayStream stream_of_library(nb::handle object) {
    struct Library {
        std::string_view name;
        const char *current, *address;
    };
    static constexpr Library libraries[] = {{"torch", "current_stream", "cuda_stream"},
                                            {"cupy", "get_current_stream", "ptr"}};
    const std::string module = text_of(object.type().attr("__module__"));
    const std::string_view name = std::string_view(module).substr(0, module.find('.'));
    for (const Library &l : libraries) {
        if (l.name != name) continue;
        const nb::object imported = nb::module_::import_(std::string(name).c_str());
        const nb::object stream = imported.attr("cuda").attr(l.current)();
        return {true, to_stream(stream.attr(l.address))};
    }
    return {};
}

// Calls object.__dlpack__ as its version of DLPack allows it.
nb::object capsule_of(nb::handle object, bool on_gpu, void *stream) {
    static const nb::object *newest = [] {
        nb::dict d;
        d["max_version"] = nb::make_tuple(dlpack::version.major, dlpack::version.minor);
        d["copy"] = false;
        return new nb::object(d);
    }();
    const nb::object method = object.attr("__dlpack__");
    nb::dict oldest, keywords;
    if (on_gpu) oldest["stream"] = number_of_stream(stream);
    keywords.update(nb::borrow<nb::dict>(*newest));
    keywords.update(oldest);
    const nb::tuple none;
    PyObject *capsule = PyObject_Call(method.ptr(), none.ptr(), keywords.ptr());
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_Call(method.ptr(), none.ptr(), oldest.ptr());
    }
    if (!capsule) throw nb::python_error();
    return nb::steal(capsule);
}

// Takes the tensor out of its capsule, which does not free it any more.
template<typename Managed> Managed *take(nb::handle capsule, const char *name, const char *used) {
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (!managed || PyCapsule_SetName(capsule.ptr(), used)) throw nb::python_error();
    return managed;
}

}  // namespace

void take_managed(dlpack::ManagedVersioned *managed, bool reverse_axes, const What &what,
                  ArrayView &view) {
    view.owner = ArrayOwner(managed);
    // Nobody sees what is written to a copy.
    view.is_read_only = managed->flags & (dlpack::is_read_only | dlpack::is_copied);
    read_tensor(managed->tensor, reverse_axes, what, view);
}

namespace {

void read_dlpack(nb::handle object, bool reverse_axes, const What &what, ArrayView &view) {
    const nb::object device = object.attr("__dlpack_device__")();
    const bool on_gpu = is_gpu(nb::cast<int>(nb::int_(device[0])));
    // The library makes the stream that it is given wait for its own.
    ArrayStream stream = current_stream();
    if (on_gpu && !stream.known) view.stream = stream = stream_of_library(object);
    const nb::object capsule = capsule_of(object, on_gpu, stream.stream);
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        const auto *seen = static_cast<dlpack::ManagedVersioned *>(
            PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        if (seen->version.major != dlpack::version.major)
            throw nb::buffer_error(str(what(), ": the array speaks version ", seen->version.major,
                                       " of DLPack, and 1 is known here")
                                       .c_str());
        take_managed(take<dlpack::ManagedVersioned>(capsule, "dltensor_versioned",
                                                    "used_dltensor_versioned"),
                     reverse_axes, what, view);
        return;
    }
    auto *managed = take<dlpack::Managed>(capsule, "dltensor", "used_dltensor");
    view.owner = ArrayOwner(managed);
    read_tensor(managed->tensor, reverse_axes, what, view);
}

// By the functions of a table. The order of work is for the caller: for a call, the stream of the
// array's framework is that of the pipeline.
void read_by_table(nb::handle object, const dlpack::ExchangeTable &table, Use use,
                   bool reverse_axes, const What &what, ArrayView &view) {
    if (use == Use::Call && table.tensor_from_object) {
        dlpack::Tensor tensor;
        if (table.tensor_from_object(object.ptr(), &tensor)) throw nb::python_error();
        read_tensor(tensor, reverse_axes, what, view);
    } else {
        dlpack::ManagedVersioned *managed = nullptr;
        if (table.managed_from_object(object.ptr(), &managed)) throw nb::python_error();
        take_managed(managed, reverse_axes, what, view);
    }
    if (!view.is_on_device) return;
    view.stream.known = true;
    const int device = tessera_get_gpu_device(nullptr);
    if (table.current_stream(dlpack::cuda, device, &view.stream.stream)) throw nb::python_error();
}

// ---- Array interfaces ----

std::optional<Type> type_of_text(const std::string &text) {
    if (text.size() < 3 || text.find_first_not_of("0123456789", 2) != text.npos) return {};
    const int bytes = std::stoi(text.substr(2, 2));
    if (text[0] == '>' || bytes < 1 || bytes > 8 || (bytes & (bytes - 1))) return {};
    switch (text[1]) {
    case 'b': return bytes == 1 ? std::optional(Bool()) : std::nullopt;
    case 'i': return Int(8 * bytes);
    case 'u': return UInt(8 * bytes);
    case 'f': return bytes > 1 ? std::optional(Float(8 * bytes)) : std::nullopt;
    default: return {};
    }
}

nb::object get_or_none(nb::handle dict, const char *key) {
    return nb::cast<bool>(dict.attr("__contains__")(key)) ? nb::object(dict[key]) : nb::none();
}

void read_interface(nb::handle object, const char *attribute, bool reverse_axes, const What &what,
                    ArrayView &view) {
    const bool on_gpu = attribute[2] == 'c';
    const nb::object d = object.attr(attribute);
    const std::string text = nb::cast<std::string>(d["typestr"]);
    const std::optional<Type> type = type_of_text(text);
    if (!type)
        refuse_type(what, str("no Buffer has elements of the array's type, ", text,
                              text.ends_with("V2") ? "; bfloat16 goes by DLPack" : ""));
    if (!get_or_none(d, "mask").is_none()) refuse_type(what, "arrays with a mask are not known");
    const nb::object data = get_or_none(d, "data");
    if (!nb::isinstance<nb::tuple>(data))
        refuse_type(what, str("its ", attribute, " has no address"));
    view.raw.type = *type;
    view.is_read_only = nb::cast<bool>(nb::bool_(data[1]));
    auto *address = reinterpret_cast<void *>(nb::cast<uintptr_t>(data[0]));
    if (on_gpu)
        put_on_gpu(view, address, tessera_get_gpu_device(nullptr), what);
    else
        put_on_host(view, address);
    const auto shape = nb::cast<std::vector<int64_t>>(nb::list(d["shape"]));
    const nb::object given = get_or_none(d, "strides");
    std::vector<int64_t> strides;
    if (!given.is_none()) strides = nb::cast<std::vector<int64_t>>(nb::list(given));
    if (!given.is_none() && strides.size() != shape.size())
        refuse_value(what, str("its ", attribute, " has as many strides as axes, no more"));
    set_shape(view, {shape.size(), shape.data(), given.is_none() ? nullptr : strides.data(), 1},
              reverse_axes, what);
    view.owner = ArrayOwner(object);
    const nb::object stream = on_gpu ? get_or_none(d, "stream") : nb::none();
    if (!stream.is_none()) view.stream = {true, to_stream(stream)};
}

// ---- The buffer protocol ----

// Whatever a memoryview can be of: bytes, array.array, mmap, arrays of ctypes. NumPy knows all the
// ways to describe elements. (nanobind's own reader relies on strides, which an exporter may omit.)
void read_memory(nb::handle object, bool reverse_axes, const What &what, ArrayView &view) {
    const nb::object memory = nb::steal(PyMemoryView_FromObject(object.ptr()));
    if (!memory.is_valid()) throw nb::python_error();
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(memory);
    read_array(array, Use::Kept, reverse_axes, what, view);
}

// ---- Which of these a class has ----

enum class Protocol { None, Numpy, Table, DLPack, CudaInterface, Memory, Interface };
struct KnownType {
    PyTypeObject *type;
    Protocol protocol;
    const dlpack::ExchangeTable *table;
};

const dlpack::ExchangeTable *table_of(nb::handle type) {
    if (!nb::hasattr(type, "__dlpack_c_exchange_api__")) return nullptr;
    const nb::object capsule = type.attr("__dlpack_c_exchange_api__");
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
    auto *table = static_cast<const dlpack::ExchangeTable *>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (table && table->version.major != dlpack::version.major) table = table->previous;
    return table;
}

bool has_memory(nb::handle object) {
    const nb::object view = nb::steal(PyMemoryView_FromObject(object.ptr()));
    if (!view.is_valid()) PyErr_Clear();
    return view.is_valid();
}

KnownType look_at(PyTypeObject *type, nb::handle object) {
    const nb::handle t(reinterpret_cast<PyObject *>(type));
    PyTypeObject *numpy = numpy_array_type();
    if (numpy && PyType_IsSubtype(type, numpy)) return {type, Protocol::Numpy, nullptr};
    if (const auto *table = table_of(t)) return {type, Protocol::Table, table};
    const bool has_dlpack = nb::hasattr(t, "__dlpack__") && nb::hasattr(t, "__dlpack_device__");
    if (has_dlpack) return {type, Protocol::DLPack, nullptr};
    if (nb::hasattr(t, "__cuda_array_interface__")) return {type, Protocol::CudaInterface, nullptr};
    if (has_memory(object)) return {type, Protocol::Memory, nullptr};
    if (nb::hasattr(t, "__array_interface__")) return {type, Protocol::Interface, nullptr};
    return {type, Protocol::None, nullptr};
}

// An instance may have what its class has not.
Protocol look_at_instance(nb::handle object) {
    if (nb::hasattr(object, "__cuda_array_interface__")) return Protocol::CudaInterface;
    if (nb::hasattr(object, "__array_interface__")) return Protocol::Interface;
    return Protocol::None;
}

// Classes are asked once. The cache keeps a reference of each, so that no other gets its address.
KnownType known_type(nb::handle object) {
    static auto &known = *new std::vector<KnownType>;
    constexpr size_t most = 64;
    PyTypeObject *type = Py_TYPE(object.ptr());
    for (const KnownType &k : known) {
        if (k.type == type) return k;
    }
    const KnownType found = look_at(type, object);
    if (found.protocol == Protocol::None) return {type, look_at_instance(object), nullptr};
    if (known.size() < most) {
        // That of Buffers lives as long as the module, which a reference would keep at the end.
        if (type != reinterpret_cast<PyTypeObject *>(nb::type<Buffer<>>().ptr()))
            Py_IncRef(reinterpret_cast<PyObject *>(type));
        known.push_back(found);
    }
    return found;
}

// Work that an array's owner has begun comes before what is done with an array that is kept.
void wait_for_owner(ArrayView &view) {
    if (!view.is_on_device || !view.stream.known) return;
    let_wait(current_stream().stream, view.stream.stream);
}

}  // namespace

bool is_array(nb::handle object) { return known_type(object).protocol != Protocol::None; }

bool read_array(nb::handle object, Use use, bool reverse_axes, const What &what, ArrayView &view) {
    const KnownType known = known_type(object);
    switch (known.protocol) {
    case Protocol::None: return false;
    case Protocol::Numpy: read_numpy(object, use, reverse_axes, what, view); return true;
    case Protocol::Table: read_by_table(object, *known.table, use, reverse_axes, what, view); break;
    case Protocol::DLPack: read_dlpack(object, reverse_axes, what, view); break;
    case Protocol::CudaInterface:
        read_interface(object, "__cuda_array_interface__", reverse_axes, what, view);
        break;
    case Protocol::Memory: read_memory(object, reverse_axes, what, view); break;
    case Protocol::Interface:
        read_interface(object, "__array_interface__", reverse_axes, what, view);
        break;
    }
    if (use == Use::Kept) wait_for_owner(view);
    return true;
}

}  // namespace tessera::python
