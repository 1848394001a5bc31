#include "xla.h"
#include "arrays.h"
#include <atomic>
#include <charconv>
#include <map>
#include <random>
#include <shared_mutex>

// Pipelines as functions that programs of XLA call, without Python.
namespace tessera::python {
namespace {

// The runtime says the first of an array that is wanted on the host; an error about one that is on
// a GPU goes on with the second.
constexpr const char *null_host = "its host pointer is null";
constexpr const char *no_gpu_loops =
    "; the pipeline has no loops for a GPU, where its arrays are: schedule it there (gpu_tile), "
    "in a function of a Target that op() is given, or move the arrays to the CPU";

enum Device { Cpu, Cuda };
constexpr const char *device_names[] = {"cpu", "cuda"};

// ---- Pipelines, by number ----

// Programs of XLA that know its number may live as long as the process: so does it.
struct Registered {
    std::string name;
    PyObject *callable_for;                                     // of a device's name
    std::atomic<PyObject *> callables[2] = {nullptr, nullptr};  // once they are compiled

    const Callable &callable(Device device);
};

const Callable &Registered::callable(Device device) {
    std::atomic<PyObject *> &mine = callables[device];
    PyObject *found = mine.load(std::memory_order_acquire);
    if (!found) {
        nb::gil_scoped_acquire gil;
        try {
            nb::object made = nb::handle(callable_for)(device_names[device]);
            if (!nb::isinstance<Callable>(made)) throw std::runtime_error("no Callable was made");
            found = made.release().ptr();
        } catch (const nb::python_error &e) {
            throw std::runtime_error(text_of(e.value()));  // which is freed here, with the GIL
        }
        mine.store(found, std::memory_order_release);
    }
    return *nb::inst_ptr<Callable>(found);
}

struct Pipelines {
    std::shared_mutex mutex;
    std::map<int64_t, std::unique_ptr<Registered>> all;
    // Programs that XLA has kept on disk are not to find another process's pipelines.
    int64_t next = int64_t(std::random_device()() & 0x7fffffff) << 31 | 1;
};
Pipelines &pipelines() {
    static auto &all = *new Pipelines();
    return all;
}

int64_t add_pipeline(const std::string &name, nb::callable callable_for) {
    auto made = std::make_unique<Registered>();
    made->name = name;
    made->callable_for = callable_for.release().ptr();
    Pipelines &p = pipelines();
    std::unique_lock lock(p.mutex);
    p.all[p.next] = std::move(made);
    return p.next++;
}

Registered &pipeline_of(int64_t number) {
    Pipelines &p = pipelines();
    std::shared_lock lock(p.mutex);
    const auto found = p.all.find(number);
    if (found == p.all.end())
        throw std::runtime_error("a pipeline of another process: a program that calls pipelines of "
                                 "tessera.jax runs only where these were made");
    return *found->second;
}

// ---- What a call is given ----

int attribute(const xla::Attributes &all, std::string_view name, int kind) {
    for (int i = 0; i < all.count; i++) {
        const xla::Text &text = *all.names[i];
        if (std::string_view(text.begin, text.length) == name && all.kinds[i] == kind) return i;
    }
    throw std::runtime_error(str("the call has no attribute ", name));
}

int64_t number_of(const xla::Attributes &all) {
    const auto &scalar =
        *static_cast<xla::Scalar *>(all.all[attribute(all, "pipeline", xla::is_scalar)]);
    return *static_cast<const int64_t *>(scalar.value);
}

// The numbers that were known when the program was made: their bits, or "-" for one that is an
// array without axes, each with a blank behind it.
class Numbers {
public:
    explicit Numbers(const xla::Attributes &all) {
        const auto &text =
            *static_cast<xla::Text *>(all.all[attribute(all, "numbers", xla::is_text)]);
        at = text.begin;
        end = text.begin + text.length;
    }
    std::optional<uint64_t> next() {
        uint64_t bits = 0;
        const auto [after, error] = std::from_chars(at, end, bits, 16);
        const bool is_known = error == std::errc();
        at = std::min(end, (is_known ? after : at + 1) + 1);
        return is_known ? std::optional(bits) : std::nullopt;
    }

private:
    const char *at, *end;
};

dlpack::DataType element_type(int type) {
    using namespace dlpack;
    switch (type) {
    case xla::Bool: return {dlpack::Bool, 8, 1};
    case xla::Int8: return {Int, 8, 1};
    case xla::Int16: return {Int, 16, 1};
    case xla::Int32: return {Int, 32, 1};
    case xla::Int64: return {Int, 64, 1};
    case xla::UInt8: return {UInt, 8, 1};
    case xla::UInt16: return {UInt, 16, 1};
    case xla::UInt32: return {UInt, 32, 1};
    case xla::UInt64: return {UInt, 64, 1};
    case xla::Float16: return {Float, 16, 1};
    case xla::Float32: return {Float, 32, 1};
    case xla::Float64: return {Float, 64, 1};
    case xla::BFloat16: return {Bfloat, 16, 1};
    case xla::Float8E5M2: return {dlpack::Float8E5M2, 8, 1};
    case xla::Float8E4M3: return {dlpack::Float8E4M3, 8, 1};
    default:
        throw std::runtime_error(str("arrays of XLA's type ", type, " are not known to pipelines"));
    }
}

int gpu_of(const void *memory) {
    using Attribute = int(void *, int, uint64_t);
    constexpr int device_ordinal = 9;
    static auto *get =
        reinterpret_cast<Attribute *>(tessera_cuda_get_symbol(nullptr, "cuPointerGetAttribute"));
    int device = 0;
    if (!memory || !get || get(&device, device_ordinal, uint64_t(uintptr_t(memory)))) return 0;
    return device;
}

// ---- A call ----

// An array of a call; with axes of a batch before its own, of which each may have the extent 1
// where all parts of the batch have the same.
struct BatchedArray {
    BatchedArray(const xla::Buffer &buffer, const Argument &argument, size_t batch_axes,
                 Device device)
        : buffer(buffer), argument(argument), batch_axes(batch_axes) {
        const size_t own = size_t(buffer.axes) - batch_axes;
        if (size_t(buffer.axes) < batch_axes ||
            own != size_t(argument.is_buffer() ? argument.dimensions : 0))
            throw std::runtime_error(str(which(), ": an array of ", buffer.axes, " axes; wanted ",
                                         int(argument.dimensions)));
        part_bytes = argument.type.bytes();
        for (size_t i = batch_axes; i < size_t(buffer.axes); i++) part_bytes *= buffer.shape[i];
        const dlpack::Device on = {device == Cuda ? dlpack::cuda : dlpack::host,
                                   device == Cuda ? gpu_of(buffer.data) : 0};
        const auto what = [this] { return which(); };
        read_tensor({buffer.data, on, int32_t(own), element_type(buffer.type),
                     buffer.shape + batch_axes, nullptr, 0},
                    true, what, view);
        if (Type(view.raw.type) != argument.type)
            throw std::runtime_error(
                str(which(), ": an array of ", Type(view.raw.type), "; wanted ", argument.type));
    }

