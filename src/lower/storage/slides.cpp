#include "lower/storage/slides.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/operators.h"
#include "ir/substitute.h"

namespace tessera::lower {

using namespace ir;
using algebra::is_monotonic;
using algebra::Monotonic;
using algebra::simplify;

namespace {

// Limits how far a region moves in one iteration where splits round what is new.
constexpr int64_t largest_step = 1 << 16;

// Returns true if both ends move so, or one of them does and the other stands still.
bool moves_only(Monotonic way, Monotonic low, Monotonic high) {
    auto fits = [&](Monotonic m) { return m == way || m == Monotonic::Constant; };
    return fits(low) && fits(high);
}

}  // namespace

Slides::Slides(const Production &production)
    : produced(production.computed.produced), path(production.path) {
    for (const ProducedRange &r : produced.ranges) {
        min.push_back(path.expand(r.min));
        max.push_back(path.expand(r.max));
    }
}

// Returns true if every iteration asks for the same region.
bool Slides::is_fixed(size_t loop) const {
    for (size_t d = 0; d < min.size(); d++) {
        for (const Expr &end : {min[d], max[d]}) {
            if (path.asks_within(end, loop) || path.depends_on_loop(end, loop)) return false;
        }
    }
    return true;
}

// The only dimension that depends on the loop, or -1, also where it is unknown how.
int Slides::dimension_of(size_t loop) const {
    int only = -1;
    for (size_t d = 0; d < min.size(); d++) {
        if (path.asks_within(min[d], loop) || path.asks_within(max[d], loop)) return -1;
        if (!path.depends_on_loop(min[d], loop) && !path.depends_on_loop(max[d], loop)) continue;
        if (only >= 0) return -1;
        only = int(d);
    }
    return only;
}

bool Slides::depends_on_inner_loop(size_t loop, size_t d) const {
    return path.names_loop_within(min[d], loop) || path.names_loop_within(max[d], loop);
}

// Returns true if the production for one iteration of a loop further in may begin anew, and not
// finish, points that the one for another has finished: where stages go beyond what is required.
bool Slides::undoes_others(size_t loop) const {
    if (!produced.in_stages) return false;
    for (size_t d = 0; d < min.size(); d++) {
        bool goes_beyond = !produced.ranges[d].is_exact() || produced.ranges[d].is_mixed;
        if (goes_beyond && depends_on_inner_loop(loop, d)) return true;
    }
    return false;
}

// Returns how many points at the end of the region splits make an iteration compute that adds
// `added`:
// so many, to compute nothing behind the end. 0: just those that it adds. Nothing if that is
// not known.
std::optional<int> Slides::points_at_once(size_t d, const Expr &added) const {
    const int64_t multiple = produced.ranges[d].multiple;
    if (multiple == 1) return 0;
    if (multiple == ProducedRange::unknown) return std::nullopt;
    std::optional<int64_t> most = algebra::constant_upper_bound(simplify(added));
    if (!most || *most > largest_step || multiple > largest_step) return std::nullopt;
    return int((std::max<int64_t>(*most, 1) + multiple - 1) / multiple * multiple);
}

std::optional<Slide> Slides::along(size_t loop) const {
    const PathEntry &l = path.entries[loop];
    if (!l.is_in_order() || !path.repeats(loop) || path.shared_loops.contains(l.name)) return {};
    if (is_fixed(loop)) {
        if (undoes_others(loop) || !runs_without_gaps(path, loop)) return {};
        return Slide{Slide::Kind::Fixed, loop, 0, {}, false};
    }
    const int d = dimension_of(loop);
    if (d < 0 || depends_on_inner_loop(loop, size_t(d)) || produced.ranges[size_t(d)].is_mixed ||
        undoes_others(loop) || !runs_without_gaps(path, loop)) {
        return {};
    }
    const Monotonic low = is_monotonic(min[size_t(d)], l.name);
    const Monotonic high = is_monotonic(max[size_t(d)], l.name);
    if (moves_only(Monotonic::Increasing, low, high)) return forward(loop, size_t(d));
    if (moves_only(Monotonic::Decreasing, low, high)) return backward(loop, size_t(d));
    return {};
}

bool Slides::moves_only_by(size_t inner, size_t outer, size_t d) const {
    const Symbol v = path.entries[inner].name;
    for (size_t other = 0; other < min.size(); other++) {
        for (Expr end : {min[other], max[other]}) {
            if (other == d) end = substitute(v, 0, end);
            if (path.asks_within(end, outer) || path.depends_on_loop(end, outer)) return false;
        }
    }
    return runs_without_gaps(path, outer);
}

std::optional<Slide> Slides::forward(size_t loop, size_t d) const {
    const Expr v = Variable::make(Int(32), path.entries[loop].name);
    const Expr before = simplify(substitute(path.entries[loop].name, v - 1, max[d]));
    std::optional<int> points = points_at_once(d, max[d] - before);
    if (!points) return {};
    const Expr begin = *points > 0 ? max[d] + 1 - *points : before + 1;
    Slide slide{Slide::Kind::Forward, loop, d, simplify(ir::max(min[d], begin)), *points > 0};
    slide.goes_on = *points == 0 && algebra::can_prove(min[d] <= begin);
    return slide;
}

std::optional<Slide> Slides::backward(size_t loop, size_t d) const {
    const Expr v = Variable::make(Int(32), path.entries[loop].name);
    const Expr before = simplify(substitute(path.entries[loop].name, v - 1, min[d]));
    std::optional<int> points = points_at_once(d, before - min[d]);
    if (!points) return {};
    const Expr end = *points > 0 ? min[d] - 1 + *points : before - 1;
    return Slide{Slide::Kind::Backward, loop, d, simplify(ir::min(max[d], end)), *points > 0};
}

}  // namespace tessera::lower
