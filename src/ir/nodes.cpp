#include "ir/nodes.h"
#include "ir/fields.h"
#include "ir/float_bits.h"
#include "ir/nodes_made.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::ir {
namespace {

template<typename... Args>
void require(bool condition, const char *node, const Args &...what) {
    if (!condition) throw InternalError(str(node, "::make: ", what...));
}

void require_defined(const Expr &e, const char *node, const char *field) {
    require(e.defined(), node, "undefined ", field);
}

void require_defined(const Stmt &s, const char *node, const char *field) {
    require(s.defined(), node, "undefined ", field);
}

void require_defined(const std::vector<Expr> &all, const char *node, const char *field) {
    for (const Expr &e : all) require_defined(e, node, field);
}

void require_scalar_int(const Expr &e, const char *node, const char *field) {
    require_defined(e, node, field);
    require(e.type().is_int_or_uint() && e.type().is_scalar(), node, field, " is of type ",
            e.type(), ", not a scalar integer");
}

void require_bool(const Expr &e, const char *node) {
    require_defined(e, node, "condition");
    require(e.type().is_bool(), node, "condition of type ", e.type());
}

thread_local uint64_t made = 0;

// The last step of every make: fixes the hash and the depth, and hands out the node.
template<typename Result, typename T>
Result finish(T *node) {
    made++;
    uint64_t h = uint64_t(node->kind) + 1;
    if constexpr (std::is_same_v<Result, Expr>) h = fields::mix(h, fields::hash(node->type));
    fields::for_each(*node, [&](const auto &field) { h = fields::mix(h, fields::hash(field)); });
    node->hash = h;
    int below = 0;
    auto look_at = [&](const auto &child) { below = std::max(below, int(child.get()->depth)); };
    fields::for_each(*node, [&](const auto &field) { fields::for_each_child(field, look_at); });
    node->depth = uint16_t(std::min(below + 1, UINT16_MAX));
    return Result(node);
}

template<typename T>
Expr binary(Expr a, Expr b, const char *node, bool gives_bool) {
    require_defined(a, node, "left operand");
    require_defined(b, node, "right operand");
    require(a.type() == b.type(), node, "operands of types ", a.type(), " and ", b.type());
    auto *n = new T;
    n->type = gives_bool ? Bool(a.type().lanes()) : a.type();
    n->a = std::move(a);
    n->b = std::move(b);
    return finish<Expr>(n);
}

int64_t wrap_signed(int64_t value, int bits) {
    return int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits);
}

}  // namespace

uint64_t nodes_made() { return made; }

Expr IntImm::make(Type type, int64_t value) {
    require(type.is_int() && type.is_scalar(), "IntImm", "type ", type);
    auto *n = new IntImm;
    n->type = type;
    n->value = wrap_signed(value, type.bits());
    return finish<Expr>(n);
}

Expr UIntImm::make(Type type, uint64_t value) {
    require(type.is_uint() && type.is_scalar(), "UIntImm", "type ", type);
    auto *n = new UIntImm;
    n->type = type;
    n->value = value & type.max_uint();
    return finish<Expr>(n);
}

Expr FloatImm::make(Type type, double value) {
    require(type.is_float() && type.is_scalar(), "FloatImm", "type ", type);
    auto *n = new FloatImm;
    n->type = type;
    n->value = float_of_bits(type, bits_of_float(type, value));
    return finish<Expr>(n);
}

Expr StringImm::make(std::string value) {
    auto *n = new StringImm;
    n->type = Handle();
    n->value = std::move(value);
    return finish<Expr>(n);
}

Expr Variable::make(Type type, Symbol name, Ref<Referent> referent) {
    require(type.defined() && name.defined(), "Variable", "no type or no name");
    auto *n = new Variable;
    n->type = type;
    n->name = name;
    n->referent = std::move(referent);
    return finish<Expr>(n);
}

