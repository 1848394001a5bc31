#include "bindings.h"

namespace tessera::python {
namespace {

void bind_enums(nb::module_ &m) {
    nb::enum_<TailStrategy>(m, "TailStrategy",
                            "Says what a split does where its factor does not divide the extent.")
        .value("Auto", TailStrategy::Auto)
        .value("RoundUp", TailStrategy::RoundUp)
        .value("GuardWithIf", TailStrategy::GuardWithIf)
        .value("Predicate", TailStrategy::Predicate)
        .value("PredicateLoads", TailStrategy::PredicateLoads)
        .value("PredicateStores", TailStrategy::PredicateStores)
        .value("ShiftInwards", TailStrategy::ShiftInwards)
        .value("ShiftInwardsAndBlend", TailStrategy::ShiftInwardsAndBlend)
        .value("RoundUpAndBlend", TailStrategy::RoundUpAndBlend);
    nb::enum_<MemoryType>(m, "MemoryType", "Says where the values of a Func live.")
        .value("Auto", MemoryType::Auto)
        .value("Heap", MemoryType::Heap)
        .value("Stack", MemoryType::Stack)
        .value("Register", MemoryType::Register)
        .value("GPUShared", MemoryType::GPUShared)
        .value("Tile", MemoryType::Tile);
    nb::enum_<Partition>(m, "Partition",
                         "Says if a loop may be split into prologue, steady state and epilogue.")
        .value("Auto", Partition::Auto)
        .value("Always", Partition::Always)
        .value("Never", Partition::Never);
    nb::enum_<DeviceAPI>(m, "DeviceAPI", "Says which kind of device a loop runs on.")
        .value("None_", DeviceAPI::None)
        .value("Host", DeviceAPI::Host)
        .value("Default_GPU", DeviceAPI::Default_GPU)
        .value("CUDA", DeviceAPI::CUDA);
    nb::enum_<PrefetchBoundStrategy>(m, "PrefetchBoundStrategy",
                                     "Says what a prefetch does beyond a buffer.")
        .value("GuardWithIf", PrefetchBoundStrategy::GuardWithIf)
        .value("NonFaulting", PrefetchBoundStrategy::NonFaulting)
        .value("Clamp", PrefetchBoundStrategy::Clamp);
    nb::enum_<TensorInstruction>(m, "TensorInstruction", "Names the instructions of tensor cores.")
        .value("MMA", TensorInstruction::MMA)
        .value("WGMMA", TensorInstruction::WGMMA);
}

}  // namespace

void bind_types(nb::module_ &m) {
    bind_enums(m);
    nb::class_<Type>(m, "Type", "The type of an element: of so many bits, and of so many lanes.")
        .def("bits", &Type::bits)
        .def("bytes", &Type::bytes)
        .def("lanes", &Type::lanes)
        .def("is_int", &Type::is_int)
        .def("is_uint", &Type::is_uint)
        .def("is_float", [](Type t) { return t.is_float(); })
        .def("is_bool", &Type::is_bool)
        .def("element_of", [](Type t) { return t.with_lanes(1); })
        .def(
            "__eq__", [](Type a, const TypeLike &b) { return a == b.get(); }, nb::is_operator())
        .def("__hash__", [](Type t) { return nb::hash(nb::str(str(t).c_str())); })
        .def("__repr__", [](Type t) { return str(t); })
        .def("__getstate__", [](Type t) { return std::pair(str(t.with_lanes(1)), int(t.lanes())); })
        .def("__setstate__", [](Type &t, const std::pair<std::string, int> &state) {
            const nb::object named =
                nb::module_::import_("types").attr("SimpleNamespace")("name"_a = state.first);
            new (&t) Type(to_type(named).with_lanes(state.second));
        });
    m.def(
        "Int", [](int bits, int lanes) { return Int(bits).with_lanes(lanes); }, "bits"_a,
        "lanes"_a = 1);
    m.def(
        "UInt", [](int bits, int lanes) { return UInt(bits).with_lanes(lanes); }, "bits"_a,
        "lanes"_a = 1);
    m.def(
        "Float", [](int bits, int lanes) { return Float(bits).with_lanes(lanes); }, "bits"_a,
        "lanes"_a = 1);
    m.def(
        "BFloat", [](int bits, int lanes) { return BFloat(bits).with_lanes(lanes); }, "bits"_a = 16,
        "lanes"_a = 1);
    m.def("Bool", [](int lanes) { return Bool().with_lanes(lanes); }, "lanes"_a = 1);

    nb::class_<Target>(m, "Target",
                       "A machine to compile for: \"x86-64-linux-avx2-fma\", \"host-cuda\".")
        .def(nb::init<>(),
             "Makes an undefined target, which stands for TESSERA_JIT_TARGET or the host.")
        .def(
            "__init__",
            [](Target *t, const std::string &text) {
                const Location at = here();
                called_at(at, [&] { new (t) Target(text); });
            },
            "text"_a)
        .def(
            "has_feature",
            [](const Target &t, const std::string &name) {
                const Target::Feature feature = Target::feature_from_name(name);
                if (feature == Target::FeatureEnd)
                    throw nb::value_error(str("no feature is called ", name).c_str());
                return t.has_feature(feature);
            },
            "name"_a)
        .def(
            "natural_vector_size",
            [](const Target &t, const TypeLike &type) { return t.natural_vector_size(type.get()); },
            "type"_a)
        .def(
            "__eq__", [](const Target &a, const Target &b) { return a == b; }, nb::is_operator())
        .def("__hash__", [](const Target &t) { return nb::hash(nb::str(t.to_string().c_str())); })
        .def("__str__", &Target::to_string)
        .def("__repr__", [](const Target &t) { return str("Target(\"", t.to_string(), "\")"); })
        .def("__getstate__", &Target::to_string)
        .def("__setstate__", [](Target &t, const std::string &text) { new (&t) Target(text); });
    nb::implicitly_convertible<nb::str, Target>();
    m.def("get_host_target", &get_host_target, "Returns this machine, without its GPU.");
    m.def("get_jit_target_from_environment", [] { return get_jit_target_from_environment(); });
    m.def("get_target_from_environment", [] { return get_target_from_environment(); });
}

}  // namespace tessera::python
