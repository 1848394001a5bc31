#include "interpret/lanes.h"
#include "interpret/arithmetic.h"

namespace tessera::interpret {
namespace {

using namespace ir;

void unpoisoned(Value &v, size_t lane, Word word) {
    v.lanes[lane] = word;
    v.poison[lane] = 0;
}

void copy_lane(Value &to, size_t lane, const Value &from, size_t from_lane) {
    to.lanes[lane] = from.lanes[from_lane];
    to.poison[lane] = from.poison[from_lane];
}

// A result that is decided by one operand, whatever the other one is, stays so if that is lost, but
// not if it is undef.
void logic(bool is_and, const Value &a, const Value &b, Value &result) {
    for (size_t i = 0; i < result.lanes.size(); i++) {
        bool decided_by_a = !a.poison[i] && b.poison[i] <= 1 && bool(a.lanes[i]) != is_and;
        bool decided_by_b = !b.poison[i] && a.poison[i] <= 1 && bool(b.lanes[i]) != is_and;
        result.lanes[i] = is_and ? a.lanes[i] & b.lanes[i] : a.lanes[i] | b.lanes[i];
        result.poison[i] = std::max(a.poison[i], b.poison[i]);
        if (decided_by_a || decided_by_b) unpoisoned(result, i, !is_and);
    }
}

void binary(NodeKind op, const Value &a, const Value &b, Value &result) {
    if (op == NodeKind::And || op == NodeKind::Or) return logic(op == NodeKind::And, a, b, result);
    Type t = a.type.element_of();
    for (size_t i = 0; i < result.lanes.size(); i++) {
        result.lanes[i] = binary_word(op, t, a.lanes[i], b.lanes[i]);
        result.poison[i] = std::max(a.poison[i], b.poison[i]);
    }
}

void select(const Value &condition, const Value &a, const Value &b, Value &result) {
    bool scalar = condition.lanes.size() == 1;
    for (size_t i = 0; i < result.lanes.size(); i++) {
        size_t c = scalar ? 0 : i;
        copy_lane(result, i, condition.lanes[c] ? a : b, i);
        if (condition.poison[c]) result.poison[i] = std::max(result.poison[i], condition.poison[c]);
    }
}

void ramp(const Value &base, const Value &stride, Value &result) {
    size_t inner = base.lanes.size();
    Type t = base.type.element_of();
    for (size_t i = 0; i < result.lanes.size(); i++) {
        size_t at = i % inner;
        Word steps = word_of_int(t, int64_t(i / inner));
        Word offset = binary_word(NodeKind::Mul, t, stride.lanes[at], steps);
        result.lanes[i] = binary_word(NodeKind::Add, t, base.lanes[at], offset);
        result.poison[i] = std::max(base.poison[at], stride.poison[at]);
    }
}

void shuffle(const Shuffle &node, Operands operands, Value &result) {
    for (size_t i = 0; i < result.lanes.size(); i++) {
        size_t index = size_t(node.indices[i]), which = 0;
        while (index >= operands[which]->lanes.size()) index -= operands[which++]->lanes.size();
        copy_lane(result, i, *operands[which], index);
    }
}

void reduce(const VectorReduce &node, const Value &v, Value &result) {
    size_t group = v.lanes.size() / result.lanes.size();
    Type t = v.type.element_of();
    for (size_t i = 0; i < result.lanes.size(); i++) {
        copy_lane(result, i, v, i * group);
        for (size_t k = i * group + 1; k < (i + 1) * group; k++) {
            result.lanes[i] = reduce_word(node.op, t, result.lanes[i], v.lanes[k]);
            result.poison[i] = std::max(result.poison[i], v.poison[k]);
        }
    }
}

// Lanes may be of another size: the bits of all lanes in a row, the first ones lowest.
void reinterpret(const Value &v, Value &result) {
    int from = v.type.bits(), to = result.type.bits();
    result.reset(result.type);
    for (size_t bit = 0; bit < v.lanes.size() * size_t(from); bit++) {
        size_t lane = bit / size_t(to), from_lane = bit / size_t(from);
        result.lanes[lane] |= (v.lanes[from_lane] >> (bit % size_t(from)) & 1)
                              << (bit % size_t(to));
        result.poison[lane] = std::max(result.poison[lane], v.poison[from_lane]);
    }
    if (!result.type.is_int()) return;
    for (Word &word : result.lanes) word = word_of_int(result.type.element_of(), int64_t(word));
}

void convert(const Value &v, Value &result) {
    for (size_t i = 0; i < result.lanes.size(); i++) {
        result.lanes[i] = cast_word(result.type.element_of(), v.type.element_of(), v.lanes[i]);
        result.poison[i] = v.poison[i];
    }
}

void intrinsic(const IntrinsicCall &node, Operands operands, Value &result) {
    std::vector<Operand> lane(operands.size());
    Type t = result.type.element_of();
    for (size_t i = 0; i < result.lanes.size(); i++) {
        uint8_t poison = 0;
        for (size_t k = 0; k < operands.size(); k++) {
            size_t at = operands[k]->lanes.size() == 1 ? 0 : i;
            lane[k] = {operands[k]->type.element_of(), operands[k]->lanes[at]};
            poison = std::max(poison, operands[k]->poison[at]);
        }
        result.lanes[i] = intrinsic_word(node.op, t, lane);
        result.poison[i] = poison;
    }
}

// Both values were evaluated: only for vectors of conditions.
void choose(Operands operands, Value &result) {
    Value nothing;
    if (operands.size() < 3) nothing.reset(result.type);
    select(*operands[0], *operands[1], operands.size() < 3 ? nothing : *operands[2], result);
}

bool intrinsic_lanes(const IntrinsicCall &node, Operands operands, Value &result) {
    if (node.op == Intrinsic::if_then_else) return choose(operands, result), true;
    if (node.op == Intrinsic::return_second) return result = *operands[1], true;
    if (!is_lanewise(node.op)) return false;
    return intrinsic(node, operands, result), true;
}

}  // namespace

bool evaluate_lanes(const ExprNode &node, Operands operands, Value &result) {
    switch (node.kind) {
#define CASE(T) case NodeKind::T:
        TESSERA_BINARY_NODES(CASE)
#undef CASE
        binary(node.kind, *operands[0], *operands[1], result);
        return true;
    case NodeKind::Not:
        result = *operands[0];
        for (Word &word : result.lanes) word ^= 1;
        return true;
    case NodeKind::Cast: convert(*operands[0], result); return true;
    case NodeKind::Reinterpret: reinterpret(*operands[0], result); return true;
    case NodeKind::Select: select(*operands[0], *operands[1], *operands[2], result); return true;
    case NodeKind::Ramp: ramp(*operands[0], *operands[1], result); return true;
    case NodeKind::Broadcast: {
        size_t inner = operands[0]->lanes.size();
        for (size_t i = 0; i < result.lanes.size(); i++) {
            copy_lane(result, i, *operands[0], i % inner);
        }
        return true;
    }
    case NodeKind::Shuffle:
        shuffle(static_cast<const Shuffle &>(node), operands, result);
        return true;
    case NodeKind::VectorReduce:
        reduce(static_cast<const VectorReduce &>(node), *operands[0], result);
        return true;
    case NodeKind::IntrinsicCall:
        return intrinsic_lanes(static_cast<const IntrinsicCall &>(node), operands, result);
    default: return false;
    }
}

}  // namespace tessera::interpret
