#pragma once
#include "ir/enums.h"
#include "ir/type.h"
#include "tensor_plan.h"
#include <algorithm>
#include <random>
#include <string>
#include <vector>

// A pipeline and its schedule as data: drawn at random, built with the language, shrunk, printed.
namespace tessera::fuzz {

class Random {
public:
    explicit Random(uint64_t seed) : engine(seed) {}
    int range(int low, int high) { return low + int(engine() % uint64_t(high - low + 1)); }
    bool chance(double p) { return double(engine() % 1000000) < p * 1e6; }
    template<typename T>
    const T &pick(const std::vector<T> &from) {
        return from[size_t(range(0, int(from.size()) - 1))];
    }
    template<typename T>
    void shuffle(std::vector<T> &list) {
        for (size_t i = list.size(); i > 1; i--) std::swap(list[i - 1], list[engine() % i]);
    }

private:
    std::mt19937_64 engine;
};

// Lists how operations are written in C++: a name for f(a, b), an operator between two operands.
// clang-format off
#define TESSERA_FUZZ_BINARY(X)                                                                     \
    X(Add, "+") X(Sub, "-") X(Mul, "*") X(Div, "/") X(Mod, "%") X(Lt, "<") X(Le, "<=") X(Eq, "==") \
    X(And, "&&") X(Or, "||") X(BitAnd, "&") X(BitOr, "|") X(BitXor, "^") X(Shl, "<<") X(Shr, ">>")
#define TESSERA_FUZZ_FUNCTION1(X)                                                                  \
    X(Abs, abs) X(Popcount, popcount) X(CountLeadingZeros, count_leading_zeros) X(Sqrt, sqrt)      \
    X(Sin, sin) X(Exp, exp) X(Floor, floor) X(Likely, likely) X(StrictFloat, strict_float)
#define TESSERA_FUZZ_FUNCTION2(X)                                                                  \
    X(Min, min) X(Max, max) X(Absd, absd) X(HalvingAdd, halving_add) X(HalvingSub, halving_sub)    \
    X(RoundingHalvingAdd, rounding_halving_add) X(SaturatingAdd, saturating_add)                   \
    X(SaturatingSub, saturating_sub) X(WideningMul, widening_mul) X(WideningAdd, widening_add)     \
    X(RoundingShiftRight, rounding_shift_right) X(SharedDifferences, shared_differences)
#define TESSERA_FUZZ_FUNCTION3(X)                                                                  \
    X(Select, select) X(Clamp, clamp) X(Lerp, lerp) X(MulShiftRight, mul_shift_right)
// clang-format on
// Inline reductions over a domain.
#define TESSERA_FUZZ_REDUCTION(X) X(Sum, sum) X(Maximum, maximum) X(Minimum, minimum)

enum class Op : uint8_t {
#define ENUMERATOR(name, text) name,
    TESSERA_FUZZ_BINARY(ENUMERATOR) TESSERA_FUZZ_FUNCTION1(ENUMERATOR)
        TESSERA_FUZZ_FUNCTION2(ENUMERATOR) TESSERA_FUZZ_FUNCTION3(ENUMERATOR)
            TESSERA_FUZZ_REDUCTION(ENUMERATOR)
#undef ENUMERATOR
                Number,  // `number`
    Coordinate,          // pure variable `index`
    Reduction,           // variable `part` of domain `index`
    Call,                // value `part` of function `index` at args
    Input,               // element of input `index` at args
    Parameter,           // the int32 parameter
    Cast,
    SaturatingCast,
    Random,  // random_uint of seed `index`
    Undef,   // what is there already
};

// An expression, and what is known of its value.
struct Term {
    Op op = Op::Number;
    Type type = Int(32);
    double number = 0;
    int index = 0, part = 0;
    std::vector<Term> args;
    double low = 0, high = 0;
    double error = 0;      // how far re-association and rounding may take a float; 0: exact
    bool is_data = false;  // made of what is read: its sums of 32 and 64 bits may wrap
    bool may_be_nan = false;
};

struct Domain {
    std::vector<std::pair<int, int>> box;  // min, extent
    std::vector<Term> where;
};

struct UpdatePlan {
    int domain = -1;  // none
    std::vector<Term> args, values;
    bool associative = false;  // so that it may be run in any order
};

enum class Boundary : uint8_t {
    None,
    ConstantExterior,
    RepeatEdge,
    RepeatImage,
    MirrorImage,
    MirrorInterior
};

// Says what an extern stage reads: all values of a function, or an input.
struct ExternSource {
    int index = 0;
    bool is_input = false;
};

struct FuncPlan {
    int dims = 2;
    std::vector<Term> values;  // their low, high and error include the updates
    std::vector<UpdatePlan> updates;
    Boundary boundary = Boundary::None;  // else: of function or input `source`
    int source = -1;
    bool source_is_input = false;
    bool is_extern = false;  // sums neighbours of all that it `reads`
    std::vector<ExternSource> reads;
    int read_limit = 0;  // else an extern stage reads only at 0 to this, whatever the point
};

// The enumerators say how the elements of an input lie beside one another.
enum class InputLayout : uint8_t {
    Dense,
    LastInnermost,  // as those of an interleaved picture
    EveryOther,     // with a gap behind each
    PaddedRows
};

struct InputPlan {
    Type type;
    std::vector<int> size;
    bool is_param = false;  // an ImageParam, whose size the pipeline is asked for; else a Buffer
    bool is_wide = false;   // integers of 32 or 64 bits are anything that fits, not just small
    InputLayout layout = InputLayout::Dense;
    bool has_nan = false;  // some of its floats are none
};

enum class Verb : uint8_t {
    // These are of a stage.
    Split,
    Fuse,
    Rename,
    Reorder,
    Tile,
    Serial,
    Parallel,
    GPUBlocks,
    GPUThreads,
    GPULanes,
    GPUSingleThread,
    Vectorize,
    Unroll,
    Partition,
    Atomic,
    AllowRaceConditions,
    Specialize,
    SpecializeFail,
    Prefetch,
    StreamStores,
    StreamLoads,
    // These are of a function.
    ComputeRoot,
    ComputeAt,
    StoreRoot,
    StoreAt,
    HoistStorage,
    HoistStorageRoot,
    FoldStorage,
    RingBuffer,
    Async,
    ReorderStorage,
    AlignStorage,
    BoundStorage,
    StoreIn,
    AlignBounds,
    AlignExtent,
    Bound,
    BoundExtent,
    In,
    CloneIn,
    Rfactor,
    TraceLoads,
    TraceStores,
    TraceRealizations,
    NoProfiling
};

struct Directive {
    Verb verb = Verb::ComputeRoot;
    int func = 0, update = -1;       // -1: the pure definition
    int special = -1;                // the number of the stage's specialization
    std::vector<std::string> names;  // of loops or dimensions; of a tile: all old, outer, inner
    std::vector<int> factors;        // of a tile
    int factor = 0, offset = 0;
    TailStrategy tail = TailStrategy::Auto;
    Partition partition = Partition::Auto;
    MemoryType memory = MemoryType::Auto;
    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf;
    int other = -1;    // the function of a level; the consumer of a copy, -1: all
    int creates = -1;  // the number of the function that this makes
    int domain = -1;   // of the reduction variables that rfactor keeps
};

struct Plan {
    uint64_t seed = 0;
    std::vector<InputPlan> inputs;
    std::vector<Domain> domains;
    std::vector<FuncPlan> funcs;  // call only those before them
    std::vector<int> outputs;
    std::vector<int> min, size;  // of the outputs
    std::vector<int> base;       // is added to min; values of outputs are of coordinates without it
    std::vector<Directive> directives;
    TensorPlan tensor;  // if that is drawn, it is the plan, and all else is empty
};

// Calls f for the term and all below it.
template<typename T, typename F>
void for_each_term(T &term, F &&f) {
    f(term);
    for (auto &arg : term.args) for_each_term(arg, f);
}
// Calls f for each term of a function, but not for the operands of these.
template<typename FuncOrConst, typename F>
void for_each_root(FuncOrConst &func, F &&f) {
    for (auto &v : func.values) f(v);
    for (auto &u : func.updates) {
        for (auto &a : u.args) f(a);
        for (auto &v : u.values) f(v);
    }
}

// The names of the extern functions: by how many buffers they read and write.
std::string extern_name(const Plan &plan, const FuncPlan &func);
// Returns true if a function is called by an extern stage.
bool reads(const FuncPlan &extern_stage, int func);
// Returns where the outputs begin.
std::vector<int> minima(const Plan &plan);

// Returns true if an update of an output needs certain points along a dimension to be in its
// buffer.
bool is_updated_at_points(const Plan &plan, size_t dimension);

// Plans of these seeds and larger ones have kernels.
constexpr uint64_t first_gpu_seed = uint64_t(1) << 40;
inline bool is_for_gpu(const Plan &plan) { return plan.seed >= first_gpu_seed; }
// Plans of these seeds and larger ones are of tensor instructions.
constexpr uint64_t first_tensor_seed = uint64_t(1) << 41;

// The same plan for the same seed.
Plan draw_plan(uint64_t seed);
// Adds a random schedule that should be legal.
void draw_schedule(Plan &plan, Random &random);

// The plan as a C++ program.
std::string to_cpp(const Plan &plan);

}  // namespace tessera::fuzz
