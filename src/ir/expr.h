#pragma once
#include "base/ref.h"
#include "base/symbol.h"
#include "ir/type.h"
#include <concepts>
#include <cstdint>

namespace tessera::ir {

// The one list of node kinds. Everything that must know them all is generated from it.
// clang-format off
#define TESSERA_EXPR_NODES(X)                                                                      \
    X(IntImm) X(UIntImm) X(FloatImm) X(StringImm) X(Variable) X(BufferProperty) X(Cast)            \
    X(Reinterpret) X(Add) X(Sub) X(Mul) X(Div) X(Mod) X(Min) X(Max) X(EQ) X(NE) X(LT) X(LE) X(GT)  \
    X(GE) X(And) X(Or) X(Not) X(Select) X(Load) X(Ramp) X(Broadcast) X(Let) X(Call)                \
    X(IntrinsicCall) X(ExternCall) X(Shuffle) X(VectorReduce)
#define TESSERA_STMT_NODES(X)                                                                      \
    X(LetStmt) X(AssertStmt) X(ProducerConsumer) X(For) X(Acquire) X(Store) X(Provide)             \
    X(Allocate) X(Realize) X(HoistedStorage) X(Block) X(Fork) X(IfThenElse) X(Evaluate)            \
    X(Prefetch) X(Atomic) X(Invoke) X(MachineOp)
// clang-format on

enum class NodeKind : uint8_t {
#define KIND(T) T,
    TESSERA_EXPR_NODES(KIND) TESSERA_STMT_NODES(KIND)
#undef KIND
};

// Returns true if no such node has operands.
constexpr bool is_leaf(NodeKind kind) { return kind <= NodeKind::BufferProperty; }

#define FORWARD(T) struct T;
TESSERA_EXPR_NODES(FORWARD)
TESSERA_STMT_NODES(FORWARD)
#undef FORWARD

// Nodes are immutable; `hash` covers the whole tree below and is set at birth, as is `depth`: how
// many nodes there are within one another, 65535 for more.
struct Node : RefCounted {
    explicit Node(NodeKind k) : kind(k) {}
    const NodeKind kind;
    uint16_t depth = 1;
    uint64_t hash = 0;
};

struct ExprNode : Node {
    using Node::Node;
    Type type;
};

struct StmtNode : Node {
    using Node::Node;
};

// Something of a higher component that an expression keeps alive and knows nothing of: a function
// that is called, a parameter that is read. Not part of a node's equality or hash; its symbol is.
struct Referent : RefCounted {
    // Returns true if the caller passes it: then its value may be any of its type.
    virtual bool is_scalar_argument() const { return false; }
};

// A handle to an immutable node. Copying a handle shares the node.
template<typename Base>
class NodeHandle {
public:
    NodeHandle() = default;
    explicit NodeHandle(const Base *n) : node(n) {}

    bool defined() const { return node.get() != nullptr; }
    NodeKind kind() const { return node.get()->kind; }
    uint64_t hash() const { return node.get()->hash; }
    const Base *get() const { return node.get(); }
    const Base *operator->() const { return node.get(); }

    // Same object, not merely equal: how a pass sees that nothing changed.
    bool same_as(const NodeHandle &o) const { return node.get() == o.node.get(); }

    // The node as a T, or null if it is some other kind.
    template<typename T>
    const T *as() const {
        static_assert(std::is_base_of_v<Base, T>, "wrong node family");
        return defined() && kind() == T::node_kind ? static_cast<const T *>(get()) : nullptr;
    }

    // Shows this to a visitor, or to anything that can be called with it.
    template<typename V>
    void accept(V *visitor) const {
        (*visitor)(*this);
    }

private:
    Ref<const Base> node;
};

// An expression. Implicit from the literals that C++ writes most; a typed literal is explicit.
class Expr : public NodeHandle<ExprNode> {
public:
    Expr() = default;
    explicit Expr(const ExprNode *n) : NodeHandle(n) {}
    Expr(int32_t value);
    Expr(float value);
    explicit Expr(int8_t value);
    explicit Expr(int16_t value);
    explicit Expr(int64_t value);
    explicit Expr(uint8_t value);
    explicit Expr(uint16_t value);
    explicit Expr(uint32_t value);
    explicit Expr(uint64_t value);
    Expr(float16_t value);
    Expr(bfloat16_t value);
    Expr(float8_e4m3_t value);
    Expr(float8_e5m2_t value);
    explicit Expr(double value);
    // A double that is not written as an Expr would make all that it meets 64 bits wide.
    template<std::same_as<double> T>
    Expr(T) {
        static_assert(!std::same_as<T, double>,
                      "a double beside an expression: write 0.5f, or Expr(0.5) if it is to be one");
    }
    explicit Expr(bool value);
    Expr(const std::string &value);
    Expr(const char *value);

    Expr(const Expr &) = default;
    Expr(Expr &&) = default;
    // Assignment is for variables only: `image(x) = 3` defines nothing.
    Expr &operator=(const Expr &) & = default;
    Expr &operator=(Expr &&) & = default;

    Type type() const { return get()->type; }
};

using Stmt = NodeHandle<StmtNode>;

}  // namespace tessera::ir
