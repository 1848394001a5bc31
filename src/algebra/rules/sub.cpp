#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &sub_rules() {
    static const RuleTable table({
        // Sums of exact integers are linear forms; these serve floats and what wraps.
        {x - 0, x, any},
        {x - x, 0, integer},
        {(x + y) - x, y, integer},
        {(x + y) - (x + z), y - z, integer},
        {x - (x - y), y, integer},
        {(x - y) - x, 0 - y, integer},
        {x - (x + y), 0 - y, integer},
        {x - (0 - y), x + y, integer},
        {(x - c0) - c1, x - fold(c0 + c1), integer},
        {(x + c0) - c1, x + fold(c0 - c1), integer, c1 <= c0},
        {(x + c0) - c1, x - fold(c1 - c0), integer, c0 < c1},
        {c0 - (x + c1), fold(c0 - c1) - x, integer},
        {c0 - (c1 - x), x + fold(c0 - c1), integer, c1 <= c0},
        {c0 - (c1 - x), x - fold(c1 - c0), integer, c0 < c1},
        {x * y - x * z, x * (y - z), integer},
        {select(q, x, y) - select(q, z, w), select(q, x - z, y - w), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
