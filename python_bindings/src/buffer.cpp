#include "docs/buffer.h"
#include "arrays.h"
#include "base/dialect.h"
#include "ir/float_bits.h"
#include <cstring>

namespace tessera::python {
namespace {

// Calls f with a value of the C++ type of the elements.
template<typename F> decltype(auto) with_element(Type t, F f) {
    if (t == Bool()) return f(bool());
    if (t == Int(8)) return f(int8_t());
    if (t == Int(16)) return f(int16_t());
    if (t == Int(32)) return f(int32_t());
    if (t == Int(64)) return f(int64_t());
    if (t == UInt(8)) return f(uint8_t());
    if (t == UInt(16)) return f(uint16_t());
    if (t == UInt(32)) return f(uint32_t());
    if (t == UInt(64)) return f(uint64_t());
    if (t == Float(16)) return f(float16_t());
    if (t == BFloat(16)) return f(bfloat16_t());
    if (t == Float8E4M3()) return f(float8_e4m3_t());
    if (t == Float8E5M2()) return f(float8_e5m2_t());
    if (t == Float(32)) return f(float());
    if (t == Float(64)) return f(double());
    throw nb::type_error(str("elements of the type ", t, " cannot be seen from Python").c_str());
}

// Returns the address of an element. IndexError outside of the buffer.
uint8_t *address_of(const Buffer<> &b, const std::vector<int> &pos) {
    bring_to_host(b, here());
    const BufferContents &c = b.contents();
    if (int(pos.size()) != b.dimensions())
        throw nb::index_error(str("a Buffer of ", b.dimensions(),
                                  " dimensions has no element with ", pos.size(), " coordinates")
                                  .c_str());
    int64_t offset = 0;
    for (size_t d = 0; d < pos.size(); d++) {
        const tessera_dimension_t &dim = c.raw.dim[d];
        if (pos[d] < dim.min || pos[d] >= dim.min + dim.extent)
            throw nb::index_error(str("the coordinate ", pos[d], " in dimension ", d,
                                      " is outside of [", dim.min, ", ", dim.min + dim.extent - 1,
                                      "]")
                                      .c_str());
        offset += int64_t(pos[d] - dim.min) * dim.stride;
    }
    if (!c.raw.host) throw nb::index_error("the Buffer has no memory");
    return c.raw.host + offset * b.type().bytes();
}

nb::object element(const Buffer<> &b, const std::vector<int> &pos) {
    const uint8_t *at = address_of(b, pos);
    return with_element(b.type(), [&]<typename T>(T value) -> nb::object {
        std::memcpy(static_cast<void *>(&value), at, sizeof(T));
        if constexpr (NarrowFloatType<T>)
            return nb::float_(double(float(value)));
        else
            return nb::cast(value);
    });
}

std::optional<std::vector<int>> as_position(const std::vector<nb::object> &key) {
    std::vector<int> pos;
    for (const nb::object &k : key) {
        if (!PyIndex_Check(k.ptr())) return {};
        const nb::object number = nb::steal(PyNumber_Index(k.ptr()));
        pos.push_back(nb::cast<int>(number));
    }
    return pos;
}

// A part of the buffer: slices crop, and numbers take a dimension away.
Buffer<> part(const Buffer<> &b, const std::vector<nb::object> &key) {
    if (int(key.size()) != b.dimensions())
        throw nb::index_error(str("a Buffer of ", b.dimensions(),
                                  " dimensions wants as many slices, not ", key.size())
                                  .c_str());
    Buffer<> result = b;
    for (int d = b.dimensions() - 1; d >= 0; d--) {
        const nb::object &k = key[size_t(d)];
        if (!PySlice_Check(k.ptr())) {
            result = result.sliced(d, nb::cast<int>(k));
            continue;
        }
        if (!k.attr("step").is_none() && nb::cast<int>(k.attr("step")) != 1)
            throw nb::index_error("slices of a Buffer have no step: use NumPy's");
        const int low = k.attr("start").is_none() ? b.min(d) : nb::cast<int>(k.attr("start"));
        const int end =
            k.attr("stop").is_none() ? b.min(d) + b.extent(d) : nb::cast<int>(k.attr("stop"));
        result = result.cropped(d, low, end - low);
    }
    return result;
}

nb::object get(const Buffer<> &b, nb::handle index) {
    const std::vector<nb::object> key = items(index);
    if (const auto pos = as_position(key)) return element(b, *pos);
    for (const nb::object &k : key) {
        if (PySlice_Check(k.ptr())) return nb::cast(part(b, key));
    }
    return nb::cast(b(to_exprs(index), here()));
}

void require_writable(const Buffer<> &b) {
    if (is_read_only(b)) throw nb::value_error("the Buffer shares the memory of a read-only array");
}

void set(const Buffer<> &b, nb::handle index, nb::handle value) {
    require_writable(b);
    const std::vector<nb::object> key = items(index);
    const auto pos = as_position(key);
    if (!pos) {
        const nb::object elements = as_numpy(nb::cast(part(b, key)));
        elements[nb::ellipsis()] = value;
        if (b.contents().raw.device) b.contents().raw.set_host_dirty();
        return;
    }
    uint8_t *at = address_of(b, *pos);
    const uint64_t bits = number_bits(b.type(), value, "the element");
    std::memcpy(at, &bits, size_t(b.type().bytes()));
    if (b.contents().raw.device) b.contents().raw.set_host_dirty();
}

void define_shape(nb::class_<Buffer<>> &c) {
    c.def(
         "dimensions", [](const Buffer<> &b) { return b.dimensions(); }, docs::buffer::dimensions)
        .def(
            "dim", [](const Buffer<> &b, int d) { return b.dim(d); }, "dimension"_a,
            docs::buffer::dim)
        .def(
            "width", [](const Buffer<> &b) { return b.width(); }, docs::buffer::width)
        .def(
            "height", [](const Buffer<> &b) { return b.height(); }, docs::buffer::height)
        .def(
            "channels", [](const Buffer<> &b) { return b.channels(); }, docs::buffer::channels)
        .def(
            "left", [](const Buffer<> &b) { return b.left(); }, docs::buffer::left)
        .def(
            "right", [](const Buffer<> &b) { return b.right(); }, docs::buffer::right)
        .def(
            "top", [](const Buffer<> &b) { return b.top(); }, docs::buffer::top)
        .def(
            "bottom", [](const Buffer<> &b) { return b.bottom(); }, docs::buffer::bottom)
        .def(
            "number_of_elements", [](const Buffer<> &b) { return b.number_of_elements(); },
            docs::buffer::number_of_elements)
        .def(
            "size_in_bytes", [](const Buffer<> &b) { return b.size_in_bytes(); },
            docs::buffer::size_in_bytes)
        .def(
            "contains",
            [](const Buffer<> &b, const std::vector<int> &pos) { return b.contains(pos); },
            "position"_a, docs::buffer::contains)
        .def_prop_ro(
            "shape",
            [](const Buffer<> &b) {
                nb::list shape;
                for (int d = b.dimensions() - 1; d >= 0; d--) shape.append(b.extent(d));
                return nb::tuple(shape);
            },
            docs::buffer::shape)
        .def_prop_ro(
            "mins",
            [](const Buffer<> &b) {
                nb::list mins;
                for (int d = 0; d < b.dimensions(); d++) mins.append(b.min(d));
                return nb::tuple(mins);
            },
            docs::buffer::mins)
        .def_prop_ro(
            "dtype", [](const Buffer<> &b) { return numpy_dtype(b.type()); }, docs::buffer::dtype)
        .def_prop_ro("ndim", [](const Buffer<> &b) { return b.dimensions(); }, docs::buffer::ndim);
}

std::string text_of_buffer(const Buffer<> &b) {
    if (!b.defined()) return "<undefined Buffer>";
    return str("<Buffer ", b.name(), " of shape ", shape_text(*b.raw_buffer()), ">");
}

// By Halide's rules the text has (min, extent, stride) of each dimension.
std::string text_by_dialect(const Buffer<> &b) {
    if (!follows_halide(here())) return text_of_buffer(b);
    if (!b.defined()) return "<undefined halide.Buffer>";
    std::string shape;
    for (int d = 0; d < b.dimensions(); d++)
        shape += str(d ? "," : "", "[", b.min(d), ",", b.extent(d), ",", b.stride(d), "]");
    return str("<halide.Buffer of type ", b.type(), " shape:[", shape, "]>");
}

Buffer<> copy(const Buffer<> &b) {
    bring_to_host(b, here());
    return b.copy();
}

void define_changes(nb::class_<Buffer<>> &c) {
    using Rect = std::vector<std::pair<int, int>>;
    c.def(
         "crop", [](Buffer<> &b, int d, int min, int extent) { b.crop(d, min, extent); },
         "dimension"_a, "min"_a, "extent"_a, docs::buffer::crop)
        .def(
            "cropped",
            [](const Buffer<> &b, int d, int min, int extent) { return b.cropped(d, min, extent); },
            "dimension"_a, "min"_a, "extent"_a, docs::buffer::cropped)
        .def(
            "cropped", [](const Buffer<> &b, const Rect &rect) { return b.cropped(rect); },
            "rect"_a, docs::buffer::cropped_rect)
        .def(
            "slice", [](Buffer<> &b, int d, int pos) { b.slice(d, pos); }, "dimension"_a,
            "position"_a, docs::buffer::slice)
        .def(
            "sliced", [](const Buffer<> &b, int d, int pos) { return b.sliced(d, pos); },
            "dimension"_a, "position"_a, docs::buffer::sliced)
        .def(
            "embed", [](Buffer<> &b, int d, int pos) { b.embed(d, pos); }, "dimension"_a,
            "position"_a = 0, docs::buffer::embed)
        .def(
            "embedded", [](const Buffer<> &b, int d, int pos) { return b.embedded(d, pos); },
            "dimension"_a, "position"_a = 0, docs::buffer::embedded)
        .def(
            "add_dimension", [](Buffer<> &b) { b.add_dimension(); }, docs::buffer::add_dimension)
        .def(
            "translate", [](Buffer<> &b, int d, int delta) { b.translate(d, delta); },
            "dimension"_a, "delta"_a, docs::buffer::translate)
        .def(
            "translate", [](Buffer<> &b, const std::vector<int> &delta) { b.translate(delta); },
            "delta"_a, docs::buffer::translate_all)
        .def(
            "translated",
            [](const Buffer<> &b, int d, int delta) { return b.translated(d, delta); },
            "dimension"_a, "delta"_a, docs::buffer::translated)
        .def(
            "translated",
            [](const Buffer<> &b, const std::vector<int> &delta) { return b.translated(delta); },
            "delta"_a, docs::buffer::translated_all)
        .def(
            "set_min", [](Buffer<> &b, const std::vector<int> &mins) { b.set_min(mins); }, "mins"_a,
            docs::buffer::set_min)
        .def(
            "transpose", [](Buffer<> &b, int d1, int d2) { b.transpose(d1, d2); }, "d1"_a, "d2"_a,
            docs::buffer::transpose)
        .def(
            "transpose", [](Buffer<> &b, const std::vector<int> &order) { b.transpose(order); },
            "order"_a, docs::buffer::transpose_all)
        .def(
            "transposed", [](const Buffer<> &b, int d1, int d2) { return b.transposed(d1, d2); },
            "d1"_a, "d2"_a, docs::buffer::transposed)
        .def(
            "transposed",
            [](const Buffer<> &b, const std::vector<int> &order) { return b.transposed(order); },
            "order"_a, docs::buffer::transposed_all)
        .def(
            "reverse_axes",
            [](const Buffer<> &b) {
                std::vector<int> order;
                for (int d = b.dimensions() - 1; d >= 0; d--) order.push_back(d);
                return b.transposed(order);
            },
            docs::buffer::reverse_axes)
        .def("copy", &copy, docs::buffer::copy)
        .def(
            "copy_from",
            [](Buffer<> &b, nb::handle from) {
                require_writable(b);
                const Buffer<> source = to_buffer(from, "copy_from");
                bring_to_host(source, here());
                bring_to_host(b, here());
                b.copy_from(source);
            },
            "src"_a, docs::buffer::copy_from)
        .def(
            "fill",
            [](const Buffer<> &b, nb::handle value) {
                require_writable(b);
                bring_to_host(b, here());
                const uint64_t bits = number_bits(b.type(), value, "fill");
                with_element(b.type(), [&]<typename T>(T v) {
                    std::memcpy(static_cast<void *>(&v), &bits, sizeof(T));
                    b.as<T>().fill(v);
                });
            },
            "value"_a, docs::buffer::fill)
        .def(
            "all_equal",
            [](const Buffer<> &b, nb::handle value) {
                bring_to_host(b, here());
                const uint64_t bits = number_bits(b.type(), value, "all_equal");
                return with_element(b.type(), [&]<typename T>(T v) {
                    std::memcpy(static_cast<void *>(&v), &bits, sizeof(T));
                    return b.as<T>().all_equal(v);
                });
            },
            "value"_a, docs::buffer::all_equal)
        .def(
            "for_each_element",
            [](const Buffer<> &b, nb::callable f) {
                for_each_position(b.contents(), [&](const int *pos) {
                    f(nb::cast(std::vector<int>(pos, pos + b.dimensions())));
                });
            },
            "f"_a, docs::buffer::for_each_element);
}

// Strides that are too large for 32 bits are smaller than they should be: nothing lies at them.
Buffer<> make_bounds_query(Type t, const std::vector<int> &sizes, const std::string &name) {
    constexpr int64_t largest = int64_t(1) << 24;
    BufferContents::Shape shape;
    int64_t stride = 1;
    for (int n : sizes) {
        if (n < 0) throw nb::value_error(str("make_bounds_query: the extent ", n).c_str());
        shape.push_back({0, n, int32_t(stride), 0});
        stride = std::min(stride * std::max(n, 1), largest);
    }
    return Buffer<>(std::make_shared<BufferContents>(t, std::move(shape), nullptr, name));
}

void define_device(nb::class_<Buffer<>> &c) {
    c.def(
         "copy_to_host", [](Buffer<> &b) { bring_to_host(b, here()); }, docs::buffer::copy_to_host)
        .def(
            "copy_to_device",
            [](Buffer<> &b, const Target &t) {
                const Here at = here();
                nb::gil_scoped_release no_gil;
                b.copy_to_device(t, nullptr, at);
            },
            "target"_a = Target(), docs::buffer::copy_to_device)
        .def(
            "device_sync",
            [](Buffer<> &b) {
                const Here at = here();
                nb::gil_scoped_release no_gil;
                b.device_sync(nullptr, at);
            },
            docs::buffer::device_sync)
        .def(
            "device_free", [](Buffer<> &b) { b.device_free(nullptr, here()); },
            docs::buffer::device_free)
        .def(
            "device_dirty", [](const Buffer<> &b) { return b.device_dirty(); },
            docs::buffer::device_dirty)
        .def(
            "host_dirty", [](const Buffer<> &b) { return b.host_dirty(); },
            docs::buffer::host_dirty)
        .def(
            "set_host_dirty", [](Buffer<> &b, bool dirty) { b.set_host_dirty(dirty); },
            "dirty"_a = true, docs::buffer::set_host_dirty)
        .def(
            "set_device_dirty", [](Buffer<> &b, bool dirty) { b.set_device_dirty(dirty); },
            "dirty"_a = true, docs::buffer::set_device_dirty)
        .def(
            "has_device_allocation", [](const Buffer<> &b) { return b.has_device_allocation(); },
            docs::buffer::has_device_allocation);
}

}  // namespace

Buffer<> to_buffer(nb::handle object, const What &what, bool reverse_axes, const std::string &name,
                   bool writable) {
    auto require = [&](bool read_only) {
        if (writable && read_only)
            refuse_argument(str(what(), ": it is written to, and this array is read-only"));
    };
    if (nb::isinstance<Buffer<>>(object)) {
        const Buffer<> &b = *nb::inst_ptr<Buffer<>>(object);
        if (b.defined()) require(is_read_only(b));
        return b;
    }
    ArrayView view;
    if (!read_array(object, Use::Kept, reverse_axes, what, view))
        refuse_argument(str(what(), ": a ", class_of(object), " is no Buffer and no array"));
    require(view.is_read_only);
    return buffer_of(std::move(view), name);
}

uint64_t number_bits(Type t, nb::handle value, const What &what) {
    auto refuse = [&] {
        std::string shown = nb::cast<std::string>(nb::repr(value));
        if (shown.size() > 40) shown = "a " + class_of(value);
        refuse_argument(str(what(), ": ", shown, " is no ", t));
    };
    std::optional<uint64_t> bits;
    if (t.is_handle() && value.is_none()) return 0;
    if (t.is_float()) {
        const double number = PyFloat_AsDouble(value.ptr());
        if (number == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            refuse();
        }
        if (t.bits() <= 16) return ir::bits_of_float(t, ir::rounded_to(t, float(number)));
        bits = detail::bits_as(t, number);
    } else if (PyIndex_Check(value.ptr())) {
        const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
        int overflow = 0;
        const long long n = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
        if (overflow > 0) {
            const unsigned long long large = PyLong_AsUnsignedLongLong(number.ptr());
            if (!PyErr_Occurred())
                bits = t.is_handle() ? uint64_t(large) : detail::bits_as(t, uint64_t(large));
            PyErr_Clear();
        } else if (!overflow) {
            bits = t.is_handle() ? uint64_t(n) : detail::bits_as(t, int64_t(n));
        }
    }
    if (!bits) refuse();
    return *bits;
}

void bind_buffer(nb::module_ &m) {
    nb::class_<BufferDimension>(m, "BufferDimension", docs::buffer::dimension_class)
        .def("min", &BufferDimension::min, docs::buffer::dimension_min)
        .def("max", &BufferDimension::max, docs::buffer::dimension_max)
        .def("extent", &BufferDimension::extent, docs::buffer::dimension_extent)
        .def("stride", &BufferDimension::stride, docs::buffer::dimension_stride);
    nb::class_<Buffer<>> c(m, "Buffer", nb::type_slots(const_cast<PyType_Slot *>(buffer_slots())),
                           docs::buffer::class_);
    c.def(nb::init<>(), "Makes an undefined Buffer.");
    c.def(
         "__init__",
         [](Buffer<> *b, const ArrayLike &array, const std::string &name, bool reverse_axes) {
             new (b) Buffer<>(to_buffer(array.object, "Buffer", reverse_axes, name));
         },
         "array"_a, "name"_a = "", "reverse_axes"_a = true, docs::buffer::of_array)
        .def(
            "__init__",
            [](Buffer<> *b, const TypeLike &type, const std::vector<int> &sizes,
               const std::vector<int> &order, const std::string &name) {
                const Type t = type.get();
                const Here at = here();
                called_at(at, [&] {
                    new (b) Buffer<>(make_contents(t, dense_shape(sizes, order), name));
                });
            },
            "type"_a, "sizes"_a, "storage_order"_a = std::vector<int>(), "name"_a = "",
            docs::buffer::of_sizes)
        .def(
            "__init__",
            [](Buffer<> *b, const TypeLike &type, const std::vector<int> &sizes,
               const std::string &name) {
                const Type t = type.get();
                const Here at = here();
                called_at(
                    at, [&] { new (b) Buffer<>(make_contents(t, dense_shape(sizes, {}), name)); });
            },
            "type"_a, "sizes"_a, "name"_a)
        .def_static(
            "make_scalar",
            [](const TypeLike &t, const std::string &name) {
                return Buffer<>::make_scalar(t.get(), name);
            },
            "type"_a, "name"_a = "", docs::buffer::make_scalar)
        .def_static(
            "make_interleaved",
            [](const TypeLike &t, int w, int h, int ch, const std::string &name) {
                return Buffer<>::make_interleaved(t.get(), w, h, ch, name);
            },
            "type"_a, "width"_a, "height"_a, "channels"_a, "name"_a = "",
            docs::buffer::make_interleaved)
        .def_static(
            "make_bounds_query",
            [](const TypeLike &t, const std::vector<int> &sizes, const std::string &name) {
                return make_bounds_query(t.get(), sizes, name);
            },
            "type"_a, "sizes"_a, "name"_a = "", docs::buffer::make_bounds_query)
        .def_static(
            "make_with_shape_of",
            [](const Buffer<> &other, const std::string &name) {
                return Buffer<>::make_with_shape_of(other, name);
            },
            "buffer"_a, "name"_a = "", docs::buffer::make_with_shape_of)
        .def(
            "name", [](const Buffer<> &b) { return b.name(); }, docs::buffer::name)
        .def(
            "set_name", [](Buffer<> &b, const std::string &name) { b.set_name(name); }, "name"_a,
            docs::buffer::set_name)
        .def(
            "type", [](const Buffer<> &b) { return b.type(); }, docs::buffer::type)
        .def("defined", &Buffer<>::defined, docs::buffer::defined)
        .def(
            "same_as", [](const Buffer<> &a, const Buffer<> &b) { return a.same_as(b); }, "other"_a,
            docs::buffer::same_as)
        .def("__getitem__", &get, "position"_a)
        .def("__setitem__", &set, "position"_a, "value"_a)
        .def("__len__",
             [](const Buffer<> &b) {
                 if (b.dimensions() == 0)
                     throw nb::type_error("a Buffer without dimensions has no length");
                 return b.extent(b.dimensions() - 1);
             })
        // Without these Python would ask for b[0], b[1] and so on, up to an IndexError.
        .def("__iter__", [](nb::handle self) { return nb::iter(as_numpy(self)); })
        .def("__contains__",
             [](nb::handle self, nb::handle value) {
                 return nb::cast<bool>(as_numpy(self).attr("__contains__")(value));
             })
        .def("__repr__", &text_of_buffer)
        .def("__str__", &text_by_dialect)
        .def("__copy__", &copy, "Returns new memory with the same elements.")
        .def(
            "__deepcopy__", [](const Buffer<> &b, nb::handle) { return copy(b); }, "memo"_a)
        .def("__getstate__",
             [](nb::handle self) {
                 return nb::make_tuple(as_numpy(self).attr("copy")(), self.attr("mins"),
                                       self.attr("name")());
             })
        .def("__setstate__", [](Buffer<> &b, nb::tuple state) {
            new (&b) Buffer<>(to_buffer(state[0], "Buffer", true, nb::cast<std::string>(state[2])));
            b.set_min(nb::cast<std::vector<int>>(nb::list(state[1])));
        });
    define_export(c);
    define_exchange_table(c);
    define_shape(c);
    define_changes(c);
    define_device(c);
    m.def(
        "load_image",
        [](const std::string &path) {
            const Here at = here();
            nb::gil_scoped_release no_gil;
            return load_image(path, at);
        },
        "path"_a, docs::buffer::load_image);
    m.def(
        "save_image",
        [](nb::handle image, const std::string &path) {
            const Here at = here();
            const Buffer<> b = to_buffer(image, "save_image");
            bring_to_host(b, at);
            nb::gil_scoped_release no_gil;
            convert_and_save_image(b, path, at);
        },
        "image"_a, "path"_a, docs::buffer::save_image);
}

}  // namespace tessera::python
