#include "lower/loops/loop_invariants.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operands.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/with_lets.h"
#include <algorithm>
#include <map>

namespace tessera::lower {
namespace {

using namespace ir;

// The depth of an expression is the number of loops around the place where it could be computed.
constexpr int never = 1 << 20;  // it has to stay

class HoistInvariants final : public Mutator {
public:
    explicit HoistInvariants(Dialect dialect) : dialect(dialect) {}

private:
    // Returns true for a call of C that must stay where it is. In Halide's dialect pure ones leave
    // their loops, which may run no iteration, and whatever guards them there.
    bool is_bound_extern(const Expr &e) const {
        const auto *call = e.as<ExternCall>();
        return call && (!call->pure || dialect != Dialect::Halide);
    }
    Stmt visit(const LetStmt &let) override;
    Stmt visit(const For &loop) override;
    Stmt visit(const Store &store) override;
    Stmt visit(const IfThenElse &branch) override;
    Stmt visit(const Allocate &allocate) override;
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const AssertStmt &check) override { return Stmt(&check); }
    Stmt visit(const Atomic &node) override { return Stmt(&node); }
    Stmt visit(const Fork &node) override;

    // Holds what is computed around a loop.
    struct Around {
        Lets lets;
        std::unordered_map<Expr, Symbol, ExprHash, ExprEqual> names;
    };
    class Rewriter;
    Expr hoisted(const Expr &e);

    std::vector<Around> loops;                 // by depth
    std::unordered_map<Symbol, int> bound;     // the depth at which names are bound
    std::unordered_map<Symbol, Expr> aliases;  // of names whose value is computed further out
    int kernels = 0;                           // loops over blocks around what is visited

    const Dialect dialect;
};

// Works on one expression, which stands below `depth` loops.
class HoistInvariants::Rewriter {
public:
    explicit Rewriter(HoistInvariants &pass) : pass(pass) {}

    Expr rewrite(const Expr &e, int depth) {
        if (!e.defined()) return e;
        if (e->use_count() < 2) return rewrite_once(e, depth);
        auto [known, is_new] = rewritten.try_emplace({e.get(), depth, strict});
        if (is_new) known->second = rewrite_once(e, depth);
        return known->second;
    }
    int depth_of(const Expr &e);

private:
    static bool is_worth_it(const Expr &e);
    Expr rewrite_once(const Expr &e, int depth) {
        if (const auto *v = e.as<Variable>()) {
            auto known = pass.aliases.find(v->name);
            return known == pass.aliases.end() ? e : known->second;
        }
        int own = depth_of(e);
        if (own < depth && is_worth_it(e)) return name(rewrite_inside(e, own), own);
        return rewrite_inside(e, depth);
    }
    Expr name(const Expr &value, int depth);
    Expr rewrite_inside(const Expr &e, int depth);
    Expr regrouped_sum(const Expr &e, int depth);
    struct Term {
        Expr value;
        bool minus;
        int depth;
    };
    void add_terms(const Expr &e, bool minus, std::vector<Term> &terms);

    // Rebuilds the operands of a node.
    class Operands final : public Mutator {
    public:
        Operands(Rewriter &rewriter, int depth)
            : Mutator(Mutator::Visits::PerUse), rewriter(rewriter), depth(depth) {}
        Expr of(const Expr &e) {
            top = e.get();
            return (*this)(e);
        }

    private:
#define VISIT(T)                                                                                   \
    Expr visit(const T &node) override {                                                           \
        if (&node != top) return rewriter.rewrite(Expr(&node), depth);                             \
        return Mutator::visit(node);                                                               \
    }
        TESSERA_EXPR_NODES(VISIT)
#undef VISIT
        Rewriter &rewriter;
        int depth;
        const ExprNode *top = nullptr;
    };

