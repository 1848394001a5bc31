#include "lower/checks/constraints.h"

namespace tessera::lower {

using program::DimensionConstraint;

DimensionConstraint constraint_of(const ir::Argument &argument, int d) {
    const auto *p = dynamic_cast<const program::Parameter *>(argument.referent.get());
    if (p && size_t(d) < p->constraints.size()) return p->constraints[size_t(d)];
    DimensionConstraint c;
    if (d == 0) c.stride = 1;
    return c;
}

ir::Expr constraint_of(const DimensionConstraint &c, BufferField f) {
    return f == BufferField::Min      ? c.min
           : f == BufferField::Extent ? c.extent
           : f == BufferField::Stride ? c.stride
                                      : ir::Expr();
}

}  // namespace tessera::lower
