#include "ir/operators.h"
#include <limits>

namespace tessera {

ir::Expr Type::max() const {
    if (is_any_float()) {
        return ir::make_float_const(*this, std::numeric_limits<double>::infinity());
    }
    if (is_handle()) throw CompileError("a handle has no largest value");
    return ir::make_const(*this, is_uint() ? int64_t(max_uint()) : max_int());
}

ir::Expr Type::min() const {
    if (is_any_float()) {
        return ir::make_float_const(*this, -std::numeric_limits<double>::infinity());
    }
    if (is_handle()) throw CompileError("a handle has no smallest value");
    return ir::make_const(*this, min_int());
}

}  // namespace tessera
