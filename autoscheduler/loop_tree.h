#pragma once
#include "autoscheduler/graph.h"
#include "program/steps.h"
#include <functional>
#include <memory>

namespace tessera::autoscheduler {

// A loop of a stage, with the number of its iterations as sizes are estimated.
struct TreeLoop {
    int stage = 0;
    Symbol var;
    LoopKind kind = LoopKind::Serial;
    bool is_reduction = false;
    int64_t extent = 1;
    int parent = -1;  // the loop around it; -1: none
};

// The part of a stage's points that need something, as code can know that follows a variable
// through so many values (0: all); or, where that is shared, what does not depend on the variable
// and is computed once for all of its values that stand side by side in the code.
struct Part {
    size_t variable = 0;
    int64_t period = 0;
    double part = 1;
    bool is_shared = false;
    friend bool operator==(const Part &, const Part &) = default;
};
using Parts = std::vector<Part>;  // independent of one another

// A function or image that a stage reads for each of its points, through those that are inlined.
struct Leaf {
    Source source;
    int bytes = 0;
    double loads = 1;      // per point
    Growths growths;       // of the index with each variable of the stage
    uint64_t limited = 0;  // at borders of an image: a bit for each variable of the stage
    Parts parts = {};

    bool depends_on(size_t variable) const;
    // Returns true if the index is cut off where the variable is at either end.
    bool is_limited_along(size_t variable) const {
        return variable < 64 && limited >> variable & 1;
    }
};

// What one point of a stage takes with all that is inlined into it, whatever its loops are.
struct PointWork {
    // `is_inlined`: per function.
    PointWork(const Graph &graph, const StageNode &stage, const std::vector<bool> &is_inlined);

    Operations operations;
    std::vector<Leaf> leaves;
    int visits = 0;  // of stages, its own and those that are inlined

    // What is left of it in code that makes so much of a part. Nothing where that changes nothing.
    std::optional<PointWork> where(const std::function<double(const Part &)> &factor) const;

private:
    struct OfParts {
        Parts parts;
        Operations operations;
    };
    std::vector<OfParts> of_parts;  // those of the operations that not all points need

    class Adding;
};
using PointWorkRef = std::shared_ptr<const PointWork>;
// Returns that of a stage (its number in the graph): one that is known, or a new one.
using PointWorkOf = std::function<PointWorkRef(int stage, const std::vector<bool> &is_inlined)>;

// The loops of a stage.
struct TreeStage {
    bool is_inlined = false;
    std::vector<int> loops;      // its own, outermost first
    std::vector<int> enclosing;  // all loops around it, outermost first, without its own
    std::vector<Span> spans;     // of its variables, each time that it is computed
    PointWorkRef point;
};

struct TreeFunction {
    bool is_inlined = false;
    int compute_level = -1, store_level = -1;  // loops; -1: root
    size_t innermost = 0;                      // the dimension whose values lie side by side
    // Per dimension: a region is never smaller, as pieces are moved back into it, not cut off.
    std::vector<int64_t> least;
    Box computed, stored;                             // each time; empty where nobody asks for it
    const program::FuncSchedule *schedule = nullptr;  // if it has loops
};

// The dimension of a function whose values lie side by side in memory.
size_t innermost_of(const program::FunctionContents &f);
bool is_computed_inline(const FunctionNode &node, const program::FunctionContents &f);

// The loop nests of a scheduled algorithm with numbers: what features are taken from. Costs
// microseconds per stage, and nothing of lowering.
class LoopTree {
public:
    // `graph` is that of the algorithm. CompileError if a level is no loop of the program.
    LoopTree(const Graph &graph, const program::ScheduledProgram &program);
    // Of some functions alone, consumers first: one at the root and all that are computed in its
    // loops. `contents`: of all functions of the graph, which have to live as long.
    LoopTree(const Graph &graph, std::span<const program::FunctionContents *const> contents,
             std::span<const int> functions, const PointWorkOf &point_work);

    const Graph &graph;
    std::vector<int> computed;  // stages, in their order: those that are not inlined
    std::vector<TreeLoop> loops;
    std::vector<TreeStage> stages;        // as the graph's
    std::vector<TreeFunction> functions;  // as the graph's

    // Returns what is needed of a function or an image in one iteration of a loop (-1: in all of
    // the pipeline).
    const Box &box(const Source &source, int loop);
    // The same of one stage alone, with what is inlined into it.
    Box reads_of(int stage, const Source &source, int loop);
    // The values of a stage's variables in one iteration of a loop that is its own or around it.
    std::vector<Span> spans(int stage, int loop);
    // Returns how often the body of a loop runs; -1: once.
    double iterations(int loop) const;
    // Returns true if a loop is `outer` or within it; -1 is around all.
    bool is_within(int loop, int outer) const;
    const program::StageSchedule *schedule(int stage) const { return schedules[size_t(stage)]; }

private:
    void place_all(std::span<const program::FunctionContents *const> contents,
                   std::span<const int> functions, const PointWorkOf &point_work);
    void place(int function, const program::FunctionContents &f);
    void slide(int function);
    void add_loops(int stage, const program::StageSchedule &schedule, int parent);
    int find_level(const program::LoopLevel &level, int function) const;
    bool is_read_in(int function, int loop) const;
    void require_consumers_within(int function, int loop) const;
    std::vector<Span> full_spans(int stage, const Box &box) const;

    std::vector<const program::StageSchedule *> schedules;  // per stage
    std::vector<std::map<int, Box>> boxes;                  // of functions, then of images, by loop
    program::ScheduledProgram program;                      // holds the schedules
};

}  // namespace tessera::autoscheduler
