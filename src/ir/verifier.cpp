#include "ir/verifier.h"
#include "base/str.h"
#include "ir/fields.h"
#include "ir/lets.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/tensor_operation.h"
#include "ir/text.h"
#include "ir/tile_copy.h"
#include <unordered_map>

namespace tessera::ir {
namespace {

// The roles in which a symbol may be bound; a name may be a variable and a buffer at once.
enum class Use : uint8_t { Variable, Buffer, Func };

struct Binding {
    std::vector<Type> types;
    size_t dimensions = 0;  // of a Func
    int scope = 0;          // the number of the scope it opened
};

class Scopes {
public:
    const Binding *find(Use use, Symbol s) const {
        const auto &map = bound[size_t(use)];
        auto found = map.find(s);
        return found == map.end() ? nullptr : &found->second;
    }
    // False if it is bound already.
    bool open(Use use, Symbol s, std::vector<Type> types, size_t dimensions = 0) {
        serials.push_back(++last_serial);
        opened.emplace_back(use, s);
        Binding b{std::move(types), dimensions, depth()};
        return bound[size_t(use)].try_emplace(s, std::move(b)).second;
    }
    void close() {
        bound[size_t(opened.back().first)].erase(opened.back().second);
        opened.pop_back();
        serials.pop_back();
    }
    int depth() const { return int(opened.size()); }
    // Tells one opening of a scope from all others; 0 outside of all.
    uint64_t serial(int depth) const { return depth == 0 ? 0 : serials[size_t(depth) - 1]; }

private:
    std::unordered_map<Symbol, Binding> bound[3];
    std::vector<std::pair<Use, Symbol>> opened;
    std::vector<uint64_t> serials;
    uint64_t last_serial = 0;
};

bool is_index(Type t) { return t.is_int_or_uint() && t.bits() >= 32; }

bool is_number(Type t) { return t.is_int_or_uint() || t.is_float(); }

// Intrinsics whose operands all have the type of the result.
bool is_uniform(Intrinsic op) {
    switch (op) {
#define UNIFORM(name) case Intrinsic::name:
        // clang-format off
        UNIFORM(bitwise_and) UNIFORM(bitwise_or) UNIFORM(bitwise_xor) UNIFORM(bitwise_not)
        UNIFORM(popcount) UNIFORM(count_leading_zeros) UNIFORM(count_trailing_zeros)
        UNIFORM(div_round_to_zero) UNIFORM(mod_round_to_zero) UNIFORM(saturating_add)
        UNIFORM(saturating_sub) UNIFORM(halving_add) UNIFORM(halving_sub)
        UNIFORM(rounding_halving_add) UNIFORM(sqrt) UNIFORM(sin) UNIFORM(cos) UNIFORM(tan)
        UNIFORM(asin) UNIFORM(acos) UNIFORM(atan) UNIFORM(atan2) UNIFORM(sinh) UNIFORM(cosh)
        UNIFORM(tanh) UNIFORM(asinh) UNIFORM(acosh) UNIFORM(atanh) UNIFORM(exp) UNIFORM(log)
        UNIFORM(pow) UNIFORM(floor) UNIFORM(ceil) UNIFORM(trunc) UNIFORM(round) UNIFORM(fma)
        UNIFORM(fast_inverse) UNIFORM(fast_inverse_sqrt) UNIFORM(fast_exp) UNIFORM(fast_log)
        UNIFORM(strict_float) UNIFORM(likely)
        UNIFORM(likely_if_innermost) UNIFORM(promise_clamped) UNIFORM(unsafe_promise_clamped)
        // clang-format on
#undef UNIFORM
        return true;
    default: return false;
    }
}

// Intrinsics whose result's type follows from the operands'.
bool has_usual_type(Intrinsic op) {
    switch (op) {
    case Intrinsic::abs:
    case Intrinsic::absd:
    case Intrinsic::shift_left:
    case Intrinsic::shift_right:
    case Intrinsic::widening_add:
    case Intrinsic::widening_sub:
    case Intrinsic::is_nan:
    case Intrinsic::is_inf:
    case Intrinsic::is_finite:
    case Intrinsic::if_then_else:
    case Intrinsic::return_second:
    case Intrinsic::cluster_load: return true;
    default: return false;
    }
}

class Verifier {
public:
    Verifier(std::string_view pass, const VerifyOptions &options) : pass(pass), options(options) {}