    HoistInvariants &pass;
    std::unordered_map<const ExprNode *, int> depths;
    std::map<std::tuple<const ExprNode *, int, bool>, Expr> rewritten;  // shared nodes
    bool strict = false;  // below a strict_float: what is lifted out of it needs one of its own
};

bool is_sum(const Expr &e) {
    bool index = e.type().is_int() && e.type().bits() >= 32 && e.type().is_scalar();
    return index && (e.as<Add>() || e.as<Sub>());
}

int HoistInvariants::Rewriter::depth_of(const Expr &e) {
    auto known = depths.find(e.get());
    if (known != depths.end()) return known->second;
    int depth = 0;
    auto depth_of_symbol = [&](Symbol s) {
        auto at = pass.bound.find(s);
        return at == pass.bound.end() ? 0 : at->second;
    };
    if (const auto *v = e.as<Variable>()) {
        depth = depth_of_symbol(v->name);
    } else if (const auto *property = e.as<BufferProperty>()) {
        depth = depth_of_symbol(property->buffer);
    } else if (const auto *let = e.as<Let>()) {
        pass.bound[let->name] = never;  // its name is known only below it
        depth = never;
    } else if (const auto *c = e.as<IntrinsicCall>();
               (c && !info_of(c->op).pure) || e.as<Load>() || e.as<Call>() ||
               pass.is_bound_extern(e) || (e.type().is_handle() && !e.as<StringImm>())) {
        depth = never;
    } else {
        for_each_operand(e, [&](const Expr &o) { depth = std::max(depth, depth_of(o)); });
    }
    depths[e.get()] = depth;
    return depth;
}

// Not what an instruction has for nothing.
bool HoistInvariants::Rewriter::is_worth_it(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::IntImm:
    case NodeKind::UIntImm:
    case NodeKind::FloatImm:
    case NodeKind::StringImm:
    case NodeKind::Variable:
    case NodeKind::BufferProperty:
    case NodeKind::Broadcast:
    case NodeKind::Ramp: return false;
    case NodeKind::Add: return !is_const(e.as<Add>()->b) || !e.as<Add>()->a.as<Variable>();
    case NodeKind::Sub: return !is_const(e.as<Sub>()->b) || !e.as<Sub>()->a.as<Variable>();
    case NodeKind::Cast: return !e.as<Cast>()->value.as<Variable>() || e.type().is_vector();
    default: return !is_const(e);
    }
}

bool computes_floats(const Expr &e) {
    bool found = e.type().is_float() || e.type().is_bool();
    if (!found) {
        for_each_node(e, [&](const Cast &c) { found |= c.value.type().is_float(); });
        for_each_node(e, [&](const IntrinsicCall &c) {
            for (const Expr &a : c.args) found |= a.type().is_float();
        });
        for_each_node(e, [&](const Select &) { found = true; });
    }
    return found;
}

Expr HoistInvariants::Rewriter::name(const Expr &value, int depth) {
    bool wrap = strict && !is_strict_float(value) && computes_floats(value);
    Expr e = wrap ? call(value.type(), Intrinsic::strict_float, {value}) : value;
    Around &around = pass.loops[size_t(depth)];
    auto [found, is_new] = around.names.try_emplace(e);
    if (is_new) {
        found->second = Symbol::fresh("t");
        around.lets.emplace_back(found->second, e);
        pass.bound[found->second] = depth;
    }
    return Variable::make(e.type(), found->second);
}

Expr HoistInvariants::Rewriter::rewrite_inside(const Expr &e, int depth) {
    bool outer = std::exchange(strict, strict || is_strict_float(e));
    Expr result = is_sum(e) ? regrouped_sum(e, depth) : Operands(*this, depth).of(e);
    strict = outer;
    return result;
}

void HoistInvariants::Rewriter::add_terms(const Expr &e, bool minus, std::vector<Term> &terms) {
    if (const auto *n = e.as<Add>(); n && terms.size() < 64) {
        add_terms(n->a, minus, terms);
        add_terms(n->b, minus, terms);
    } else if (const auto *m = e.as<Sub>(); m && terms.size() < 64) {
        add_terms(m->a, minus, terms);
        add_terms(m->b, !minus, terms);
    } else {
        terms.push_back({e, minus, depth_of(e)});
    }
}

