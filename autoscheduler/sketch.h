#pragma once
#include "autoscheduler/graph.h"
#include "autoscheduler/machine.h"
#include <functional>
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
using SketchRule = std::function<std::vector<Variant>(const Graph &graph, const Machine &machine)>;
// One of the user's own, after those that are there.
void add_sketch_rule(SketchRule rule);

// Before:  f() += g(r)                                    a reduction that has few results
// After:   i(u) += g(ro * lanes + u);  f() += i(ri)       partial results in the lanes of a vector
//     or:  i(v) += g(r, v);            f() += i(ry)       or on several cores; or both
std::vector<Variant> factor_reductions(const Graph &graph, const Machine &machine);

// Before:  f(y) += g(r, y)                         rows of which each has one result: many, or
//                                                  several such sums
// After:   i(y, u) += g(ro * lanes + u, y);  f(y) += i(y, ri)   all of them at once: a row of g is
//                                                              in the cache for the next one
std::vector<Variant> sum_rows_in_lanes(const Graph &graph, const Machine &machine);

// Before:  f(x, y) += g(x, y, r)       an output: how far apart its rows are is its caller's to
//                                     say, so that sums in several rows are not kept in registers
// After:   s(x, y, u) += g(x, y, u * chunk + ri);  f(x, y) += s(x, y, ro)   a block of s can be
std::vector<Variant> sum_in_tiles(const Graph &graph, const Machine &machine);

// Before:  f(x) += g(x, r)                       a reduction that reads much of g often, which is a
//                                               function or an image (ImageParam)
// After:   h(x, r) = g(x, r);  f(x) += h(x, r)   h is a copy of what a tile reads, side by side
std::vector<Variant> cache_operands(const Graph &graph, const Machine &machine);

// Before:  f(x) += w(r, x)                       w: a Buffer that the program holds, read often
// After:   h(i, j) = w(i, j);  f(x) += h(r, x)   h is stored in the order in which f reads it
std::vector<Variant> copy_constants(const Graph &graph, const Machine &machine);

// Before:  g(x) = f(x - 1) + f(x + 1);  h(x) = f(x) + ...
// After:   w(x) = f(x);  g(x) = w(x - 1) + w(x + 1)   w is stored for g, which takes several of its
//                                                    values for a point; for h, f is computed again
std::vector<Variant> store_for_one_reader(const Graph &graph, const Machine &machine);

// All structures that the rules make of an algorithm, at most `most` of them.
std::vector<Sketch> make_sketches(const program::Algorithm &algorithm,
                                  const program::Schedule &by_hand, const Machine &machine,
                                  size_t most = 8);

}  // namespace tessera::autoscheduler
