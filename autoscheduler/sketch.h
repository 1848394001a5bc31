#pragma once
#include "autoscheduler/graph.h"
#include "autoscheduler/machine.h"
#include <memory>

namespace tessera::autoscheduler {

// The structure of a schedule: which functions there are. Plans decide the rest. The first sketch
// of an algorithm leaves its functions as they are; each rule makes others from it.
struct Sketch {
    std::string name;  // what its rule did: "sum.update(0): partial results in lanes"
    std::shared_ptr<const Graph> graph;
};

// A rule: the steps that it adds to a schedule so far, for each way in which it can be applied.
struct Variant {
    std::string name;
    std::vector<program::Step> steps;
};
using SketchRule = std::vector<Variant> (*)(const Graph &graph, const Machine &machine);

// Before:  f() += g(r)                                    a reduction that has few results
// After:   i(u) += g(ro * lanes + u);  f() += i(ri)       partial results in the lanes of a vector
//     or:  i(v) += g(r, v);            f() += i(ry)       or on several cores; or both
std::vector<Variant> factor_reductions(const Graph &graph, const Machine &machine);

// All structures that the rules make of an algorithm, at most `most` of them.
std::vector<Sketch> make_sketches(const program::Algorithm &algorithm,
                                  const program::Schedule &by_hand, const Machine &machine,
                                  size_t most = 8);

}  // namespace tessera::autoscheduler
