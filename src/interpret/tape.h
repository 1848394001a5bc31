#pragma once
#include "interpret/value.h"
#include "ir/nodes.h"
#include <memory>
#include <span>
#include <unordered_map>

// Expressions are run as a list of instructions, each node once: a graph of shared nodes takes
// linear time, however deep it is.
namespace tessera::interpret {

using ir::Expr;
using Operands = std::span<const Value *const>;

// The values that an expression refers to: variables, memory and calls.
class OperandSource {
public:
    virtual ~OperandSource() = default;
    // Returns the place of the free variable's value; it has to stay there while the tape runs.
    virtual const Value *variable(const ir::Variable &v) = 0;
    // The value of a Load (operands: index[, predicate]), Call, BufferProperty, ExternCall, or of
    // an intrinsic that is more than a function of its operands. For address_of the operand is the
    // index of the Load. `result` has its type, and lanes that may hold anything.
    virtual void evaluate(const ir::ExprNode &node, Operands operands, Value &result) = 0;
};

class Tape {
public:
    explicit Tape(std::vector<Expr> roots);

    // Not reentrant: the values are kept in the tape. They are valid until the next run.
    void run(OperandSource &source) {
        bind(source);
        run_bound(source);
    }
    // The two steps of run(): where the variables are, and the work.
    void bind(OperandSource &source);
    void run_bound(OperandSource &source);
    const Value &result(size_t root = 0) const { return *places[size_t(results[root])]; }

private:
    enum class Op : uint8_t { Evaluate, Jump, JumpUnless, Copy };
    struct Instruction {
        Op op = Op::Evaluate;
        const ir::ExprNode *node = nullptr;
        int result = -1;
        std::vector<int> operands;
        int target = 0;  // of a jump
    };
    struct Free {
        const ir::Variable *variable;
        int slot;
    };
    friend class TapeBuilder;
    void step(const Instruction &i, OperandSource &source);
    void copy(const Instruction &i);

    std::vector<Expr> roots;
    std::vector<Instruction> code;
    std::vector<std::unique_ptr<Value>> values;
    std::vector<const Value *> places;  // of each slot: in `values`, or a variable's
    std::vector<const Value *> operand_values;
    std::vector<Free> free_variables;
    std::vector<int> results;
};

// The value of an expression with these values for its free variables. Loads, calls and buffers
// are refused with an InternalError.
Value evaluate(const Expr &e, const std::unordered_map<Symbol, Value> &variables = {});

}  // namespace tessera::interpret
