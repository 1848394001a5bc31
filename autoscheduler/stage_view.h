#pragma once
#include "autoscheduler/loop_tree.h"
#include "autoscheduler/machine.h"

namespace tessera::autoscheduler {

// Says how a vector of points reads or writes: what its lanes touch.
enum class AccessPattern : uint8_t {
    Same,      // one element
    Dense,     // one element after the other
    Strided,   // every second to fourth
    Gathered,  // elements apart
};

// The loops of one stage that is computed, as estimates of its time and features look at them. The
// tree has to live as long.
class StageView {
public:
    StageView(LoopTree &tree, const Machine &machine, int stage);

    const TreeLoop &loop(int l) const { return tree.loops[size_t(l)]; }
    // The variable that the loop runs along: that with the same root.
    int variable_of(int l) const;
    bool is_left_in_code(int l) const;
    // All loops around a point that are left in the code, outermost first; -1: around them all.
    std::vector<int> loops_in_code() const;

    // Returns how many points one load serves, where code around it keeps it in a register.
    double points_served(const Leaf &leaf) const;
    // `growths`: of the index; `source`: that is read or written; `element`: its bytes.
    AccessPattern pattern(const Growths &growths, const Source &source, int element) const;
    // Elements along a row from what a lane reads or writes to that of the next one; not a number
    // where they are not always as far apart. If the products of lanes lie in rows of their own, it
    // is the number of these rows. `function`: -1 for an image.
    double stride(const Growths &growths, int function) const;
    // Bytes from what a lane of a vector reads or writes to that of the next one; 0: not known.
    int64_t lane_distance(const Growths &growths, const Source &source, int element) const;
    // Returns where the stage writes; `is_known`: the places do not depend on data.
    Growths write_growths(bool &is_known) const;
    // Returns how many points go into one value before it is stored.
    double points_stored_together(const Growths &writes) const;
    double vectors_per_row() const;  // at least 1
    // If rows are no multiple of a vector, not all lanes of the last one are needed.
    double part_of_lanes_used() const;
    // Returns true if it reads elements of its own function other than the one that it writes.
    bool is_scan() const;

    // All that one iteration of a loop of this nest reads and writes, in bytes; `cache`: without
    // what its producers left in a cache of so many.
    double footprint(int l, double cache = 0) const;
    // The size of a cache that holds all of that (room_in()).
    double room(int l) const;
    double tasks() const;  // iterations of all parallel loops around a point

    LoopTree &tree;
    const Graph &graph;
    const Machine &machine;
    const StageNode &node;
    const TreeStage &placed;
    const FunctionNode &function;
    const int stage;
    PointWorkRef work;                      // of a point
    double lanes = 1;                       // of a vector
    double points_once = 1;                 // that are computed each time
    double productions = 1;                 // how often that is
    double points = 1;                      // in all
    double dot_lanes = 1;                   // of those, beside the lanes, that are added to one sum
    int vector_variable = -1;               // along which the lanes are; -1: none
    int dot_variable = -1;                  // along which those that are added to one sum are
    int innermost = -1;                     // of the loops that are left in the code
    double body_points = 1;                 // that an iteration of it computes
    double body_values = 1;                 // that these go into: fewer, in a reduction
    std::map<int, double> inner_variables;  // how many values of each stand side by side in it
    // The loop in the lanes, or an unrolled one, is cut off by a guard where its pieces do not fit.
    bool has_guarded_lanes = false, has_guarded_unroll = false;

private:
    size_t innermost_of(int f) const { return f < 0 ? 0 : tree.functions[size_t(f)].innermost; }
    void find_loops();
    void find_guards();
    int64_t extent_in_body(size_t variable) const;
    double part_at_borders(uint64_t variables) const;
    double part_at_border(size_t variable) const;
    int64_t known_multiple(size_t variable) const;
    bool knows(size_t variable, int64_t period) const;
    // These say what the products read that are added to one sum at once.
    bool differs_in_dot(const Growths &growths) const;
    bool lies_together_in_dot(const Growths &growths, int f) const;
    // `is_same`: for all lanes; `is_in_row`: they differ along rows alone.
    AccessPattern pattern_in_dot(const Growths &growths, const Source &source, int element,
                                 bool is_same, bool is_in_row) const;
    double growth_in_lanes(const Growth &growth) const;
    bool is_same_in_next_piece(const Leaf &leaf, size_t variable) const;
    double points_between_steps(const Leaf &leaf, size_t variable, double extent) const;
    Box written_in(int l) const;
    Box read_in(const Source &source, int l) const;
    Box touched_in(const Leaf &leaf, int l) const;
    const Box &stored_box(const Source &source) const;
    int64_t whole_row(const Source &source) const;
    bool is_near(const Leaf &leaf, double cache) const;
    bool is_read_before(const Leaf &leaf, double cache) const;
    std::vector<Leaf> sources() const;

    std::vector<Leaf> touched;  // sources()
};

// Returns how much of a cache a box takes of an array that is stored over `all`, in bytes: a line
// goes to a few places by its address, so that rows that are a power of two of bytes apart take
// more than they have.
double room_in(const Box &box, const Box &all, int element, size_t innermost = 0);

// Bytes of a box in memory, in whole cache lines of its rows, which are along this dimension, and
// one after the other without a gap if they are of so many elements.
double bytes_in(const Box &box, int element, size_t innermost = 0, int64_t of_whole_row = 0);

}  // namespace tessera::autoscheduler