// Adds up first what is known further out.
Expr HoistInvariants::Rewriter::regrouped_sum(const Expr &e, int depth) {
    std::vector<Term> terms;
    add_terms(e, false, terms);
    bool mixed = false;
    for (const Term &t : terms) mixed |= t.depth != terms[0].depth && !is_const(t.value);
    if (!mixed) return Operands(*this, depth).of(e);
    auto before = [](const Term &a, const Term &b) {
        return a.depth != b.depth ? a.depth < b.depth : a.minus < b.minus;
    };
    std::stable_sort(terms.begin(), terms.end(), before);
    // Something to subtract from comes first. In a kernel a constant does not count: the back end
    // sees that what is stored at x - a is loaded from (x + 1) - a - 1, but not if -a is an
    // argument.
    if (pass.kernels > 0) {
        std::ranges::stable_partition(terms, [](const Term &t) { return !is_const(t.value); });
    }
    bool lone = terms[0].minus && terms[1].depth != terms[0].depth;
    if (lone && terms[0].value.as<Variable>()) {
        terms[0].depth = terms[1].depth;
        std::stable_sort(terms.begin(), terms.end(), before);
    }
    Expr sum, constant;
    for (size_t i = 0; i < terms.size(); i++) {
        const Term &t = terms[i];
        Expr &into = is_const(t.value) ? constant : sum;
        if (&into == &sum && sum.defined() && t.depth != terms[i - 1].depth &&
            terms[i - 1].depth < depth && is_worth_it(sum)) {
            sum = name(sum, terms[i - 1].depth);
        }
        Expr value = rewrite(t.value, std::min(depth, std::max(t.depth, 0)));
        if (!into.defined()) {
            into = t.minus ? make_zero(e.type()) - value : value;
        } else {
            into = t.minus ? into - value : into + value;
        }
    }
    if (!constant.defined() || is_zero(constant)) return sum;
    return sum.defined() ? sum + constant : constant;
}

Expr HoistInvariants::hoisted(const Expr &e) {
    if (!e.defined() || loops.empty()) return e;
    return Rewriter(*this).rewrite(e, int(loops.size()));
}

Stmt HoistInvariants::visit(const LetStmt &let) {
    int here = int(loops.size());
    int depth = Rewriter(*this).depth_of(let.value);
    Expr value = hoisted(let.value);
    // A let whose value is known further out is only another name for it. It stays, for statements
    // that are left as they are.
    bool alias = depth < here && value.as<Variable>();
    bound[let.name] = alias ? depth : here;
    if (alias) aliases[let.name] = value;
    Stmt body = (*this)(let.body);
    bound.erase(let.name);
    aliases.erase(let.name);
    return let.with<&LetStmt::value, &LetStmt::body>(value, body);
}

Stmt HoistInvariants::visit(const For &loop) {
    Expr min = hoisted(loop.min), extent = hoisted(loop.extent);
    loops.emplace_back();
    bound[loop.name] = int(loops.size());
    const bool is_kernel = is_over_blocks(loop);
    kernels += is_kernel;
    Stmt body = (*this)(loop.body);
    kernels -= is_kernel;
    bound.erase(loop.name);
    Around around = std::move(loops.back());
    loops.pop_back();
    Stmt s = loop.with<&For::min, &For::extent, &For::body>(min, extent, body);
    for (const auto &let : around.lets) bound.erase(let.first);
    return with_lets(around.lets, s);
}

Stmt HoistInvariants::visit(const Store &store) {
    Expr value = hoisted(store.value), index = hoisted(store.index);
    Expr predicate = hoisted(store.predicate);
    return store.with<&Store::value, &Store::index, &Store::predicate>(value, index, predicate);
}

Stmt HoistInvariants::visit(const IfThenElse &branch) {
    Expr condition = hoisted(branch.condition);
    Stmt then_case = (*this)(branch.then_case), else_case = (*this)(branch.else_case);
    return branch.with<&IfThenElse::condition, &IfThenElse::then_case, &IfThenElse::else_case>(
        condition, then_case, else_case);
}

Stmt HoistInvariants::visit(const Allocate &a) {
    Stmt body = (*this)(a.body);
    return a.with<&Allocate::body>(body);
}

Stmt HoistInvariants::visit(const Fork &node) {
    std::vector<Stmt> parts;
    for (const Stmt &s : node.stmts) parts.push_back((*this)(s));
    return Fork::make(std::move(parts));
}

}  // namespace

Stmt hoist_loop_invariants(const Stmt &s, const Context &context) {
    return HoistInvariants(context.dialect)(s);
}

}  // namespace tessera::lower
