#pragma once
#include "autoscheduler/cost.h"
#include <array>

namespace tessera::autoscheduler {

// Lists what is known of a stage of a schedule without compiling it. Numbers that may be large are
// logarithms to base 2, so that a product of two causes is a sum.
// clang-format off
#define TESSERA_FEATURES(X)                                                                        \
    /* These say how much is computed, and how often. */                                           \
    X(Points) X(PointsNeeded) X(Recomputed) X(PointsOnce) X(Productions) X(Realizations)           \
    X(IsUpdate) X(IsReduction) X(IsOutput) X(Loops) X(EnclosingLoops)                              \
    /* The innermost loop and what an iteration of it computes. */                                 \
    X(Lanes) X(LanesUsed) X(VectorsPerPoint) X(Body) X(Unrolled) X(RegistersOfBody)                \
    X(InnermostExtent) X(InnermostIsReduction) X(InnermostIsParallel) X(ReductionExtent)           \
    X(GuardedLanes) X(GuardedUnroll) X(RowBytes) X(RowsOnce)                                       \
    /* Tasks. */                                                                                   \
    X(Tasks) X(Cores) X(IdleCores) X(PointsPerTask)                                                \
    /* Vector operations a point, by class. */                                                     \
    X(FloatAdd) X(FloatMul) X(FloatDiv) X(FloatMath) X(IntAdd) X(IntMul) X(IntDiv) X(Choice)       \
    X(Cast) X(Bits) X(Other) X(Inlined)                                                            \
    /* Loads a point by what the lanes of one touch, and how many points each serves. */           \
    X(LoadsSame) X(LoadsDense) X(LoadsStrided) X(LoadsGathered) X(LoadsLimited) X(LoadsServed)     \
    X(Sources) X(StorePattern) X(StoreIsScattered) X(Streams) X(StoredTogether)                    \
    X(ElementBytes)                                                                                \
    /* Bytes that an iteration touches: of the innermost loop, those around it, and all. */        \
    X(BytesInnermost) X(BytesSecond) X(BytesThird) X(BytesTask) X(BytesProduction) X(BytesAll)     \
    X(BytesStored) X(ProducersStored)                                                              \
    /* The estimated cost: its parts, and its part of the whole pipeline. */                       \
    X(Compute) X(Memory) X(Far) X(Overhead) X(Cycles) X(PartOfAll)                                 \
    /* The machine. */                                                                             \
    X(VectorBytes) X(Registers) X(NearCache) X(MiddleCache) X(FarCache)
// clang-format on
enum class Feature : uint8_t {
#define ENUMERATOR(name) name,
    TESSERA_FEATURES(ENUMERATOR)
#undef ENUMERATOR
};
constexpr size_t feature_count = size_t(Feature::FarCache) + 1;
std::span<const std::string_view> feature_names();

using Features = std::array<float, feature_count>;

// A schedule as a learned cost sees it: a row of features for each stage that is computed, and the
// milliseconds that it is estimated to take.
struct ProgramFeatures {
    std::vector<Features> stages;
    std::vector<double> milliseconds;

    // `stage`: features_of() the stage that costs so much of all.
    void add(const Features &stage, const StageCost &cost, const Cost &of_all);
};

// Returns the features of a stage that is computed, but for its part of the whole pipeline.
Features features_of(const StageView &stage, const StageCost &cost);
ProgramFeatures features_of(LoopTree &tree, const Cost &cost, const Machine &machine);

}  // namespace tessera::autoscheduler
