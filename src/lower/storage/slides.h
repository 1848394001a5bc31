#pragma once
#include "lower/storage/production_path.h"

namespace tessera::lower {

// The part that a production has to compute in each iteration of a loop but the first, as what the
// iterations before have computed is still stored.
struct Slide {
    enum class Kind {
        Fixed,     // nothing: every iteration asks for the same region
        Forward,   // the region from `end` on
        Backward,  // the region up to `end`
    };
    Kind kind = Kind::Fixed;
    size_t loop = 0;  // its place in the path
    size_t dim = 0;
    ir::Expr end;
    // The region that splits compute of it is longer than it, unless it begins at `end`.
    bool is_rounded = false;
    // Forward: what is left begins right after what the iteration before has computed.
    bool goes_on = false;
};

// Along which loops the window of a production slides: the region that it is required to compute.
class Slides {
public:
    explicit Slides(const Production &production);

    // Returns how it slides along the loop at this place; nothing if it does not, or nobody knows.
    std::optional<Slide> along(size_t loop) const;

    // Returns true if only the loop at `inner` moves the region from one iteration of the loop at
    // `outer` to the next, in dimension d.
    bool moves_only_by(size_t inner, size_t outer, size_t d) const;

private:
    bool is_fixed(size_t loop) const;
    int dimension_of(size_t loop) const;
    bool depends_on_inner_loop(size_t loop, size_t d) const;
    bool undoes_others(size_t loop) const;
    std::optional<int> points_at_once(size_t d, const ir::Expr &added) const;
    std::optional<Slide> forward(size_t loop, size_t d) const;
    std::optional<Slide> backward(size_t loop, size_t d) const;

    const ir::Produced &produced;
    const ProductionPath &path;
    std::vector<ir::Expr> min, max;  // expanded
};

}  // namespace tessera::lower
