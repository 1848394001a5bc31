#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &le_rules() {
    static const RuleTable table({
        {x <= x, 1, integer},
        {min(x, y) <= x, 1, integer},
        {x <= min(x, y), x <= y, integer},
        {max(x, y) <= x, y <= x, integer},
        {x <= max(x, y), 1, integer},
        {min(x, y) <= max(x, z), 1, integer},
        {max(x, y) <= min(x, y), x == y, integer},
        {min(x, y) <= min(x, z), min(x, y) <= z, integer},
        {max(x, y) <= max(x, z), y <= max(x, z), integer},
        {min(x, c0) <= c1, 1, integer, c0 <= c1},
        {min(x, c0) <= c1, x <= c1, integer, c1 < c0},
        {max(x, c0) <= c1, x <= c1, integer, c0 <= c1},
        {max(x, c0) <= c1, 0, integer, c1 < c0},
        {c1 <= min(x, c0), c1 <= x, integer, c1 <= c0},
        {c1 <= min(x, c0), 0, integer, c0 < c1},
        {c1 <= max(x, c0), 1, integer, c1 <= c0},
        {c1 <= max(x, c0), c1 <= x, integer, c0 < c1},
        {select(q, c0, c1) <= c2, q, integer, c0 <= c2 && c2 < c1},
        {select(q, c0, c1) <= c2, !q, integer, c2 < c0 && c1 <= c2},
        {c2 <= select(q, c0, c1), q, integer, c2 <= c0 && c1 < c2},
        {c2 <= select(q, c0, c1), !q, integer, c0 < c2 && c2 <= c1},
        {select(q, x, c0) <= c1, !q || x <= c1, integer, c0 <= c1},
        {select(q, x, c0) <= c1, q && x <= c1, integer, c1 < c0},
        {select(q, c0, x) <= c1, q || x <= c1, integer, c0 <= c1},
        {select(q, c0, x) <= c1, !q && x <= c1, integer, c1 < c0},
        {c1 <= select(q, x, c0), !q || c1 <= x, integer, c1 <= c0},
        {c1 <= select(q, x, c0), q && c1 <= x, integer, c0 < c1},
        {c1 <= select(q, c0, x), q || c1 <= x, integer, c1 <= c0},
        {c1 <= select(q, c0, x), !q && c1 <= x, integer, c0 < c1},
        {x <= y, !x || y, boolean},
    });
    return table;
}

}  // namespace tessera::algebra::rules
