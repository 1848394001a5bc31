#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &max_rules() {
    static const RuleTable table({
        // For a NaN, or zeros of both signs, the result depends on the order of the float operands.
        {max(x, x), x, any},
        {max(min(x, y), x), x, integer},
        {max(max(x, y), x), max(x, y), integer},
        {max(max(x, y), min(x, z)), max(x, y), integer},
        {max(min(x, y), min(x, z)), min(x, max(y, z)), integer},
        {max(min(max(x, y), z), y), max(min(x, z), y), integer},
        {max(min(max(min(x, y), z), w), y), max(min(z, w), y), integer},
        {max(x, 0), x, boolean},
        {max(x, 1), 1, boolean},
        {max(max(x, c0), c1), max(x, fold(max(c0, c1))), integer},
        {max(min(x, c0), c1), c1, integer, c0 <= c1},
        {max(select(q, x, y), select(q, z, w)), select(q, max(x, z), max(y, w)), integer},
        {max(select(q, c0, c1), c2), select(q, fold(max(c0, c2)), fold(max(c1, c2))), integer},
        {max(select(q, x, y), x), select(q, x, max(x, y)), integer},
        {max(select(q, x, y), y), select(q, max(x, y), y), integer},
        {max(min(x, y), min(max(x, z), y)), min(max(x, z), y), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
