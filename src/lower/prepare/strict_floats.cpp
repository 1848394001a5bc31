#include "lower/prepare/strict_floats.h"
#include "ir/mutator.h"
#include "ir/operators.h"

namespace tessera::lower {
namespace {

using namespace ir;

// Operations that choose a value, rather than computing one, are left as they are: selects, min and
// max.
class WrapArithmetic final : public Mutator {
    template<typename T>
    Expr wrap(const T &node) {
        Expr e = Mutator::visit(node);
        if (!node.type.is_float()) return e;
        return call(node.type, Intrinsic::strict_float, {e});
    }
    Expr visit(const Add &node) override { return wrap(node); }
    Expr visit(const Sub &node) override { return wrap(node); }
    Expr visit(const Mul &node) override { return wrap(node); }
    Expr visit(const Div &node) override { return wrap(node); }
    Expr visit(const Mod &node) override { return wrap(node); }
    // All that is below one of the user's is strict already.
    Expr visit(const IntrinsicCall &c) override {
        return c.op == Intrinsic::strict_float ? Expr(&c) : Mutator::visit(c);
    }
};

void make_strict(program::Definition &d, WrapArithmetic &wrap) {
    for (Expr &e : d.args) e = wrap(e);
    for (Expr &e : d.values) e = wrap(e);
    d.predicate = wrap(d.predicate);
    for (program::Specialization &s : d.specializations) {
        s.condition = wrap(s.condition);
        if (s.definition) make_strict(*s.definition, wrap);
    }
}

}  // namespace

void make_floats_strict(program::Environment &environment) {
    WrapArithmetic wrap;
    for (const program::FunctionRef &f : environment.order) {
        for (const program::DefinitionRef &stage : f->stages) make_strict(*stage, wrap);
    }
}

}  // namespace tessera::lower