    std::string which() const { return str("argument ", argument.name); }

    // Moves on to a part of the batch.
    void go_to(const std::vector<int64_t> &part) {
        int64_t index = 0;
        for (size_t i = 0; i < batch_axes; i++)
            index = index * buffer.shape[i] + (buffer.shape[i] == 1 ? 0 : part[i]);
        uint8_t *at = static_cast<uint8_t *>(buffer.data) + index * part_bytes;
        if (view.is_on_device) {
            view.raw.device = uint64_t(uintptr_t(at));
        } else {
            view.raw.host = at;
            view.raw.flags = tessera_buffer_flag_host_dirty;
        }
    }

    const xla::Buffer &buffer;
    const Argument &argument;
    size_t batch_axes;
    int64_t part_bytes = 0;
    ArrayView view;
};

class Run {
public:
    Run(const xla::Call &call, Device device)
        : call(call), device(device), pipeline(pipeline_of(number_of(call.attributes))),
          callable(pipeline.callable(device)) {}

    // Runs the pipeline for each part of the batch.
    void all() {
        find_stream();
        read_arguments();
        const xla::Buffer &first = *call.outputs.all[0];
        std::vector<int64_t> part(batch_axes, 0);
        for (int i = 0; i < call.outputs.count; i++) {
            const xla::Buffer &out = *call.outputs.all[i];
            if (std::find(out.shape, out.shape + out.axes, 0) != out.shape + out.axes) return;
        }
        do {
            go_to(part);
            run();
        } while (advance(part, first.shape));
    }

    const std::string &name() const { return pipeline.name; }

private:
    void find_stream() {
        if (device != Cuda) return;
        xla::StreamArguments arguments{sizeof(xla::StreamArguments), nullptr, call.context,
                                       nullptr};
        if (call.api->stream(&arguments)) throw std::runtime_error("XLA tells no stream");
        stream = {true, arguments.stream};
    }

