#include "codegen/llvm/indices.h"

namespace tessera::codegen {

using namespace ir;

namespace {

// What is known of the first lane, `offset` further on.
Alignment moved(const Alignment &a, const int64_t *offset) {
    if (!offset) return {};
    if (a.modulus == 0) return {0, a.remainder + *offset};
    int64_t remainder = (a.remainder + *offset) % a.modulus;
    return {a.modulus, remainder < 0 ? remainder + a.modulus : remainder};
}

}  // namespace

const int64_t *constant_of(const Expr &e) {
    const auto *i = e.as<IntImm>();
    return i ? &i->value : nullptr;
}

Expr plus(const Expr &a, const Expr &b) {
    const int64_t *ca = constant_of(a), *cb = constant_of(b);
    if (ca && cb) return IntImm::make(a.type(), *ca + *cb);
    if (ca && *ca == 0) return b;
    return cb && *cb == 0 ? a : Add::make(a, b);
}

Expr times(const Expr &a, int64_t factor) {
    if (const int64_t *c = constant_of(a)) return IntImm::make(a.type(), *c * factor);
    if (factor == 1 || factor == 0) return factor ? a : IntImm::make(a.type(), 0);
    return Mul::make(a, IntImm::make(a.type(), factor));
}

Expr advance(const Expr &base, const Expr &step, int i) {
    const auto *by = step.as<Broadcast>();
    if (i == 0) return base;
    if (by && by->value.type().is_scalar()) {
        Expr offset = times(by->value, i);
        const auto *ramp = base.as<Ramp>();
        if (ramp && ramp->base.type().is_scalar()) {
            return Ramp::make(plus(ramp->base, offset), ramp->stride, ramp->lanes);
        }
        const auto *same = base.as<Broadcast>();
        if (same && same->value.type().is_scalar()) {
            return Broadcast::make(plus(same->value, offset), same->lanes);
        }
    }
    Expr factor = Broadcast::make(IntImm::make(step.type().element_of(), i), step.type().lanes());
    return Add::make(base, Mul::make(step, factor));
}

Alignment group_alignment(const Alignment &a, const Expr &step, int i) {
    if (i == 0) return a;
    const auto *by = step.as<Broadcast>();
    const int64_t *constant = by ? constant_of(by->value) : constant_of(step);
    if (!constant) return {};
    int64_t offset = *constant * i;
    return moved(a, &offset);
}

Expr part_of(const Expr &predicate, int begin, int lanes) {
    return predicate.defined() ? Shuffle::make_slice(predicate, begin, 1, lanes) : Expr();
}

bool is_dense(const Expr &index) {
    const auto *ramp = index.as<Ramp>();
    if (!ramp || !ramp->base.type().is_scalar()) return false;
    const int64_t *stride = constant_of(ramp->stride);
    return stride && *stride == 1;
}

const Ramp *transposed_group(const Ramp &index) {
    const auto *group = index.base.as<Ramp>();
    const auto *step = index.stride.as<Broadcast>();
    if (!group || group->base.type().is_vector() || !step) return nullptr;
    const int64_t *next = constant_of(step->value), *stride = constant_of(group->stride);
    if (!next || *next != 1 || (group->lanes & (group->lanes - 1)) != 0) return nullptr;
    const bool is_near = stride && std::abs(*stride) <= 4;
    return is_near && (*stride == 1 || index.lanes < group->lanes) ? nullptr : group;
}

bool is_gather_of_rows(const Load &load, const Ramp &index) {
    const auto *step = index.stride.as<Broadcast>();
    const int64_t *next = step ? constant_of(step->value) : nullptr;
    return next && *next == 1 && (index.lanes == 2 || index.lanes == 4) && !index.base.as<Ramp>() &&
           !index.base.as<Broadcast>() && !load.predicate.defined() && !load.type.is_bool() &&
           index.base.type().lanes() % index.lanes == 0;
}

}  // namespace tessera::codegen
