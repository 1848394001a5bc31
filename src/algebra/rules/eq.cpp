#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &eq_rules() {
    static const RuleTable table({
        // Equalities of exact integers go by linear forms; see rewrite_compare.cpp.
        {x == x, 1, integer},
        {x == 1, x, boolean},
        {x == 0, !x, boolean},
        {(!x) == (!y), x == y, boolean},
        {(x + c0) == c1, x == fold(c1 - c0), integer},
        {(x - c0) == c1, x == fold(c1 + c0), integer},
        {(c0 - x) == c1, x == fold(c0 - c1), integer},
        {(x + y) == (x + z), y == z, integer},
        {(x - y) == 0, x == y, integer},
        {(x + y) == x, y == 0, integer},
        {min(x, y) == x, x <= y, integer},
        {max(x, y) == x, y <= x, integer},
        {min(x, c0) == c1, 0, integer, c0 < c1},
        {max(x, c0) == c1, 0, integer, c1 < c0},
        {min(x, c0) == c1, x == c1, integer, c1 < c0},
        {max(x, c0) == c1, x == c1, integer, c0 < c1},
        {min(x, c0) == c0, c0 <= x, integer},
        {max(x, c0) == c0, x <= c0, integer},
        {select(q, c0, c1) == c2, q, integer, c0 == c2 && c1 != c2},
        {select(q, c0, c1) == c2, !q, integer, c0 != c2 && c1 == c2},
        {select(q, c0, c1) == c2, 0, integer, c0 != c2 && c1 != c2},
        {select(q, x, c0) == c1, q && x == c1, integer, c0 != c1},
        {select(q, x, c0) == c0, !q || x == c0, integer},
        {select(q, c0, x) == c1, !q && x == c1, integer, c0 != c1},
        {select(q, c0, x) == c0, q || x == c0, integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
