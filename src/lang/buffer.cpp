#include "lang/buffer.h"
#include "base/dialect.h"
#include "base/error.h"
#include "base/str.h"
#include "ir/nodes.h"
#include "lang/var.h"
#include "program/parameter.h"
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

namespace tessera {

namespace {

constexpr size_t alignment = 128;
constexpr uint64_t max_bytes = uint64_t(1) << 47;  // what an x86-64 process can address

int64_t bytes_of(Type t) { return int64_t(t.bytes()) * t.lanes(); }

std::string describe(int dimensions) {
    return str(dimensions, dimensions == 1 ? " dimension" : " dimensions");
}

int to_stride(int64_t stride, size_t d) {
    if (stride > std::numeric_limits<int>::max()) {
        throw RuntimeError(str("the buffer is too large: its stride in dimension ", d, " would be ",
                               stride, ", more than ", std::numeric_limits<int>::max()));
    }
    return int(stride);
}

// Returns the dimensions from the innermost to the outermost in memory. A stride of 0, as one
// around an extent of 0 has it, is the largest.
std::vector<int> storage_order(const BufferContents &buffer) {
    const auto size_of_step = [&](int d) {
        return uint64_t(std::abs(int64_t(buffer.dim(d).stride))) - 1;
    };
    std::vector<int> order(size_t(buffer.dimensions()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return size_of_step(a) < size_of_step(b); });
    return order;
}

void check_permutation(const std::vector<int> &order, size_t n) {
    std::vector<bool> seen(n);
    bool good = order.size() == n;
    for (size_t i = 0; good && i < n; i++) {
        good = order[i] >= 0 && size_t(order[i]) < n && !seen[size_t(order[i])];
        if (good) seen[size_t(order[i])] = true;
    }
    if (!good) {
        throw RuntimeError(str("the order {", join(order, ", "), "} does not name each of the ", n,
                               " dimensions of the buffer once"));
    }
}

}  // namespace

BufferContents::BufferContents(Type type, Shape shape, void *host, const std::string &name)
    : name(name.empty() ? detail::unique_name("b") : name), shape(std::move(shape)) {
    raw.type = type;
    raw.host = static_cast<uint8_t *>(host);
    shape_changed();
}

BufferContents::BufferContents(const tessera_buffer_t &other, const std::string &name)
    : raw(other), name(name.empty() ? detail::unique_name("b") : name),
      shape(other.dim, other.dim + other.dimensions) {
    if (raw.device) device_ownership = BufferDeviceOwnership::Unmanaged;
    shape_changed();
}

BufferContents::~BufferContents() { release_device_memory(); }

void BufferContents::shape_changed() {
    raw.dim = shape.data();
    raw.dimensions = int32_t(shape.size());
}

BufferContentsRef BufferContents::alias() const {
    auto copy = std::make_shared<BufferContents>(raw, name);
    copy->memory = memory;
    copy->share_device_memory(*this);
    return copy;
}

void BufferContents::set_name(const std::string &new_name) {
    name = new_name;
    own_symbol = Symbol();
}

Symbol BufferContents::symbol() {
    if (!own_symbol.defined()) own_symbol = Symbol::fresh(name);
    return own_symbol;
}

const tessera_dimension_t &BufferContents::dim(int d, const Location &at) const {
    if (d >= 0 && d < raw.dimensions) return shape[size_t(d)];
    throw RuntimeError(
        at, str("buffer ", name, " has ", describe(raw.dimensions), ", and none numbered ", d));
}

uint64_t BufferContents::number_of_elements() const {
    return tessera_buffer_number_of_elements(&raw);
}

uint64_t BufferContents::size_in_bytes() const { return tessera_buffer_size_in_bytes(&raw); }

int64_t BufferContents::lowest() const {
    int64_t offset = 0;
    for (const tessera_dimension_t &d : shape) {
        if (d.stride < 0 && d.extent > 0) offset += int64_t(d.stride) * (d.extent - 1);
    }
    return offset;
}

int64_t BufferContents::past_highest() const {
    if (number_of_elements() == 0) return lowest();
    int64_t offset = 1;
    for (const tessera_dimension_t &d : shape) {
        if (d.stride > 0) offset += int64_t(d.stride) * (d.extent - 1);
    }
    return offset;
}

bool BufferContents::contains(const int *pos, int n) const {
    if (n > raw.dimensions) return false;
    for (int d = 0; d < n; d++) {
        const tessera_dimension_t &s = shape[size_t(d)];
        if (pos[d] < s.min || int64_t(pos[d]) - s.min >= s.extent) return false;
    }
    return true;
}

// By Halide's rules zeros may follow the coordinates, and the end of a row or of the buffer is a
// place, though nothing may be read there: std::sort(&b(0), &b(n)).
bool BufferContents::is_place(const int *pos, int n) const {
    int64_t offset = 0;
    for (int d = 0; d < n; d++) {
        if (d >= raw.dimensions) {
            if (pos[d] != 0) return false;
            continue;
        }
        const tessera_dimension_t &s = shape[size_t(d)];
        const int64_t steps = int64_t(pos[d]) - s.min;
        if (steps < 0 || steps > s.extent) return false;
        offset += steps * s.stride;
    }
    return offset >= lowest() && offset <= past_highest();
}

void BufferContents::check_position(const int *pos, int n, const Location &at) const {
    if (!raw.host) throw RuntimeError(at, str("buffer ", name, " has no memory"));
    check_is_here(at);
    if (contains(pos, n)) return;
    if (dialect() == Dialect::Halide && is_place(pos, n)) return;
    throw RuntimeError(at, str("position (", join(std::vector<int>(pos, pos + n), ", "),
                               ") lies outside of buffer ", name));
}

namespace {

std::atomic<void *(*)(size_t)> custom_allocate{nullptr};
std::atomic<void (*)(void *)> custom_deallocate{nullptr};

// Aligned memory out of that of the user's function; freed by the one that is set at this time.
std::shared_ptr<void> allocate_memory(size_t bytes) {
    auto *allocate = custom_allocate.load();
    auto *deallocate = custom_deallocate.load();
    if (!allocate) {
        // Aligned as much, and large ones in huge pages.
        void *p = tessera_default_malloc(nullptr, bytes);
        auto free = [](void *p) { tessera_default_free(nullptr, p); };
        return p ? std::shared_ptr<void>(p, free) : nullptr;
    }
    void *all = allocate(bytes + alignment);
    if (!all) return nullptr;
    uintptr_t aligned = (uintptr_t(all) + alignment - 1) / alignment * alignment;
    return {reinterpret_cast<void *>(aligned),
            [all, deallocate](void *) { deallocate ? deallocate(all) : std::free(all); }};
}

}  // namespace

void BufferContents::set_default_allocate_fn(void *(*allocate)(size_t)) {
    custom_allocate = allocate;
}
void BufferContents::set_default_deallocate_fn(void (*deallocate)(void *)) {
    custom_deallocate = deallocate;
}

void BufferContents::allocate() {
    for (const tessera_dimension_t &d : shape) {
        if (d.extent < 0) {
            throw RuntimeError(str("buffer ", name, " cannot have the extent ", d.extent));
        }
    }
    // One line more than needed: vector loads may read a little past the end.
    uint64_t bytes = std::min(size_in_bytes(), max_bytes + 1);
    uint64_t padded = (bytes + 2 * alignment - 1) / alignment * alignment;
    auto fresh = bytes <= max_bytes ? allocate_memory(size_t(padded)) : nullptr;
    if (!fresh) {
        throw RuntimeError(
            str("out of memory: cannot allocate ", size_in_bytes(), " bytes for buffer ", name));
    }
    memory = fresh;
    raw.host = static_cast<uint8_t *>(memory.get()) - lowest() * bytes_of(type());
}

void BufferContents::deallocate() {
    memory = nullptr;
    raw.host = nullptr;
}

void BufferContents::crop(int d, int min, int extent) {
    const tessera_dimension_t &now = dim(d);
    if (min < now.min || extent < 0 || int64_t(min) + extent > int64_t(now.min) + now.extent) {
        throw RuntimeError(str("cannot crop buffer ", name, " to [", min, ", ",
                               int64_t(min) + extent - 1, "] in dimension ", d, ": it has [",
                               now.min, ", ", int64_t(now.min) + now.extent - 1, "]"));
    }
    Shape part = shape;
    part[size_t(d)].min = min;
    part[size_t(d)].extent = extent;
    if (raw.device) crop_device_memory(part);
    if (raw.host) raw.host += (int64_t(min) - now.min) * now.stride * bytes_of(type());
    shape = std::move(part);
    shape_changed();
}

void BufferContents::slice(int d, int pos) {
    const tessera_dimension_t &now = dim(d);
    if (pos < now.min || pos - int64_t(now.min) >= now.extent) {
        throw RuntimeError(str("cannot slice buffer ", name, " at ", pos, " in dimension ", d,
                               ": it has [", now.min, ", ", int64_t(now.min) + now.extent - 1,
                               "]"));
    }
    crop(d, pos, 1);
    shape.erase(shape.begin() + d);
    shape_changed();
}

void BufferContents::embed(int d, int pos) {
    if (d < 0 || d > raw.dimensions) {
        throw RuntimeError(str("cannot embed buffer ", name, " at dimension ", d, ": it has ",
                               describe(raw.dimensions)));
    }
    int64_t stride = d > 0 ? int64_t(shape[size_t(d - 1)].stride) * shape[size_t(d - 1)].extent : 1;
    if (d == raw.dimensions && d > 0) {
        for (const tessera_dimension_t &s : shape) {
            stride = std::max(stride, int64_t(s.stride) * s.extent);
        }
    }
    shape.insert(shape.begin() + d, {pos, 1, to_stride(stride, size_t(d)), 0});
    shape_changed();
}

void BufferContents::add_dimension(int stride) {
    shape.push_back({0, 1, stride, 0});
    shape_changed();
}

void BufferContents::translate(int d, int delta) {
    dim(d);
    shape[size_t(d)].min += delta;
}

void BufferContents::set_min(const std::vector<int> &mins) {
    if (mins.size() > shape.size()) {
        throw RuntimeError(str("cannot set ", mins.size(), " mins: buffer ", name, " has ",
                               describe(raw.dimensions)));
    }
    for (size_t d = 0; d < mins.size(); d++) shape[d].min = mins[d];
}

void BufferContents::transpose(int d1, int d2) {
    dim(d1);
    dim(d2);
    std::swap(shape[size_t(d1)], shape[size_t(d2)]);
}

void BufferContents::transpose(const std::vector<int> &order) {
    check_permutation(order, shape.size());
    Shape before = shape;
    for (size_t d = 0; d < shape.size(); d++) shape[d] = before[size_t(order[d])];
}

void BufferContents::copy_from(const BufferContents &src) {
    check_conversion(src, type(), dimensions());
    BufferContentsRef to = alias();
    for (int d = 0; d < dimensions(); d++) {
        const tessera_dimension_t &a = dim(d), &b = src.dim(d);
        int64_t min = std::max(a.min, b.min);
        int64_t end = std::min(int64_t(a.min) + a.extent, int64_t(b.min) + b.extent);
        if (end <= min) return;
        to->crop(d, int(min), int(end - min));
    }
    for (const BufferContents *b : {static_cast<const BufferContents *>(this), &src}) {
        if (b->raw.host) continue;
        throw RuntimeError(str("cannot copy from buffer ", src.name, " to ", name, ": ", b->name,
                               " has no memory; call allocate() first"));
    }
    if (int error = tessera_buffer_copy(nullptr, &src.raw, &to->raw)) {
        throw RuntimeError(str("cannot copy buffer ", src.name, " (error ", error, ")"));
    }
    raw.flags |= tessera_buffer_flag_host_dirty;
}

BufferContents::Shape dense_shape(const std::vector<int> &extents, std::vector<int> order) {
    if (order.empty()) {
        order.resize(extents.size());
        std::iota(order.begin(), order.end(), 0);
    }
    check_permutation(order, extents.size());
    BufferContents::Shape shape(extents.size());
    int64_t stride = 1;
    for (int d : order) {
        int extent = extents[size_t(d)];
        if (extent < 0) {
            throw RuntimeError(
                str("a buffer cannot have the extent ", extent, " (dimension ", d, ")"));
        }
        shape[size_t(d)] = {0, extent, to_stride(stride, size_t(d)), 0};
        stride *= std::max(extent, 1);
    }
    return shape;
}

BufferContents::Shape dense_shape_like(const BufferContents &like) {
    std::vector<int> extents;
    for (int d = 0; d < like.dimensions(); d++) extents.push_back(like.dim(d).extent);
    BufferContents::Shape shape = dense_shape(extents, storage_order(like));
    for (int d = 0; d < like.dimensions(); d++) shape[size_t(d)].min = like.dim(d).min;
    return shape;
}

BufferContentsRef make_contents(Type type, BufferContents::Shape shape, const std::string &name) {
    auto contents = std::make_shared<BufferContents>(type, std::move(shape), nullptr, name);
    contents->allocate();
    return contents;
}

std::vector<ValueLoop> value_loops(const std::vector<const BufferContents *> &buffers) {
    const BufferContents &first = *buffers[0];
    std::vector<ValueLoop> loops{{1, std::vector<int64_t>(buffers.size(), 1)}};
    for (const BufferContents *b : buffers) {
        if (b->dimensions() != first.dimensions()) {
            throw RuntimeError(str("buffers ", first.name, " and ", b->name, " have ",
                                   first.dimensions(), " and ", describe(b->dimensions())));
        }
        if (b->number_of_elements() > 0 && !b->raw.host) {
            throw RuntimeError(str("buffer ", b->name, " has no memory"));
        }
    }
    for (int d : storage_order(first)) {
        ValueLoop loop{first.dim(d).extent, {}};
        for (const BufferContents *b : buffers) {
            if (b->dim(d).extent != loop.extent) {
                throw RuntimeError(str("buffers ", first.name, " and ", b->name, " have extents ",
                                       loop.extent, " and ", b->dim(d).extent, " in dimension ", d,
                                       "; they must be the same"));
            }
            loop.strides.push_back(b->dim(d).stride);
        }
        ValueLoop &last = loops.back();
        bool continues = true;
        for (size_t i = 0; i < buffers.size(); i++) {
            continues = continues && loop.strides[i] == last.strides[i] * last.extent;
        }
        if (continues) {
            last.extent *= loop.extent;
        } else {
            loops.push_back(std::move(loop));
        }
    }
    if (first.number_of_elements() == 0) return {};
    if (loops.size() > 1 && loops[0].extent == 1) loops.erase(loops.begin());
    return loops;
}

void for_each_position(const BufferContents &buffer, const std::function<void(const int *)> &f,
                       size_t dimensions) {
    if (buffer.number_of_elements() == 0) return;
    std::vector<int> pos(size_t(buffer.dimensions()));
    for (size_t d = 0; d < pos.size(); d++) pos[d] = buffer.dim(int(d)).min;
    const size_t n = std::min(dimensions, pos.size());
    for (;;) {
        f(pos.data());
        size_t d = 0;
        for (; d < n; d++) {
            const tessera_dimension_t &s = buffer.dim(int(d));
            if (int64_t(pos[d]) - s.min + 1 < s.extent) {
                pos[d]++;
                break;
            }
            pos[d] = s.min;
        }
        if (d == n) return;
    }
}

// The placeholder `_` stands for the dimensions that are not given.
static std::vector<ir::Expr> expand_placeholder(const std::vector<ir::Expr> &args, int dimensions) {
    std::vector<ir::Expr> result;
    for (const ir::Expr &arg : args) {
        const auto *v = arg.as<ir::Variable>();
        if (!v || v->referent || !Var::is_placeholder(Var(v->name))) {
            result.push_back(arg);
            continue;
        }
        int missing = dimensions - int(args.size()) + 1;
        for (int i = 0; i < missing; i++) result.push_back(Var::implicit(i));
    }
    return result;
}

ir::Expr image_element(const BufferContentsRef &buffer, std::vector<ir::Expr> args, Location at) {
    if (!buffer) throw CompileError(at, "an element of a Buffer that is undefined is used");
    for (const ir::Expr &arg : args) {
        if (arg.defined()) continue;
        throw CompileError(at, str("a coordinate of buffer ", buffer->name, " is undefined"));
    }
    args = expand_placeholder(args, buffer->dimensions());
    if (int(args.size()) != buffer->dimensions()) {
        throw CompileError(at, str("buffer ", buffer->name, " has ", describe(buffer->dimensions()),
                                   ", but is accessed with ", args.size(), " coordinates"));
    }
    for (ir::Expr &arg : args) {
        if (!arg.type().is_int_or_uint()) {
            throw CompileError(at, str("a coordinate of buffer ", buffer->name, " is of type ",
                                       arg.type(), ", not an integer"));
        }
        if (arg.type() != Int(32)) arg = ir::Cast::make(Int(32), arg);
    }
    Ref<program::Parameter> parameter = embedded_parameter(buffer);
    return ir::Call::make(buffer->type(), parameter->name, CallKind::Image, 0, std::move(args),
                          parameter);
}

Ref<program::Parameter> embedded_parameter(const BufferContentsRef &buffer) {
    auto parameter = make_ref<program::Parameter>();
    parameter->name = buffer->symbol();
    parameter->type = buffer->type();
    parameter->is_buffer = parameter->embedded = true;
    parameter->dimensions = buffer->dimensions();
    parameter->constraints.resize(size_t(buffer->dimensions()));
    parameter->buffer = &buffer->raw;
    parameter->buffer_owner = buffer;
    return parameter;
}

void throw_undefined_buffer(const Location &at) {
    throw RuntimeError(at,
                       "this Buffer is undefined: it was made without a size and not assigned yet");
}

// Returns the name of the type in C++: "uint8_t".
static std::string name_in_cpp(Type t) {
    if (t.is_bool()) return "bool";
    if (t.is_handle()) return "void *";
    if (t.is_bfloat()) return "bfloat16_t";
    if (t.is_float8()) return str(t, "_t");
    if (t.is_float()) return t.bits() == 16 ? "float16_t" : t.bits() == 32 ? "float" : "double";
    return str(t.is_uint() ? "u" : "", "int", t.bits(), "_t");
}

void check_conversion(const BufferContents &buffer, Type wanted_type, int wanted_dimensions,
                      const Location &at) {
    const Type type = buffer.type();
    if (wanted_type.defined() && type != wanted_type) {
        throw RuntimeError(at, str("buffer ", buffer.name, " has elements of type ", type, ", not ",
                                   wanted_type, "; use a Buffer<", name_in_cpp(type),
                                   ">, or a Buffer<> for any type, or copy its elements into one "
                                   "of ",
                                   wanted_type));
    }
    const int n = buffer.dimensions();
    if (wanted_dimensions >= 0 && n != wanted_dimensions) {
        throw RuntimeError(at, str("buffer ", buffer.name, " has ", describe(n), ", not ",
                                   wanted_dimensions,
                                   n > wanted_dimensions ? "; sliced() takes one of them out"
                                                         : "; embedded() adds one",
                                   ", and a Buffer without a number of dimensions takes any"));
    }
}

void check_number_of_dimensions(size_t given, int wanted, const Location &at) {
    if (int(given) == wanted || (int(given) < wanted && dialect() == Dialect::Halide)) return;
    throw RuntimeError(at, str("a function of ", given, " coordinates cannot walk a buffer of ",
                               describe(wanted)));
}

}  // namespace tessera
