#pragma once
#include "autoscheduler/index_program.h"
#include "program/environment.h"
#include "program/steps.h"
#include <array>
#include <map>
#include <string>

namespace tessera::autoscheduler {

// Operations of a class cost about the same.
// clang-format off
#define TESSERA_OPERATION_CLASSES(X)                                                               \
    X(FloatAdd) X(FloatMul) X(FloatDiv) X(FloatMath) X(IntAdd) X(IntMul) X(IntDiv) X(Choice)       \
    X(Cast) X(Bits) X(Other)
// clang-format on
enum class OperationClass : uint8_t {
#define ENUMERATOR(name) name,
    TESSERA_OPERATION_CLASSES(ENUMERATOR)
#undef ENUMERATOR
};
constexpr size_t operation_classes = size_t(OperationClass::Other) + 1;

// The number of operations that one point takes, by class, and the bytes of their results: a vector
// of so many bytes does them at once.
struct Operations {
    std::array<double, operation_classes> count = {}, bytes = {};
    // The FloatAdd among them that one instruction does with a product.
    double fused_count = 0, fused_bytes = 0;

    double &of(OperationClass c) { return count[size_t(c)]; }
    double of(OperationClass c) const { return count[size_t(c)]; }
    double total() const;
    void add(const Operations &other, double times = 1);
};

// A condition upon a variable of a stage, as select(x % 2 == 0, a, b) and mux(c, {a, b, c}) have:
// it holds for some of the variable's values. Code that knows which ones it is at computes no other
// branch.
struct Choice {
    size_t variable = 0;
    int64_t period = 0;    // of so many values; 0: of all that there are
    int64_t count = 1;     // it holds for so many
    bool is_rest = false;  // or for all others

    // Returns the part of the variable's values, `extent` of them, for which it holds.
    double part(int64_t extent) const;
    bool is_about_the_same(const Choice &other) const {
        return variable == other.variable && period == other.period;
    }
    friend bool operator==(const Choice &, const Choice &) = default;
};
using Choices = std::vector<Choice>;  // all hold

// Counts what a stage computes under conditions.
struct ChosenOperations {
    Choices choices;
    uint64_t borders = 0;  // only at the borders of these variables, a bit each; 0: anywhere
    Operations operations = {};
};

// A function or an image that a stage reads.
struct Source {
    int function = -1, image = -1;  // one of the two
    friend bool operator==(const Source &, const Source &) = default;
};

// A read of a function or an image for each point of a stage; one that its expressions have several
// times is one.
struct Access {
    Source source;
    std::vector<IndexProgram> index;  // per dimension
    int bytes = 0;                    // of an element
    Choices choices = {};             // for which points
    bool is_by_extern = false;        // by a C function: the index is an estimate of what it asks
};

// A definition: for each point of its variables it computes a value.
struct StageNode {
    int function = 0;
    int number = 0;  // 0: the pure definition
    const program::Definition *definition = nullptr;
    Variables variables;               // pure ones, innermost first, then those of the reduction
    size_t pure = 0;                   // how many are pure
    std::vector<size_t> dimensions;    // of the function, per pure variable
    std::vector<Span> domain;          // of the reduction's variables
    std::vector<IndexProgram> writes;  // where it writes, per dimension of the function
    Operations operations;             // of all branches
    std::vector<ChosenOperations> chosen;  // those of them that only some points need
    std::vector<Access> accesses;
    bool stores_nothing = false;  // its values are undef

