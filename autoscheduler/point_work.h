#pragma once
#include "autoscheduler/graph.h"
#include <functional>
#include <memory>

namespace tessera::autoscheduler {

// The part of a stage's points that need something, as code can know that follows a variable
// through so many values (0: all); or, where that is shared, what does not depend on the variable
// and is computed once for all of its values that stand side by side in the code; or those at the
// borders of some variables.
struct Part {
    static constexpr size_t none = size_t(-1);
    size_t variable = none;
    int64_t period = 0;
    double part = 1;
    bool is_shared = false;
    uint64_t borders = 0;  // a bit for each variable
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

// Counts the work of one point of a stage with all that is inlined into it, whatever its loops are.
struct PointWork {
    // `is_inlined`: per function.
    PointWork(const Graph &graph, const StageNode &stage, const std::vector<bool> &is_inlined);

    Operations operations;
    std::vector<Leaf> leaves;
    int visits = 0;  // of stages, its own and those that are inlined

    // Returns what is left of it in code that makes so much of a part; nothing where that changes
    // nothing.
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

}  // namespace tessera::autoscheduler
