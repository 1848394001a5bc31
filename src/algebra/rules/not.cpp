#include "algebra/rules/names.h"

namespace tessera::algebra::rules {

const RuleTable &not_rules() {
    static const RuleTable table({
        {!!x, x, boolean},
        {!(x < y), y <= x, integer},
        {!(x <= y), y < x, integer},
        {!(x == y), x != y, any},
        {!(x != y), x == y, any},
        {!(x && !y), !x || y, boolean},
        {!(x || !y), !x && y, boolean},
    });
    return table;
}

}  // namespace tessera::algebra::rules
