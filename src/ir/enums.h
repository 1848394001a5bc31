#pragma once
#include <cstdint>
#include <string_view>

namespace tessera {

// How the iterations of a loop run.
enum class LoopKind : uint8_t { Serial, Parallel, Vectorized, Unrolled };

// Whether a loop is split into a prologue, a steady state and an epilogue so that the steady
// state needs no boundary tests. Auto: where it pays.
enum class Partition : uint8_t { Auto, Never, Always };

// Where a Func's values live.
enum class MemoryType : uint8_t {
    Auto,
    Heap,
    Stack,
    Register,
    GPUShared,
    GPUTexture,
    LockedCache,
    VTCM,
    AMXTile,
    GPUSharedAsync
};

// What happens where a split does not divide the extent of the loop evenly.
enum class TailStrategy : uint8_t {
    RoundUp,
    GuardWithIf,
    Predicate,
    PredicateLoads,
    PredicateStores,
    ShiftInwards,
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
    Auto
};

// What a prefetch does where it would read outside of the buffer.
enum class PrefetchBoundStrategy : uint8_t { Clamp, GuardWithIf, NonFaulting };

// The operations that VectorReduce can do between neighbouring lanes.
enum class ReduceOp : uint8_t { Add, SaturatingAdd, Mul, Min, Max, And, Or };

// What is known about one dimension of a buffer, or about a buffer as a whole (then dim is 0).
enum class BufferField : uint8_t {
    Min,
    Extent,
    Stride,
    Host,
    Dimensions,
    TypeCode,
    TypeBits,
    Device
};

// How linkers know a function: by its name in C, or by that and its namespaces and parameters, as
// C++ does. Default: as Target::CPlusPlusMangling says.
enum class NameMangling : uint8_t { Default, C, CPlusPlus };

enum class CallKind : uint8_t {
    Func,   // a value of a Func of this pipeline
    Image,  // an element of an ImageParam or a Buffer
};

std::string_view name_of(LoopKind k);
std::string_view name_of(Partition p);
std::string_view name_of(MemoryType m);
std::string_view name_of(TailStrategy t);
std::string_view name_of(PrefetchBoundStrategy s);
std::string_view name_of(ReduceOp op);
std::string_view name_of(BufferField f);

}  // namespace tessera
