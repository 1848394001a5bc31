#include "interpret/tape.h"
#include "base/error.h"
#include "interpret/lanes.h"
#include "ir/fields.h"
#include "ir/float_bits.h"

namespace tessera::interpret {

using namespace ir;

class TapeBuilder {
public:
    explicit TapeBuilder(Tape &tape) : tape(tape) {}

    int build(const Expr &e) {
        if (const auto *let = e.as<Let>()) return build_lets(let);
        auto found = done.find(e.get());
        if (found != done.end()) return found->second;
        int slot = build_new(e);
        remember(e.get(), slot);
        return slot;
    }

private:
    int build_new(const Expr &e) {
        switch (e.kind()) {
        case NodeKind::IntImm: return constant(e.type(), Word(e.as<IntImm>()->value));
        case NodeKind::UIntImm: return constant(e.type(), e.as<UIntImm>()->value);
        case NodeKind::FloatImm:
            return constant(e.type(), ir::bits_of_float(e.type(), e.as<FloatImm>()->value));
        case NodeKind::StringImm:
            return constant(e.type(), Word(uintptr_t(e.as<StringImm>()->value.c_str())));
        case NodeKind::Variable: return variable(*e.as<Variable>());
        case NodeKind::IntrinsicCall: return intrinsic(*e.as<IntrinsicCall>());
        default: return generic(*e.get(), children(e));
        }
    }

    int build_lets(const Let *let) {
        while (true) {
            int value = build(let->value);
            auto [bound, is_new] = lets.try_emplace(let->name, value);
            if (!is_new && bound->second != value) {
                bound->second = value;
                forget();  // what was built for the other value
            }
            const auto *next = let->body.as<Let>();
            if (!next) return build(let->body);
            let = next;
        }
    }

    std::vector<Expr> children(const Expr &e) {
        std::vector<Expr> all;
        auto collect = [&](const auto &field) {
            fields::for_each_child(field, [&](const auto &child) {
                if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                    all.push_back(child);
                }
            });
        };
        switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: fields::for_each(*e.as<T>(), collect); break;
            TESSERA_EXPR_NODES(CASE)
#undef CASE
        default: throw InternalError("not an expression");
        }
        return all;
    }

    int new_slot(Type t) {
        tape.values.push_back(std::make_unique<Value>(t));
        tape.places.push_back(tape.values.back().get());
        return int(tape.places.size()) - 1;
    }

    int constant(Type t, Word word) {
        int slot = new_slot(t);
        tape.values.back()->assign(word);
        return slot;
    }

    int variable(const Variable &v) {
        auto bound = lets.find(v.name);
        if (bound != lets.end()) return bound->second;
        auto known = free_slots.find(v.name);
        if (known != free_slots.end()) return known->second;
        tape.values.push_back(nullptr);
        tape.places.push_back(nullptr);
        int slot = int(tape.places.size()) - 1;
        free_slots.emplace(v.name, slot);
        tape.free_variables.push_back({&v, slot});
        return slot;
    }

    int generic(const ExprNode &node, const std::vector<Expr> &operands) {
        Tape::Instruction i;
        i.node = &node;
        for (const Expr &operand : operands) i.operands.push_back(build(operand));
        i.result = new_slot(node.type);
        tape.code.push_back(std::move(i));
        return tape.code.back().result;
    }

    int intrinsic(const IntrinsicCall &call) {
        if (call.op == Intrinsic::address_of) {
            const auto *load = call.args[0].as<Load>();
            if (!load) throw InternalError("address_of of what is no Load");
            return generic(call, {load->index});
        }
        if (call.op == Intrinsic::if_then_else && call.args[0].type().is_scalar()) {
            return branch(call);
        }
        return generic(call, call.args);
    }

    // Only one of the values is evaluated; what was built for it is not there for the others.
    int branch(const IntrinsicCall &call) {
        int condition = build(call.args[0]);
        int result = new_slot(call.type);
        int over_first = jump(Tape::Op::JumpUnless, condition);
        build_in_branch(call.args[1], result, condition);
        int over_second = jump(Tape::Op::Jump, -1);
        tape.code[size_t(over_first)].target = int(tape.code.size());
        Expr otherwise = call.args.size() > 2 ? call.args[2] : Expr();
        build_in_branch(otherwise, result, condition);
        tape.code[size_t(over_second)].target = int(tape.code.size());
        return result;
    }

    int jump(Tape::Op op, int condition) {
        Tape::Instruction i;
        i.op = op;
        if (condition >= 0) i.operands = {condition};
        tape.code.push_back(std::move(i));
        return int(tape.code.size()) - 1;
    }

    void build_in_branch(const Expr &e, int result, int condition) {
        size_t before = log.size(), clears_before = clears;
        int slot = e.defined() ? build(e) : new_slot(tape.values[size_t(result)]->type);
        Tape::Instruction i;
        i.op = Tape::Op::Copy;
        i.operands = {slot, condition};
        i.result = result;
        tape.code.push_back(std::move(i));
        if (clears != clears_before) return forget();
        for (size_t k = before; k < log.size(); k++) done.erase(log[k]);
        log.resize(before);
    }

    void remember(const ExprNode *node, int slot) {
        done[node] = slot;
        log.push_back(node);
    }

    void forget() {
        done.clear();
        log.clear();
        clears++;
    }

    Tape &tape;
    size_t clears = 0;
    std::unordered_map<const ExprNode *, int> done;
    std::vector<const ExprNode *> log;  // the keys of `done` in order
    std::unordered_map<Symbol, int> lets, free_slots;
};

