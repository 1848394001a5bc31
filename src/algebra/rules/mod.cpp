#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &mod_rules() {
    static const RuleTable table({
        // Modulus of exact integers by constants goes by linear forms; see rewrite_division.cpp.
        {x % 1, 0, integer},
        {x % 0, 0, integer},
        {0 % x, 0, integer},
        {x % x, 0, integer},
        {(x % y) % y, x % y, integer},
        {(x % c0) % c1, x % c1, integer, 0 < c0 && 0 < c1 && c0 % c1 == 0},
        {(x * y) % y, 0, exact},
        {(x * y + z) % y, z % y, exact},
        {(z - x * y) % y, z % y, exact},
        {(x + y) % y, x % y, exact},
        {(x - y) % y, x % y, exact},
        {x % (0 - y), x % y, wide},
        {select(q, c0, c1) % c2, select(q, fold(c0 % c2), fold(c1 % c2)), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