    bool is_reduction() const { return variables.size() > pure; }
};

using Box = std::vector<Span>;

// A function: its stages, and what is needed of it.
struct FunctionNode {
    program::FunctionRef function;
    std::string name;
    int bytes = 0;   // of all values of a point
    int widest = 0;  // of one of them
    std::vector<int> stages;
    std::vector<int> consumers;  // stages of other functions that read it
    bool is_output = false, is_extern = false;
    bool is_read_by_extern = false;  // from memory, as it is laid out without a schedule
    bool is_stored = false;  // the user has scheduled its storage, so that it is not inlined
    Box estimated;           // of an output: what the user asks for
    // The box that the outputs need of it, as their sizes are estimated.
    Box required;
    // Per argument: how many more points on either side can be computed without reading beyond the
    // end of an image, up to `far_beyond`.
    std::vector<int64_t> room;
    static constexpr int64_t far_beyond = 64;
    bool may_be_extended(size_t dimension) const { return room[dimension] >= far_beyond; }
    // Per argument: what is required does not depend on the sizes of outputs.
    std::vector<bool> is_constant;
    std::optional<Span> values;  // of its first value, rounded outwards, if that is known
    // Per argument: the number of points after which its definition does the same again (2 where it
    // asks for x % 2 or x / 2), whose choices are made when it is compiled if loops know it.
    std::vector<int64_t> periods;

    double points() const;
};

// An image that stages read, or a Buffer that the program holds.
struct ImageNode {
    std::string name;
    Symbol symbol;
    int bytes = 0;
    bool is_constant = false;    // it is such a Buffer
    std::vector<int> consumers;  // stages
    Box box;                     // as estimated, else what is read of it
    // Elements from one value to the next, per dimension, if that is promised.
    std::vector<std::optional<int64_t>> strides = {};
};

// An algorithm as a graph of stages that read functions, with numbers for all sizes.
//
// CompileError if there is no estimate of an output's size.
struct Graph {
    // `by_hand`: the estimates and bounds of the outputs, and whatever else the user has scheduled.
    // `structure`: steps after these that make functions, such as rfactor; the graph is that of the
    // functions as they then are.
    Graph(const program::Algorithm &algorithm, const program::Schedule &by_hand,
          const std::vector<program::Step> &structure = {});

    std::vector<FunctionNode> functions;  // producers before their consumers
    std::vector<StageNode> stages;
    std::vector<ImageNode> images;
    bool has_periods = false;  // FunctionNode::periods, of any function
    Estimates estimates;
    program::Schedule by_hand;  // what it was made with, as the structure
    std::vector<program::Step> structure;
    // These steps place what the user's schedule leaves open and needs (ByHand::places). They come
    // before the structure.
    std::vector<program::Step> places;
    // Per function: it stays as it is, since it has a schedule of the user's (ByHand::fixed), or is
    // an image that only such functions read.
    std::vector<bool> is_fixed;

    // The values of a stage's variables where all that is required is computed.
    std::vector<Span> spans_of(const StageNode &stage) const;
    // The function's number; -1 if there is none of this name.
    int find(Symbol name) const;

private:
    void add_function(const program::FunctionRef &f);
    void add_stage(int function, int number);
    // Returns what the user expects of a function's dimension.
    std::optional<Span> estimate_of(const FunctionNode &f, size_t dimension) const;
    void require_regions();
    void fix_images();
    void find_constant_regions();
    bool is_constant(const StageNode &stage, const IndexProgram &index) const;
    void find_room();
    int64_t room_along(const StageNode &stage, std::vector<Span> spans, size_t variable) const;
    std::optional<Span> values_of(const ir::Call &call) const;
    std::map<Symbol, int> numbers, image_numbers;  // of functions and of images
    program::ScheduledProgram scheduled;           // holds the symbols of functions that steps make
    program::ProgramCopy copy;                     // of that, whose functions these are
    class StageBuilder;
};

// The dimension of a function that an argument of this name is for; nothing if it has none.
std::optional<size_t> dimension_of(const program::FunctionContents &f, Symbol argument);

// Unites the box with what the stage reads of the source for these spans of its variables.
void add_reads(const StageNode &stage, std::span<const Span> variables, const Source &source,
               Box &box);

double points_in(const Box &box);

}  // namespace tessera::autoscheduler