Tape::Tape(std::vector<Expr> wanted) : roots(std::move(wanted)) {
    TapeBuilder builder(*this);
    for (const Expr &root : roots) results.push_back(builder.build(root));
}

void Tape::bind(OperandSource &source) {
    for (const Free &free : free_variables) {
        places[size_t(free.slot)] = source.variable(*free.variable);
    }
}

void Tape::run_bound(OperandSource &source) {
    for (size_t at = 0; at < code.size(); at++) {
        const Instruction &i = code[at];
        switch (i.op) {
        case Op::Evaluate: step(i, source); break;
        case Op::Copy: copy(i); break;
        case Op::Jump: at = size_t(i.target) - 1; break;
        case Op::JumpUnless:
            if (!places[size_t(i.operands[0])]->as_bool()) at = size_t(i.target) - 1;
            break;
        }
    }
}

void Tape::copy(const Instruction &i) {
    const Value &condition = *places[size_t(i.operands[1])];
    Value &result = *values[size_t(i.result)];
    result = *places[size_t(i.operands[0])];
    for (uint8_t &poison : result.poison) poison = std::max(poison, condition.poison[0]);
}

void Tape::step(const Instruction &i, OperandSource &source) {
    operand_values.clear();
    for (int operand : i.operands) operand_values.push_back(places[size_t(operand)]);
    Value &result = *values[size_t(i.result)];
    if (!evaluate_lanes(*i.node, operand_values, result)) {
        source.evaluate(*i.node, operand_values, result);
    }
}

namespace {

class Variables final : public OperandSource {
public:
    explicit Variables(const std::unordered_map<Symbol, Value> &values) : values(values) {}

private:
    const Value *variable(const Variable &v) override {
        auto found = values.find(v.name);
        if (found == values.end()) throw InternalError(str("no value for ", v.name));
        return &found->second;
    }
    void evaluate(const ExprNode &, Operands, Value &) override {
        throw InternalError("the value depends on more than variables");
    }
    const std::unordered_map<Symbol, Value> &values;
};

}  // namespace

Value evaluate(const Expr &e, const std::unordered_map<Symbol, Value> &variables) {
    Tape tape({e});
    Variables source(variables);
    tape.run(source);
    return tape.result();
}

}  // namespace tessera::interpret
