#pragma once
#include "plan.h"
#include <map>
#include <optional>
#include <set>

namespace tessera::fuzz {

struct LoopModel {
    std::string name;
    bool is_reduction = false;
    LoopKind kind = LoopKind::Serial;
    int extent = 0;        // 0: not a constant
    int dim = -1;          // that it walks over
    bool in_call = false;  // of an extern stage: one call runs it
};

// A stage of a function and its loops, innermost first.
struct StageModel {
    std::vector<LoopModel> loops;
    bool associative = false, atomic = false, is_update = false;
    bool elsewhere = false;         // rfactor has moved what it calls to a function of its own
    bool is_single_thread = false;  // all of it is run by one thread of a kernel
    size_t hidden = 0;              // innermost loops that some specialization does not have
};

// A loop that something may be computed at.
struct Site {
    int func = -1, stage = -1;  // -1: root
    std::string loop;
    LoopKind kind = LoopKind::Serial;
    int extent = 0;
    int dim = -1;
    friend bool operator==(const Site &a, const Site &b) {
        return a.func == b.func && a.stage == b.stage && a.loop == b.loop;
    }
};

struct FuncModel {
    std::vector<StageModel> stages;
    bool inlined = false, by_readers = false;
    std::vector<Site> enclosing;  // loops around its loops, outermost first
    double cost = 1;              // of a value, with what is inlined into it
};

// Draws schedules. Divided by subject: schedule.cpp (which stages get what), schedule_loops.cpp,
// schedule_extern.cpp, schedule_gpu.cpp, schedule_storage.cpp (levels, storage, regions and
// copies).
class Scheduler {
public:
    Scheduler(Plan &plan, Random &random) : plan(plan), random(random) {}
    void draw();

private:
    bool is_output(int f) const;
    void make_model(int f);
    // The functions that a stage calls, through the inlined ones.
    std::set<int> callees(int f, int stage) const;
    void choose_inlined();
    int number_of_calls(int f) const;
    // Returns true for a function with updates and without a schedule: each reader computes it for
    // itself.
    bool is_computed_by_readers(int f);
    bool feeds_extern(int f) const;
    void add(Directive d) { plan.directives.push_back(std::move(d)); }
    Directive &emit(Verb verb, int f, int stage, std::vector<std::string> names = {});

    // ---- Loops ----

    std::string fresh(const char *base) { return base + std::to_string(next_name++); }
    void schedule_stage(int f, int s);
    void partition(int f, int s);
    void stream_loads(int f, int s);
    int pick(const std::set<int> &from);
    void rfactor(int f, int s);
    StageModel &stage_of(int f, int s) { return models[size_t(f)].stages[size_t(s)]; }
    const StageModel &stage_of(int f, int s) const { return models[size_t(f)].stages[size_t(s)]; }

    // ---- Extern stages: loops around calls of their functions ----

    void schedule_extern(int f);
    static size_t loops_in_call(const StageModel &stage);
    void loop_around_calls(int f);
    // The outermost of the loops that a call runs, so that what is left to it stays within.
    void split_extern(int f);
    void tile_extern(int f);
    void one_transform(int f, int s);
    void split_and_vectorize(int f, int s);
    // Returns true if the body, repeated so many times more, is still what somebody might ask for.
    bool fits(int f, int s, int copies);
    bool split(int f, int s, int which = -1);
    // Some of the pure loops; not of outputs, of which a tile may be larger.
    void tile(int f, int s);
    TailStrategy tail_of_tile(int f, int s, const std::vector<LoopModel> &loops,
                              const std::vector<int> &factors);
    // The loops of the tile, in the places where its old loops are and what they are split into.
    static void put_tile(StageModel &stage, const std::vector<LoopModel> &old,
                         const std::vector<LoopModel> &order);
    // Returns true if a loop that comes from a transformation is parallel or vectorized.
    bool any_tile_at_once(int f, int s);
    // Returns true if the tail strategy, of a split of a pure loop, computes only what may be
    // computed.
    bool is_legal(TailStrategy t, int f, int s, const LoopModel &loop, int factor);
    TailStrategy tail(int f, int s, const LoopModel &loop, int factor);
    size_t dim_of(int f, const std::string &name) const;
    void fuse(int f, int s);
    // For others to be computed in, and stored around.
    void split_and_fuse(int f, int s);
    void rename(int f, int s);
    // Loops of a domain keep their order among themselves, unless any order will do.
    void reorder(int f, int s);
    void make_atomic(int f, int s);
    void mark_loops(int f, int s);
    // Copies for some values of the parameter, which is 3, with inner loops of their own.
    void specialize(int f, int s);
    void schedule_special(int f, int s, int number);
    void prefetch(int f, int s);

    // ---- Kernels ----

    bool is_in_kernel(int f) const;
    bool is_in_threads(int f) const;
    bool is_in_lanes(int f) const;
    bool has_kernel_loops(int f, int s) const;
    // Returns what computes values of the function, or reads them: kernels (true), the host
    // (false).
    std::set<bool> sides_of(int f) const;
    // Tasks that run at the same time do not use it on two sides.
    void keep_async_on_one_side(int f);
    bool may_be_on_threads(int f, int s, const LoopModel &loop);
    void mark_gpu(int f, int s, LoopModel &loop, LoopKind kind);
    void mark_lanes(int f, int s, size_t below);
    void mark_gpu_loops(int f, int s);

    // ---- Placement ----

    // The loops around a stage's body, outermost first.
    std::vector<Site> path(int f, int s) const;
    void place(int f);
    // Returns true if each point of what reads it needs a few points that lie side by side.
    bool is_read_nearby(int f) const;
    // Any; of a domain or within a fused loop rather than one of many others.
    size_t choose_site(const std::vector<Site> &usable);
    void level(Verb verb, int f, const Site &site);
    void store_outside(int f, const std::vector<Site> &usable, size_t at);
    // A copy of the stage that something is computed in, with the same loops.
    void specialize_around(const Site &site);
    // Along dimensions that the loops between where it is stored and computed may walk over.
    void fold(int f, const std::vector<Site> &between);

    // ---- Storage and regions ----

    void schedule_storage(int f);
    void trace(int f);
    bool has(int f, const std::set<Verb> &verbs) const;
    // Regions that a split divides need no tail, and may slide although they are split.
    void align_to_a_split(int f);

    // ---- Copies: last, so that nothing else names what they make ----

    void copies();

    Plan &plan;
    Random &random;
    std::vector<FuncModel> models;
    std::set<std::string> blended;     // their iterations read what others write
    std::set<std::string> split_once;  // loops that come from a transformation
    std::set<std::string> fused_loops;
    std::set<std::pair<int, int>> folded;  // functions and dimensions
    bool is_fusing = false;
    double density = 0.5;
    int next_name = 0, next_created = 0;
};

}  // namespace tessera::fuzz
