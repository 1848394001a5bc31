#pragma once

// Docstrings of enumerations. The names in their examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace enums {

inline constexpr char TailStrategy[] =
    R"doc(Says what a split does where its factor does not divide the extent.

>>> f.split(x, xo, xi, 8, ts.TailStrategy.GuardWithIf).realize([3, 1]).numpy().tolist()
[[0, 1, 2]]
>>> [tail.name for tail in ts.TailStrategy]
['RoundUp', 'GuardWithIf', 'Predicate', 'PredicateLoads', 'PredicateStores', 'ShiftInwards', 'ShiftInwardsAndBlend', 'RoundUpAndBlend', 'Auto']
)doc";

inline constexpr char Partition[] =
    R"doc(Says if a loop may be split into prologue, steady state and epilogue.

>>> [partition.name for partition in ts.Partition]
['Auto', 'Never', 'Always']
)doc";

inline constexpr char PrefetchBoundStrategy[] = R"doc(Says what a prefetch does beyond a buffer.

>>> [strategy.name for strategy in ts.PrefetchBoundStrategy]
['Clamp', 'GuardWithIf', 'NonFaulting']
)doc";

inline constexpr char MemoryType[] = R"doc(Says where the values of a Func live.

>>> f.compute_at(g, x).store_in(ts.MemoryType.Register)
<Func f(x, y): int32>
>>> print(g.schedule_as_python())
import tessera as ts
f = pipeline.get_func(0)
g = pipeline.get_func(1)
x = ts.Var("x")
f.compute_at(g, x)
f.store_in(ts.MemoryType.Register)
)doc";

inline constexpr char DeviceAPI[] = R"doc(Says which kind of device a loop runs on.

>>> f.gpu_tile(x, y, xi, yi, 8, 8, ts.DeviceAPI.CUDA).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_block f.x:
        gpu_thread f.yi in [0, 7]:
          gpu_thread f.xi in [0, 7]:
            f(...) = ...
)doc";

inline constexpr char TensorInstruction[] =
    R"doc(Names an instruction, or a family of which the one is taken that fits the types.

>>> ts.TensorInstruction("mma") == ts.TensorInstruction.MMA
True
)doc";

inline constexpr char TensorInstruction_name[] =
    R"doc(Is the name of the instruction or of the family.

>>> ts.TensorInstruction.WGMMA.name
'wgmma'
)doc";

inline constexpr char TensorInstruction_mma[] =
    R"doc(Is the family mma.sync, of one warp, from capability 8.0 on.

>>> ts.TensorInstruction.MMA
TensorInstruction('mma')
)doc";

inline constexpr char TensorInstruction_wgmma[] =
    R"doc(Is the family wgmma, of a warpgroup, of capability 9.0.

>>> ts.TensorInstruction.WGMMA
TensorInstruction('wgmma')
)doc";

inline constexpr char TensorInstruction_any[] =
    R"doc(Names any instruction of the target that computes the definition as it is written.

>>> ts.TensorInstruction.any()
TensorInstruction('any')
)doc";

inline constexpr char TensorInstruction_define[] =
    R"doc(Adds an instruction of a GPU, or replaces the one of its name.

It is D(i, j) += A(i, k) * B(k, j), with the products in the type of D. Each operand is its type and
its layout, which says which register of which thread has an element. In the line of PTX $D, $A and
$B stand for the registers, of 32 bits each. So many threads run it together (32 of a warp, or 128 of
a warpgroup), on GPUs of that compute capability or newer ones.

>>> mine = ts.TensorInstruction.define(
...     "m16n8k8 of mine",
...     d=(ts.Float(32), "i:16 j:8 -> thread(i%8*4 + j/2) register(i/8*2 + j%2)"),
...     a=(ts.Float(16), "i:16 k:8 -> thread(i%8*4 + k/2) register(i/8*2 + k%2)"),
...     b=(ts.Float(16), "k:8 j:8 -> thread(j*4 + k/2) register(k%2)"),
...     ptx="mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 $D, $A, $B, $D;", capability=75)
>>> mine
TensorInstruction('m16n8k8 of mine')
)doc";

inline constexpr char NameMangling[] = R"doc(Says how linkers know a function.

>>> [mangling.name for mangling in ts.NameMangling]
['Default', 'C', 'CPlusPlus']
)doc";

inline constexpr char LinkageType[] = R"doc(Says how other files may reach a compiled function.

>>> [linkage.name for linkage in ts.LinkageType]
['External', 'ExternalPlusArgv', 'ExternalPlusMetadata', 'Internal']
)doc";

inline constexpr char LoopAlignStrategy[] =
    R"doc(Says how two loops that run together are laid over each other.

>>> [strategy.name for strategy in ts.LoopAlignStrategy]
['AlignStart', 'AlignEnd', 'NoAlign', 'Auto']
)doc";

inline constexpr char TypeCode[] = R"doc(Says what the bits of a type mean.

>>> ts.Type(ts.TypeCode.UInt, 8)
uint8
)doc";

inline constexpr char ArgumentKind[] = R"doc(Says what an argument of a compiled pipeline is.

>>> ts.Argument(im).kind == ts.ArgumentKind.InputBuffer
True
)doc";

inline constexpr char StmtOutputFormat[] = R"doc(Selects the format of a lowered pipeline's text.

>>> f.compile_to_lowered_stmt("f.html", fmt=ts.StmtOutputFormat.HTML)
)doc";

inline constexpr char TargetOS[] = R"doc(Names operating systems.

>>> ts.Target("x86-64-linux").os == ts.TargetOS.Linux
True
)doc";

inline constexpr char TargetArch[] = R"doc(Names architectures.

>>> ts.Target("x86-64-linux").arch == ts.TargetArch.X86
True
)doc";

inline constexpr char TargetProcessorTune[] =
    R"doc(Names processors whose instruction latencies code is scheduled for.

>>> ts.Target("x86-64-linux").processor_tune
TargetProcessorTune.ProcessorGeneric
)doc";

inline constexpr char TargetFeature[] =
    R"doc(Names what a target has, and how a pipeline is compiled for it.

>>> ts.Target("x86-64-linux").with_feature(ts.TargetFeature.AVX2)
Target("x86-64-linux-avx2")
)doc";

inline constexpr char OutputFileType[] =
    R"doc(Names the kinds of files that can be written of a pipeline.

>>> f.compile_to({ts.OutputFileType.c_header: "f.h"}, [], "f")
>>> "int f(" in Path("f.h").read_text()
True
)doc";

}  // namespace enums
}  // namespace tessera::python::docs
