#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &and_rules() {
    static const RuleTable table({
        {x && 1, x, boolean},
        {x && 0, 0, boolean},
        {x && x, x, boolean},
        {x && !x, 0, boolean},
        {(x && y) && x, x && y, boolean},
        {(x && y) && !x, 0, boolean},
        {x && (x || y), x, boolean},
        {x && (!x || y), x && y, boolean},
        {!x && (x || y), !x && y, boolean},
        {(x || y) && (x || z), x || (y && z), boolean},
        {x < y && y < x, 0, any},
        {x < y && y <= x, 0, any},
        {x <= y && y <= x, x == y, any},
        {x < y && x == y, 0, any},
        {x < y && x != y, x < y, any},
        {x <= y && x != y, x < y, any},
        {x < y && x <= y, x < y, any},
        {x == y && x != y, 0, any},
        {x == c0 && x == c1, 0, boolean, c0 != c1},
        {x == c0 && x != c1, x == c0, boolean, c0 != c1},
        {x < c0 && x < c1, x < fold(min(c0, c1)), boolean},
        {c0 < x && c1 < x, fold(max(c0, c1)) < x, boolean},
        {x <= c0 && x <= c1, x <= fold(min(c0, c1)), boolean},
        {c0 <= x && c1 <= x, fold(max(c0, c1)) <= x, boolean},
        {c0 < x && x < c1, 0, boolean, c1 <= c0},
        {c0 <= x && x < c1, 0, boolean, c1 <= c0},
        {c0 < x && x <= c1, 0, boolean, c1 <= c0},
        {c0 <= x && x <= c1, 0, boolean, c1 < c0},
        {x == c0 && x < c1, x == c0, boolean, c0 < c1},
        {x == c0 && x < c1, 0, boolean, c1 <= c0},
        {x == c0 && c1 < x, x == c0, boolean, c1 < c0},
        {x == c0 && c1 < x, 0, boolean, c0 <= c1},
        {x == c0 && x <= c1, x == c0, boolean, c0 <= c1},
        {x == c0 && x <= c1, 0, boolean, c1 < c0},
        {x == c0 && c1 <= x, x == c0, boolean, c1 <= c0},
        {x == c0 && c1 <= x, 0, boolean, c0 < c1},
    });
    return table;
}

}  // namespace tessera::algebra::rules