    void read_arguments() {
        const std::vector<Argument> &wanted = callable.arguments();
        const xla::Buffer &last = *call.outputs.all[call.outputs.count - 1];
        if (last.axes < wanted.back().dimensions)
            throw std::runtime_error(str("the result ", wanted.back().name, " has ", last.axes,
                                         " axes; wanted ", int(wanted.back().dimensions)));
        batch_axes = size_t(last.axes - wanted.back().dimensions);
        Numbers numbers(call.attributes);
        int64_t input = 0, output = 0;
        for (const Argument &a : wanted) {
            const std::optional<uint64_t> bits = a.is_buffer() ? std::nullopt : numbers.next();
            passed.push_back(CallableArgument(a.type, bits.value_or(0)));
            operands.push_back(nullptr);
            if (bits) continue;
            const xla::Buffers &of = a.is_output() ? call.outputs : call.inputs;
            int64_t &next = a.is_output() ? output : input;
            if (next == of.count) throw std::runtime_error(str("argument ", a.name, " is missing"));
            operands.back() =
                std::make_unique<BatchedArray>(*of.all[next++], a, batch_axes, device);
            if (a.is_buffer()) passed.back() = CallableArgument(&operands.back()->view.raw);
        }
        if (input != call.inputs.count || output != call.outputs.count)
            throw std::runtime_error("the call has more arrays than the pipeline has arguments");
    }

    void go_to(const std::vector<int64_t> &part) {
        for (size_t i = 0; i < operands.size(); i++) {
            if (!operands[i]) continue;
            operands[i]->go_to(part);
            if (!operands[i]->argument.is_buffer()) passed[i].bits = number_in(*operands[i]);
        }
    }

    // A number that the program has computed; on a GPU it is waited for.
    uint64_t number_in(BatchedArray &o) {
        uint64_t bits = 0;
        if (o.view.is_on_device) {
            BufferContents number(o.view.raw, o.argument.name);
            number.device_ownership = BufferDeviceOwnership::Unmanaged;
            number.raw.host = reinterpret_cast<uint8_t *>(&bits);
            RunContext context(stream);
            number.copy_to_host(context.get(), {});
        } else {
            std::memcpy(&bits, o.view.raw.host, size_t(o.part_bytes));
        }
        return bits;
    }

    void run() {
        if (!RunContext::any_handlers()) {
            RunContext context(stream);
            return run_in(context.get());
        }
        nb::gil_scoped_acquire gil;
        RunContext context(callable);
        context.set_stream(stream);
        nb::gil_scoped_release no_gil;
        run_in(context.get());
    }

    void run_in(JITUserContext *context) {
        callable.call(passed, context, {});
        for (const auto &o : operands) {
            if (o && o->view.raw.device && !o->view.is_on_device) bring_back(o->view, context);
        }
    }

    bool advance(std::vector<int64_t> &part, const int64_t *extents) const {
        for (size_t i = batch_axes; i-- > 0;) {
            if (++part[i] < extents[i]) return true;
            part[i] = 0;
        }
        return false;
    }

    const xla::Call &call;
    Device device;
    Registered &pipeline;
    const Callable &callable;
    ArrayStream stream;
    size_t batch_axes = 0;
    std::vector<CallableArgument> passed;
    std::vector<std::unique_ptr<BatchedArray>> operands;  // null for numbers that are known
};

// ---- The handler ----

// The structs that are used are the same in all minor versions: that of XLA is spoken, or the first
// one, whose XLA does not say it here.
bool describe(const xla::Call &call) {
    for (xla::Extension *e = call.extensions; e; e = e->next) {
        if (e->kind != xla::metadata) continue;
        xla::Metadata &m = *reinterpret_cast<xla::MetadataExtension *>(e)->metadata;
        m.version.major = xla::major_version;
        m.version.minor = call.api ? call.api->version.minor : xla::first_minor_version;
        m.traits = 0;
        return true;
    }
    return false;
}

template<Device device> xla::Error *handle(xla::Call *call) noexcept {
    if (describe(*call) || call->stage != xla::execute) return nullptr;
    std::string message;
    try {
        Run run(*call, device);
        try {
            run.all();
            return nullptr;
        } catch (const std::exception &e) {
            message = str(run.name(), ": ", e.what());
            if (device == Cuda && message.find(null_host) != message.npos) message += no_gpu_loops;
        }
    } catch (const std::exception &e) {
        message = e.what();
    }
    xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, message.c_str(),
                                  xla::invalid_argument};
    return call->api->make_error(&arguments);
}

}  // namespace

void bind_xla(nb::module_ &m) {
    m.def(
        "_xla_handler",
        [](bool on_gpu) {
            return nb::capsule(reinterpret_cast<void *>(on_gpu ? handle<Cuda> : handle<Cpu>));
        },
        "on_gpu"_a);
    m.attr("_null_host") = null_host;
    m.attr("_no_gpu_loops") = no_gpu_loops;
    m.def("_add_xla_pipeline", &add_pipeline, "name"_a, "callable_for"_a);
    m.def(
        "_number_bits",
        [](const TypeLike &t, nb::handle value, const std::string &what) {
            return number_bits(t.get(), value, what.c_str());
        },
        "type"_a, "value"_a, "what"_a);
}

}  // namespace tessera::python
