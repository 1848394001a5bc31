#include "lower/cpu/operand_rows.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "program/parameter.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// Returns the dimensions in the order of storage, innermost first.
std::vector<size_t> storage_order(const Realize &r) {
    std::vector<size_t> order;
    for (const StoredDimension &d : r.storage.order) order.push_back(size_t(d.dim));
    for (size_t d = 0; d < r.bounds.size(); d++) {
        if (std::ranges::find(order, d) == order.end()) order.push_back(d);
    }
    return order;
}

int64_t alignment_in(const Realize &r, size_t dimension) {
    for (const StoredDimension &d : r.storage.order) {
        if (size_t(d.dim) == dimension && d.alignment.defined())
            return as_const_int(simplify(d.alignment)).value_or(0);
    }
    return 1;
}

std::optional<int64_t> stride_in(const Realize &r, size_t dimension, const LetScope &scope) {
    int64_t stride = 1;
    for (size_t d : storage_order(r)) {
        if (d == dimension) return stride;
        const auto extent = as_const_int(simplify(remove_likely(scope.expand(r.bounds[d].extent))));
        const int64_t alignment = alignment_in(r, d);
        if (!extent || alignment <= 0) return std::nullopt;
        stride *= (*extent + alignment - 1) / alignment * alignment;
    }
    return std::nullopt;
}

bool is_folded(const Realize &r) {
    return std::ranges::any_of(r.storage.folds, [](const StorageFold &f) { return f.is_done; });
}

// Rewrites the accesses to a Func that is packed.
class PackAccesses final : public Mutator {
public:
    PackAccesses(const Realize &realize, const Packing &packing)
        : realize(realize), packing(packing) {}

private:
    Expr visit(const Call &c) override {
        const Expr e = Mutator::visit(c);
        if (c.callee != realize.func) return e;
        return e.as<Call>()->with<&Call::args>(place(e.as<Call>()->args));
    }
    Stmt visit(const Provide &p) override {
        const Stmt s = Mutator::visit(p);
        if (p.func != realize.func) return s;
        return s.as<Provide>()->with<&Provide::args>(place(s.as<Provide>()->args));
    }
    Stmt visit(const Prefetch &p) override {
        if (p.name != realize.func) return Mutator::visit(p);
        throw CompileError(realize.storage.compute_written,
                           str("prefetch of ", p.name,
                               ": a tensor instruction reads it in another order than its "
                               "dimensions have, for which there is no prefetch"));
    }
    std::vector<Expr> place(std::vector<Expr> args) const {
        const Expr &min = realize.bounds[packing.k].min;
        const Expr from_first = is_const(min, 0) ? args[packing.k] : args[packing.k] - min;
        const auto together = int32_t(packing.together);
        args[packing.k] = from_first / together;
        args.push_back(from_first % together);
        return args;
    }
    const Realize &realize;
    const Packing &packing;
};

}  // namespace

int64_t interleaved_along_k(const InstructionOperand &operand) {
    int64_t along_k = 1, others = 1;
    for (const LayoutDigit &d : operand.layout.output("element")->digits) {
        const bool is_along_k = operand.layout.coordinates[d.coordinate].name == "k";
        (is_along_k ? along_k : others) *= d.extent;
    }
    return others > 1 ? along_k : 0;
}

OperandRows::OperandRows(const Call &element, const InstructionOperand &operand,
                         const CoordinateLoops &loops, const Substitution &within,
                         const Storages &storage, const LetScope &scope)
    : element(element), operand(operand), loops(loops), storage(storage), scope(scope),
      facts(scope.known()) {
    for (const Expr &arg : element.args) args.push_back(substitute(within, arg));
    add_digits();
    Substitution values;
    for (size_t c = 0; c < operand.layout.coordinates.size(); c++) {
        const CoordinateLoop &l = loop_of(c);
        if (!l.loop) continue;
        Expr at = scope.expand(l.loop->min) + int32_variable(blocks[c]) * int32_t(l.step);
        for (const Digit &d : digits) {
            if (d.of.coordinate == c) at = at + int32_variable(d.variable) * int32_t(d.of.divisor);
        }
        values[l.loop->name] = at;
    }
    for (const Expr &arg : args)
        expanded.push_back(simplify(substitute(values, remove_likely(scope.expand(arg))), facts));
    is_in_rows = find_rows();
}

void OperandRows::add_digits() {
    for (size_t c = 0; c < operand.layout.coordinates.size(); c++) {
        blocks.push_back(Symbol::fresh(str(operand.layout.coordinates[c].name, ".step")));
        facts.between(blocks.back(), 0, int32_t(loop_of(c).steps - 1));
    }
    for (const LayoutOutput &output : operand.layout.outputs) {
        for (const LayoutDigit &d : output.digits) {
            if (d.extent == 1) continue;
            const Symbol variable =
                Symbol::fresh(str(operand.layout.coordinates[d.coordinate].name, ".digit"));
            digits.push_back({variable, d, output.name == "row"});
            facts.between(variable, 0, int32_t(d.extent - 1));
        }
    }
}