    void check(const Stmt &s);
    void check(const Expr &root);
    void check(const LoweredFunction &f);

private:
    template<typename Handle, typename... Args>
    void require(bool condition, const Handle &where, const Args &...what) const {
        if (condition) return;
        throw BrokenRule(pass, str(what..., ", in: ", brief(where)));
    }

    // An expression that is being walked: its children, how far that is, and the innermost of the
    // scopes open around it that it depends on.
    struct Frame {
        Expr e;
        std::vector<Expr> children;
        size_t next = 0;
        int innermost = 0;
    };
    bool known(const Expr &e, int &innermost) const;
    void enter(std::vector<Frame> &stack, const Expr &e);
    void leave(std::vector<Frame> &stack);
    void check_names(Frame &frame);
    void check_variable(const Variable &v, const Expr &e, int &innermost);
    void check_call(const Call &c, const Expr &e, int &innermost) const;
    void check_kind(const Expr &e) const;
    void check_intrinsic(const IntrinsicCall &c, const Expr &e) const;
    template<typename Handle>
    void use_buffer(Symbol s, Type type, const Handle &where, int &innermost) const;
    template<typename Handle> const Binding *bound(Use use, Symbol s, const Handle &where) const;

    bool may_be_left(LoopKind kind) const;
    void check_level(const Stmt &s) const;
    void check_types(const Stmt &s) const;
    void check_children(const Stmt &s);
    bool open_scope(Stmt &s);
    void open(Use use, Symbol s, std::vector<Type> types, size_t dimensions, const Stmt &where);
    void check_provide(const Provide &p, const Stmt &s) const;
    void check_condition(const Expr &condition, const Stmt &where) const;
    void check_region(const Region &region, const Stmt &where) const;
    void require_int32(const Expr &e, const Stmt &where, const char *what) const;
    void check_storage(const Realize &r, const Stmt &where) const;
    void check_produced(const ProducerConsumer &p, const Stmt &where) const;

