#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &div_rules() {
    static const RuleTable table({
        // Division of exact integers by constants goes by linear forms; see rewrite_division.cpp.
        {x / 1, x, any},
        {x / 0, 0, integer},
        {0 / x, 0, integer},
        {(x / c0) / c1, x / fold(c0 * c1), wide, 0 < c0 && 0 < c1},
        {(x % y) / y, 0, integer},
        {x / (0 - y), 0 - x / y, exact},
        {min(x * c0, y) / c0, min(x, y / c0), exact, 0 < c0},
        {max(x * c0, y) / c0, max(x, y / c0), exact, 0 < c0},
        {min(x * c0 + c1, y) / c0, min(x + fold(c1 / c0), y / c0), exact, 0 < c0},
        {max(x * c0 + c1, y) / c0, max(x + fold(c1 / c0), y / c0), exact, 0 < c0},
        {min(x, c1) / c0, min(x / c0, fold(c1 / c0)), wide, 0 < c0},
        {max(x, c1) / c0, max(x / c0, fold(c1 / c0)), wide, 0 < c0},
        {select(q, c0, c1) / c2, select(q, fold(c0 / c2), fold(c1 / c2)), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