bool OperandRows::is_free(const Expr &e) const {
    const auto used = symbols_in(e);
    const auto is_used = [&](Symbol s) { return used.contains(s); };
    return std::ranges::none_of(blocks, is_used) &&
           std::ranges::none_of(digits, [&](const Digit &d) { return is_used(d.variable); });
}

Expr OperandRows::difference(const Expr &coordinate, Symbol variable) const {
    const Expr next = substitute(variable, int32_variable(variable) + 1, coordinate);
    return simplify(next - coordinate, facts);
}

// Digits of an element lie at their distance from one another; rows are alike.
bool OperandRows::find_rows() {
    const auto found = storage.find(element.callee);
    if (found != storage.end() && is_folded(*found->second)) return false;
    for (const Digit &digit : digits) {
        int64_t distance = 0;
        for (size_t d = 0; d < expanded.size(); d++) {
            const Expr by = difference(expanded[d], digit.variable);
            if (!is_free(by)) return false;
            const auto constant = as_const_int(by);
            if (digit.is_row || constant == 0) continue;
            const auto of_dimension = stride(d);
            if (!constant || !of_dimension) return false;
            distance += *constant * *of_dimension;
        }
        if (!digit.is_row && distance != digit.of.stride) return false;
    }
    return true;
}

std::optional<int64_t> OperandRows::stride(size_t dimension) const {
    const auto found = storage.find(element.callee);
    if (found != storage.end()) return stride_in(*found->second, dimension, scope);
    const auto *p = dynamic_cast<const program::Parameter *>(element.referent.get());
    if (!p || dimension >= p->constraints.size())
        return dimension == 0 ? std::optional<int64_t>(1) : std::nullopt;
    const Expr stride = p->constraints[dimension].stride;
    return stride.defined() ? as_const_int(stride) : std::nullopt;
}

// Returns the dimension in which a loop runs over neighbours, if it is in no other.
std::optional<size_t> OperandRows::only_dimension_of(const For *loop) const {
    std::optional<size_t> found;
    for (size_t d = 0; loop && d < args.size(); d++) {
        const Expr arg = remove_likely(scope.expand(args[d]));
        const auto by = as_const_int(difference(arg, loop->name));
        if (by == 0) continue;
        if (by != 1 || found) return std::nullopt;
        found = d;
    }
    return found;
}

std::optional<Packing> OperandRows::packing() const {
    const auto found = storage.find(element.callee);
    if (found == storage.end() || is_folded(*found->second)) return std::nullopt;
    const Realize &r = *found->second;
    if (r.storage.copies.defined() || r.storage.is_passed || r.storage.layout.defined())
        return std::nullopt;
    const auto is_k = [](const LayoutCoordinate &c) { return c.name == "k"; };
    const auto &coordinates = operand.layout.coordinates;
    const auto k = only_dimension_of(loop_of(is_k(coordinates[0]) ? 0 : 1).loop),
               own = only_dimension_of(loop_of(is_k(coordinates[0]) ? 1 : 0).loop);
    if (!k || !own || *k == *own) return std::nullopt;
    const int64_t interleaved = interleaved_along_k(operand);
    if (interleaved) {
        const CoordinateLoop &l = loops.at("k");
        const Expr begin = substitute(l.loop->name, l.loop->min, args[*k]) - r.bounds[*k].min;
        const Expr first = simplify(remove_likely(scope.expand(begin)) % int32_t(interleaved));
        if (!is_const(first, 0)) return std::nullopt;
    }
    return Packing{*own, *k, interleaved};
}

Expr OperandRows::place(int64_t first, int64_t second, int64_t rows) const {
    Substitution values;
    const int64_t steps[] = {first, second};
    for (size_t c = 0; c < operand.layout.coordinates.size(); c++) {
        const CoordinateLoop &l = loop_of(c);
        int64_t at = steps[c] * l.step;
        for (const Digit &d : digits) {
            if (d.is_row && d.of.coordinate == c) at += rows * d.of.divisor;
        }
        if (l.loop) values[l.loop->name] = l.loop->min + int32_t(at);
    }
    std::vector<Expr> coordinates;
    for (const Expr &arg : args) coordinates.push_back(simplify(substitute(values, arg)));
    return call(Handle(), Intrinsic::address_of, {element.with<&Call::args>(coordinates)});
}

Stmt packed(const Realize &realize, const Packing &packing) {
    StorageFacts facts = realize.storage;
    std::vector<size_t> order = {packing.k, packing.own};
    if (packing.together) order = {realize.bounds.size(), packing.own, packing.k};
    std::vector<StoredDimension> stored;
    for (size_t d : order) stored.push_back({int(d), {}, {}, {}, {}});
    for (size_t d : storage_order(realize)) {
        if (d != packing.own && d != packing.k) stored.push_back({int(d), {}, {}, {}, {}});
    }
    facts.order = stored;
    if (!packing.together) return realize.with<&Realize::storage>(facts);
    Region bounds = realize.bounds;
    const auto together = int32_t(packing.together);
    bounds[packing.k] = {0, simplify((bounds[packing.k].extent + (together - 1)) / together)};
    bounds.emplace_back(0, together);
    const Stmt body = PackAccesses(realize, packing)(realize.body);
    return realize.with<&Realize::bounds, &Realize::body, &Realize::storage>(bounds, body, facts);
}

}  // namespace tessera::lower
