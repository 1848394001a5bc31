#include "ir/enums.h"
#include "bindings.h"
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
    nb::enum_<OutputFileType> e(m, "OutputFileType",
                                "The kinds of files that can be written of a pipeline.");
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
                                "Names operating systems.");
        bind_listed<Target::Arch>(m, "TargetArch",
                                  {MEMBER(ArchUnknown), MEMBER(X86), MEMBER(ARM), MEMBER(POWERPC),
                                   MEMBER(Hexagon), MEMBER(WebAssembly), MEMBER(RISCV)},
                                  "Names architectures.");
        bind_listed<Target::Processor>(
            m, "TargetProcessorTune",
            {MEMBER(ProcessorGeneric), MEMBER(K8), MEMBER(K8_SSE3), MEMBER(AMDFam10),
             MEMBER(BtVer1), MEMBER(BdVer1), MEMBER(BdVer2), MEMBER(BdVer3), MEMBER(BdVer4),
             MEMBER(BtVer2), MEMBER(ZnVer1), MEMBER(ZnVer2), MEMBER(ZnVer3), MEMBER(ZnVer4),
             MEMBER(ZnVer5)},
            "Names processors whose instruction latencies code is scheduled for.");
    }
    nb::enum_<Target::Feature> features(
        m, "TargetFeature", "Names what a target has, and how a pipeline is compiled for it.");
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
                       "Says which kind of device a loop runs on.");
    }
    {
        using E = TensorInstruction;
        bind_listed<E>(m, "TensorInstruction", {MEMBER(MMA), MEMBER(WGMMA)},
                       "Names the instructions of tensor cores.");
    }
    {
        using E = NameMangling;
        bind_listed<E>(m, "NameMangling", {MEMBER(Default), MEMBER(C), MEMBER(CPlusPlus)},
                       "Says how linkers know a function.");
    }
    {
        using E = LinkageType;
        bind_listed<E>(m, "LinkageType",
                       {MEMBER(External), MEMBER(ExternalPlusArgv), MEMBER(ExternalPlusMetadata),
                        MEMBER(Internal)},
                       "Says how other files may reach a compiled function.");
    }
    {
        using E = LoopAlignStrategy;
        bind_listed<E>(m, "LoopAlignStrategy",
                       {MEMBER(AlignStart), MEMBER(AlignEnd), MEMBER(NoAlign), MEMBER(Auto)},
                       "Says how two loops that run together are laid over each other.");
    }
    {
        using E = TypeCode;
        bind_listed<E>(m, "TypeCode",
                       {MEMBER(Int), MEMBER(UInt), MEMBER(Float), MEMBER(Handle), MEMBER(BFloat)},
                       "Says what the bits of a type mean.");
    }
    {
        using E = Argument;
        bind_listed<Argument::Kind>(
            m, "ArgumentKind", {MEMBER(InputScalar), MEMBER(InputBuffer), MEMBER(OutputBuffer)},
            "Says what an argument of a compiled pipeline is.");
    }
    bind_listed<StmtOutputFormat>(m, "StmtOutputFormat", {{"Text", Text}, {"HTML", HTML}},
                                  "Selects the format of a lowered pipeline's text.");
}
#undef MEMBER

}  // namespace

void bind_enums(nb::module_ &m) {
    bind_named(m, "TailStrategy", TailStrategy::Auto,
               "Says what a split does where its factor does not divide the extent.");
    bind_named(m, "Partition", Partition::Always,
               "Says if a loop may be split into prologue, steady state and epilogue.");
    bind_named(m, "PrefetchBoundStrategy", PrefetchBoundStrategy::NonFaulting,
               "Says what a prefetch does beyond a buffer.");
    bind_named(m, "MemoryType", MemoryType(std::size(all_memory_types) - 1),
               "Says where the values of a Func live.");
    bind_language_enums(m);
    bind_target_enums(m);
    bind_output_file_type(m);
}

}  // namespace tessera::python
