#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/staged_copy.h"
#include "lower/gpu/tensor_maps.h"
#include <algorithm>

// The part of StagedCopy by which the machine copies places of a convolution. Their numbers count
// through the lines of an image, and through the images:
//
//     s(c, m) = f(c, m % 14 * 2 + r - 1, m / 14 % 14 * 2 + q - 1, m / 196)
namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// An expression of a coordinate: (coordinate + before) / divisor % modulus * step + behind, with no
// modulus if that is 0.
struct PlaceDigit {
    Expr before = 0, behind = 0;
    int64_t divisor = 1, modulus = 0, step = 1;
    bool is_plain() const { return modulus == 0 && step == 1; }
    // Moves a summand of the quotient to the dividend.
    void take_in() {
        before = simplify(before + behind * int32_t(divisor));
        behind = 0;
    }
};

std::optional<PlaceDigit> digit_of(const Expr &e, Symbol coordinate) {
    const auto is_used = [&](const Expr &part) { return uses_symbol(part, coordinate); };
    if (const auto *v = e.as<Variable>(); v && v->name == coordinate) return PlaceDigit();
    const auto of_sum = [&](const Expr &a, const Expr &b) -> std::optional<PlaceDigit> {
        if (is_used(a) == is_used(b)) return std::nullopt;
        auto digit = digit_of(is_used(a) ? a : b, coordinate);
        if (digit) digit->behind = simplify(digit->behind + (is_used(a) ? b : a));
        return digit;
    };
    if (const auto *sum = e.as<Add>()) return of_sum(sum->a, sum->b);
    if (const auto *sub = e.as<Sub>(); sub && !is_used(sub->b)) {
        auto digit = digit_of(sub->a, coordinate);
        if (digit) digit->behind = simplify(digit->behind - sub->b);
        return digit;
    }
    const auto by_constant = [&](const auto *node) {
        const auto by = node ? as_const_int(node->b) : std::nullopt;
        return by.value_or(0) > 0 ? *by : 0;
    };
    if (const auto *product = e.as<Mul>(); const int64_t by = by_constant(product)) {
        auto digit = digit_of(product->a, coordinate);
        if (!digit) return digit;
        digit->step *= by;
        digit->behind = simplify(digit->behind * int32_t(by));
        return digit;
    }
    const auto *div = e.as<Div>();
    const auto *mod = e.as<Mod>();
    const int64_t divided = by_constant(div), taken = by_constant(mod);
    if (divided == 0 && taken == 0) return std::nullopt;
    auto digit = digit_of(div ? div->a : mod->a, coordinate);
    if (!digit || !digit->is_plain()) return std::nullopt;
    digit->take_in();
    if (div)
        digit->divisor *= divided;
    else
        digit->modulus = taken;
    return digit;
}

bool is_multiple_of(const Expr &e, int64_t of) {
    return is_zero(simplify(simplify(e) % int32_t(of)));
}

}  // namespace

// Returns how rows of the box are places; nothing if they are not.
std::optional<StagedCopy::Places> StagedCopy::places(const AroundCopy &around) const {
    constexpr int64_t most_places = 1024, most_step = 8;
    for (size_t d = 2; d < extents.size(); d++)
        if (extents[d] != 1) return std::nullopt;
    if (extents.size() < 2 || extents[1] > most_places || limits[0].defined()) return std::nullopt;
    const size_t rank = source.as<Call>()->args.size();
    struct Found {
        TiledDimension dimension;
        PlaceDigit digit;
    };
    std::vector<Found> found;
    Places all;
    std::vector<TiledDimension> dimensions;
    for (size_t i = 0; i < rank; i++) {
        TiledDimension d = clamped_dimension(i, around.names);
        if (i == 0) {
            if (!equal_to_coordinate(simplify(d.at - d.first), 0)) return std::nullopt;
            d.d = 0;
            all.channels = d;
        } else {
            const auto digit = digit_of(d.at, coordinates[1]);
            if (!digit || uses_symbol(d.at, coordinates[0])) return std::nullopt;
            found.push_back({d, *digit});
        }
        dimensions.push_back(std::move(d));
    }
    std::ranges::stable_sort(found, {}, [](const Found &f) { return f.digit.divisor; });
    if (found.size() < 2) return std::nullopt;
    // The digits follow one another; images have no end.
    PlaceDigit &image = found.back().digit;
    if (!image.is_plain()) return std::nullopt;
    image.take_in();
    all.images = found.back().dimension;
    all.number = image.before;
    for (Found &f : std::span(found).first(found.size() - 1)) {
        const PlaceDigit &digit = f.digit;
        const int64_t ends = digit.divisor * digit.modulus;
        if (digit.divisor != all.of_image || digit.modulus == 0 || digit.step > most_step ||
            !is_multiple_of(digit.before - all.number, ends))
            return std::nullopt;
        all.of_image = ends;
        const Expr tap = simplify(substitute(around.lets, digit.behind));
        const auto least = algebra::constant_lower_bound(tap, around.facts);
        if (!least) return std::nullopt;
        const auto first = int32_t(*least);
        all.along.push_back(
            {f.dimension, digit.step, digit.modulus, first, simplify(digit.behind - first)});
        // Limits that are constants are compared as those of the numbers of places.
        if (digit.step > 1 && is_const(digit.behind)) {
            TiledDimension &d = dimensions[f.dimension.of_source];
            const auto step = int32_t(digit.step);
            d.at = simplify((d.at - digit.behind) / step);
            if (d.begin.defined()) d.begin = simplify((d.begin - digit.behind + step - 1) / step);
            if (d.last.defined()) d.last = simplify((d.last - digit.behind) / step);
        }
    }
    // A quotient is compared as what is divided.
    TiledDimension &of_image = dimensions[all.images.of_source];
    const auto divisor = int32_t(all.of_image);
    of_image.at = simplify(int32_variable(coordinates[1]) + image.before);
    if (of_image.begin.defined()) of_image.begin = simplify(of_image.begin * divisor);
    if (of_image.last.defined()) of_image.last = simplify((of_image.last + 1) * divisor - 1);
    if (image.divisor != all.of_image || !is_filled_outside(dimensions) ||
        !find_places_end(all, around) || !has_room(all, around))
        return std::nullopt;
    return all;
}

