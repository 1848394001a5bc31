#include "base/dialect.h"
#include "bindings.h"

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
         "feature"_a,
         "Returns True if the target has a TargetFeature, or the feature of this name.")
        .def("features_any_of", &Target::features_any_of, "features"_a)
        .def("features_all_of", &Target::features_all_of, "features"_a)
        .def(
            "set_feature",
            [](Target &t, nb::handle f, bool value) { t.set_feature(to_feature(f), value); },
            "feature"_a, "value"_a = true)
        .def("set_features", &Target::set_features, "features"_a, "value"_a = true)
        .def(
            "with_feature",
            [](const Target &t, nb::handle f) { return t.with_feature(to_feature(f)); },
            "feature"_a)
        .def(
            "without_feature",
            [](const Target &t, nb::handle f) { return t.without_feature(to_feature(f)); },
            "feature"_a)
        .def("with_implied_features", &Target::with_implied_features)
        .def("has_gpu_feature", &Target::has_gpu_feature)
        .def("has_large_buffers", &Target::has_large_buffers)
        .def("has_unknowns", &Target::has_unknowns)
        .def("get_cuda_capability_lower_bound", &Target::get_cuda_capability_lower_bound)
        .def("get_vulkan_capability_lower_bound", &Target::get_vulkan_capability_lower_bound)
        .def("get_arm_v8_lower_bound", &Target::get_arm_v8_lower_bound)
        .def_static("feature_to_name", &Target::feature_to_name, "feature"_a)
        .def_static("feature_from_name", &Target::feature_from_name, "name"_a)
        .def_static("validate_target_string", &Target::validate_target_string, "text"_a);
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
    c.def_rw("os", &Target::os)
        .def_rw("arch", &Target::arch)
        .def_rw("bits", &Target::bits)
        .def_rw("vector_bits", &Target::vector_bits)
        .def_rw("processor_tune", &Target::processor_tune)
        .def("supported", &Target::supported, "Returns True if this compiler can make code for it.")
        .def("supports_device_api", &Target::supports_device_api, "api"_a)
        .def(
            "supports_type",
            [](const Target &t, const TypeLike &type, DeviceAPI api) {
                if (api == DeviceAPI::None) return t.supports_type(type.get());
                const bool is_double = type.get().is_float() && type.get().bits() == 64;
                return t.supports_type(type.get(), api) && (!is_double || has_doubles(t, api));
            },
            "type"_a, "device"_a = DeviceAPI::None)
        .def("get_required_device_api", &Target::get_required_device_api)
        .def("maximum_buffer_size", &Target::maximum_buffer_size)
        .def(
            "get_runtime_compatible_target",
            [](const Target &t, const Target &other) -> std::optional<Target> {
                Target result;
                if (!t.get_runtime_compatible_target(other, result)) return {};
                return result;
            },
            "other"_a, "Returns the target of a runtime for both; None if there is none.")
        .def(
            "natural_vector_size",
            [](const Target &t, const TypeLike &type) { return t.natural_vector_size(type.get()); },
            "type"_a, "Returns the lanes of a vector register.");
}

}  // namespace

void bind_target(nb::module_ &m) {
    nb::class_<Target> c(m, "Target",
                         "A machine to compile for: \"x86-64-linux-avx2-fma\", \"host-cuda\".");
    c.def(nb::init<>(), "Makes an undefined target, which stands for TESSERA_JIT_TARGET or the "
                        "host.")
        .def(
            "__init__",
            [](Target *t, const std::string &text) {
                const Location at = here();
                // By Halide's rules an empty text is this machine.
                if (text.empty() && follows_halide(at))
                    new (t) Target(get_host_target());
                else
                    new (t) Target(text, at);
            },
            "text"_a)
        .def(nb::init<const Target &>(), "target"_a)
        .def(nb::init<Target::OS, Target::Arch, int, const Features &>(), "os"_a, "arch"_a,
             "bits"_a, "features"_a = Features())
        .def(nb::init<Target::OS, Target::Arch, int, Target::Processor, const Features &, int>(),
             "os"_a, "arch"_a, "bits"_a, "processor_tune"_a, "features"_a = Features(),
             "vector_bits"_a = 0)
        .def("to_string", &Target::to_string)
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
    m.def("get_host_target", &get_host_target, "Returns this machine, without its GPU.");
    m.def("get_jit_target_from_environment", [] { return get_jit_target_from_environment(); });
    m.def("get_target_from_environment", [] { return get_target_from_environment(); });
    m.def("target_feature_for_device_api", &target_feature_for_device_api, "device_api"_a);
    m.def("host_supports_target_device", &host_supports_target_device, "target"_a,
          "Returns True if the devices that the target names are on this machine.");
}

}  // namespace tessera::python
