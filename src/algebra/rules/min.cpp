#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &min_rules() {
    static const RuleTable table({
        // For a NaN, or zeros of both signs, the result depends on the order of the float operands.
        {min(x, x), x, any},
        {min(max(x, y), x), x, integer},
        {min(min(x, y), x), min(x, y), integer},
        {min(min(x, y), max(x, z)), min(x, y), integer},
        {min(max(x, y), max(x, z)), max(x, min(y, z)), integer},
        {min(max(min(x, y), z), y), min(max(x, z), y), integer},
        {min(max(min(max(x, y), z), w), y), min(max(z, w), y), integer},
        {min(x, 1), x, boolean},
        {min(x, 0), 0, boolean},
        {min(min(x, c0), c1), min(x, fold(min(c0, c1))), integer},
        // A clamp has its max outside.
        {min(max(x, c0), c1), max(min(x, c1), c0), integer, c0 <= c1},
        {min(max(x, c0), c1), c1, integer, c1 <= c0},
        {min(select(q, x, y), select(q, z, w)), select(q, min(x, z), min(y, w)), integer},
        {min(select(q, c0, c1), c2), select(q, fold(min(c0, c2)), fold(min(c1, c2))), integer},
        {min(select(q, x, y), x), select(q, x, min(x, y)), integer},
        {min(select(q, x, y), y), select(q, min(x, y), y), integer},
        {min(max(x, y), max(min(x, z), y)), max(min(x, z), y), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
