#include "lower/gpu/slices.h"
#include "ir/mutator.h"
#include "ir/operators.h"

namespace tessera::lower {

using namespace ir;

namespace {

class MoveIntoSlice final : public Mutator {
public:
    MoveIntoSlice(Symbol buffer, const Slice &slice)
        : buffer(buffer), larger(slice.of.defined() ? slice.of : buffer), slice(slice) {}

private:
    Expr visit(const Load &load) override {
        const Expr index = (*this)(load.index), predicate = (*this)(load.predicate);
        if (load.buffer != buffer)
            return load.with<&Load::index, &Load::predicate>(index, predicate);
        return load.with<&Load::buffer, &Load::index, &Load::predicate, &Load::alignment>(
            larger, moved(index), predicate, Alignment());
    }
    Stmt visit(const Store &store) override {
        const Expr index = (*this)(store.index), value = (*this)(store.value),
                   predicate = (*this)(store.predicate);
        if (store.buffer != buffer) {
            return store.with<&Store::index, &Store::value, &Store::predicate>(index, value,
                                                                               predicate);
        }
        return store.with<&Store::buffer, &Store::index, &Store::value, &Store::predicate,
                          &Store::alignment>(larger, moved(index), value, predicate, Alignment());
    }
    Expr moved(const Expr &index) const {
        const Type type = index.type();
        const auto wide = [&](const Expr &e) {
            const Expr scalar = cast(type.element_of(), e);
            return type.is_scalar() ? scalar : Broadcast::make(scalar, type.lanes());
        };
        if (is_one(slice.scale) && is_const(slice.offset, 0)) return index;
        return (is_one(slice.scale) ? index : index * wide(slice.scale)) + wide(slice.offset);
    }

    const Symbol buffer, larger;
    const Slice slice;
};

}  // namespace

Stmt move_into_slice(const Stmt &s, Symbol buffer, const Slice &slice) {
    return MoveIntoSlice(buffer, slice)(s);
}

}  // namespace tessera::lower
