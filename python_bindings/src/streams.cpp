#include "arrays.h"
#include "docs/running.h"
#include <atomic>

// Streams of CUDA: which one work goes on, and who waits for whom.
namespace tessera::python {
namespace {

using Context = CUctx_st *;
using Stream = CUstream_st *;

thread_local ArrayStream stream_of_thread;
// Becomes true when work goes on another stream than the default one: nobody knows from then on
// where the contents of a Buffer were made.
std::atomic<bool> has_streams{false};

// A function of the driver; null if this driver has none.
template<typename Function> Function *driver_function(const char *name) {
    return reinterpret_cast<Function *>(tessera_cuda_get_symbol(nullptr, name));
}

[[noreturn]] void failed(const char *what, int code) {
    throw RuntimeError(str(what, ": CUDA's driver reports the error ", code));
}

// The runtime's context is current while it lives.
class InContext {
public:
    InContext() {
        static auto *push = driver_function<int(Context)>("cuCtxPushCurrent_v2");
        Context context = nullptr;
        acquired = true;
        const int code = tessera_cuda_acquire_context(nullptr, &context, true);
        if (code || !push) failed("entering the context of the GPU", code);
        if (const int error = push(context)) failed("entering the context of the GPU", error);
        pushed = true;
    }
    ~InContext() {
        static auto *pop = driver_function<int(Context *)>("cuCtxPopCurrent_v2");
        Context popped = nullptr;
        if (pushed && pop) pop(&popped);
        if (acquired) tessera_cuda_release_context(nullptr);
    }
    InContext(const InContext &) = delete;
    InContext &operator=(const InContext &) = delete;

private:
    bool acquired = false, pushed = false;
};

int32_t give_stream(JITUserContext *context, void *, void **stream) {
    *stream = static_cast<RunContext::Context *>(context)->stream;
    return 0;
}

}  // namespace

void RunContext::set_stream(const ArrayStream &s) {
    if (!s.known) return;
    context.stream = s.stream;
    context.handlers.custom_cuda_get_stream = give_stream;
    if (s.stream) has_streams.store(true, std::memory_order_relaxed);
}

ArrayStream current_stream() { return stream_of_thread; }

void *to_stream(nb::handle object) {
    if (object.is_none()) return nullptr;
    nb::object number = nb::borrow(object);
    if (nb::hasattr(object, "__cuda_stream__"))
        number = object.attr("__cuda_stream__")()[1];
    else if (nb::hasattr(object, "cuda_stream"))
        number = object.attr("cuda_stream");  // PyTorch's
    else if (nb::hasattr(object, "ptr"))
        number = object.attr("ptr");  // CuPy's
    if (!PyIndex_Check(number.ptr()))
        throw nb::type_error(str("a ", class_of(object),
                                 " is no stream of CUDA: its address is, or an object with "
                                 "__cuda_stream__, cuda_stream or ptr")
                                 .c_str());
    const auto address = nb::cast<uintptr_t>(nb::int_(number));
    return address == 1 ? nullptr : reinterpret_cast<void *>(address);
}

void let_wait(void *waiting, void *for_stream) {
    if (waiting == for_stream) return;
    using Event = void *;
    static auto *create = driver_function<int(Event *, unsigned)>("cuEventCreate");
    static auto *record = driver_function<int(Event, Stream)>("cuEventRecord");
    static auto *wait = driver_function<int(Stream, Event, unsigned)>("cuStreamWaitEvent");
    static auto *destroy = driver_function<int(Event)>("cuEventDestroy_v2");
    if (!create || !record || !wait || !destroy) failed("waiting for another stream", 500);
    constexpr unsigned without_time = 2;
    nb::gil_scoped_release no_gil;
    InContext in;
    Event event = nullptr;
    if (int code = create(&event, without_time)) failed("waiting for another stream", code);
    int code = record(event, static_cast<Stream>(for_stream));
    if (!code) code = wait(static_cast<Stream>(waiting), event, 0);
    destroy(event);  // it goes when it has happened
    if (code) failed("waiting for another stream", code);
}

void wait_for_streams() {
    if (!has_streams.load(std::memory_order_relaxed)) return;
    static auto *synchronize = driver_function<int()>("cuCtxSynchronize");
    nb::gil_scoped_release no_gil;
    InContext in;
    if (int code = synchronize ? synchronize() : 500) failed("waiting for the GPU", code);
}

void bring_to_host(const Buffer<> &b, const Location &at) {
    BufferContents &c = b.contents(at);
    // Others may have written to memory of theirs.
    const bool may_change = !c.raw.host_dirty() && is_seen_on_device(c);
    if (!c.raw.device_dirty() && !may_change) return;
    c.raw.set_device_dirty();
    wait_for_streams();
    RunContext on{nb::handle()};
    on.set_stream(current_stream());
    nb::gil_scoped_release no_gil;
    if (!c.raw.host) {
        // What owns the memory on the device stays.
        const std::shared_ptr<void> owner = c.memory;
        c.allocate();
        if (owner) keep_both(c, owner);
    }
    c.copy_to_host(on.get(), at);
}

void bind_streams(nb::module_ &m) {
    struct Entered {
        void *stream;
        std::vector<ArrayStream> before;
    };
    nb::class_<Entered>(m, "cuda_stream", docs::cuda_stream::class_)
        .def(
            "__init__",
            [](Entered *e, nb::handle stream) { new (e) Entered{to_stream(stream), {}}; },
            "stream"_a.none())
        .def(
            "__enter__",
            [](Entered &e) -> Entered & {
                e.before.push_back(stream_of_thread);
                stream_of_thread = {true, e.stream};
                return e;
            },
            nb::rv_policy::none)
        .def("__exit__",
             [](Entered &e, nb::args) {
                 stream_of_thread = e.before.back();
                 e.before.pop_back();
             })
        .def("__cuda_stream__",
             [](const Entered &e) { return std::pair(0, uint64_t(uintptr_t(e.stream))); });
}

}  // namespace tessera::python
