#pragma once
#include "base/error.h"
#include "ir/enums.h"
#include "ir/expr.h"
#include "ir/facts.h"
#include "ir/intrinsics.h"
#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// The meaning of the IR, once for all.
//
// Arithmetic. Integers wrap, each operation on its own. But what is made of coordinates and sizes
// alone, of 32 and 64 bits and signed, is taken not to overflow. Division and modulus of
// integers are Euclidean: a == (a / b) * b + a % b with 0 <= a % b < |b|; division by zero gives
// zero, and so does a % 0. Casts to a narrower integer keep the low bits. Comparisons give bool
// (UInt(1)). And, Or and Select may evaluate all of their operands; if_then_else evaluates one
// value only.
//
// Floats. Each operation follows IEEE 754 and is rounded on its own, to nearest, in the order in
// which it is written, whatever is computed where: nothing is re-associated, distributed or
// cancelled. Only what holds for every number, infinities and NaNs included, is left out (x * 1).
// But unless below strict_float, a product and a sum may become one instruction that rounds once:
// then last bits differ; and so may the sign of a zero. Operands of indices, bounds of loops and
// conditions of reading are always strict, and so are operands of a cast to an integer of 32 bits
// or more. Sums and products that `atomic` or `rfactor` reorders are rounded in that order. min and
// max leave out a NaN: they are the other operand, and a NaN only if both are. So they are
// associative. If the operands are zeros of both signs, the result may be either.
// A cast from a float truncates towards zero and saturates: of what is above the integer type, and
// of a NaN, it gives the largest integer of the type that is a float of that type (2147483520 of a
// float32 as int32), of what is below the smallest. To 8 and 16 bits it gives the low bits of what
// it gives as int32, and has no meaning beyond that. (After `saturate casts` the IR says so itself,
// and a cast of what is above the type, or a NaN, has no meaning.)
//
// Evaluation. Expressions have no effects, except calls of impure intrinsics and extern functions,
// which are evaluated as often as they stand there, left to right. A Let is evaluated once.
//
// Lanes. Operands of a node have the same number of lanes; a scalar is made a vector by Broadcast.
// Ramp and Broadcast of a vector of n lanes have lanes * n lanes: the operand's lanes are
// consecutive (`ramp(v, s, 2)` is v, v + s).
//
// Names. A symbol is bound by at most one node on a path from the root (no shadowing), but the same
// symbol may be bound in two separate branches.
//
// Two levels. Before storage is flattened, Funcs are computed by Provide and read by Call, their
// storage is Realize. Afterwards these are Store, Load and Allocate with one-dimensional indices in
// elements, int32 (int64 with Target::LargeBuffers).
namespace tessera::ir {

// A known congruence of an index: index % modulus == remainder. Modulus 1 says nothing.
struct Alignment {
    int64_t modulus = 1, remainder = 0;
    friend bool operator==(const Alignment &, const Alignment &) = default;
};

// Ties a node struct to its kind, so that `as<T>()` and `match` can find it.
template<typename T, typename Base, NodeKind K>
struct NodeOf : Base {
    static constexpr NodeKind node_kind = K;
    NodeOf() : Base(K) {}

