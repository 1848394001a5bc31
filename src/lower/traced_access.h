#pragma once
#include "lower/context.h"

// An event of an access reports the coordinate, wherever in its storage the value is. For a
// function whose accesses are traced, the passes that fold storage or make copies of it keep both:
//
//     f(y)      ->      f(return_second(y, y % 4))
//
// until tracing has reported the first and leaves the second.
namespace tessera::lower {

// Returns what is reported of a function or image, by its schedule or because the target asks for
// all.
ir::Traced traced_of(const program::Trace &wanted, const Target &target);

// The traced functions and images: of storage in the pipeline, and of what it is called with.
std::unordered_map<Symbol, ir::Traced> find_traced(const ir::LoweredFunction &pipeline);

// `before` may be a coordinate, or such a pair already.
ir::Expr stored_at(const ir::Expr &before, const ir::Expr &index);
ir::Expr coordinate_of(const ir::Expr &arg);
ir::Expr index_of(const ir::Expr &arg);

}  // namespace tessera::lower
