#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &select_rules() {
    static const RuleTable table({
        {select(q, x, x), x, any},
        {select(!q, x, y), select(q, y, x), any},
        {select(q, select(q, x, y), z), select(q, x, z), any},
        {select(q, x, select(q, y, z)), select(q, x, z), any},
        {select(q, x, select(r, x, y)), select(q || r, x, y), any},
        {select(q, x, select(r, y, x)), select(!q && r, y, x), any},
        {select(q, select(r, x, y), y), select(q && r, x, y), any},
        {select(q, select(r, y, x), y), select(q && !r, x, y), any},
        {select(q && r, x, select(q, y, x)), select(q && !r, y, x), any},
        {select(x < y, x, y), min(x, y), integer},
        {select(x < y, y, x), max(x, y), integer},
        {select(x <= y, x, y), min(x, y), integer},
        {select(x <= y, y, x), max(x, y), integer},
        {select(x == y, x, y), y, integer},
        {select(x == y, y, x), x, integer},
        {select(x != y, x, y), x, integer},
        {select(x != y, y, x), y, integer},
        {select(q, 1, 0), q, boolean},
        {select(q, 0, 1), !q, boolean},
        {select(q, x, 0), q && x, boolean},
        {select(q, 1, x), q || x, boolean},
        {select(q, 0, x), !q && x, boolean},
        {select(q, x, 1), !q || x, boolean},
        {select(q, q, x), q || x, boolean},
        {select(q, x, q), q && x, boolean},
        {select(q, min(x, y), min(x, z)), min(x, select(q, y, z)), integer},
        {select(q, max(x, y), max(x, z)), max(x, select(q, y, z)), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
