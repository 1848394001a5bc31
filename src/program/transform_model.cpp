#include "program/transform_model.h"
#include "algebra/simplify.h"
#include "ir/operators.h"

namespace tessera::program {
namespace {

using algebra::simplify;
using Loops = std::vector<Symbol>;
using Ranges = std::vector<Interval>;
using AllFacts = std::vector<LoopFacts>;
using Values = std::vector<Expr>;

// A loop counts its iterations in an int32.
constexpr int64_t most_iterations = INT32_MAX;

int64_t product_or(int64_t a, int64_t b, int64_t otherwise) {
    int64_t product = 0;
    const bool fits = !__builtin_mul_overflow(a, b, &product) && product <= most_iterations;
    return fits ? product : otherwise;
}

Expr extent_of(const Interval &range) { return range.max - range.min + 1; }

// ceil(n / factor), where n + factor may be too large
Expr ceil_div(const Expr &n, const Expr &factor) { return (n - 1) / factor + 1; }

class SplitModel final : public TransformModel {
public:
    explicit SplitModel(const Split &split) : split(split), factor(split.factor) {}

    Loops taken() const override { return {split.old}; }
    Loops made() const override { return {split.inner, split.outer}; }
    TailTraits tail() const override { return traits_of(split.tail); }

    Ranges ranges_made(const Ranges &taken, bool) const override {
        const Expr tiles = simplify(ceil_div(extent_of(taken[0]), factor));
        return {{0, simplify(factor - 1)}, {0, simplify(tiles - 1)}};
    }

    AllFacts facts_made(const AllFacts &taken) const override {
        const LoopFacts old = taken[0];
        const std::optional<int64_t> size = constant_factor();
        if (!size) return {{1, false, old.step}, {1, false, 0}};
        LoopFacts outer{1, old.is_constant, product_or(old.step, *size, 0)};
        if (is_exact(taken)) {
            outer.multiple = old.multiple / *size;
        } else if (old.is_constant) {
            outer.multiple = old.multiple > 0 ? (old.multiple - 1) / *size + 1 : 0;
        }
        return {{*size, true, old.step}, outer};
    }

    bool is_exact(const AllFacts &taken) const override {
        const std::optional<int64_t> size = constant_factor();
        return size && taken[0].multiple % *size == 0;
    }
    bool is_exact(const Ranges &taken) const override {
        return ir::is_zero(simplify(extent_of(taken[0]) % factor));
    }
    bool may_run_beyond(const AllFacts &taken) const override {
        if (tail().leaves_out || is_exact(taken)) return false;
        const std::optional<int64_t> size = constant_factor();
        const bool has_room = size && taken[0].is_constant && taken[0].multiple >= *size;
        return !tail().overlaps || !has_room;
    }

    Expr value_taken(size_t, const Ranges &ranges, const Values &made, bool exact) const override {
        const Expr first = made[1] * factor;
        if (!tail().overlaps || exact) return first + ranges[0].min + made[0];
        return min(ir::likely_if_innermost(first) + ranges[0].min, last_start(ranges[0])) + made[0];
    }

    Interval interval_taken(size_t, const Ranges &ranges,
                            const std::function<Interval(size_t)> &made, bool exact,
                            bool beyond) const override {
        const Interval &old = ranges[0];
        const Interval outer = made(1), inner = made(0);
        Expr low = outer.min * factor + old.min, high = outer.max * factor + old.min;
        if (tail().overlaps && !exact) {
            low = min(low, last_start(old));
            high = min(high, last_start(old));
        }
        low = low + inner.min;
        high = high + inner.max;
        if (tail().leaves_out && !exact) {
            high = min(high, old.max);
            // If nothing is left of a part of a tile, or of a tile, its interval is not turned
            // around; where there is nothing at all, it does not begin before that.
            if (beyond || !ir::is_zero(inner.min)) low = max(min(low, old.max), old.min);
        }
        return {simplify(low), simplify(high)};
    }

    Expr is_written(const Interval &range, const Expr &value, const Values &made) const override {
        if (!tail().blends) return {};
        if (!tail().overlaps) return value <= range.max;
        const Expr is_new = value >= made[1] * factor + range.min;
        // A tile that is longer than all there is ends beyond it.
        const bool fits = ir::is_one(simplify(extent_of(range) >= factor));
        return fits ? is_new : is_new && value <= range.max;
    }

    Expr last_computed(size_t, const Ranges &ranges, const Ends &made) const override {
        const Interval &old = ranges[0];
        const Expr last_outer = made.last(1, {0, ceil_div(extent_of(old), factor) - 1});
        const Expr last_inner = made.last(0, {0, factor - 1});
        if (!tail().overlaps) return last_outer * factor + last_inner + old.min;
        // Its last tile is moved back to end at max, where there is room for a whole tile.
        return max(old.max, old.min + factor - 1) + simplify(last_inner + 1 - factor);
    }
    Expr most_beyond(size_t, const std::function<Expr(size_t)> &made) const override {
        const Expr of_tile = factor - 1 + made(0);
        return tail().overlaps ? of_tile : made(1) * factor + of_tile;
    }