// Returns the numbers of the map that say where places along a dimension begin and end.
MappedDimension StagedCopy::mapped_places(const PlacesAlong &p) const {
    MappedDimension m = mapped_part(p.of_source);
    m.step = p.step;
    m.first = simplify(p.first - m.min);
    m.last = simplify(m.first + int32_t((p.count - 1) * p.step) - (m.extent - 1));
    return m;
}

// Returns true if the machine has bits enough for where places begin and end, and for offsets.
bool StagedCopy::has_room(const Places &places, const AroundCopy &around) const {
    const int bits = places.along.size() == 1 ? 16 : places.along.size() == 2 ? 8 : 5;
    const auto is_within = [&](const Expr &e, int64_t least, int64_t most) {
        const Expr known_parts = simplify(substitute(around.lets, e));
        const auto low = algebra::constant_lower_bound(known_parts, around.facts),
                   high = algebra::constant_upper_bound(known_parts, around.facts);
        return low && high && *low >= least && *high <= most;
    };
    return std::ranges::all_of(places.along, [&](const PlacesAlong &p) {
        const MappedDimension m = mapped_places(p);
        const int64_t half = int64_t(1) << (bits - 1);
        return is_within(m.first, -half, half - 1) && is_within(m.last, -half, half - 1) &&
               is_within(p.offset, 0, 2 * half - 1);
    });
}

// Finds behind which image all is zero, if the rows of the box may go beyond their limit. Returns
// false if that is not the same for all boxes.
bool StagedCopy::find_places_end(Places &places, const AroundCopy &around) const {
    if (!limits[1].defined()) return true;
    for (const Expr &end : least_ends(simplify(places.number + limits[1]))) {
        if (algebra::can_prove(end - places.number >= extents[1])) continue;
        if (uses_any(end, around.names) || !is_multiple_of(end, places.of_image)) return false;
        const Expr images = simplify(end / int32_t(places.of_image));
        TiledDimension &d = places.images;
        d.end = d.end.defined() ? min(d.end, images) : images;
    }
    return true;
}

// Returns how the machine copies so many places, from the one of this row of the box on.
StagedCopy::ByMachine StagedCopy::by_places(const Places &places, const Expr &begin, int32_t count,
                                            const Expr &shift) const {
    const auto &c = *source.as<Call>();
    std::vector<MappedDimension> mapped = {mapped_part(places.channels)};
    const Expr number = simplify(places.number + begin);
    ByMachine made;
    made.copy.mode = BoxCopy::Mode::Im2col;
    made.copy.box = {of_panel, count};
    made.first = {places.channels.first - mapped[0].min + shift};
    int64_t before = 1;
    for (const PlacesAlong &p : places.along) {
        MappedDimension m = mapped_places(p);
        made.first.push_back(number / int32_t(before) % int32_t(p.count) * int32_t(p.step) +
                             m.first);
        made.offsets.push_back(p.offset);
        before *= p.count;
        mapped.push_back(std::move(m));
    }
    mapped.push_back(mapped_part(places.images));
    made.first.push_back(number / int32_t(before) - mapped.back().min);
    made.copy.rank = mapped.size();
    made.of_box.resize(mapped.size());
    made.of_box[0] = 0;
    made.map = tensor_map_of(c, mapped, made.copy, layout.defined() ? layout.outputs[0].swizzle : 0,
                             shift);
    return made;
}

}  // namespace tessera::lower
