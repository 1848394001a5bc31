#include "ir/enums.h"
#include "bindings.h"
#include "docs/enums.h"
#include <deque>
#include <type_traits>

namespace tessera::python {
namespace {

// Returns the name as nanobind keeps it: for ever.
const char *kept(std::string_view name) {
    static auto *names = new std::deque<std::string>;
    // `None` is a word of Python's.
    return names->emplace_back(name == "None" ? "None_" : name).c_str();
}

// Binds an enum whose names the core has: all values up to the last one.
template<typename E> void bind_named(nb::module_ &m, const char *name, E last, const char *doc) {
    nb::enum_<E> e(m, name, doc);
    for (int i = 0; i <= int(last); i++) e.value(kept(name_of(E(i))), E(i));
}

template<typename E> struct Member {
    std::string_view name;
    E value;
};
template<typename E, size_t N>
void bind_listed(nb::module_ &m, const char *name, const Member<std::type_identity_t<E>> (&list)[N],
                 const char *doc) {
    nb::enum_<E> e(m, name, doc);
    for (const auto &[text, value] : list) e.value(kept(text), value);
}

void bind_output_file_type(nb::module_ &m) {
    nb::enum_<OutputFileType> e(m, "OutputFileType", docs::enums::OutputFileType);
    for (const driver::OutputFile &f : driver::output_files()) e.value(kept(f.name), f.type);
}

#define MEMBER(name) {#name, E::name}
void bind_target_enums(nb::module_ &m) {
    {
        using E = Target;
        bind_listed<Target::OS>(m, "TargetOS",
                                {MEMBER(OSUnknown), MEMBER(Linux), MEMBER(Windows), MEMBER(OSX),
                                 MEMBER(Android), MEMBER(IOS), MEMBER(QuRT), MEMBER(NoOS),
                                 MEMBER(Fuchsia), MEMBER(WebAssemblyRuntime)},
                                docs::enums::TargetOS);
        bind_listed<Target::Arch>(m, "TargetArch",
                                  {MEMBER(ArchUnknown), MEMBER(X86), MEMBER(ARM), MEMBER(POWERPC),
                                   MEMBER(Hexagon), MEMBER(WebAssembly), MEMBER(RISCV)},
                                  docs::enums::TargetArch);
        bind_listed<Target::Processor>(m, "TargetProcessorTune",
                                       {MEMBER(ProcessorGeneric), MEMBER(K8), MEMBER(K8_SSE3),
                                        MEMBER(AMDFam10), MEMBER(BtVer1), MEMBER(BdVer1),
                                        MEMBER(BdVer2), MEMBER(BdVer3), MEMBER(BdVer4),
                                        MEMBER(BtVer2), MEMBER(ZnVer1), MEMBER(ZnVer2),
                                        MEMBER(ZnVer3), MEMBER(ZnVer4), MEMBER(ZnVer5)},
                                       docs::enums::TargetProcessorTune);
    }
    nb::enum_<Target::Feature> features(m, "TargetFeature", docs::enums::TargetFeature);
#define FEATURE(name, text) features.value(#name, Target::name, text);
    TESSERA_TARGET_FEATURES(FEATURE)
#undef FEATURE
    features.value("FeatureEnd", Target::FeatureEnd);
}

void bind_language_enums(nb::module_ &m) {
    {
        using E = DeviceAPI;
        bind_listed<E>(m, "DeviceAPI",
                       {MEMBER(None), MEMBER(Host), MEMBER(Default_GPU), MEMBER(CUDA),
                        MEMBER(OpenCL), MEMBER(Metal), MEMBER(Hexagon), MEMBER(HexagonDma),
                        MEMBER(D3D12Compute), MEMBER(Vulkan), MEMBER(WebGPU), MEMBER(SMEStreaming)},
                       docs::enums::DeviceAPI);
    }
    {
        using I = TensorInstruction;
        nb::class_<I> c(m, "TensorInstruction", docs::enums::TensorInstruction);
        c.def(nb::init<std::string>(), "name"_a)
            .def_prop_ro("name", &I::name, docs::enums::TensorInstruction_name)
            .def("__eq__", [](const I &a, const I &b) { return a == b; })
            .def("__hash__", [](const I &i) { return std::hash<std::string>()(i.name()); })
            .def("__repr__", [](const I &i) { return str("TensorInstruction('", i.name(), "')"); });
        // Made anew each time: a type that held its own objects would never be freed.
        c.def_prop_ro_static(
            "MMA", [](nb::handle) { return I::MMA; }, docs::enums::TensorInstruction_mma);
        c.def_prop_ro_static(
            "WGMMA", [](nb::handle) { return I::WGMMA; }, docs::enums::TensorInstruction_wgmma);
        using Operand = std::pair<Type, std::string>;
        c.def_static("any", &I::any, docs::enums::TensorInstruction_any);
        c.def_static(
            "define",
            [](const std::string &name, const Operand &d, const Operand &a, const Operand &b,
               const std::string &ptx, int threads, int capability) {
                return I::define({name,
                                  threads,
                                  capability,
                                  {d.first, d.second},
                                  {a.first, a.second},
                                  {b.first, b.second},
                                  ptx},
                                 here());
            },
            "name"_a, "d"_a, "a"_a, "b"_a, "ptx"_a, "threads"_a = 32, "capability"_a = 80,
            docs::enums::TensorInstruction_define);
    }
    {
        using E = NameMangling;
        bind_listed<E>(m, "NameMangling", {MEMBER(Default), MEMBER(C), MEMBER(CPlusPlus)},
                       docs::enums::NameMangling);
    }
    {
        using E = LinkageType;
        bind_listed<E>(m, "LinkageType",
                       {MEMBER(External), MEMBER(ExternalPlusArgv), MEMBER(ExternalPlusMetadata),
                        MEMBER(Internal)},
                       docs::enums::LinkageType);
    }
    {
        using E = LoopAlignStrategy;
        bind_listed<E>(m, "LoopAlignStrategy",
                       {MEMBER(AlignStart), MEMBER(AlignEnd), MEMBER(NoAlign), MEMBER(Auto)},
                       docs::enums::LoopAlignStrategy);
    }
    {
        using E = TypeCode;
        bind_listed<E>(m, "TypeCode",
                       {MEMBER(Int), MEMBER(UInt), MEMBER(Float), MEMBER(Handle), MEMBER(BFloat),
                        MEMBER(Float8E4M3), MEMBER(Float8E5M2)},
                       docs::enums::TypeCode);
    }
    {
        using E = Argument;
        bind_listed<Argument::Kind>(
            m, "ArgumentKind", {MEMBER(InputScalar), MEMBER(InputBuffer), MEMBER(OutputBuffer)},
            docs::enums::ArgumentKind);
    }
    bind_listed<StmtOutputFormat>(m, "StmtOutputFormat", {{"Text", Text}, {"HTML", HTML}},
                                  docs::enums::StmtOutputFormat);
}
#undef MEMBER

}  // namespace

void bind_enums(nb::module_ &m) {
    bind_named(m, "TailStrategy", TailStrategy::Auto, docs::enums::TailStrategy);
    bind_named(m, "Partition", Partition::Always, docs::enums::Partition);
    bind_named(m, "PrefetchBoundStrategy", PrefetchBoundStrategy::NonFaulting,
               docs::enums::PrefetchBoundStrategy);
    bind_named(m, "MemoryType", MemoryType(std::size(all_memory_types) - 1),
               docs::enums::MemoryType);
    bind_language_enums(m);
    bind_target_enums(m);
    bind_output_file_type(m);
}

}  // namespace tessera::python
