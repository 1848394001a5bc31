#include "lang/fits.h"
#include "ir/nodes.h"

namespace tessera::detail {

bool may_fit(Type type, const ir::Expr &value) {
    if (!type.is_int_or_uint()) return true;
    if (const auto *i = value.as<ir::IntImm>()) return type.can_represent(i->value);
    if (const auto *u = value.as<ir::UIntImm>()) return type.can_represent(u->value);
    if (const auto *f = value.as<ir::FloatImm>()) return type.can_represent(f->value);
    return true;
}

}  // namespace tessera::detail
