#pragma once
#include "ir/nodes.h"
#include <array>
#include <memory>
#include <optional>
#include <vector>

// The language in which rewrite rules are written: data, read by the simplifier and by the tests
// (random operands, Z3) alike.
namespace tessera::algebra::rules {

using ir::Expr;
using ir::NodeKind;

struct PatternNode {
    enum Form : uint8_t {
        Wild,       // any expression; the same one wherever the index is the same
        Constant,   // an integer constant
        Literal,    // the constant `value`, of whatever type is needed
        Operation,  // a node of kind `op`
        Folded,     // in a replacement: the operand, computed from constants
    };
    Form form = Literal;
    NodeKind op = NodeKind::Add;
    int index = 0;
    int64_t value = 0;
    std::vector<std::shared_ptr<const PatternNode>> operands;
};

class Pattern {
public:
    Pattern() = default;
    Pattern(int value);  // a literal
    explicit Pattern(PatternNode node) : node(std::make_shared<PatternNode>(std::move(node))) {}

    bool defined() const { return node != nullptr; }
    const PatternNode *operator->() const { return node.get(); }
    const std::shared_ptr<const PatternNode> &share() const { return node; }

private:
    std::shared_ptr<const PatternNode> node;
};

Pattern wild(int index);
Pattern constant(int index);
Pattern operation(NodeKind op, const std::vector<Pattern> &operands);
Pattern operator+(const Pattern &a, const Pattern &b);
Pattern operator-(const Pattern &a, const Pattern &b);
Pattern operator*(const Pattern &a, const Pattern &b);
Pattern operator/(const Pattern &a, const Pattern &b);
Pattern operator%(const Pattern &a, const Pattern &b);
Pattern operator<(const Pattern &a, const Pattern &b);
Pattern operator<=(const Pattern &a, const Pattern &b);
Pattern operator==(const Pattern &a, const Pattern &b);
Pattern operator!=(const Pattern &a, const Pattern &b);
Pattern operator&&(const Pattern &a, const Pattern &b);
Pattern operator||(const Pattern &a, const Pattern &b);
Pattern operator!(const Pattern &a);
Pattern min(const Pattern &a, const Pattern &b);
Pattern max(const Pattern &a, const Pattern &b);
Pattern select(const Pattern &c, const Pattern &a, const Pattern &b);
Pattern fold(const Pattern &a);  // over constants only

// Says which operands a rule holds for. Any: floats too. Integer: also where arithmetic wraps.
// Wide: signed integers of 32 and 64 bits, whatever wraps. Exact: those of which no sum or product
// overflows, which are made of coordinates and not of data. Boolean: bool.
enum class Domain : uint8_t { Any, Integer, Wide, Exact, Boolean };

struct Rule {
    Pattern before, after;
    Domain domain = Domain::Any;
    Pattern condition = {};  // over the constants; undefined: always
};

// The values of the wildcards and constants of a pattern that matches.
struct Bindings {
    std::array<Expr, 6> wild;
    std::array<Expr, 4> constant;
};

// Returns true if the expression is an instance of the pattern. Operands are matched in the order
// in which they stand: a table holds both orders of a commutative operation.
bool match(const PatternNode &p, const Expr &e, Bindings &m);
// The value of a pattern of constants; none if it, or a constant in it, does not fit an int64.
std::optional<int64_t> value_of(const PatternNode &p, const Bindings &m);
// The constant of a type that `fold` stands for; undefined if it overflows a type that must not.
Expr folded(const PatternNode &p, const Bindings &m, Type t);
// The type of operands that the rule's domain is asked about.
bool in_domain(Domain d, const Expr &matched);

// The rules of one operator, indexed by the kind of node.
class RuleTable {
public:
    explicit RuleTable(std::vector<Rule> rules);

    // The rules as written.
    const std::vector<Rule> &all() const { return rows; }
    // Every rule, commuted in all ways, whose pattern can match a node with this first operand.
    const std::vector<Rule> &for_first_operand(NodeKind kind) const {
        return by_kind[size_t(kind)];
    }

private:
    std::vector<Rule> rows;
    std::vector<std::vector<Rule>> by_kind;
};

}  // namespace tessera::algebra::rules
