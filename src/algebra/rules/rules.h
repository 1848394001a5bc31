#pragma once
#include "algebra/rules/pattern.h"
#include <string_view>

// The README of this component says how to write a rule.
namespace tessera::algebra::rules {

// The rules for nodes of this kind; null if it has none.
const RuleTable *rules_for(NodeKind kind);

struct NamedTable {
    std::string_view name;
    const RuleTable *table;
};
// Every table, for the tests.
const std::vector<NamedTable> &all_tables();

const RuleTable &add_rules();
const RuleTable &sub_rules();
const RuleTable &mul_rules();
const RuleTable &div_rules();
const RuleTable &mod_rules();
const RuleTable &min_rules();
const RuleTable &max_rules();
const RuleTable &eq_rules();
const RuleTable &ne_rules();
const RuleTable &lt_rules();
const RuleTable &le_rules();
const RuleTable &and_rules();
const RuleTable &or_rules();
const RuleTable &not_rules();
const RuleTable &select_rules();

}  // namespace tessera::algebra::rules
