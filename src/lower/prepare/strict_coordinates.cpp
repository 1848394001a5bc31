#include "lower/prepare/strict_coordinates.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/lower_intrinsics.h"

namespace tessera::lower {
namespace {

using namespace ir;

// Within an index, or a condition that decides whether something is read.
class InCoordinate final : public Mutator {
    Expr visit(const Cast &node) override {
        const bool from_float = node.value.type().is_float() && !node.type.is_float();
        Expr value = (*this)(node.value);
        return node.with<&Cast::value>(from_float ? as_strict_float(value) : value);
    }
    Expr visit(const IntrinsicCall &c) override {
        if (c.op == Intrinsic::lerp && c.type.is_float()) {
            return (*this)(lower_lerp(c.type, c.args[0], c.args[1], c.args[2]));
        }
        Expr e = Mutator::visit(c);
        if (c.op != Intrinsic::saturating_cast || !c.args[0].type().is_float()) return e;
        return call(c.type, c.op, {as_strict_float(e.as<IntrinsicCall>()->args[0])});
    }
#define COMPARISON(T)                                                                              \
    Expr visit(const T &node) override {                                                           \
        Expr a = (*this)(node.a), b = (*this)(node.b);                                             \
        return node.with<&T::a, &T::b>(as_strict_float(a), as_strict_float(b));                    \
    }
    COMPARISON(EQ)
    COMPARISON(NE)
    COMPARISON(LT)
    COMPARISON(LE)
    COMPARISON(GT)
    COMPARISON(GE)
#undef COMPARISON
};

// Looks for a call; where it takes long to find one there may be one.
class FindRead final : public Visitor {
public:
    bool reads() const { return found || budget < 0; }

private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override {                                                           \
        found |= std::is_same_v<T, ir::Call>;                                                      \
        if (!found && --budget >= 0) Visitor::visit(node);                                         \
    }
    TESSERA_EXPR_NODES(VISIT)
#undef VISIT
    bool found = false;
    int budget = 300;
};

bool reads(const Expr &e) {
    FindRead find;
    find(e);
    return find.reads();
}

// Within a value.
class InValue final : public Mutator {
public:
    InCoordinate in_coordinate;

private:
    Expr visit(const ir::Call &node) override {
        std::vector<Expr> args;
        for (const Expr &arg : node.args) args.push_back(in_coordinate(arg));
        return node.with<&ir::Call::args>(std::move(args));
    }
    Expr visit(const Cast &node) override {
        const bool to_index = node.type.is_int_or_uint() && node.type.bits() >= 32;
        if (!to_index || !node.value.type().is_float()) return Mutator::visit(node);
        return in_coordinate(Expr(&node));
    }
    Expr visit(const Select &node) override {
        const bool decides = reads(node.true_value) || reads(node.false_value);
        return node.with<&Select::condition, &Select::true_value, &Select::false_value>(
            condition(node.condition, decides), (*this)(node.true_value),
            (*this)(node.false_value));
    }
    Expr visit(const IntrinsicCall &c) override {
        if (c.op != Intrinsic::if_then_else) return Mutator::visit(c);
        std::vector<Expr> args{condition(c.args[0], true)};
        for (size_t i = 1; i < c.args.size(); i++) args.push_back((*this)(c.args[i]));
        return c.with<&IntrinsicCall::args>(std::move(args));
    }
    // A condition that depends on data is no part of a region.
    Expr condition(const Expr &e, bool decides) {
        return decides && !reads(e) ? in_coordinate(e) : (*this)(e);
    }
};

void make_strict(program::Definition &d, InValue &in_value) {
    for (Expr &e : d.args) e = in_value.in_coordinate(e);
    for (Expr &e : d.values) e = in_value(e);
    for (program::ReductionVariable &r : d.reduction) {
        r.min = in_value.in_coordinate(r.min);
        r.extent = in_value.in_coordinate(r.extent);
    }
    d.predicate = in_value.in_coordinate(d.predicate);
    for (program::Specialization &s : d.specializations) {
        s.condition = in_value.in_coordinate(s.condition);
        if (s.definition) make_strict(*s.definition, in_value);
    }
}

}  // namespace

void make_coordinates_strict(program::Environment &environment) {
    InValue in_value;
    for (const program::FunctionRef &f : environment.order) {
        for (const program::DefinitionRef &stage : f->stages) make_strict(*stage, in_value);
    }
}

}  // namespace tessera::lower
