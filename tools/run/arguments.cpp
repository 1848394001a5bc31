#include "arguments.h"
#include "base/error.h"
#include "convert.h"
#include "fill.h"
#include "hooks.h"
#include <algorithm>
#include <chrono>
#include <iostream>

namespace tessera::run {
namespace {

using files::Array;

constexpr size_t alignment = 128;

std::vector<int> mins_of(const Dimensions &dims) {
    std::vector<int> mins;
    for (const tessera_dimension_t &d : dims) mins.push_back(d.min);
    return mins;
}

// The elements from the first to the last in memory.
size_t span_of(const Dimensions &dims) {
    int64_t last = 0;
    for (const tessera_dimension_t &d : dims) {
        if (d.extent <= 0) return 0;
        last += int64_t(d.extent - 1) * d.stride;
    }
    return size_t(last + 1);
}

// Returns true if each element has a place of its own, behind the first one.
bool is_layout(Dimensions dims) {
    std::ranges::sort(dims, {}, [](const tessera_dimension_t &d) { return d.stride; });
    int64_t reach = 0;
    for (const tessera_dimension_t &d : dims) {
        if (d.extent > 1 && d.stride <= reach) return false;
        reach += int64_t(std::max(d.extent, 1) - 1) * d.stride;
    }
    return true;
}

tessera_buffer_t descriptor(uint8_t *host, tessera_type_t type, Dimensions &dims) {
    tessera_buffer_t b{};
    b.host = host;
    b.type = type;
    b.dimensions = int32_t(dims.size());
    b.dim = dims.data();
    return b;
}

void copy(const tessera_buffer_t &from, tessera_buffer_t to) {
    if (to.number_of_elements() == 0) return;
    if (tessera_buffer_copy(nullptr, &from, &to) != 0)
        throw InternalError("a buffer cannot be copied");
}

void allocate(Arguments::Buffer &b, Dimensions &dims) {
    if (!is_layout(dims)) dims = dense(mins_of(dims), extents_of(dims), {});
    b.memory.resize(span_of(dims) * size_t(b.about->type.bytes()) + alignment);
    size_t misplaced = reinterpret_cast<uintptr_t>(b.memory.data()) % alignment;
    b.raw = descriptor(b.memory.data() + (alignment - misplaced) % alignment, b.about->type, dims);
}

void require_dimensions(const std::vector<int> &extents, const ArgumentInfo &about) {
    if (int(extents.size()) == about.dimensions) return;
    throw RuntimeError(str(about.name, " has ", count_text(about.dimensions, "dimension"), ", not ",
                           extents.size()));
}

void require_name(const char *what, const std::string &name,
                  const std::vector<std::string> &known) {
    if (std::ranges::find(known, name) != known.end()) return;
    throw RuntimeError(str("there is no ", what, " ", name, suggestion(name, known), "; the ", what,
                           "s are ", join(known)));
}

}  // namespace

void with_context(const std::string &what, const std::function<void()> &f) {
    try {
        f();
    } catch (const RuntimeError &e) {
        throw RuntimeError(str(what, ": ", e.what()));
    }
}

Arguments::Arguments(const Function &f, const Options &options) : f(f), options(options) {
    check_names();
    scalars.resize(f.arguments().size());
    for (const ArgumentInfo &a : f.arguments()) {
        is_scalar(a) ? add_scalar(a) : add_buffer(a);
    }
    Sizes question(f, args, sizes);
    question.ask_for_least();
    adapt_channels();
    question.find();
    for (size_t i = 0; i < buffers.size(); i++) {
        sizes[i].is_output() ? allocate(buffers[i], sizes[i].dims) : fill(buffers[i], sizes[i]);
    }
    auto next = buffers.begin();
    for (void *&arg : args) {
        if (!arg) arg = &(next++)->raw;
    }
}

void Arguments::note(const std::string &sentence) const {
    if (!options.quiet) std::cerr << "note: " << sentence << "\n";
}

void Arguments::check_names() const {
    std::vector<std::string> names, outputs;
    for (const ArgumentInfo &a : f.arguments()) {
        if (!is_user_context(a)) names.emplace_back(a.name);
        if (is_output(a)) outputs.emplace_back(a.name);
    }
    for (const auto &[name, text] : options.values) require_name("argument", name, names);
    for (const auto &[name, text] : options.checks) require_name("output", name, outputs);
    for (const auto &[name, text] : options.output_extents) {
        if (!name.empty()) require_name("output", name, outputs);
    }
}

std::string Arguments::text_of(const ArgumentInfo &a, const std::optional<std::string> &otherwise,
                               const char *what_to_say) const {
    auto given = options.values.find(a.name);
    if (given != options.values.end()) return given->second;
    if (otherwise) return *otherwise;
    throw RuntimeError(str(a.name, " has no value: say ", a.name, "=", what_to_say));
}

void Arguments::add_scalar(const ArgumentInfo &a) {
    Scalar &scalar = scalars[args.size()];
    args.push_back(scalar.bytes);
    if (is_user_context(a)) return;
    std::string text = text_of(a, options.default_scalars, "VALUE, or --default_input_scalars");
    with_context(str(a.name, "=", text), [&] {
        auto value = scalar_from(a, text);
        if (!value) throw RuntimeError("the pipeline says none for it");
        scalar = *value;
    });
}

void Arguments::add_buffer(const ArgumentInfo &a) {
    args.push_back(nullptr);
    BufferSize &size = sizes.emplace_back();
    Buffer &b = buffers.emplace_back();
    size.about = b.about = &a;
    size.mins.assign(size_t(a.dimensions), 0);
    if (a.type.code == tessera_type_handle) {
        throw RuntimeError(str(a.name, ": there are no buffers of pointers here"));
    }
    if (is_output(a)) return size_output(size);
    std::string text = text_of(a, options.default_buffers, "FILE, or --default_input_buffers");
    with_context(str(a.name, "=", text), [&] {
        b.text = parse_input(text);
        load(b, size);
    });
}

void Arguments::size_output(BufferSize &size) const {
    auto found = options.output_extents.find(size.about->name);
    if (found == options.output_extents.end()) found = options.output_extents.find("");
    if (found == options.output_extents.end() || found->second == "auto") return;
    const std::string &text = found->second;
    with_context(str("--output_extents=", text), [&] {
        if (text == "estimate" || text == "estimate_then_auto") {
            size.is_known = estimates_of(*size.about, size.mins, size.extents);
            if (!size.is_known && text == "estimate")
                throw RuntimeError(str(size.about->name, " has no estimates"));
            return;
        }
        size.extents = parse_extents(text);
        require_dimensions(size.extents, *size.about);
        size.is_known = true;
    });
}

void Arguments::load(Buffer &b, BufferSize &size) {
    using Size = InputText::Size;
    const ArgumentInfo &a = *b.about;
    if (b.text.fill == InputText::Fill::Constant) parse_scalar(a.type, b.text.value);
    switch (b.text.size) {
    case Size::OfFile:
        b.array = with_dimensions(files::read_file(b.text.path, formats(), a.name), a.dimensions);
        size.extents = b.array.extents;
        break;
    case Size::Given:
        require_dimensions(b.text.extents, a);
        size.extents = b.text.extents;
        break;
    case Size::Auto: return;
    case Size::Estimate:
    case Size::EstimateOrAuto:
        size.is_known = estimates_of(a, size.mins, size.extents);
        if (!size.is_known && b.text.size == Size::Estimate) {
            throw RuntimeError(str(a.name, " has no estimates"));
        }
        return;
    }
    size.is_known = true;
}

// A picture may want more channels than its file has.
void Arguments::adapt_channels() {
    for (size_t i = 0; i < buffers.size(); i++) {
        Array &array = buffers[i].array;
        BufferSize &size = sizes[i];
        if (!array.is_picture || size.about->dimensions != 3 || size.needed.empty()) continue;
        array = with_channels(std::move(array), size.needed[2].extent);
        size.extents = array.extents;
    }
}

void Arguments::use_file(Buffer &b, BufferSize &size) const {
    std::string given = str(b.about->name, "=", b.text.path);
    with_context(given, [&] { b.array = with_type(std::move(b.array), b.about->type); });
    bool has_channels = b.array.is_picture && size.dims.size() == 3;
    int channels = b.array.extent(2);
    if (has_channels && size.needed[2].min == size.dims[2].min && size.needed[2].extent > 0 &&
        size.needed[2].extent < channels) {
        std::vector<int> extents = extents_of(size.dims);
        extents[2] = size.needed[2].extent;
        size.dims = dense(mins_of(size.dims), extents, size.needed);
        b.array.notes.push_back(
            str("of its ", count_text(channels, "channel"), " ", extents[2], " are used"));
    }
    for (const std::string &sentence : b.array.notes) note(str(given, ": ", sentence));
    for (size_t d = 0; d < size.dims.size(); d++) {
        if (size.dims[d].min == 0) continue;
        note(str(given, ": it begins at ", size.dims[d].min, " in dimension ", d,
                 ", where the pipeline reads it"));
    }
}

void Arguments::choose_seed(Buffer &b) const {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    if (!b.text.seed) b.text.seed = uint64_t(now.count()) % 1000000;
    note(str(b.about->name, " is random, with the seed ", *b.text.seed));
}

void Arguments::fill(Buffer &b, BufferSize &size) {
    if (b.text.size == InputText::Size::OfFile) {
        use_file(b, size);
    } else {
        if (b.text.fill == InputText::Fill::Random) choose_seed(b);
        b.array = filled_array(b.about->type, mins_of(size.dims), extents_of(size.dims), b.text);
    }
    allocate(b, size.dims);
    Dimensions dims = dense(mins_of(size.dims), b.array.extents, {});
    copy(descriptor(b.array.bytes.data(), b.array.type, dims), b.raw);
    b.array = Array();
}

Arguments::~Arguments() {
    for (Buffer &b : buffers) {
        if (b.raw.device_interface) b.raw.device_interface->device_free(nullptr, &b.raw);
    }
}

// A library may have a runtime of its own: it is the one that a buffer on a device names.
void Arguments::for_each_on_device(const char *what, int (*work)(tessera_buffer_t &)) {
    for (Buffer &b : buffers) {
        if (!b.raw.device_interface) continue;
        const std::string failure = Hooks::run([&] { return work(b.raw); });
        if (failure.empty()) continue;
        throw RuntimeError(
            str(f.name(), " failed, when ", what, " ", b.about->name, ": ", failure));
    }
}

void Arguments::wait() {
    for_each_on_device("waiting for", [](tessera_buffer_t &b) {
        return b.device_interface->device_sync(nullptr, &b);
    });
}

void Arguments::copy_to_host() {
    for_each_on_device("copying to the host", [](tessera_buffer_t &b) {
        return b.device_interface->copy_to_host(nullptr, &b);
    });
}

Array Arguments::elements(const Buffer &b) {
    Dimensions given(b.raw.dim, b.raw.dim + b.raw.dimensions);
    Array array(b.about->type, extents_of(given));
    Dimensions dims = dense(mins_of(given), array.extents, {});
    copy(b.raw, descriptor(array.bytes.data(), array.type, dims));
    return array;
}

}  // namespace tessera::run
