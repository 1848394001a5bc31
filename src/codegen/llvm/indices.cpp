#include "codegen/llvm/indices.h"

namespace tessera::codegen {

using namespace ir;

const int64_t *constant_of(const Expr &e) {
    const auto *i = e.as<IntImm>();
    return i ? &i->value : nullptr;
}

bool is_dense(const Expr &index) {
    const auto *ramp = index.as<Ramp>();
    if (!ramp || !ramp->base.type().is_scalar()) return false;
    const int64_t *stride = constant_of(ramp->stride);
    return stride && *stride == 1;
}

}  // namespace tessera::codegen
