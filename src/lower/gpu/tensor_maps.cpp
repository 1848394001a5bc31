#include "lower/gpu/tensor_maps.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "program/parameter.h"

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// Lists the parts of a condition, all of which hold where it does, as what is not negative then.
// Returns false if one is no comparison of integers.
bool list_parts(const Expr &e, bool is_negated, std::vector<Expr> &all) {
    const auto both = [&](const auto &c) {
        return list_parts(c.a, is_negated, all) && list_parts(c.b, is_negated, all);
    };
    const auto less = [&](const Expr &a, const Expr &b, int32_t by) {  // a + by <= b
        if (a.type() != Int(32)) return false;
        all.push_back(is_negated ? a - b - (1 - by) : b - a - by);
        return true;
    };
    if (const auto *c = e.as<Not>()) return list_parts(c->a, !is_negated, all);
    if (const auto *c = e.as<And>(); c && !is_negated) return both(*c);
    if (const auto *c = e.as<Or>(); c && is_negated) return both(*c);
    if (const auto *c = e.as<LT>()) return less(c->a, c->b, 1);
    if (const auto *c = e.as<LE>()) return less(c->a, c->b, 0);
    if (const auto *c = e.as<GT>()) return less(c->b, c->a, 1);
    if (const auto *c = e.as<GE>()) return less(c->b, c->a, 0);
    return false;
}

}  // namespace

std::optional<std::vector<Expr>> parts_of_condition(const Expr &condition) {
    std::vector<Expr> parts;
    if (!list_parts(condition, false, parts)) return std::nullopt;
    return parts;
}

std::vector<MappedDimension> dimensions_of(const Call &element, const Realizations &storage) {
    std::vector<MappedDimension> all;
    const auto realized = storage.find(element.callee);
    if (element.call_kind == CallKind::Image || realized == storage.end()) {
        const auto property = [&](BufferField field, size_t d) {
            return BufferProperty::make(element.callee, field, int(d), element.referent);
        };
        // The promises of the user are checked.
        const auto *p = dynamic_cast<const program::Parameter *>(element.referent.get());
        const auto known = [](const Expr &promised, const Expr &otherwise) {
            return promised.defined() && is_const(promised) ? cast(Int(32), promised) : otherwise;
        };
        for (size_t d = 0; d < element.args.size(); d++) {
            all.push_back({d, property(BufferField::Min, d), property(BufferField::Extent, d),
                           property(BufferField::Stride, d)});
            if (!p || d >= p->constraints.size()) continue;
            all.back().min = known(p->constraints[d].min, all.back().min);
            all.back().extent = known(p->constraints[d].extent, all.back().extent);
        }
        return all;
    }
    for (const Range &r : realized->second->bounds) {
        const Expr stride = all.empty()       ? Expr(1)
                            : all.size() == 1 ? all.back().extent
                                              : all.back().stride * all.back().extent;
        all.push_back({all.size(), r.min, r.extent, stride});
    }
    return all;
}

bool has_misaligned_rows(const Call &element, const Realizations &storage) {
    const int64_t step = slot_bytes / element.type.bytes();
    const auto is_odd = [&](const Expr &stride) {
        const auto known_stride = stride.defined() ? as_const_int(simplify(stride)) : std::nullopt;
        return known_stride && *known_stride % step != 0;
    };
    const auto realized = storage.find(element.callee);
    if (element.call_kind == CallKind::Image || realized == storage.end()) {
        const auto *p = dynamic_cast<const program::Parameter *>(element.referent.get());
        for (size_t d = 1; p && d < p->constraints.size(); d++)
            if (is_odd(p->constraints[d].stride)) return true;
        return false;
    }
    if (!realized->second->storage.order.empty()) return true;
    const std::vector<MappedDimension> all = dimensions_of(element, storage);
    for (size_t d = 1; d < all.size(); d++)
        if (is_odd(all[d].stride)) return true;
    return false;
}

std::vector<Expr> possible_values(const Expr &e) {
    constexpr size_t most = 16;
    const auto both = [](const auto &m) {
        std::vector<Expr> all = possible_values(m.a), others = possible_values(m.b);
        all.insert(all.end(), others.begin(), others.end());
        return all;
    };
    const auto combined = [&](const auto &sum, const auto &combine) -> std::vector<Expr> {
        const std::vector<Expr> all = possible_values(sum.a), others = possible_values(sum.b);
        const size_t count = all.size() * others.size();
        if (count == 1 || count > most) return {e};
        std::vector<Expr> sums;
        for (const Expr &a : all)
            for (const Expr &b : others) sums.push_back(combine(a, b));
        return sums;
    };
    if (const auto *m = e.as<Min>()) return both(*m);
    if (const auto *m = e.as<Max>()) return both(*m);
    if (const auto *sum = e.as<Add>())
        return combined(*sum, [](const Expr &a, const Expr &b) { return a + b; });
    if (const auto *difference = e.as<Sub>())
        return combined(*difference, [](const Expr &a, const Expr &b) { return a - b; });
    return {e};
}

Expr tensor_map_of(const Call &element, const std::vector<MappedDimension> &dimensions,
                   const BoxCopy &copy, int64_t swizzle, const Expr &shift) {
    std::vector<Expr> first(element.args.size()), extents, distances, box;
    for (const MappedDimension &d : dimensions) {
        first[d.of_array] = d.min;
        extents.push_back(d.extent);
        if (d.of_array > 0) distances.push_back(d.stride);
    }
    for (const int64_t extent : copy.box) box.emplace_back(int32_t(extent));
    Expr innermost = 1;
    for (const MappedDimension &d : dimensions)
        if (d.of_array == 0) innermost = d.stride;
    if (copy.mode == BoxCopy::Mode::Im2col) {
        const auto add = [&](const auto &number) {
            for (size_t d = 1; d + 1 < dimensions.size(); d++) box.push_back(number(dimensions[d]));
        };
        add([](const MappedDimension &d) { return Expr(int32_t(d.step)); });
        add([](const MappedDimension &d) { return d.first; });
        add([](const MappedDimension &d) { return d.last; });
    }
    const Expr at = call(Handle(), Intrinsic::address_of, {element.with<&Call::args>(first)});
    std::vector<Expr> operands = {at, element.type.bytes(), int32_t(copy.mode),
                                  int32_t(dimensions.size())};
    for (const auto *list : {&extents, &distances, &box})
        operands.insert(operands.end(), list->begin(), list->end());
    operands.push_back(innermost);
    operands.push_back(shift);
    operands.emplace_back(int32_t(swizzle));
    return call(Handle(), Intrinsic::tensor_map, operands);
}

}  // namespace tessera::lower
