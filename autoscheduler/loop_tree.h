#pragma once
#include "autoscheduler/point_work.h"
#include "program/steps.h"

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

// The loops of a stage.
struct TreeStage {
    bool is_inlined = false;
    std::vector<int> loops;      // its own, outermost first
    std::vector<int> enclosing;  // all loops around it, outermost first, without its own
    std::vector<Span> spans;     // of its variables, each time that it is computed
    PointWorkRef point;
};

// Says where a function is computed, and how much of it.
struct TreeFunction {
    bool is_inlined = false;
    int compute_level = -1, store_level = -1;  // loops; -1: root
    size_t innermost = 0;                      // the dimension whose values lie side by side
    // Per dimension: a region is never smaller, as pieces are moved back into it, not cut off.
    std::vector<int64_t> least;
    Box computed, stored;  // each time; empty where nobody asks for it
    // Per dimension: the region begins at a multiple of so many each time; 0: at a place that is
    // known.
    std::vector<int64_t> multiple;
    const program::FuncSchedule *schedule = nullptr;  // if it has loops
};

// The dimension of a function whose values lie side by side in memory.
size_t innermost_of(const program::FunctionContents &f);
bool is_computed_inline(const FunctionNode &node, const program::FunctionContents &f);

// The loop nests of a scheduled algorithm with numbers: what features are taken from. Costs
// microseconds per stage, and nothing of lowering.
class LoopTree {
public:
    // `graph` is that of the algorithm, and has to live as long. CompileError if a level is no loop
    // of the program, or a function is read outside of the loop that it is computed at.
    LoopTree(const Graph &graph, const program::ScheduledProgram &program);
    // Builds the tree of some functions alone, consumers first: one at the root and all that are
    // computed in its loops. `contents`: of all functions of the graph, which have to live as long.
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
    int64_t multiple_by_bounds(int function, size_t dimension) const;
    int64_t multiple_by_readers(int function, size_t dimension);
    std::vector<int64_t> multiples_in(int stage, int loop);

    std::vector<const program::StageSchedule *> schedules;  // per stage
    std::vector<std::map<int, Box>> boxes;                  // of functions, then of images, by loop
    program::ScheduledProgram program;                      // holds the schedules
};

}  // namespace tessera::autoscheduler
