#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &add_rules() {
    static const RuleTable table({
        // Sums of exact integers are linear forms; these serve floats and what wraps.
        {x + 0, x, integer},  // of floats, -0 + 0 is 0
        {(x + c0) + c1, x + fold(c0 + c1), integer},
        {(x - c0) + c1, x + fold(c1 - c0), integer, c0 <= c1},
        {(x - c0) + c1, x - fold(c0 - c1), integer, c1 < c0},
        {(c0 - x) + c1, fold(c0 + c1) - x, integer},
        {x + (0 - y), x - y, integer},
        {x + (y - x), y, integer},
        {(x - y) + (y - z), x - z, integer},
        {(x + c0) + (y + c1), (x + y) + fold(c0 + c1), integer},
        {min(x, y) + max(x, y), x + y, integer},
        {x * y + x * z, x * (y + z), integer},
        {x + x, x * 2, integer},
        {select(q, x, 0) + select(q, 0, y), select(q, x, y), integer},
        {select(q, x, y) + select(q, z, w), select(q, x + z, y + w), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