    std::optional<size_t> tiles_of(size_t made) const override {
        return made == 0 ? std::optional<size_t>(1) : std::nullopt;
    }

private:
    std::optional<int64_t> constant_factor() const {
        const std::optional<int64_t> size = ir::as_const_int(factor);
        return size && *size > 0 ? size : std::nullopt;
    }
    // Returns where the last whole tile begins, for a tail that shifts inwards.
    Expr last_start(const Interval &range) const {
        return simplify(max(range.max + 1 - factor, range.min));
    }

    const Split split;
    const Expr factor;
};

class FuseModel final : public TransformModel {
public:
    explicit FuseModel(const Fuse &fuse) : fuse(fuse) {}

    Loops taken() const override { return {fuse.inner, fuse.outer}; }
    Loops made() const override { return {fuse.fused}; }

    // If there is nothing to compute, both extents may be negative.
    Ranges ranges_made(const Ranges &taken, bool not_empty) const override {
        const Expr inner = extent_of(taken[0]), outer = extent_of(taken[1]);
        return {{0, simplify((not_empty ? inner : max(inner, 0)) * outer - 1)}};
    }
    AllFacts facts_made(const AllFacts &taken) const override {
        const bool constant = taken[0].is_constant && taken[1].is_constant;
        const int64_t all = constant ? product_or(taken[0].multiple, taken[1].multiple, 0) : 0;
        return {all > 0 ? LoopFacts{all, true, 0} : LoopFacts{1, false, 0}};
    }

    Expr value_taken(size_t loop, const Ranges &ranges, const Values &made, bool) const override {
        const Expr extent = simplify(extent_of(ranges[0]));
        return (loop == 0 ? made[0] % extent : made[0] / extent) + ranges[loop].min;
    }
    // The inner loop is a remainder, and stays within its range; the outer is what is left.
    Interval interval_taken(size_t loop, const Ranges &ranges,
                            const std::function<Interval(size_t)> &made, bool,
                            bool) const override {
        if (loop == 0) return ranges[0];
        const Interval fused = made(0);
        const Expr extent = simplify(extent_of(ranges[0]));
        return {simplify(fused.min / extent + ranges[1].min),
                simplify(fused.max / extent + ranges[1].min)};
    }

    Expr last_computed(size_t loop, const Ranges &ranges, const Ends &made) const override {
        if (loop == 0) return ranges[0].max;
        const Expr extent = extent_of(ranges[0]), last = extent * extent_of(ranges[1]) - 1;
        const Expr beyond = simplify(made.last(0, {0, last}) - last);
        if (ir::is_zero(beyond)) return ranges[1].max;
        // This is (last + beyond) / extent + min, but such that its bounds do not forget that
        // `last` and `extent` change together.
        return ranges[1].max + (min(beyond, made.most_beyond(0)) - 1) / max(extent, 1) + 1;
    }
    Expr most_beyond(size_t loop, const std::function<Expr(size_t)> &made) const override {
        return loop == 0 ? Expr(0) : made(0);
    }
    size_t ends_with(size_t) const override { return 1; }

private:
    const Fuse fuse;
};

class RenameModel final : public TransformModel {
public:
    explicit RenameModel(const Rename &rename) : rename(rename) {}

    Loops taken() const override { return {rename.old}; }
    Loops made() const override { return {rename.new_name}; }
    Ranges ranges_made(const Ranges &taken, bool) const override { return taken; }
    AllFacts facts_made(const AllFacts &taken) const override { return taken; }
    Expr value_taken(size_t, const Ranges &, const Values &made, bool) const override {
        return made[0];
    }
    Interval interval_taken(size_t, const Ranges &, const std::function<Interval(size_t)> &made,
                            bool, bool) const override {
        return made(0);
    }
    Expr last_computed(size_t, const Ranges &ranges, const Ends &made) const override {
        return made.last(0, ranges[0]);
    }
    Expr most_beyond(size_t, const std::function<Expr(size_t)> &made) const override {
        return made(0);
    }

private:
    const Rename rename;
};

using Model = std::unique_ptr<const TransformModel>;

}  // namespace

Model model_of(const LoopTransform &transform) {
    return std::visit(
        overloaded{[](const Split &s) -> Model { return std::make_unique<SplitModel>(s); },
                   [](const Fuse &f) -> Model { return std::make_unique<FuseModel>(f); },
                   [](const Rename &r) -> Model { return std::make_unique<RenameModel>(r); }},
        transform);
}

}  // namespace tessera::program
