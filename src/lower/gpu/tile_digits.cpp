#include "lower/gpu/tile_digits.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include <algorithm>
#include <functional>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

Expr weighted(const Expr &e, int64_t weight) { return weight == 1 ? e : e * int32_t(weight); }

}  // namespace

Digits::Digits(std::string_view coordinate, const char *name, const Layout &elements,
               const Expr &lane) {
    LayoutOutput by_thread, by_register;
    for (const LayoutDigit &d : elements.output(coordinate)->digits) {
        const bool is_of_thread = elements.coordinates[d.coordinate].name == "thread";
        (is_of_thread ? by_thread : by_register).digits.push_back(d);
    }
    std::ranges::sort(by_register.digits, std::greater(), &LayoutDigit::stride);
    const Expr element[] = {lane, lane};  // only the digits of the thread are asked for
    of_thread = value_of(by_thread, elements.coordinates, element);
    for (const LayoutDigit &d : by_register.digits) {
        const std::string text = d.stride == 1 ? name : str(name, "_by_", d.stride);
        loops.push_back({Symbol::fresh(text), d.extent, d.divisor, d.stride});
    }
}

Expr Digits::element() const {
    Expr sum = of_thread;
    for (const DigitLoop &l : loops) sum = sum + weighted(int32_variable(l.name), l.of_element);
    return sum;
}

std::vector<DigitLoop> loops_over_registers(const Digits &a, const Digits &b) {
    std::vector<DigitLoop> all = a.loops;
    all.insert(all.end(), b.loops.begin(), b.loops.end());
    std::ranges::sort(all, std::greater(), &DigitLoop::of_register);
    return all;
}

Expr register_of(const Digits &a, const Digits &b) {
    Expr sum;
    for (const DigitLoop &l : loops_over_registers(a, b)) {
        const Expr digit = weighted(int32_variable(l.name), l.of_register);
        sum = sum.defined() ? sum + digit : digit;
    }
    return sum.defined() ? sum : Expr(0);
}

Expr row_of_thread(const Digits &rows) {
    Expr number = 0;
    for (const DigitLoop &l : rows.loops)
        number = simplify(number * int32_t(l.extent) + int32_variable(l.name));
    return number;
}

Expr register_of_row(const std::vector<Expr> &at, const Tile &tile, const Digits &rows) {
    const Expr row = row_of_thread(rows);
    if (!tile.slots) return row;
    int64_t count = 1;
    for (const DigitLoop &l : rows.loops) count *= l.extent;
    const size_t d = *tile.slots;
    return (at[d] - tile.storage->bounds[d].min) * int32_t(count) + row;
}

}  // namespace tessera::lower
