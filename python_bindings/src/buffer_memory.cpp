#include "bindings.h"
#include "docs/buffer.h"

// Binds what Buffers have beside their elements and shape, and images in files.
namespace tessera::python {
namespace {

void define_memory(nb::class_<Buffer<>> &c) {
    c.def(
         "min", [](const Buffer<> &b, int d) { return b.min(d); }, "dimension"_a, docs::buffer::min)
        .def(
            "extent", [](const Buffer<> &b, int d) { return b.extent(d); }, "dimension"_a,
            docs::buffer::extent)
        .def(
            "stride", [](const Buffer<> &b, int d) { return b.stride(d); }, "dimension"_a,
            docs::buffer::stride)
        .def(
            "allocate", [](Buffer<> &b) { b.allocate(); }, docs::buffer::allocate)
        .def(
            "deallocate", [](Buffer<> &b) { b.deallocate(); }, docs::buffer::deallocate)
        .def(
            "reset", [](Buffer<> &b) { b.reset(); }, docs::buffer::reset)
        .def(
            "is_bounds_query", [](const Buffer<> &b) { return b.is_bounds_query(); },
            docs::buffer::is_bounds_query)
        .def(
            "owns_host_memory", [](const Buffer<> &b) { return b.owns_host_memory(); },
            docs::buffer::owns_host_memory)
        .def(
            "add_dimension_with_stride",
            [](Buffer<> &b, int stride) { b.add_dimension_with_stride(stride); }, "stride"_a,
            docs::buffer::add_dimension_with_stride)
        .def(
            "copy_to_interleaved", [](const Buffer<> &b) { return b.copy_to_interleaved(); },
            docs::buffer::copy_to_interleaved)
        .def(
            "copy_to_planar", [](const Buffer<> &b) { return b.copy_to_planar(); },
            docs::buffer::copy_to_planar);
}

void define_device_memory(nb::class_<Buffer<>> &c) {
    c.def(
         "device_malloc",
         [](Buffer<> &b, const Target &t) {
             const Here at = here();
             nb::gil_scoped_release no_gil;
             b.device_malloc(t, nullptr, at);
         },
         "target"_a = Target(), docs::buffer::device_malloc)
        .def(
            "device_malloc",
            [](Buffer<> &b, DeviceAPI api, const Target &t) {
                const Here at = here();
                nb::gil_scoped_release no_gil;
                b.device_malloc(api, t, nullptr, at);
            },
            "device_api"_a, "target"_a = Target(), docs::buffer::device_malloc_by)
        .def(
            "device_wrap_native",
            [](Buffer<> &b, DeviceAPI api, uint64_t handle, const Target &t) {
                b.device_wrap_native(api, handle, t, nullptr, here());
            },
            "device_api"_a, "handle"_a, "target"_a = Target(), docs::buffer::device_wrap_native)
        .def(
            "device_detach_native", [](Buffer<> &b) { b.device_detach_native(nullptr, here()); },
            docs::buffer::device_detach_native)
        .def(
            "device_deallocate", [](Buffer<> &b) { b.device_deallocate(nullptr, here()); },
            docs::buffer::device_deallocate);
}

}  // namespace

void bind_buffer_memory(nb::module_ &m) {
    nb::object type = m.attr("Buffer");
    auto &c = static_cast<nb::class_<Buffer<>> &>(type);  // only its def() is used
    define_memory(c);
    define_device_memory(c);
    m.def(
        "convert_image",
        [](nb::handle image, const TypeLike &type) {
            const Here at = here();
            const Buffer<> b = to_buffer(image, "convert_image");
            nb::gil_scoped_release no_gil;
            return convert_image(b, type.get(), at);
        },
        "image"_a, "type"_a, docs::buffer::convert_image);
    m.def(
        "load_and_convert_image",
        [](const std::string &path, const TypeLike &type) {
            const Here at = here();
            nb::gil_scoped_release no_gil;
            return convert_image(load_image(path, at), type.get(), at);
        },
        "path"_a, "type"_a, docs::buffer::load_and_convert_image);
}

}  // namespace tessera::python
