#include "autoscheduler/estimates.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <bit>

namespace tessera::autoscheduler {

using namespace ir;
using program::Parameter;

namespace {

// Puts numbers in place of scalars and sizes.
class WithNumbers final : public Mutator {
public:
    explicit WithNumbers(const Estimates &estimates) : estimates(estimates) {}

private:
    using Mutator::visit;
    static Expr or_itself(const std::optional<int64_t> &number, Type t, const Expr &e) {
        return number ? IntImm::make(t.is_int() ? t : Int(64), *number) : e;
    }
    Expr visit(const Variable &v) override {
        const auto *p = dynamic_cast<const Parameter *>(v.referent.get());
        if (!p || !v.type.is_int_or_uint()) return Expr(&v);
        const Expr e = or_itself(estimates.scalar(*p), v.type, Expr(&v));
        return e.type() == v.type ? e : Cast::make(v.type, e);
    }
    Expr visit(const BufferProperty &b) override {
        const auto *p = dynamic_cast<const Parameter *>(b.referent.get());
        if (!p) return Expr(&b);
        if (b.field == BufferField::Min)
            return or_itself(estimates.min(*p, b.dim), b.type, Expr(&b));
        if (b.field != BufferField::Extent) return Expr(&b);
        return or_itself(estimates.extent(*p, b.dim), b.type, Expr(&b));
    }
    const Estimates &estimates;
};

}  // namespace

std::optional<int64_t> Estimates::scalar(const Parameter &p) const {
    if (p.estimate.defined()) {
        if (auto number = as_const_int(p.estimate)) return number;
    }
    if (p.scalar_is_set && p.type.is_int()) {
        const int shift = 64 - p.type.bits();
        return int64_t(p.scalar_bits << shift) >> shift;
    }
    if (p.scalar_is_set && p.type.is_uint()) return int64_t(p.scalar_bits);
    return std::nullopt;
}

std::optional<double> Estimates::real(const Parameter &p) const {
    if (const auto *f = p.estimate.defined() ? p.estimate.as<FloatImm>() : nullptr) return f->value;
    if (p.type == Float(32) && p.scalar_is_set) {
        return double(std::bit_cast<float>(uint32_t(p.scalar_bits)));
    }
    if (p.type == Float(64) && p.scalar_is_set) return std::bit_cast<double>(p.scalar_bits);
    if (const auto number = scalar(p)) return double(*number);
    return std::nullopt;
}

std::optional<double> Estimates::real(const Expr &e) const {
    const auto *v = e.as<Variable>();
    const auto *p = v ? dynamic_cast<const Parameter *>(v->referent.get()) : nullptr;
    return p ? real(*p) : std::nullopt;
}

std::optional<int64_t> Estimates::min(const Parameter &p, int dim) const {
    const auto &c = p.constraints.at(size_t(dim));
    if (c.min_estimate.defined()) return number(c.min_estimate);
    if (p.buffer) return p.buffer->dim[dim].min;
    if (c.min.defined()) return number(c.min);
    return std::nullopt;
}

std::optional<int64_t> Estimates::extent(const Parameter &p, int dim) const {
    const auto &c = p.constraints.at(size_t(dim));
    if (c.extent_estimate.defined()) return number(c.extent_estimate);
    if (p.buffer) return p.buffer->dim[dim].extent;
    if (c.extent.defined()) return number(c.extent);
    return std::nullopt;
}

std::optional<int64_t> Estimates::number(const Expr &e) const {
    if (!e.defined()) return std::nullopt;
    if (auto constant = as_const_int(e)) return constant;
    return as_const_int(algebra::simplify(WithNumbers(*this)(e)));
}

std::string Estimates::why_no_number(const Expr &e) const {
    std::string why;
    const auto blame = [&](const ir::Referent *referent, bool is_known, const char *what) {
        const auto *p = dynamic_cast<const Parameter *>(referent);
        if (p && !is_known && why.empty())
            why = str("the ", what, " ", p->name, " has no estimate");
    };
    for_each_node(e, [&](const Variable &v) {
        blame(v.referent.get(), number(Expr(&v)).has_value(), "Param");
    });
    for_each_node(e, [&](const BufferProperty &b) {
        blame(b.referent.get(), number(Expr(&b)).has_value(), "size of");
    });
    return why.empty() ? "it is no constant" : why;
}

}  // namespace tessera::autoscheduler
