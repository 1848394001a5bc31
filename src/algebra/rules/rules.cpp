#include "algebra/rules/rules.h"

namespace tessera::algebra::rules {

const std::vector<NamedTable> &all_tables() {
    static const std::vector<NamedTable> tables = {
        {"+", &add_rules()},   {"-", &sub_rules()}, {"*", &mul_rules()},
        {"/", &div_rules()},   {"%", &mod_rules()}, {"min", &min_rules()},
        {"max", &max_rules()}, {"==", &eq_rules()}, {"!=", &ne_rules()},
        {"<", &lt_rules()},    {"<=", &le_rules()}, {"&&", &and_rules()},
        {"||", &or_rules()},   {"!", &not_rules()}, {"select", &select_rules()},
    };
    return tables;
}

const RuleTable *rules_for(NodeKind kind) {
    switch (kind) {
    case NodeKind::Add: return &add_rules();
    case NodeKind::Sub: return &sub_rules();
    case NodeKind::Mul: return &mul_rules();
    case NodeKind::Div: return &div_rules();
    case NodeKind::Mod: return &mod_rules();
    case NodeKind::Min: return &min_rules();
    case NodeKind::Max: return &max_rules();
    case NodeKind::EQ: return &eq_rules();
    case NodeKind::NE: return &ne_rules();
    case NodeKind::LT: return &lt_rules();
    case NodeKind::LE: return &le_rules();
    case NodeKind::And: return &and_rules();
    case NodeKind::Or: return &or_rules();
    case NodeKind::Not: return &not_rules();
    case NodeKind::Select: return &select_rules();
    default: return nullptr;
    }
}

}  // namespace tessera::algebra::rules
