#include "lower/checks/constraints.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;
using program::DimensionConstraint;

DimensionConstraint constraint_of(const Argument &argument, int d) {
    const auto *p = dynamic_cast<const program::Parameter *>(argument.referent.get());
    if (p && size_t(d) < p->constraints.size()) return p->constraints[size_t(d)];
    DimensionConstraint c;
    if (d == 0) c.stride = 1;
    return c;
}

Expr constraint_of(const DimensionConstraint &c, BufferField f) {
    return f == BufferField::Min      ? c.min
           : f == BufferField::Extent ? c.extent
           : f == BufferField::Stride ? c.stride
                                      : Expr();
}

Expr UseConstraints::visit(const BufferProperty &p) {
    const ir::Argument *a = arguments.argument(p.buffer);
    Expr fixed = a ? constraint_of(constraint_of(*a, p.dim), p.field) : Expr();
    return fixed.defined() ? cast(Int(32), fixed) : Expr(&p);
}

Expr handle_of(Symbol buffer) { return Variable::make(Handle(), buffer); }

Expr is_null(const Expr &handle) {
    return Reinterpret::make(UInt(64), handle) == make_zero(UInt(64));
}

Expr is_query(Symbol buffer) {
    Expr device = BufferProperty::make(buffer, BufferField::Device, 0);
    return is_null(BufferProperty::make(buffer, BufferField::Host, 0)) &&
           device == make_zero(UInt(64));
}

}  // namespace tessera::lower
