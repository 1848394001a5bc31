#pragma once
#include "lang/func.h"
#include "lang/image_param.h"

// A Func that is `source` inside of its bounds, and something sensible outside. For a Func, the
// bounds are given, min and extent of each dimension; an undefined pair leaves a dimension alone.
namespace tessera::BoundaryConditions {

// A source and its bounds, from whatever knows them.
struct Source {
    Source(const Func &f, Location at = Here::current()) : f(f), at(at) {}
    Source(const ImageParam &image, Location at = Here::current());
    template<typename T, int D>
    Source(const Buffer<T, D> &image, Location at = Here::current())
        : f(image.defined() ? Func(image, at) : Func()), at(at) {
        known = image.defined();
        undefined = known ? nullptr : "Buffer";
        for (int i = 0; known && i < image.dimensions(); i++) {
            bounds.emplace_back(Expr(image.dim(i).min()), Expr(image.dim(i).extent()));
        }
    }
    Func f;
    Region bounds;
    bool known = false;
    const char *undefined = nullptr;  // what the source would have been of, were it defined
    Location at;
};

// One value (or one per value of the Func) everywhere outside.
Func constant_exterior(const Source &source, const Tuple &value, const Region &bounds = {});
Func constant_exterior(const Source &source, const Expr &value, const Region &bounds = {});
// The nearest value inside.
Func repeat_edge(const Source &source, const Region &bounds = {});
// Copies side by side.
Func repeat_image(const Source &source, const Region &bounds = {});
// Copies side by side, every other one mirrored, with the value at the edge twice.
Func mirror_image(const Source &source, const Region &bounds = {});
// The same, with the value at the edge once.
Func mirror_interior(const Source &source, const Region &bounds = {});

// The same, with the bounds as min, extent, min, extent, ...
namespace detail {
Region pairs(const std::vector<Expr> &bounds);
}

#define TESSERA_BOUNDARY_CONDITION(name)                                                           \
    template<ExprLike... Args>                                                                     \
    requires(sizeof...(Args) % 2 == 0)                                                             \
    Func name(const Source &source, const Expr &min, const Expr &extent, const Args &...rest) {    \
        return name(source, detail::pairs({min, extent, Expr(rest)...}));                          \
    }
TESSERA_BOUNDARY_CONDITION(repeat_edge)
TESSERA_BOUNDARY_CONDITION(repeat_image)
TESSERA_BOUNDARY_CONDITION(mirror_image)
TESSERA_BOUNDARY_CONDITION(mirror_interior)
#undef TESSERA_BOUNDARY_CONDITION
template<ExprLike... Args>
requires(sizeof...(Args) % 2 == 0)
Func constant_exterior(const Source &source, const Expr &value, const Expr &min, const Expr &extent,
                       const Args &...rest) {
    return constant_exterior(source, value, detail::pairs({min, extent, Expr(rest)...}));
}
template<ExprLike... Args>
requires(sizeof...(Args) % 2 == 0)
Func constant_exterior(const Source &source, const Tuple &value, const Expr &min,
                       const Expr &extent, const Args &...rest) {
    return constant_exterior(source, value, detail::pairs({min, extent, Expr(rest)...}));
}

}  // namespace tessera::BoundaryConditions
