#pragma once
#include "bindings.h"
#include "dlpack.h"
#include "runtime/tessera_runtime_cuda.h"
#include <memory>

// Arrays of other libraries as buffers, without copies.
namespace tessera::python {

// Keeps the memory of an array alive. It may go on any thread, with the GIL or without.
class ArrayOwner {
public:
    ArrayOwner() = default;
    explicit ArrayOwner(nb::handle object);
    explicit ArrayOwner(dlpack::Managed *tensor);
    explicit ArrayOwner(dlpack::ManagedVersioned *tensor);
    // Keeps what stands in the shared pointer.
    explicit ArrayOwner(std::shared_ptr<void> memory);
    ArrayOwner(ArrayOwner &&other) noexcept { *this = std::move(other); }
    ArrayOwner &operator=(ArrayOwner &&other) noexcept {
        std::swap(kept, other.kept);
        std::swap(release, other.release);
        return *this;
    }
    ~ArrayOwner() {
        if (kept) release(kept);
    }

private:
    void *kept = nullptr;
    void (*release)(void *) = nullptr;
};

// An array of another library as the runtime sees it. Dimension 0 is the last axis, unless the axes
// are not to be reversed.
struct ArrayView {
    ArrayView() = default;
    ArrayView(const ArrayView &) = delete;
    ArrayView &operator=(const ArrayView &) = delete;
    // Frees memory on a device that a pipeline has allocated for an array on the host.
    ~ArrayView() {
        if (raw.device && !is_on_device) tessera_device_free(nullptr, &raw);
    }

    // Makes room for dimensions and returns it.
    tessera_dimension_t *shape_of(size_t dimensions) {
        if (dimensions > few_dimensions) many.reset(new tessera_dimension_t[dimensions]);
        raw.dimensions = int32_t(dimensions);
        return raw.dim = dimensions > few_dimensions ? many.get() : few;
    }

    tessera_buffer_t raw{};
    bool is_read_only = false;
    bool is_on_device = false;
    ArrayStream stream;
    ArrayOwner owner;  // empty where the array is only to be read while the caller has it

private:
    static constexpr size_t few_dimensions = 6;
    tessera_dimension_t few[few_dimensions];
    std::unique_ptr<tessera_dimension_t[]> many;
};

// Says how long an array is used, and with it who sees to the order of work on a GPU.
enum class Use {
    // While it is passed: work goes on the stream of its owner, if that is known.
    Call,
    // Longer: the view has an owner, and the stream of this thread waits for what the owner does.
    Kept
};

// Describes an array that has DLPack, the buffer protocol or an array interface. Returns false if
// the object has none of these. Throws TypeError, ValueError or what the object itself raises if
// it is an array that no buffer can stand for.
bool read_array(nb::handle object, Use use, bool reverse_axes, const What &what, ArrayView &view);
// Describes a tensor whose memory the caller keeps. It throws as well, and needs no GIL.
void read_tensor(const dlpack::Tensor &t, bool reverse_axes, const What &what, ArrayView &view);
// Takes a tensor over, which the view frees.
void take_managed(dlpack::ManagedVersioned *tensor, bool reverse_axes, const What &what,
                  ArrayView &view);
// Copies the results of an array on the host to it, after a call that has put it on a device, and
// frees the memory there.
void bring_back(ArrayView &view, JITUserContext *context);

// Sees to it that both libraries see what the other has done: what BufferContents::memory of a
// Buffer holds whose memory Python sees.
struct SharedMemory {
    ArrayOwner owner;
    bool is_read_only = false;
    bool is_on_device = false;  // it is the owner's memory there that the Buffer is of
    ArrayStream stream;
};
// Returns null if nobody else sees the memory.
SharedMemory *shared_memory(const BufferContents &contents);
bool is_read_only(const Buffer<> &b);
// Returns true if Python may read elements at their address on the host at any time.
bool is_seen_on_host(const BufferContents &contents);
// Notes that Python sees the memory of the Buffer from now on.
void note_shared(const Buffer<> &b);
// Returns true if others may write to the Buffer's memory on a GPU at any time.
bool is_seen_on_device(const BufferContents &contents);
// A Buffer of the array, which keeps what owns its memory.
Buffer<> buffer_of(ArrayView &&view, const std::string &name);

// Returns "(2, 3) float32 (dimensions 3 x 2)": the shape in the order of axes and of dimensions.
std::string shape_text(const tessera_buffer_t &b);

// Keeps another owner beside the memory that the contents have.
void keep_both(BufferContents &contents, std::shared_ptr<void> other);
// Copies results from a device, if the Buffer has some there.
void bring_to_host(const Buffer<> &b, const Location &at);

// ---- Streams ----

// The stream that `with tessera.cuda_stream(...)` has set for this thread.
ArrayStream current_stream();
// Throws TypeError if the object stands for no stream.
void *to_stream(nb::handle object);
// Makes `waiting` wait for what is on `for_stream` now.
void let_wait(void *waiting, void *for_stream);
// Waits for all work, unless it has been on the default stream alone.
void wait_for_streams();
// Defines how a Buffer is seen by other libraries.
const PyType_Slot *buffer_slots();
void define_export(nb::class_<Buffer<>> &c);
// Returns a tensor with the memory of the Buffer, that on a GPU where its contents are the newest.
// Nothing is waited for.
dlpack::ManagedVersioned *managed_tensor(const Buffer<> &b);
// Defines the table of DLPack 1.3 by which Buffers are exchanged without a call of Python.
void define_exchange_table(nb::class_<Buffer<>> &c);
nb::object numpy_dtype(Type t);
// Returns the name of the type in NumPy and ml_dtypes.
std::string array_type_name(Type t);
nb::object as_numpy(nb::handle buffer);

}  // namespace tessera::python
