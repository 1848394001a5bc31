#include "bindings.h"

// What Buffers have beside their elements and shape, and images in files.
namespace tessera::python {
namespace {

void define_memory(nb::class_<Buffer<>> &c) {
    c.def(
         "min", [](const Buffer<> &b, int d) { return b.min(d); }, "dimension"_a)
        .def(
            "extent", [](const Buffer<> &b, int d) { return b.extent(d); }, "dimension"_a)
        .def(
            "stride", [](const Buffer<> &b, int d) { return b.stride(d); }, "dimension"_a,
            "Returns the distance of neighbours, in elements.")
        .def(
            "allocate", [](Buffer<> &b) { b.allocate(); }, "Gives a Buffer without memory some.")
        .def("deallocate", [](Buffer<> &b) { b.deallocate(); })
        .def(
            "reset", [](Buffer<> &b) { b.reset(); }, "Makes this an undefined Buffer.")
        .def("is_bounds_query", [](const Buffer<> &b) { return b.is_bounds_query(); })
        .def("owns_host_memory", [](const Buffer<> &b) { return b.owns_host_memory(); })
        .def(
            "add_dimension_with_stride",
            [](Buffer<> &b, int stride) { b.add_dimension_with_stride(stride); }, "stride"_a)
        .def(
            "copy_to_interleaved", [](const Buffer<> &b) { return b.copy_to_interleaved(); },
            "Returns new memory with the channels of a pixel side by side.")
        .def(
            "copy_to_planar", [](const Buffer<> &b) { return b.copy_to_planar(); },
            "Returns new memory with each channel a plane.");
}

void define_device_memory(nb::class_<Buffer<>> &c) {
    c.def(
         "device_malloc",
         [](Buffer<> &b, const Target &t) {
             const Location at = here();
             nb::gil_scoped_release no_gil;
             b.device_malloc(t, nullptr, at);
         },
         "target"_a = Target(), "Allocates memory on the device, and copies nothing.")
        .def(
            "device_malloc",
            [](Buffer<> &b, DeviceAPI api, const Target &t) {
                const Location at = here();
                nb::gil_scoped_release no_gil;
                b.device_malloc(api, t, nullptr, at);
            },
            "device_api"_a, "target"_a = Target())
        .def(
            "device_wrap_native",
            [](Buffer<> &b, DeviceAPI api, uint64_t handle, const Target &t) {
                b.device_wrap_native(api, handle, t, nullptr, here());
            },
            "device_api"_a, "handle"_a, "target"_a = Target(),
            "Has memory of the device that somebody else allocated, at this address.")
        .def("device_detach_native", [](Buffer<> &b) { b.device_detach_native(nullptr, here()); })
        .def("device_deallocate", [](Buffer<> &b) { b.device_deallocate(nullptr, here()); });
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
            const Location at = here();
            const Buffer<> b = to_buffer(image, "convert_image");
            nb::gil_scoped_release no_gil;
            return convert_image(b, type.get(), at);
        },
        "image"_a, "type"_a,
        "Returns the image in another element type: integers stand for the range from 0 to 1.");
    m.def(
        "load_and_convert_image",
        [](const std::string &path, const TypeLike &type) {
            const Location at = here();
            nb::gil_scoped_release no_gil;
            return convert_image(load_image(path, at), type.get(), at);
        },
        "path"_a, "type"_a, "Reads an image as load_image() does, with this element type.");
}

}  // namespace tessera::python
