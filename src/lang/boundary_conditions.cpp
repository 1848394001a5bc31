#include "lang/boundary_conditions.h"
#include "ir/nodes.h"
#include "ir/printer.h"

namespace tessera::BoundaryConditions {
namespace {

Region bounds_of(const char *what, const Source &source, const Region &given) {
    const Func &f = source.f;
    if (source.undefined) {
        throw CompileError(source.at, str(what, ": the ", source.undefined, " is undefined"));
    }
    if (!f.defined()) {
        throw CompileError(source.at, str(what, ": ", f.name(), " has no definition yet"));
    }
    const Region &bounds = given.empty() ? source.bounds : given;
    if (given.empty() && !source.known) {
        throw CompileError(source.at, str(what, ": the bounds of ", f.name(),
                                          " are not known; give "
                                          "min and extent of each dimension"));
    }
    if (int(bounds.size()) > f.dimensions()) {
        throw CompileError(source.at, str(what, ": bounds of ", bounds.size(), " dimensions, but ",
                                          f.name(), " has ", f.dimensions()));
    }
    for (const auto &[min, extent] : bounds) {
        if (min.defined() == extent.defined()) continue;
        throw CompileError(source.at, str(what, ": of a dimension, only one of min and extent is "
                                                "defined"));
    }
    return bounds;
}

// The source at other coordinates: `inside` gives one that lies within the bounds.
template<typename Inside>
Func at_other_place(const char *what, const Source &source, const Region &given, Inside inside) {
    Region bounds = bounds_of(what, source, given);
    Func f(what);
    std::vector<Var> args = source.f.args();
    std::vector<Expr> coordinates;
    for (size_t i = 0; i < args.size(); i++) {
        bool bounded = i < bounds.size() && bounds[i].min.defined();
        coordinates.push_back(bounded ? inside(args[i], bounds[i].min, bounds[i].extent)
                                      : Expr(args[i]));
    }
    f(args, source.at) = Tuple(source.f(coordinates, source.at));
    return f;
}

// Within [min, min + extent) nothing is done to it, and that is the usual case. The clamp says
// so to bounds inference, which cannot always use a condition on several variables.
Expr usually(const Expr &coordinate, const Expr &min, const Expr &extent, const Expr &otherwise) {
    Expr max = min + extent - 1;
    return select(likely(coordinate >= min && coordinate <= max),
                  clamp(likely(coordinate), min, max), clamp(otherwise, min, max));
}

// A constant that the source's type cannot hold would become another.
void require_fits(const Source &source, Type type, const Expr &value) {
    if (ir::may_hold(type, value)) return;
    throw CompileError(source.at, str("constant_exterior: ", source.f.name(),
                                      " has values of type ", type, ", which cannot hold ", value));
}

}  // namespace

namespace detail {

Region pairs(const std::vector<Expr> &bounds) {
    Region region;
    for (size_t i = 0; i < bounds.size(); i += 2) region.emplace_back(bounds[i], bounds[i + 1]);
    return region;
}

}  // namespace detail

Source::Source(const ImageParam &image, Location at)
    : f(image.defined() ? Func(image) : Func()), at(at) {
    known = image.defined();
    undefined = known ? nullptr : "ImageParam";
    for (int i = 0; known && i < image.dimensions(); i++) {
        bounds.emplace_back(image.dim(i).min(), image.dim(i).extent());
    }
}

Func constant_exterior(const Source &source, const Tuple &value, const Region &given) {
    Region bounds = bounds_of("constant_exterior", source, given);
    std::vector<Var> args = source.f.args();
    std::vector<Expr> coordinates(args.begin(), args.end());
    Expr outside = ir::const_false();
    for (size_t i = 0; i < bounds.size(); i++) {
        const auto &[min, extent] = bounds[i];
        if (!min.defined()) continue;
        outside = outside || coordinates[i] < min || coordinates[i] >= min + extent;
        coordinates[i] = clamp(likely(coordinates[i]), min, min + extent - 1);
    }
    Tuple inside(source.f(coordinates, source.at));
    if (value.size() != inside.size()) {
        throw CompileError(source.at, str("constant_exterior: ", value.size(), " values, but ",
                                          source.f.name(), " has ", inside.size()));
    }
    std::vector<Expr> values;
    for (size_t i = 0; i < inside.size(); i++) {
        require_fits(source, inside[i].type(), value[i]);
        values.push_back(select(outside, cast(inside[i].type(), value[i]), likely(inside[i])));
    }
    Func f("constant_exterior");
    f(args, source.at) = Tuple(values);
    return f;
}
Func constant_exterior(const Source &source, const Expr &value, const Region &bounds) {
    return constant_exterior(source, Tuple(std::vector<Expr>{value}), bounds);
}

Func repeat_edge(const Source &source, const Region &bounds) {
    return at_other_place("repeat_edge", source, bounds,
                          [](const Expr &x, const Expr &min, const Expr &extent) {
                              return clamp(likely(x), min, min + extent - 1);
                          });
}

Func repeat_image(const Source &source, const Region &bounds) {
    return at_other_place("repeat_image", source, bounds,
                          [](const Expr &x, const Expr &min, const Expr &extent) {
                              Expr wrapped = (x - min) % extent + min;
                              return usually(x, min, extent, wrapped);
                          });
}

Func mirror_image(const Source &source, const Region &bounds) {
    return at_other_place("mirror_image", source, bounds,
                          [](const Expr &x, const Expr &min, const Expr &extent) {
                              // 0, 1, ..., n - 1, n - 1, ..., 1, 0, and again.
                              Expr place = (x - min) % (2 * extent);
                              Expr mirrored = tessera::min(place, 2 * extent - 1 - place) + min;
                              return usually(x, min, extent, mirrored);
                          });
}

Func mirror_interior(const Source &source, const Region &bounds) {
    return at_other_place(
        "mirror_interior", source, bounds, [](const Expr &x, const Expr &min, const Expr &extent) {
            // 0, 1, ..., n - 1, n - 2, ..., 1, and again; of one element, always that.
            Expr limit = extent - 1;
            Expr place = limit - abs(cast<int>(limit - (x - min) % tessera::max(2 * limit, 1)));
            Expr mirrored = cast<int>(place) + min;
            return usually(x, min, extent, mirrored);
        });
}

}  // namespace tessera::BoundaryConditions