Expr BufferProperty::make(Symbol buffer, BufferField field, int dim, Ref<Referent> referent) {
    require(buffer.defined() && dim >= 0, "BufferProperty", "no buffer or dimension ", dim);
    auto *n = new BufferProperty;
    n->type = field == BufferField::Host     ? Handle()
              : field == BufferField::Device ? UInt(64)
                                             : Int(32);
    n->buffer = buffer;
    n->field = field;
    n->dim = dim;
    n->referent = std::move(referent);
    return finish<Expr>(n);
}

Expr Cast::make(Type type, Expr value) {
    require_defined(value, "Cast", "value");
    require(type.defined() && type.lanes() == value.type().lanes(), "Cast", "from ", value.type(),
            " to ", type);
    auto *n = new Cast;
    n->type = type;
    n->value = std::move(value);
    return finish<Expr>(n);
}

Expr Reinterpret::make(Type type, Expr value) {
    require_defined(value, "Reinterpret", "value");
    require(type.bits() * type.lanes() == value.type().bits() * value.type().lanes(), "Reinterpret",
            "from ", value.type(), " to ", type);
    auto *n = new Reinterpret;
    n->type = type;
    n->value = std::move(value);
    return finish<Expr>(n);
}

#define ARITHMETIC(T)                                                                              \
    Expr T::make(Expr a, Expr b) { return binary<T>(std::move(a), std::move(b), #T, false); }
// clang-format off
ARITHMETIC(Add) ARITHMETIC(Sub) ARITHMETIC(Mul) ARITHMETIC(Div) ARITHMETIC(Mod) ARITHMETIC(Min)
ARITHMETIC(Max)
// clang-format on
#undef ARITHMETIC
#define COMPARISON(T)                                                                              \
    Expr T::make(Expr a, Expr b) { return binary<T>(std::move(a), std::move(b), #T, true); }
COMPARISON(EQ)
COMPARISON(NE)
COMPARISON(LT)
COMPARISON(LE)
COMPARISON(GT)
COMPARISON(GE)
#undef COMPARISON

Expr And::make(Expr a, Expr b) {
    require_bool(a, "And");
    return binary<And>(std::move(a), std::move(b), "And", true);
}

Expr Or::make(Expr a, Expr b) {
    require_bool(a, "Or");
    return binary<Or>(std::move(a), std::move(b), "Or", true);
}

Expr Not::make(Expr a) {
    require_bool(a, "Not");
    auto *n = new Not;
    n->type = a.type();
    n->a = std::move(a);
    return finish<Expr>(n);
}

Expr Select::make(Expr condition, Expr true_value, Expr false_value) {
    require_bool(condition, "Select");
    require_defined(true_value, "Select", "true value");
    require_defined(false_value, "Select", "false value");
    require(true_value.type() == false_value.type(), "Select", "values of types ",
            true_value.type(), " and ", false_value.type());
    require(condition.type().is_scalar() || condition.type().lanes() == true_value.type().lanes(),
            "Select", "condition of type ", condition.type(), ", values of ", true_value.type());
    auto *n = new Select;
    n->type = true_value.type();
    n->condition = std::move(condition);
    n->true_value = std::move(true_value);
    n->false_value = std::move(false_value);
    return finish<Expr>(n);
}

Expr Load::make(Type type, Symbol buffer, Expr index, Expr predicate, Alignment alignment,
                bool streaming) {
    require_defined(index, "Load", "index");
    require(type.defined() && type.lanes() == index.type().lanes(), "Load", type, " at index of ",
            index.type());
    require(!predicate.defined() || predicate.type() == Bool(type.lanes()), "Load", "predicate");
    auto *n = new Load;
    n->type = type;
    n->buffer = buffer;
    n->index = std::move(index);
    n->predicate = std::move(predicate);
    n->alignment = alignment;
    n->streaming = streaming;
    return finish<Expr>(n);
}

Expr Ramp::make(Expr base, Expr stride, int lanes) {
    require_defined(base, "Ramp", "base");
    require_defined(stride, "Ramp", "stride");
    require(base.type() == stride.type(), "Ramp", "base ", base.type(), ", stride ", stride.type());
    require(lanes > 1, "Ramp", "lanes ", lanes);
    auto *n = new Ramp;
    n->type = base.type().with_lanes(base.type().lanes() * lanes);
    n->base = std::move(base);
    n->stride = std::move(stride);
    n->lanes = lanes;
    return finish<Expr>(n);
}

Expr Broadcast::make(Expr value, int lanes) {
    require_defined(value, "Broadcast", "value");
    require(lanes > 1, "Broadcast", "lanes ", lanes);
    auto *n = new Broadcast;
    n->type = value.type().with_lanes(value.type().lanes() * lanes);
    n->value = std::move(value);
    n->lanes = lanes;
    return finish<Expr>(n);
}

Expr Let::make(Symbol name, Expr value, Expr body) {
    require(name.defined(), "Let", "no name");
    require_defined(value, "Let", "value");
    require_defined(body, "Let", "body");
    auto *n = new Let;
    n->type = body.type();
    n->name = name;
    n->value = std::move(value);
    n->body = std::move(body);
    return finish<Expr>(n);
}

Expr Call::make(Type type, Symbol callee, CallKind kind, int value_index, std::vector<Expr> args,
                Ref<Referent> referent) {
    require(callee.defined() && type.defined(), "Call", "no callee or no type");
    require_defined(args, "Call", "argument");
    auto *n = new Call;
    n->type = type;
    n->callee = callee;
    n->call_kind = kind;
    n->value_index = value_index;
    n->args = std::move(args);
    n->referent = std::move(referent);
    return finish<Expr>(n);
}

Expr Call::make(Type type, std::string function, std::vector<Expr> args, CallType call_type) {
    if (call_type == Intrinsic || call_type == PureIntrinsic) {
        ir::Intrinsic op{};
        if (find_intrinsic(function, op)) return IntrinsicCall::make(type, op, std::move(args));
        throw CompileError(str("Call::make: there is no intrinsic ", function));
    }
    return ExternCall::make(type, std::move(function), std::move(args), call_type == PureExtern);
}

Expr IntrinsicCall::make(Type type, Intrinsic op, std::vector<Expr> args) {
    const IntrinsicInfo &info = info_of(op);
    require(type.defined(), "IntrinsicCall", "no type");
    require_defined(args, "IntrinsicCall", "argument");
    require(info.arity < 0 || size_t(info.arity) == args.size(), "IntrinsicCall", info.name, " of ",
            args.size(), " operands");
    auto *n = new IntrinsicCall;
    n->type = type;
    n->op = op;
    n->args = std::move(args);
    return finish<Expr>(n);
}

Expr ExternCall::make(Type type, std::string function, std::vector<Expr> args, bool pure) {
    require(type.defined() && !function.empty(), "ExternCall", "no type or no name");
    require_defined(args, "ExternCall", "argument");
    auto *n = new ExternCall;
    n->type = type;
    n->function = std::move(function);
    n->args = std::move(args);
    n->pure = pure;
    return finish<Expr>(n);
}

Expr Shuffle::make(std::vector<Expr> vectors, std::vector<int> indices) {
    require(!vectors.empty() && !indices.empty(), "Shuffle", "empty");
    require_defined(vectors, "Shuffle", "vector");
    Type element = vectors[0].type().element_of();
    int lanes = 0;
    for (const Expr &v : vectors) {
        require(v.type().element_of() == element, "Shuffle", "of ", element, " and ", v.type());
        lanes += v.type().lanes();
    }
    for (int i : indices) require(i >= 0 && i < lanes, "Shuffle", "index ", i, " of ", lanes);
    auto *n = new Shuffle;
    n->type = element.with_lanes(int(indices.size()));
    n->vectors = std::move(vectors);
    n->indices = std::move(indices);
    return finish<Expr>(n);
}

Expr Shuffle::make_interleave(std::vector<Expr> vectors) {
    require(!vectors.empty(), "Shuffle", "empty");
    if (vectors.size() == 1) return vectors[0];
    int lanes = vectors[0].type().lanes();
    std::vector<int> indices;
    for (int i = 0; i < lanes; i++) {
        for (int v = 0; v < int(vectors.size()); v++) indices.push_back(v * lanes + i);
    }
    for (const Expr &v : vectors) require(v.type().lanes() == lanes, "Shuffle", "uneven vectors");
    return make(std::move(vectors), std::move(indices));
}

Expr Shuffle::make_concat(std::vector<Expr> vectors) {
    if (vectors.size() == 1) return vectors[0];
    int lanes = 0;
    for (const Expr &v : vectors) lanes += v.type().lanes();
    std::vector<int> indices(lanes);
    std::iota(indices.begin(), indices.end(), 0);
    return make(std::move(vectors), std::move(indices));
}

Expr Shuffle::make_slice(Expr vector, int begin, int stride, int size) {
    if (begin == 0 && stride == 1 && size == vector.type().lanes()) return vector;
    require(size > 0, "Shuffle", "slice of ", size, " lanes");
    std::vector<int> indices(size);
    for (int i = 0; i < size; i++) indices[i] = begin + i * stride;
    return make({std::move(vector)}, std::move(indices));
}

bool Shuffle::is_interleave() const {
    int lanes = vectors[0].type().lanes(), count = int(vectors.size());
    if (count < 2 || int(indices.size()) != lanes * count) return false;
    for (const Expr &v : vectors) {
        if (v.type().lanes() != lanes) return false;
    }
    for (int i = 0; i < int(indices.size()); i++) {
        if (indices[i] != (i % count) * lanes + i / count) return false;
    }
    return true;
}

bool Shuffle::is_concat() const {
    size_t lanes = 0;
    for (const Expr &v : vectors) lanes += v.type().lanes();
    if (vectors.size() < 2 || indices.size() != lanes) return false;
    for (size_t i = 0; i < lanes; i++) {
        if (indices[i] != int(i)) return false;
    }
    return true;
}

bool Shuffle::is_slice() const {
    if (vectors.size() != 1) return false;
    for (size_t i = 2; i < indices.size(); i++) {
        if (indices[i] - indices[i - 1] != indices[1] - indices[0]) return false;
    }
    return true;
}

Expr VectorReduce::make(ReduceOp op, Expr value, int lanes) {
    require_defined(value, "VectorReduce", "value");
    require(lanes > 0 && value.type().lanes() % lanes == 0, "VectorReduce", value.type(), " to ",
            lanes, " lanes");
    auto *n = new VectorReduce;
    n->type = value.type().with_lanes(lanes);
    n->op = op;
    n->value = std::move(value);
    n->lanes = lanes;
    return finish<Expr>(n);
}

Stmt LetStmt::make(Symbol name, Expr value, Stmt body) {
    require(name.defined(), "LetStmt", "no name");
    require_defined(value, "LetStmt", "value");
    require_defined(body, "LetStmt", "body");
    auto *n = new LetStmt;
    n->name = name;
    n->value = std::move(value);
    n->body = std::move(body);
    return finish<Stmt>(n);
}

Stmt AssertStmt::make(Expr condition, Expr message) {
    require_bool(condition, "AssertStmt");
    require_defined(message, "AssertStmt", "message");
    auto *n = new AssertStmt;
    n->condition = std::move(condition);
    n->message = std::move(message);
    return finish<Stmt>(n);
}

Stmt ProducerConsumer::make(Symbol func, bool is_producer, Stmt body, Produced produced) {
    require_defined(body, "ProducerConsumer", "body");
    for (const ProducedRange &r : produced.ranges) {
        require_scalar_int(r.min, "ProducerConsumer", "min");
        require_scalar_int(r.max, "ProducerConsumer", "max");
        require(r.multiple >= 0, "ProducerConsumer", "multiple ", r.multiple);
    }
    auto *n = new ProducerConsumer;
    n->func = func;
    n->is_producer = is_producer;
    n->body = std::move(body);
    n->produced = std::move(produced);
    return finish<Stmt>(n);
}

Stmt For::make(Symbol name, Expr min, Expr extent, LoopKind kind, Partition partition, Stmt body,
               LoopOrigin origin, Streams streams) {
    require(name.defined(), "For", "no name");
    require(origin.func.defined() == origin.var.defined() && origin.stage >= 0, "For", "origin");
    require_scalar_int(min, "For", "min");
    require_scalar_int(extent, "For", "extent");
    require_defined(body, "For", "body");
    auto *n = new For;
    n->name = name;
    n->min = std::move(min);
    n->extent = std::move(extent);
    n->loop_kind = kind;
    n->partition = partition;
    n->body = std::move(body);
    n->origin = std::move(origin);
    n->streams = std::move(streams);
    return finish<Stmt>(n);
}

Stmt Acquire::make(Expr semaphore, Expr count, Stmt body) {
    require_defined(semaphore, "Acquire", "semaphore");
    require_scalar_int(count, "Acquire", "count");
    require_defined(body, "Acquire", "body");
    auto *n = new Acquire;
    n->semaphore = std::move(semaphore);
    n->count = std::move(count);
    n->body = std::move(body);
    return finish<Stmt>(n);
}

Stmt Store::make(Symbol buffer, Expr value, Expr index, Expr predicate, Alignment alignment,
                 bool streaming) {
    require_defined(value, "Store", "value");
    require_defined(index, "Store", "index");
    require(value.type().lanes() == index.type().lanes(), "Store", value.type(), " at index of ",
            index.type());
    require(!predicate.defined() || predicate.type() == Bool(value.type().lanes()), "Store",
            "predicate");
    auto *n = new Store;
    n->buffer = buffer;
    n->value = std::move(value);
    n->index = std::move(index);
    n->predicate = std::move(predicate);
    n->alignment = alignment;
    n->streaming = streaming;
    return finish<Stmt>(n);
}

Stmt Provide::make(Symbol func, std::vector<Expr> values, std::vector<Expr> args, Expr predicate) {
    require(func.defined() && !values.empty(), "Provide", "no function or no values");
    require_defined(values, "Provide", "value");
    require_defined(args, "Provide", "argument");
    auto *n = new Provide;
    n->func = func;
    n->values = std::move(values);
    n->args = std::move(args);
    n->predicate = std::move(predicate);
    return finish<Stmt>(n);
}

Stmt Allocate::make(Symbol buffer, Type type, MemoryType memory, std::vector<Expr> extents,
                    Expr condition, int padding, Stmt body, AllocationFacts facts) {
    require(buffer.defined() && type.defined() && type.is_scalar(), "Allocate",
            "no buffer, or type ", type);
    for (const Expr &e : extents) require_scalar_int(e, "Allocate", "extent");
    require_defined(body, "Allocate", "body");
    auto *n = new Allocate;
    n->buffer = buffer;
    n->type = type;
    n->memory = memory;
    n->extents = std::move(extents);
    n->condition = std::move(condition);
    n->padding = padding;
    n->body = std::move(body);
    const auto swizzles = {0, 32, 64, int(most_swizzle)};
    require(std::ranges::count(swizzles, facts.swizzle) == 1, "Allocate", "a swizzle of ",
            facts.swizzle, " bytes");
    n->facts = std::move(facts);
    if (!n->facts.func.defined()) n->facts.func = buffer;
    return finish<Stmt>(n);
}

static void require_storage(const StorageFacts &storage, size_t dimensions) {
    int last = -1;
    for (const StorageFold &f : storage.folds) {
        require(f.dim > last && size_t(f.dim) < dimensions, "Realize", "fold of dimension ", f.dim);
        require(f.is_done || f.factor.defined(), "Realize", "a fold by nothing");
        require(f.var.defined() == f.factor.defined(), "Realize", "a fold that nobody asks for");
        if (f.factor.defined()) require_scalar_int(f.factor, "Realize", "fold");
        last = f.dim;
    }
    std::vector<bool> is_there(storage.order.size());
    for (const StoredDimension &s : storage.order) {
        const bool fits = s.dim >= 0 && size_t(s.dim) < std::min(is_there.size(), dimensions);
        require(fits && !is_there[size_t(s.dim)], "Realize", "order of dimension ", s.dim);
        is_there[size_t(s.dim)] = true;
        require(s.var.defined() == s.bound.defined(), "Realize", "a bound that nobody gives");
        for (const Expr &e : {s.alignment, s.bound}) {
            if (e.defined()) require_scalar_int(e, "Realize", "extent");
        }
    }
    if (storage.copies.defined()) require_scalar_int(storage.copies, "Realize", "copies");
    const Layout &layout = storage.layout;
    const bool fits = layout.coordinates.size() == dimensions && layout.outputs.size() == 1;
    require(!layout.defined() || (fits && storage.order.empty()), "Realize", "the layout ", layout);
}

Stmt Realize::make(Symbol func, std::vector<Type> types, MemoryType memory, Region bounds,
                   Expr condition, Stmt body, StorageFacts storage) {
    require(func.defined() && !types.empty(), "Realize", "no function or no types");
    for (Type t : types) require(t.defined(), "Realize", "a value without a type");
    for (const Range &r : bounds) {
        require_scalar_int(r.min, "Realize", "min");
        require_scalar_int(r.extent, "Realize", "extent");
    }
    require_storage(storage, bounds.size());
    require(storage.buffers.empty() || storage.buffers.size() == types.size(), "Realize",
            storage.buffers.size(), " buffers");
    require_defined(body, "Realize", "body");
    auto *n = new Realize;
    n->func = func;
    n->types = std::move(types);
    n->memory = memory;
    n->bounds = std::move(bounds);
    n->condition = std::move(condition);
    n->body = std::move(body);
    n->storage = std::move(storage);
    return finish<Stmt>(n);
}

Stmt HoistedStorage::make(Symbol func, Stmt body, HoistFacts facts) {
    require_defined(body, "HoistedStorage", "body");
    if (facts.copies.defined()) require_scalar_int(facts.copies, "HoistedStorage", "copies");
    auto *n = new HoistedStorage;
    n->func = func;
    n->body = std::move(body);
    n->facts = std::move(facts);
    return finish<Stmt>(n);
}

Stmt Block::make(std::vector<Stmt> stmts) {
    std::vector<Stmt> flat;
    for (Stmt &s : stmts) {
        if (const auto *block = s.as<Block>()) {
            flat.insert(flat.end(), block->stmts.begin(), block->stmts.end());
        } else if (s.defined()) {
            flat.push_back(std::move(s));
        }
    }
    if (flat.empty()) return Evaluate::make(IntImm::make(Int(32), 0));
    if (flat.size() == 1) return flat[0];
    auto *n = new Block;
    n->stmts = std::move(flat);
    return finish<Stmt>(n);
}

Stmt Block::make(Stmt first, Stmt rest) {
    return make(std::vector<Stmt>{std::move(first), std::move(rest)});
}

Stmt Fork::make(std::vector<Stmt> stmts) {
    require(!stmts.empty(), "Fork", "empty");
    for (const Stmt &s : stmts) require_defined(s, "Fork", "statement");
    if (stmts.size() == 1) return stmts[0];
    auto *n = new Fork;
    n->stmts = std::move(stmts);
    return finish<Stmt>(n);
}

Stmt IfThenElse::make(Expr condition, Stmt then_case, Stmt else_case) {
    require_bool(condition, "IfThenElse");
    require_defined(then_case, "IfThenElse", "then case");
    auto *n = new IfThenElse;
    n->condition = std::move(condition);
    n->then_case = std::move(then_case);
    n->else_case = std::move(else_case);
    return finish<Stmt>(n);
}

Stmt Evaluate::make(Expr value) {
    require_defined(value, "Evaluate", "value");
    auto *n = new Evaluate;
    n->value = std::move(value);
    return finish<Stmt>(n);
}

Stmt Prefetch::make(Symbol name, std::vector<Type> types, Region bounds, Expr condition, Stmt body,
                    CallKind kind, Ref<Referent> referent) {
    require_bool(condition, "Prefetch");
    require_defined(body, "Prefetch", "body");
    auto *n = new Prefetch;
    n->call_kind = kind;
    n->referent = std::move(referent);
    n->name = name;
    n->types = std::move(types);
    n->bounds = std::move(bounds);
    n->condition = std::move(condition);
    n->body = std::move(body);
    return finish<Stmt>(n);
}

Stmt Atomic::make(Symbol func, Symbol mutexes, Stmt body) {
    require_defined(body, "Atomic", "body");
    auto *n = new Atomic;
    n->func = func;
    n->mutexes = mutexes;
    n->body = std::move(body);
    return finish<Stmt>(n);
}

Stmt MachineOp::make(MachineOpKind op, std::vector<Expr> operands, Stmt body) {
    for (const Expr &operand : operands) require_defined(operand, "MachineOp", "operand");
    require_defined(body, "MachineOp", "body");
    auto *n = new MachineOp;
    n->op = op;
    n->operands = std::move(operands);
    n->body = std::move(body);
    return finish<Stmt>(n);
}

Stmt Invoke::make(std::string function, std::vector<Expr> args) {
    for (const Expr &arg : args) require_defined(arg, "Invoke", "argument");
    auto *n = new Invoke;
    n->function = std::move(function);
    n->args = std::move(args);
    return finish<Stmt>(n);
}

Expr::Expr(int32_t value) : Expr(IntImm::make(Int(32), value)) {}
Expr::Expr(float value) : Expr(FloatImm::make(Float(32), value)) {}
Expr::Expr(int8_t value) : Expr(IntImm::make(Int(8), value)) {}
Expr::Expr(int16_t value) : Expr(IntImm::make(Int(16), value)) {}
Expr::Expr(int64_t value) : Expr(IntImm::make(Int(64), value)) {}
Expr::Expr(uint8_t value) : Expr(UIntImm::make(UInt(8), value)) {}
Expr::Expr(uint16_t value) : Expr(UIntImm::make(UInt(16), value)) {}
Expr::Expr(uint32_t value) : Expr(UIntImm::make(UInt(32), value)) {}
Expr::Expr(uint64_t value) : Expr(UIntImm::make(UInt(64), value)) {}
Expr::Expr(float16_t value) : Expr(FloatImm::make(Float(16), float(value))) {}
Expr::Expr(bfloat16_t value) : Expr(FloatImm::make(BFloat(16), float(value))) {}
Expr::Expr(float8_e4m3_t value) : Expr(FloatImm::make(Float8E4M3(), float(value))) {}
Expr::Expr(float8_e5m2_t value) : Expr(FloatImm::make(Float8E5M2(), float(value))) {}
Expr::Expr(double value) : Expr(FloatImm::make(Float(64), value)) {}
Expr::Expr(bool value) : Expr(UIntImm::make(Bool(), value)) {}
Expr::Expr(const std::string &value) : Expr(StringImm::make(value)) {}
Expr::Expr(const char *value) : Expr(StringImm::make(value)) {}

}  // namespace tessera::ir