    std::string_view pass;
    const VerifyOptions &options;
    Scopes scopes;
    struct Done {
        int innermost;
        uint64_t serial;
    };
    std::unordered_map<const ExprNode *, Done> done;
    const ExprNode *scope_begin = nullptr;  // the value of the let statement that is checked
    std::unordered_map<Symbol, Type> free_variables;
};

// Returns true if e was found right, and the scope that it depends on is open still.
bool Verifier::known(const Expr &e, int &innermost) const {
    auto found = done.find(e.get());
    if (found == done.end()) return false;
    const Done &d = found->second;
    if (d.innermost > scopes.depth() || scopes.serial(d.innermost) != d.serial) return false;
    innermost = std::max(innermost, d.innermost);
    return true;
}

void Verifier::check(const Expr &root) {
    if (!root.defined()) return;
    std::vector<Frame> stack;
    int ignored = 0;
    if (!known(root, ignored)) enter(stack, root);
    while (!stack.empty()) {
        Frame &top = stack.back();
        if (top.next == top.children.size()) {
            leave(stack);
            continue;
        }
        if (const Let *let = top.e.as<Let>(); let && top.next == 1) {
            bool is_new = scopes.open(Use::Variable, let->name, {let->value.type()});
            require(is_new, top.e, "the symbol ", let->name, " is bound again in its own scope");
        }
        const Expr &child = top.children[top.next++];
        if (!known(child, top.innermost)) enter(stack, Expr(child));
    }
}

void Verifier::enter(std::vector<Frame> &stack, const Expr &e) {
    Frame frame{e, {}, 0, 0};
    if (!done.contains(e.get())) check_kind(e);
    check_names(frame);
    auto add = [&](const auto &node) {
        fields::for_each(node, [&](const auto &field) {
            fields::for_each_child(field, [&](const auto &child) {
                if constexpr (std::is_same_v<decltype(child), const Expr &>) {
                    frame.children.push_back(child);
                }
            });
        });
    };
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: add(*e.as<T>()); break;
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: require(false, e, "an expression of an unknown kind");
    }
    stack.push_back(std::move(frame));
}

void Verifier::leave(std::vector<Frame> &stack) {
    Frame frame = std::move(stack.back());
    stack.pop_back();
    if (frame.e.as<Let>()) {
        frame.innermost = std::min(frame.innermost, scopes.depth() - 1);
        scopes.close();
    }
    done[frame.e.get()] = {frame.innermost, scopes.serial(frame.innermost)};
    if (!stack.empty()) stack.back().innermost = std::max(stack.back().innermost, frame.innermost);
}

// Returns the binding of the symbol, or null where it is free, which must be allowed.
template<typename Handle>
const Binding *Verifier::bound(Use use, Symbol s, const Handle &where) const {
    const Binding *b = scopes.find(use, s);
    bool may_be_free = !options.free_symbols || options.free_symbols->contains(s);
    require(b || may_be_free, where, "the symbol ", s, " is used where it is not bound");
    return b;
}

template<typename Handle>
void Verifier::use_buffer(Symbol s, Type type, const Handle &where, int &innermost) const {
    const Binding *b = bound(Use::Buffer, s, where);
    if (!b) return;
    innermost = std::max(innermost, b->scope);
    require(b->types[0] == type.element_of(), where, "the buffer ", s, " holds ", b->types[0],
            ", but is used as ", type.element_of());
}

void Verifier::check_variable(const Variable &v, const Expr &e, int &innermost) {
    if (const Binding *b = bound(Use::Variable, v.name, e)) {
        innermost = std::max(innermost, b->scope);
        require(b->types[0] == v.type, e, "the variable ", v.name, " has the type ", b->types[0],
                ", but is used as ", v.type);
        return;
    }
    Type first = free_variables.try_emplace(v.name, v.type).first->second;
    require(first == v.type, e, "the free variable ", v.name, " is used as ", first, " and as ",
            v.type);
}

void Verifier::check_call(const Call &c, const Expr &e, int &innermost) const {
    for (const Expr &arg : c.args) {
        require(arg.type().is_int_or_uint(), e, "an argument of type ", arg.type());
    }
    const Binding *b = bound(Use::Func, c.callee, e);
    if (!b) return;
    innermost = std::max(innermost, b->scope);
    require(c.args.size() == b->dimensions, e, "a call of ", c.callee, " with ", c.args.size(),
            " arguments instead of ", b->dimensions);
    bool has_value = c.value_index >= 0 && size_t(c.value_index) < b->types.size();
    require(has_value, e, c.callee, " has no value ", c.value_index);
    Type type = b->types[size_t(c.value_index)];
    require(type == c.type.element_of(), e, "the Func ", c.callee, " holds ", type,
            ", but is used as ", c.type.element_of());
}

void Verifier::check_names(Frame &frame) {
    const Expr &e = frame.e;
    if (const auto *v = e.as<Variable>()) {
        check_variable(*v, e, frame.innermost);
    } else if (const auto *l = e.as<Load>()) {
        use_buffer(l->buffer, l->type, e, frame.innermost);
    } else if (const auto *c = e.as<Call>()) {
        check_call(*c, e, frame.innermost);
    } else if (const auto *p = e.as<BufferProperty>()) {
        for (Use use : {Use::Variable, Use::Buffer, Use::Func}) {
            if (const Binding *b = scopes.find(use, p->buffer)) {
                frame.innermost = std::max(frame.innermost, b->scope);
                return;
            }
        }
        bound(Use::Buffer, p->buffer, e);
    }
}

void Verifier::check_kind(const Expr &e) const {
    switch (e.kind()) {
#define ARITHMETIC(T) case NodeKind::T:
        // clang-format off
        ARITHMETIC(Add) ARITHMETIC(Sub) ARITHMETIC(Mul) ARITHMETIC(Div) ARITHMETIC(Mod)
        ARITHMETIC(Min) ARITHMETIC(Max) ARITHMETIC(Ramp) ARITHMETIC(VectorReduce)
        // clang-format on
#undef ARITHMETIC
        require(is_number(e.type()), e, "arithmetic on values of type ", e.type());
        return;
    case NodeKind::Load:
        require(options.level != IRLevel::Funcs, e, "a load before storage is flattened");
        require(is_index(e.as<Load>()->index.type()), e, "an index of type ",
                e.as<Load>()->index.type());
        return;
    case NodeKind::Call:
        require(options.level != IRLevel::Flat, e, "a call of a Func after storage is flattened");
        return;
    case NodeKind::IntrinsicCall: return check_intrinsic(*e.as<IntrinsicCall>(), e);
    default: return;
    }
}

void Verifier::check_intrinsic(const IntrinsicCall &c, const Expr &e) const {
    for (const Expr &arg : c.args) {
        if (!is_uniform(c.op)) break;
        require(arg.type() == c.type, e, "an operand of type ", arg.type(), ", not ", c.type);
    }
    if (has_usual_type(c.op)) {
        require(c.type == text::usual_type(c.op, c.args), e, "a result of type ", c.type, ", not ",
                text::usual_type(c.op, c.args));
    }
    require(!begins_scope(c.op) || scope_begin == &c, e,
            "what it begins has no end, since it is not the value of a let statement");
    if (c.op == Intrinsic::if_then_else || c.op == Intrinsic::require) {
        require(c.args.size() >= 2 && c.args[0].type().is_bool(), e, "there is no condition");
    }
    if (c.op == Intrinsic::require) {
        require(c.args.size() >= 3 && c.args[2].as<StringImm>(), e, "there is no place");
    }
}

void Verifier::open(Use use, Symbol s, std::vector<Type> types, size_t dimensions,
                    const Stmt &where) {
    bool is_new = scopes.open(use, s, std::move(types), dimensions);
    require(is_new, where, "the symbol ", s, " is bound again in its own scope");
}

// If s binds a symbol, opens that scope, and s becomes the body.
bool Verifier::open_scope(Stmt &s) {
    Stmt node = s;
    if (const auto *let = node.as<LetStmt>()) {
        open(Use::Variable, let->name, {let->value.type()}, 0, node);
        s = let->body;
    } else if (const auto *loop = node.as<For>()) {
        open(Use::Variable, loop->name, {loop->min.type()}, 0, node);
        s = loop->body;
    } else if (const auto *a = node.as<Allocate>()) {
        open(Use::Buffer, a->buffer, {a->type}, 0, node);
        s = a->body;
    } else if (const auto *r = node.as<Realize>()) {
        open(Use::Func, r->func, r->types, r->bounds.size(), node);
        s = r->body;
    } else {
        return false;
    }
    return true;
}

void Verifier::check(const Stmt &s) {
    Stmt rest = s;
    int outer = scopes.depth();
    for (bool more = true; more;) {
        if (!rest.defined()) throw BrokenRule(pass, "no statement");
        check_level(rest);
        check_types(rest);
        check_children(rest);
        more = open_scope(rest);
    }
    while (scopes.depth() > outer) scopes.close();
}

void Verifier::check(const LoweredFunction &f) {
    for (const Argument &a : f.args) {
        const bool is_storage = a.kind == ArgumentKind::Storage;
        const Type type = a.is_scalar() ? a.type : Handle();
        if (!is_storage) open(Use::Variable, a.name, {type}, 0, f.body);
        if (!a.is_scalar()) open(Use::Buffer, a.name, {a.type}, 0, f.body);
    }
    check(f.body);
}

// The children, but the body of a statement that opens a scope.
void Verifier::check_children(const Stmt &s) {
    auto each = [&](const auto &node) {
        using T = std::decay_t<decltype(node)>;
        constexpr bool opens_scope = std::is_same_v<T, LetStmt> || std::is_same_v<T, For> ||
                                     std::is_same_v<T, Allocate> || std::is_same_v<T, Realize>;
        fields::for_each(node, [&](const auto &field) {
            using Field = std::decay_t<decltype(field)>;
            if constexpr (!(opens_scope && std::is_same_v<Field, Stmt>)) {
                fields::for_each_child(field, [&](const auto &child) { check(child); });
            }
        });
    };
    const auto *let = s.as<LetStmt>();
    scope_begin = let ? behind_lets(let->value).get() : nullptr;
    switch (s.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return each(*s.as<T>());
        TESSERA_STMT_NODES(CASE)
#undef CASE
    default: require(false, s, "a statement of an unknown kind");
    }
}

bool Verifier::may_be_left(LoopKind kind) const {
    switch (kind) {
    case LoopKind::Serial:
    case LoopKind::Parallel:
    case LoopKind::GPUCluster:
    case LoopKind::GPUBlock:
    case LoopKind::GPUThread:
    case LoopKind::GPULane:
    case LoopKind::GPUWarp:
    case LoopKind::GPUWarpgroup:
    case LoopKind::Tensorized: return true;
    case LoopKind::Vectorized: return options.vectorized_loops;
    case LoopKind::Unrolled: return options.unrolled_loops;
    }
    return false;
}

void Verifier::check_level(const Stmt &s) const {
    switch (s.kind()) {
    case NodeKind::Store:
    case NodeKind::Allocate:
    case NodeKind::Invoke:
        require(options.level != IRLevel::Funcs, s, "a statement on flat storage comes too early");
        return;
    case NodeKind::Provide:
    case NodeKind::Realize:
    case NodeKind::HoistedStorage:
    case NodeKind::Prefetch:
        require(options.level != IRLevel::Flat, s, "a statement on a Func comes too late");
        return;
    case NodeKind::For: {
        const LoopKind kind = s.as<For>()->loop_kind;
        const char *article = kind == LoopKind::Unrolled ? "an " : "a ";
        require(may_be_left(kind), s, article, name_of(kind), " loop is left");
        return;
    }
    default: return;
    }
}

void Verifier::check_condition(const Expr &condition, const Stmt &where) const {
    bool fits = !condition.defined() || condition.type().is_bool();
    require(fits, where, "a condition that is not bool: ", brief(condition));
}

void Verifier::check_region(const Region &region, const Stmt &where) const {
    for (const Range &r : region) {
        require(r.min.type() == r.extent.type(), where, "a region with a min of type ",
                r.min.type(), " and an extent of type ", r.extent.type());
    }
}

// Requires an int32, or nothing: this operand may be left out.
void Verifier::require_int32(const Expr &e, const Stmt &where, const char *what) const {
    if (!e.defined()) return;
    require(e.type() == Int(32), where, what, " a value of type ", e.type());
}

void Verifier::check_storage(const Realize &r, const Stmt &where) const {
    const StorageFacts &facts = r.storage;
    for (const StorageFold &f : facts.folds) {
        bool fits = !f.is_done || is_zero(r.bounds[size_t(f.dim)].min);
        require(fits, where, "a folded dimension that does not begin at 0");
        require_int32(f.factor, where, "a fold by");
    }
    for (const StoredDimension &s : facts.order) {
        for (const Expr &e : {s.alignment, s.bound}) {
            require_int32(e, where, "an order of storage with");
        }
    }
    require(facts.copies.defined() || !facts.is_copy_shared, where, "one copy that is shared");
    require(!facts.copies.defined() || !r.bounds.empty(), where, "copies without a dimension");
}

void Verifier::check_produced(const ProducerConsumer &p, const Stmt &where) const {
    const std::vector<ProducedRange> &ranges = p.produced.ranges;
    require(p.is_producer || ranges.empty(), where, "what is consumed, with a region");
    for (const ProducedRange &r : ranges) {
        bool is_coordinate = r.min.type() == Int(32) && r.max.type() == Int(32);
        require(is_coordinate, where, "a region from a ", r.min.type(), " to a ", r.max.type());
    }
    const Binding *b = scopes.find(Use::Func, p.func);
    require(!b || ranges.empty() || ranges.size() == b->dimensions, where, "a region of ",
            ranges.size(), " dimensions instead of ", b ? b->dimensions : 0);
}

void Verifier::check_provide(const Provide &p, const Stmt &s) const {
    check_condition(p.predicate, s);
    for (const Expr &arg : p.args) {
        require(arg.type().is_int_or_uint(), s, "an argument of type ", arg.type());
    }
    const Binding *b = bound(Use::Func, p.func, s);
    if (!b) return;
    require(p.args.size() == b->dimensions, s, "there are ", p.args.size(),
            " arguments instead of ", b->dimensions);
    require(p.values.size() == b->types.size(), s, "there are ", p.values.size(),
            " values instead of ", b->types.size());
    for (size_t i = 0; i < p.values.size(); i++) {
        Type type = p.values[i].type().element_of();
        require(type == b->types[i], s, "the Func ", p.func, " holds ", b->types[i],
                ", but is given ", type);
    }
}

void Verifier::check_types(const Stmt &s) const {
    int ignored = 0;
    if (const auto *store = s.as<Store>()) {
        require(is_index(store->index.type()), s, "an index of type ", store->index.type());
        use_buffer(store->buffer, store->value.type(), s, ignored);
    } else if (const auto *provide = s.as<Provide>()) {
        check_provide(*provide, s);
    } else if (const auto *a = s.as<AssertStmt>()) {
        require(a->message.type() == Int(32), s, "an error code of type ", a->message.type());
        require(a->condition.type().is_scalar(), s, "a condition that is a vector");
    } else if (const auto *acquire = s.as<Acquire>()) {
        require(acquire->semaphore.type() == Handle(), s, "the semaphore is no handle");
    } else if (const auto *loop = s.as<For>()) {
        require(loop->min.type() == loop->extent.type(), s, "min and extent differ in type");
    } else if (const auto *allocate = s.as<Allocate>()) {
        check_condition(allocate->condition, s);
    } else if (const auto *realize = s.as<Realize>()) {
        check_condition(realize->condition, s);
        check_region(realize->bounds, s);
        check_storage(*realize, s);
    } else if (const auto *p = s.as<ProducerConsumer>()) {
        check_produced(*p, s);
    } else if (const auto *prefetch = s.as<Prefetch>()) {
        check_region(prefetch->bounds, s);
    } else if (const auto *branch = s.as<IfThenElse>()) {
        require(branch->condition.type().is_scalar(), s, "a condition that is a vector");
    } else if (const auto *op = s.as<MachineOp>()) {
        const std::string fault = is_tensor_operation(op->op)          ? fault_of(*op)
                                  : op->op == MachineOpKind::copy_tile ? fault_of_tile_copy(*op)
                                                                       : "";
        require(fault.empty(), s, fault);
    }
}

}  // namespace

void verify(const Stmt &s, std::string_view pass, const VerifyOptions &options) {
    Verifier(pass, options).check(s);
}

void verify(const Expr &e, std::string_view pass, const VerifyOptions &options) {
    Verifier(pass, options).check(e);
}

void verify(const LoweredFunction &f, std::string_view pass, const VerifyOptions &options) {
    const std::unordered_set<Symbol> none;
    VerifyOptions bound_only = options;
    if (!options.free_symbols) bound_only.free_symbols = &none;
    Verifier(pass, bound_only).check(f);
}

}  // namespace tessera::ir
