#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &or_rules() {
    static const RuleTable table({
        {x || 1, 1, boolean},
        {x || 0, x, boolean},
        {x || x, x, boolean},
        {x || !x, 1, boolean},
        {(x || y) || x, x || y, boolean},
        {(x || y) || !x, 1, boolean},
        {x || (x && y), x, boolean},
        {x || (!x && y), x || y, boolean},
        {!x || (x && y), !x || y, boolean},
        {(x && y) || (x && z), x && (y || z), boolean},
        {(x && y) || (x && !y), x, boolean},
        {x < y || x == y, x <= y, any},
        {x <= y || x == y, x <= y, any},
        {x < y || x <= y, x <= y, any},
        {x <= y || x != y, 1, integer},
        {x < c0 || x < c1, x < fold(max(c0, c1)), boolean},
        {c0 < x || c1 < x, fold(min(c0, c1)) < x, boolean},
        {x <= c0 || x <= c1, x <= fold(max(c0, c1)), boolean},
        {c0 <= x || c1 <= x, fold(min(c0, c1)) <= x, boolean},
        {c0 < x || x < c1, 1, boolean, c0 < c1},
        {c0 <= x || x < c1, 1, boolean, c0 <= c1},
        {c0 < x || x <= c1, 1, boolean, c0 <= c1},
        {c0 <= x || x <= c1, 1, boolean, c0 <= c1},
        {x == c0 || x < c1, x < c1, boolean, c0 < c1},
        {x == c0 || x <= c1, x <= c1, boolean, c0 <= c1},
        {x == c0 || c1 < x, c1 < x, boolean, c1 < c0},
        {x == c0 || c1 <= x, c1 <= x, boolean, c1 <= c0},
        {x != c0 || x != c1, 1, boolean, c0 != c1},
        {x == c0 || x != c1, x != c1, boolean, c0 != c1},
    });
    return table;
}

}  // namespace tessera::algebra::rules
