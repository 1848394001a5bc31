#pragma once
#include "ir/equal.h"
#include "ir/nodes.h"
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tessera::lower {

// Tests whose outcomes a value takes for granted. Values that are made of one another share them:
// a list of all tests for each would be as long as there are ways through the names.
struct Assumed {
    std::vector<ir::Expr> tests;                         // in the value itself
    std::vector<std::shared_ptr<const Assumed>> others;  // by the names that it reads
};
using AssumedRef = std::shared_ptr<const Assumed>;  // null: nothing

// The value of a test in a loop's body where it takes the likely way.
struct LikelyTest {
    ir::Expr condition;  // goes the likely way where this holds, in names known outside of the body
    ir::Expr outcome;    // the test's value then
    AssumedRef assumed;  // by the condition
    bool guards_loop;    // it decides whether a whole loop is run: made once for all of it
};
// A test is a min, max or select with a likely operand, or likely(condition) itself.
struct LikelyTests {
    std::unordered_map<ir::Expr, std::vector<LikelyTest>, ir::ExprHash, ir::ExprEqual> occurrences;
    std::vector<ir::Expr> order;  // the keys, as they were found
};

// The tests in the body of the loop whose outcome may depend on its variable. `all`: those which
// nobody marked likely as well, as far as they are conditions. Tests that are marked
// likely_if_innermost count in an innermost loop, and in one in which something else is marked
// likely; but a long body is not worth a copy for the sake of a scalar min or max.
LikelyTests find_likely_tests(const ir::For &loop, bool all);

// The values of the loop variable where these tests go the likely way. None, where a long body
// would be copied for the sake of tests that each guard a loop, and that decide nothing else.
struct SteadyState {
    std::vector<ir::Expr> mins, maxes;  // from the greatest of these to the least of these
    std::unordered_map<ir::Expr, ir::Expr, ir::ExprHash, ir::ExprEqual> outcomes;
    bool empty() const { return outcomes.empty(); }
};
SteadyState solve_for_steady_state(const ir::For &loop, const LikelyTests &tests);

// Adds to the outcomes those of min and max in lets of the body that nobody marked, where the
// steady state decides them as well: such as the end of a tile, min(f.x.max, x * 16 + 15), where a
// test marked likely says that the tile is whole.
void add_decided_ends(SteadyState &steady, const ir::For &loop);

// The body with the tests replaced by their outcomes, and what follows from that.
ir::Stmt assume_outcomes(const ir::Stmt &body, const SteadyState &steady);

}  // namespace tessera::lower
