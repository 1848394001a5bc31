#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &mul_rules() {
    static const RuleTable table({
        {x * 0, 0, integer},
        {x * 1, x, any},
        {(x * c0) * c1, x * fold(c0 * c1), integer},
        {(x + c0) * c1, x * c1 + fold(c0 * c1), integer},
        {(c0 - x) * c1, fold(c0 * c1) - x * c1, integer},
        {(0 - x) * (0 - y), x * y, integer},
        {(0 - x) * y, 0 - x * y, integer},
        {(x * c0) * y, (x * y) * c0, integer},
        {select(q, 1, 0) * x, select(q, x, 0), integer},
        {select(q, 0, 1) * x, select(q, 0, x), integer},
    });
    return table;
}

}  // namespace tessera::algebra::rules
