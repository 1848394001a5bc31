#include "ir/operators.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {

ir::Expr Type::max() const {
    if (is_float()) {
        return ir::make_float_const(*this, std::numeric_limits<double>::infinity());
    }
    if (is_handle()) throw CompileError("a handle has no largest value");
    return ir::make_const(*this, is_uint() ? int64_t(max_uint()) : max_int());
}

ir::Expr Type::min() const {
    if (is_float()) {
        return ir::make_float_const(*this, -std::numeric_limits<double>::infinity());
    }
    if (is_handle()) throw CompileError("a handle has no smallest value");
    return ir::make_const(*this, min_int());
}

}  // namespace tessera

namespace tessera::ir {

double largest_that_fits(Type integer, Type floating) {
    const int bits = integer.bits() - (integer.is_int() ? 1 : 0);
    const int significand = floating.bits() == 64 ? 53 : 24;
    return std::ldexp(1.0, bits) - std::ldexp(1.0, std::max(bits - significand, 0));
}

}  // namespace tessera::ir
