#include "base/dialect.h"
#include "bindings.h"
#include "docs/types.h"

namespace tessera::python {
namespace {

using Features = std::vector<Target::Feature>;

// A feature by its enumerator, or by its word in a target's text.
Target::Feature to_feature(nb::handle h) {
    if (nb::isinstance<Target::Feature>(h)) return nb::cast<Target::Feature>(h);
    if (!nb::isinstance<nb::str>(h))
        throw nb::type_error(
            str("a ", class_of(h), " is no feature: a TargetFeature or its name is, as \"avx2\"")
                .c_str());
    const std::string name = nb::cast<std::string>(h);
    const Target::Feature feature = Target::feature_from_name(name);
    if (feature == Target::FeatureEnd)
        throw nb::value_error(str("no feature is called ", name).c_str());
    return feature;
}

void define_features(nb::class_<Target> &c) {
    c.def(
         "has_feature", [](const Target &t, nb::handle f) { return t.has_feature(to_feature(f)); },
         "feature"_a, docs::target::has_feature)
        .def("features_any_of", &Target::features_any_of, "features"_a,
             docs::target::features_any_of)
        .def("features_all_of", &Target::features_all_of, "features"_a,
             docs::target::features_all_of)
        .def(
            "set_feature",
            [](Target &t, nb::handle f, bool value) { t.set_feature(to_feature(f), value); },
            "feature"_a, "value"_a = true, docs::target::set_feature)
        .def("set_features", &Target::set_features, "features"_a, "value"_a = true,
             docs::target::set_features)
        .def(
            "with_feature",
            [](const Target &t, nb::handle f) { return t.with_feature(to_feature(f)); },
            "feature"_a, docs::target::with_feature)
        .def(
            "without_feature",
            [](const Target &t, nb::handle f) { return t.without_feature(to_feature(f)); },
            "feature"_a, docs::target::without_feature)
        .def("with_implied_features", &Target::with_implied_features,
             docs::target::with_implied_features)
        .def("has_gpu_feature", &Target::has_gpu_feature, docs::target::has_gpu_feature)
        .def("has_large_buffers", &Target::has_large_buffers, docs::target::has_large_buffers)
        .def("has_unknowns", &Target::has_unknowns, docs::target::has_unknowns)
        .def("get_cuda_capability_lower_bound", &Target::get_cuda_capability_lower_bound,
             docs::target::get_cuda_capability_lower_bound)
        .def("get_vulkan_capability_lower_bound", &Target::get_vulkan_capability_lower_bound,
             docs::target::get_vulkan_capability_lower_bound)
        .def("get_arm_v8_lower_bound", &Target::get_arm_v8_lower_bound,
             docs::target::get_arm_v8_lower_bound)
        .def_static("feature_to_name", &Target::feature_to_name, "feature"_a,
                    docs::target::feature_to_name)
        .def_static("feature_from_name", &Target::feature_from_name, "name"_a,
                    docs::target::feature_from_name)
        .def_static("validate_target_string", &Target::validate_target_string, "text"_a,
                    docs::target::validate_target_string);
}

// Returns true if the devices of this API have floats of 64 bits.
bool has_doubles(const Target &t, DeviceAPI api) {
    switch (api) {
    case DeviceAPI::OpenCL: return t.has_feature(Target::CLDoubles);
    case DeviceAPI::Metal:
    case DeviceAPI::D3D12Compute:
    case DeviceAPI::WebGPU: return false;
    default: return true;
    }
}

void define_machine(nb::class_<Target> &c) {
    c.def_rw("os", &Target::os, docs::target::os)
        .def_rw("arch", &Target::arch, docs::target::arch)
        .def_rw("bits", &Target::bits, docs::target::bits)
        .def_rw("vector_bits", &Target::vector_bits, docs::target::vector_bits)
        .def_rw("processor_tune", &Target::processor_tune, docs::target::processor_tune)
        .def("supported", &Target::supported, docs::target::supported)
        .def("supports_device_api", &Target::supports_device_api, "api"_a,
             docs::target::supports_device_api)
        .def(
            "supports_type",
            [](const Target &t, const TypeLike &type, DeviceAPI api) {
                if (api == DeviceAPI::None) return t.supports_type(type.get());
                const bool is_double = type.get().is_float() && type.get().bits() == 64;
                return t.supports_type(type.get(), api) && (!is_double || has_doubles(t, api));
            },
            "type"_a, "device"_a = DeviceAPI::None, docs::target::supports_type)
        .def("get_required_device_api", &Target::get_required_device_api,
             docs::target::get_required_device_api)
        .def("maximum_buffer_size", &Target::maximum_buffer_size, docs::target::maximum_buffer_size)
        .def(
            "get_runtime_compatible_target",
            [](const Target &t, const Target &other) -> std::optional<Target> {
                Target result;
                if (!t.get_runtime_compatible_target(other, result)) return {};
                return result;
            },
            "other"_a, docs::target::get_runtime_compatible_target)
        .def(
            "natural_vector_size",
            [](const Target &t, const TypeLike &type) { return t.natural_vector_size(type.get()); },
            "type"_a, docs::target::natural_vector_size);
}

}  // namespace

void bind_target(nb::module_ &m) {
    nb::class_<Target> c(m, "Target", docs::target::class_);
    c.def(nb::init<>(), docs::target::empty)
        .def(
            "__init__",
            [](Target *t, const std::string &text) {
                const Here at = here();
                // By Halide's rules an empty text is this machine.
                if (text.empty() && follows_halide(at))
                    new (t) Target(get_host_target());
                else
                    new (t) Target(text, at);
            },
            "text"_a, docs::target::text)
        .def(nb::init<const Target &>(), "target"_a, docs::target::target)
        .def(nb::init<Target::OS, Target::Arch, int, const Features &>(), "os"_a, "arch"_a,
             "bits"_a, "features"_a = Features(), docs::target::parts)
        .def(nb::init<Target::OS, Target::Arch, int, Target::Processor, const Features &, int>(),
             "os"_a, "arch"_a, "bits"_a, "processor_tune"_a, "features"_a = Features(),
             "vector_bits"_a = 0, docs::target::all_parts)
        .def("to_string", &Target::to_string, docs::target::to_string)
        .def(
            "__eq__", [](const Target &a, const Target &b) { return a == b; }, nb::is_operator())
        .def("__hash__", [](const Target &t) { return nb::hash(nb::str(t.to_string().c_str())); })
        .def("__str__", &Target::to_string)
        .def("__repr__", [](const Target &t) { return str("Target(\"", t.to_string(), "\")"); })
        .def("__getstate__", &Target::to_string)
        .def("__setstate__", [](Target &t, const std::string &text) { new (&t) Target(text); });
    define_features(c);
    define_machine(c);
    nb::implicitly_convertible<nb::str, Target>();
    m.def("get_host_target", &get_host_target, docs::target::get_host_target);
    m.def(
        "get_jit_target_from_environment", [] { return get_jit_target_from_environment(); },
        docs::target::get_jit_target_from_environment);
    m.def(
        "get_target_from_environment", [] { return get_target_from_environment(); },
        docs::target::get_target_from_environment);
    m.def("target_feature_for_device_api", &target_feature_for_device_api, "device_api"_a,
          docs::target::target_feature_for_device_api);
    m.def("host_supports_target_device", &host_supports_target_device, "target"_a,
          docs::target::host_supports_target_device);
}

}  // namespace tessera::python