    using Self = std::conditional_t<std::is_same_v<Base, ExprNode>, Expr, Stmt>;
    // The node with other values in these fields, checked as by make(); the node itself if they are
    // the ones that it has: `loop.with<&For::body>(body)`.
    template<auto... changed>
    Self with(typename Member<changed>::Field... values) const {
        static_assert((T::Fields::template contains<Member<changed>> && ...), "no field of it");
        const T &self = *static_cast<const T *>(this);
        if ((is_same_field(self.*changed, values) && ...)) return Self(&self);
        const auto given = std::tie(values...);
        return T::Fields::apply_to_types([&](auto... members) {
            return T::make(value_of<decltype(members), Member<changed>...>(given)...);
        });
    }

private:
    // Returns the place of M among the others; their number if it is not there.
    template<typename M, typename... Others>
    static constexpr size_t place_among() {
        size_t place = 0;
        (void)((std::is_same_v<M, Others> || (place++, false)) || ...);
        return place;
    }
    // Returns the value given for the member M, or the one that the node has.
    template<typename M, typename... Changed, typename Given>
    const typename M::Field &value_of(const Given &given) const {
        constexpr size_t place = place_among<M, Changed...>();
        if constexpr (place < sizeof...(Changed)) {
            return std::get<place>(given);
        } else {
            return static_cast<const T *>(this)->*M::pointer;
        }
    }
};

struct IntImm final : NodeOf<IntImm, ExprNode, NodeKind::IntImm> {
    int64_t value = 0;
    // Wraps the value into the type.
    static Expr make(Type type, int64_t value);
    using Fields = FieldList<&IntImm::type, &IntImm::value>;
};

struct UIntImm final : NodeOf<UIntImm, ExprNode, NodeKind::UIntImm> {
    uint64_t value = 0;
    // Wraps the value into the type.
    static Expr make(Type type, uint64_t value);
    using Fields = FieldList<&UIntImm::type, &UIntImm::value>;
};

struct FloatImm final : NodeOf<FloatImm, ExprNode, NodeKind::FloatImm> {
    double value = 0;
    // Rounds the value to the type (Float or BFloat).
    static Expr make(Type type, double value);
    using Fields = FieldList<&FloatImm::type, &FloatImm::value>;
};

// A constant text; its type is Handle().
struct StringImm final : NodeOf<StringImm, ExprNode, NodeKind::StringImm> {
    std::string value;
    static Expr make(std::string value);
    using Fields = FieldList<&StringImm::value>;
};

// A loop variable, let-bound value, scalar parameter, or pointer to a tessera_buffer_t (Handle).
struct Variable final : NodeOf<Variable, ExprNode, NodeKind::Variable> {
    Symbol name;
    Ref<Referent> referent;  // a scalar parameter or reduction domain that it stands for
    static Expr make(Type type, Symbol name, Ref<Referent> referent = {});
    using Fields = FieldList<&Variable::type, &Variable::name, &Variable::referent>;
};

// A field of a buffer: int32, but for BufferField::Host (Handle) and Device (uint64).
struct BufferProperty final : NodeOf<BufferProperty, ExprNode, NodeKind::BufferProperty> {
    Symbol buffer;
    BufferField field = BufferField::Min;
    int dim = 0;
    Ref<Referent> referent;  // the image parameter that it is a property of, if any
    static Expr make(Symbol buffer, BufferField field, int dim, Ref<Referent> referent = {});
    using Fields = FieldList<&BufferProperty::buffer, &BufferProperty::field, &BufferProperty::dim,
                             &BufferProperty::referent>;
};

struct Cast final : NodeOf<Cast, ExprNode, NodeKind::Cast> {
    Expr value;
    static Expr make(Type type, Expr value);
    using Fields = FieldList<&Cast::type, &Cast::value>;
};

// The same bits, seen as another type of the same total size.
struct Reinterpret final : NodeOf<Reinterpret, ExprNode, NodeKind::Reinterpret> {
    Expr value;
    static Expr make(Type type, Expr value);
    using Fields = FieldList<&Reinterpret::type, &Reinterpret::value>;
};

// Operands of one type, which is the result's type, or bool for comparisons and logic.
// clang-format off
#define TESSERA_BINARY_NODES(X)                                                                    \
    X(Add) X(Sub) X(Mul) X(Div) X(Mod) X(Min) X(Max)                                               \
    X(EQ) X(NE) X(LT) X(LE) X(GT) X(GE) X(And) X(Or)
// clang-format on
#define BINARY(T)                                                                                  \
    struct T final : NodeOf<T, ExprNode, NodeKind::T> {                                            \
        Expr a, b;                                                                                 \
        static Expr make(Expr a, Expr b);                                                          \
        using Fields = FieldList<&T::a, &T::b>;                                                    \
    };
TESSERA_BINARY_NODES(BINARY)
#undef BINARY

struct Not final : NodeOf<Not, ExprNode, NodeKind::Not> {
    Expr a;
    static Expr make(Expr a);
    using Fields = FieldList<&Not::a>;
};

// Lane by lane; the condition has as many lanes as the values, or is a scalar.
struct Select final : NodeOf<Select, ExprNode, NodeKind::Select> {
    Expr condition, true_value, false_value;
    static Expr make(Expr condition, Expr true_value, Expr false_value);
    using Fields = FieldList<&Select::condition, &Select::true_value, &Select::false_value>;
};

// Elements of a flat buffer. Lanes whose predicate is false are not read and have no value.
struct Load final : NodeOf<Load, ExprNode, NodeKind::Load> {
    Symbol buffer;
    Expr index;              // in elements
    Expr predicate;          // undefined: all lanes
    Alignment alignment;     // of the first lane's index
    bool streaming = false;  // bypass the caches
    static Expr make(Type type, Symbol buffer, Expr index, Expr predicate = {},
                     Alignment alignment = {}, bool streaming = false);
    using Fields = FieldList<&Load::type, &Load::buffer, &Load::index, &Load::predicate,
                             &Load::alignment, &Load::streaming>;
};

// base, base + stride, ..., `lanes` times; base and stride may be vectors themselves.
struct Ramp final : NodeOf<Ramp, ExprNode, NodeKind::Ramp> {
    Expr base, stride;
    int lanes = 0;
    static Expr make(Expr base, Expr stride, int lanes);
    using Fields = FieldList<&Ramp::base, &Ramp::stride, &Ramp::lanes>;
};

// value, value, ..., `lanes` times; value may be a vector itself.
struct Broadcast final : NodeOf<Broadcast, ExprNode, NodeKind::Broadcast> {
    Expr value;
    int lanes = 0;
    static Expr make(Expr value, int lanes);
    using Fields = FieldList<&Broadcast::value, &Broadcast::lanes>;
};

struct Let final : NodeOf<Let, ExprNode, NodeKind::Let> {
    Symbol name;
    Expr value, body;
    static Expr make(Symbol name, Expr value, Expr body);
    using Fields = FieldList<&Let::name, &Let::value, &Let::body>;
};

// A value of a Func, or an element of an image, at a point: one argument per dimension.
struct Call final : NodeOf<Call, ExprNode, NodeKind::Call> {
    Symbol callee;
    CallKind call_kind = CallKind::Func;
    int value_index = 0;  // which of a Func's several values
    std::vector<Expr> args;
    Ref<Referent> referent;  // the function or image, kept alive; none for a self-reference
    static Expr make(Type type, Symbol callee, CallKind kind, int value_index,
                     std::vector<Expr> args, Ref<Referent> referent = {});
    // A call of a C function by its name (an ExternCall), or of an intrinsic by one of the names
    // below.
    enum CallType : uint8_t { Extern, PureExtern, Intrinsic, PureIntrinsic };
    static constexpr const char *make_struct = "make_struct";
    static Expr make(Type type, std::string function, std::vector<Expr> args, CallType call_type);
    using Fields = FieldList<&Call::type, &Call::callee, &Call::call_kind, &Call::value_index,
                             &Call::args, &Call::referent>;
};

struct IntrinsicCall final : NodeOf<IntrinsicCall, ExprNode, NodeKind::IntrinsicCall> {
    Intrinsic op = Intrinsic::abs;
    std::vector<Expr> args;
    static Expr make(Type type, Intrinsic op, std::vector<Expr> args);
    using Fields = FieldList<&IntrinsicCall::type, &IntrinsicCall::op, &IntrinsicCall::args>;
};

// A C function. Called once per lane if vectorized. A pure one may be merged, moved and dropped.
struct ExternCall final : NodeOf<ExternCall, ExprNode, NodeKind::ExternCall> {
    std::string function;
    std::vector<Expr> args;
    bool pure = false;
    static Expr make(Type type, std::string function, std::vector<Expr> args, bool pure);
    using Fields =
        FieldList<&ExternCall::type, &ExternCall::function, &ExternCall::args, &ExternCall::pure>;
};

// Lanes picked by index from the concatenation of the vectors, which have one element type.
struct Shuffle final : NodeOf<Shuffle, ExprNode, NodeKind::Shuffle> {
    std::vector<Expr> vectors;
    std::vector<int> indices;
    static Expr make(std::vector<Expr> vectors, std::vector<int> indices);
    // a0, b0, ..., a1, b1, ...
    static Expr make_interleave(std::vector<Expr> vectors);
    static Expr make_concat(std::vector<Expr> vectors);
    // `size` lanes: begin, begin + stride, ...
    static Expr make_slice(Expr vector, int begin, int stride, int size);
    bool is_interleave() const;
    bool is_concat() const;
    bool is_slice() const;
    using Fields = FieldList<&Shuffle::vectors, &Shuffle::indices>;
};

// Each group of value.lanes() / lanes neighbouring lanes becomes one.
struct VectorReduce final : NodeOf<VectorReduce, ExprNode, NodeKind::VectorReduce> {
    ReduceOp op = ReduceOp::Add;
    Expr value;
    int lanes = 0;  // of the result
    static Expr make(ReduceOp op, Expr value, int lanes);
    using Fields = FieldList<&VectorReduce::op, &VectorReduce::value, &VectorReduce::lanes>;
};

struct LetStmt final : NodeOf<LetStmt, StmtNode, NodeKind::LetStmt> {
    Symbol name;
    Expr value;
    Stmt body;
    static Stmt make(Symbol name, Expr value, Stmt body);
    using Fields = FieldList<&LetStmt::name, &LetStmt::value, &LetStmt::body>;
};

// If the condition is false, `message` (an int32: the error code, from a call of a runtime
// function that reports it) is evaluated and the pipeline returns it.
struct AssertStmt final : NodeOf<AssertStmt, StmtNode, NodeKind::AssertStmt> {
    Expr condition, message;
    static Stmt make(Expr condition, Expr message);
    using Fields = FieldList<&AssertStmt::condition, &AssertStmt::message>;
};

// Says that the body computes (or else uses) a Func; no effect of its own.
struct ProducerConsumer final : NodeOf<ProducerConsumer, StmtNode, NodeKind::ProducerConsumer> {
    Symbol func;
    bool is_producer = false;
    Stmt body;
    Produced produced;
    static Stmt make(Symbol func, bool is_producer, Stmt body, Produced produced = {});
    using Fields = FieldList<&ProducerConsumer::func, &ProducerConsumer::is_producer,
                             &ProducerConsumer::body, &ProducerConsumer::produced>;
};

// Run `body` once for each value of `name` in [min, min + extent).
struct For final : NodeOf<For, StmtNode, NodeKind::For> {
    Symbol name;
    Expr min, extent;
    LoopKind loop_kind = LoopKind::Serial;
    Partition partition = Partition::Auto;
    Stmt body;
    LoopOrigin origin;
    Streams streams;
    static Stmt make(Symbol name, Expr min, Expr extent, LoopKind kind, Partition partition,
                     Stmt body, LoopOrigin origin = {}, Streams streams = {});
    using Fields = FieldList<&For::name, &For::min, &For::extent, &For::loop_kind, &For::partition,
                             &For::body, &For::origin, &For::streams>;
};

// Wait until the semaphore (Handle) can be lowered by `count`, then run the body.
struct Acquire final : NodeOf<Acquire, StmtNode, NodeKind::Acquire> {
    Expr semaphore, count;
    Stmt body;
    static Stmt make(Expr semaphore, Expr count, Stmt body);
    using Fields = FieldList<&Acquire::semaphore, &Acquire::count, &Acquire::body>;
};

// buffer[index] = value; lanes whose predicate is false are not written.
struct Store final : NodeOf<Store, StmtNode, NodeKind::Store> {
    Symbol buffer;
    Expr value;
    Expr index;              // in elements
    Expr predicate;          // undefined: all lanes
    Alignment alignment;     // of the first lane's index
    bool streaming = false;  // bypass the caches
    static Stmt make(Symbol buffer, Expr value, Expr index, Expr predicate = {},
                     Alignment alignment = {}, bool streaming = false);
    using Fields = FieldList<&Store::buffer, &Store::value, &Store::index, &Store::predicate,
                             &Store::alignment, &Store::streaming>;
};

// func(args...) = {values...}, where the predicate holds; all values are evaluated before the
// first is written.
struct Provide final : NodeOf<Provide, StmtNode, NodeKind::Provide> {
    Symbol func;
    std::vector<Expr> values, args;
    Expr predicate;  // undefined: always
    static Stmt make(Symbol func, std::vector<Expr> values, std::vector<Expr> args,
                     Expr predicate = {});
    using Fields = FieldList<&Provide::func, &Provide::values, &Provide::args, &Provide::predicate>;
};

// Flat storage for the body, of the product of the extents in elements.
struct Allocate final : NodeOf<Allocate, StmtNode, NodeKind::Allocate> {
    Symbol buffer;
    Type type;
    MemoryType memory = MemoryType::Auto;
    std::vector<Expr> extents;
    Expr condition;   // allocate only if true; undefined: always
    int padding = 0;  // more elements at the end that may be read
    Stmt body;
    AllocationFacts facts;
    // Without a function the buffer is that of the function of its name.
    static Stmt make(Symbol buffer, Type type, MemoryType memory, std::vector<Expr> extents,
                     Expr condition, int padding, Stmt body, AllocationFacts facts = {});
    using Fields =
        FieldList<&Allocate::buffer, &Allocate::type, &Allocate::memory, &Allocate::extents,
                  &Allocate::condition, &Allocate::padding, &Allocate::body, &Allocate::facts>;
};

// Storage for a Func over a region, one buffer per value, during the body.
struct Realize final : NodeOf<Realize, StmtNode, NodeKind::Realize> {
    Symbol func;
    std::vector<Type> types;
    MemoryType memory = MemoryType::Auto;
    Region bounds;
    Expr condition;  // allocate only if true; undefined: always
    Stmt body;
    StorageFacts storage;
    static Stmt make(Symbol func, std::vector<Type> types, MemoryType memory, Region bounds,
                     Expr condition, Stmt body, StorageFacts storage = {});
    using Fields = FieldList<&Realize::func, &Realize::types, &Realize::memory, &Realize::bounds,
                             &Realize::condition, &Realize::body, &Realize::storage>;
};

// The Realize of this Func, somewhere in the body, is to be allocated here.
struct HoistedStorage final : NodeOf<HoistedStorage, StmtNode, NodeKind::HoistedStorage> {
    Symbol func;
    Stmt body;
    HoistFacts facts;
    static Stmt make(Symbol func, Stmt body, HoistFacts facts = {});
    using Fields = FieldList<&HoistedStorage::func, &HoistedStorage::body, &HoistedStorage::facts>;
};

// One after the other. Flat: no statement of it is a Block; at least two.
struct Block final : NodeOf<Block, StmtNode, NodeKind::Block> {
    std::vector<Stmt> stmts;
    // Flattens, leaves out undefined ones; one statement is returned itself, none is a no-op.
    static Stmt make(std::vector<Stmt> stmts);
    static Stmt make(Stmt first, Stmt rest);
    using Fields = FieldList<&Block::stmts>;
};

// All at the same time, on threads of their own.
struct Fork final : NodeOf<Fork, StmtNode, NodeKind::Fork> {
    std::vector<Stmt> stmts;
    static Stmt make(std::vector<Stmt> stmts);
    using Fields = FieldList<&Fork::stmts>;
};

struct IfThenElse final : NodeOf<IfThenElse, StmtNode, NodeKind::IfThenElse> {
    Expr condition;
    Stmt then_case, else_case;  // else_case may be undefined
    static Stmt make(Expr condition, Stmt then_case, Stmt else_case = {});
    using Fields =
        FieldList<&IfThenElse::condition, &IfThenElse::then_case, &IfThenElse::else_case>;
};

// Evaluate for its effects. `Evaluate(0)` is the no-op.
struct Evaluate final : NodeOf<Evaluate, StmtNode, NodeKind::Evaluate> {
    Expr value;
    static Stmt make(Expr value);
    using Fields = FieldList<&Evaluate::value>;
};

// Before the body, ask for a region of a Func or image to be brought into the cache.
struct Prefetch final : NodeOf<Prefetch, StmtNode, NodeKind::Prefetch> {
    Symbol name;
    std::vector<Type> types;
    Region bounds;
    Expr condition;
    Stmt body;
    CallKind call_kind = CallKind::Func;
    Ref<Referent> referent;  // the image, kept alive; none for a function
    static Stmt make(Symbol name, std::vector<Type> types, Region bounds, Expr condition, Stmt body,
                     CallKind kind = CallKind::Func, Ref<Referent> referent = {});
    using Fields =
        FieldList<&Prefetch::name, &Prefetch::types, &Prefetch::bounds, &Prefetch::condition,
                  &Prefetch::body, &Prefetch::call_kind, &Prefetch::referent>;
};

// The body reads, changes and writes elements of `func` as if nobody else did meanwhile.
struct Atomic final : NodeOf<Atomic, StmtNode, NodeKind::Atomic> {
    Symbol func;
    // An array of locks, shared by elements, or one lock for all where an update reads what others
    // write; undefined: hardware atomics suffice.
    Symbol mutexes;
    Stmt body;
    static Stmt make(Symbol func, Symbol mutexes, Stmt body);
    using Fields = FieldList<&Atomic::func, &Atomic::mutexes, &Atomic::body>;
};

// Does what the body does. Code for a machine that has this operation uses it instead of the body.
struct MachineOp final : NodeOf<MachineOp, StmtNode, NodeKind::MachineOp> {
    MachineOpKind op = MachineOpKind::tensor;
    std::vector<Expr> operands;
    Stmt body;
    static Stmt make(MachineOpKind op, std::vector<Expr> operands, Stmt body);
    using Fields = FieldList<&MachineOp::op, &MachineOp::operands, &MachineOp::body>;
};

// Run the body of another function of the module, one that is not called from outside. In a
// parallel loop it is all of the body, and in a Fork all of a statement.
struct Invoke final : NodeOf<Invoke, StmtNode, NodeKind::Invoke> {
    std::string function;
    std::vector<Expr> args;  // for storage: address_of its first element
    static Stmt make(std::string function, std::vector<Expr> args);
    using Fields = FieldList<&Invoke::function, &Invoke::args>;
};

}  // namespace tessera::ir
