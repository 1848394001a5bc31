#include "lower/gpu/add_in_place.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/tile_nest.h"
#include <algorithm>
#include <optional>

namespace tessera::lower {

using namespace ir;

namespace {

bool is_tensorized(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::Tensorized; });
    return any;
}

bool has_conditions(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const IfThenElse &) { any = true; });
    for_each_node(s, [&](const Provide &p) { any |= p.predicate.defined(); });
    return any;
}

Substitution lets_of(const Stmt &s) {
    Substitution lets;
    for_each_node(s, [&](const LetStmt &let) { lets[let.name] = substitute(lets, let.value); });
    return lets;
}

const Call *element_of(const Expr &e, Symbol func) {
    const auto *c = e.as<Call>();
    return c && c->callee == func ? c : nullptr;
}

// Says how products are summed, and what the sums are added to.
struct SumOfProducts {
    Stmt update;                  // the nest that instructions do, with lets around
    const For *adds = nullptr;    // the nest that adds the sums
    const Provide *to = nullptr;  // its stage
    const Call *sum = nullptr;    // in the stage
    Expr before;                  // what they are added to
};

// Finds the parts of the body of a Tile's storage.
class FindSums final : public Visitor {
public:
    FindSums(const Realize &realize, const Tiles &tiles) : func(realize.func), tiles(tiles) {
        (*this)(realize.body);
    }
    std::optional<SumOfProducts> found() const {
        if (is_other || productions != 1 || uses != 1 || !sums.update.defined() || !sums.adds)
            return std::nullopt;
        return sums;
    }

private:
    void visit(const ProducerConsumer &p) override {
        if (!p.is_producer || p.func != func) return Visitor::visit(p);
        productions++;
        read_production(p.body);
    }
    // One nest stores zeros, and a second one has instructions add to them.
    void read_production(const Stmt &body) {
        if (const auto *let = body.as<LetStmt>()) {
            read_production(let->body);
            if (sums.update.defined()) sums.update = let->with<&LetStmt::body>(sums.update);
            return;
        }
        const auto *block = body.as<Block>();
        bool fits = block && block->stmts.size() == 2 && !is_tensorized(block->stmts[0]) &&
                    is_tensorized(block->stmts[1]);
        if (fits) {
            for_each_node(block->stmts[0], [&](const Provide &p) {
                fits &= p.func == func && is_zero(p.values[0]);
            });
            for_each_node(block->stmts[1], [&](const Provide &p) { fits &= p.func == func; });
        }
        if (fits) sums.update = block->stmts[1];
    }
    void visit(const For &loop) override {
        const bool is_outermost = is_over_warps(loop) && !nest;
        if (is_outermost) nest = &loop;
        Visitor::visit(loop);
        if (is_outermost) nest = nullptr;
    }
    void visit(const Call &c) override {
        Visitor::visit(c);
        uses += c.callee == func;
    }
    void visit(const Provide &p) override {
        const int before = uses;
        Visitor::visit(p);
        if (uses == before) return;
        const auto *add = p.values.size() == 1 ? p.values[0].as<Add>() : nullptr;
        const Call *a = add ? element_of(add->a, func) : nullptr,
                   *b = add ? element_of(add->b, func) : nullptr;
        is_other |= !nest || !tiles.contains(p.func) || (!a && !b) || is_tensorized(Stmt(nest)) ||
                    has_conditions(Stmt(nest));
        if (is_other) return;
        sums.adds = nest;
        sums.to = &p;
        sums.sum = a ? a : b;
        sums.before = a ? add->b : add->a;
    }

    const Symbol func;
    const Tiles &tiles;
    const For *nest = nullptr;  // around
    SumOfProducts sums;
    int productions = 0, uses = 0;
    bool is_other = false;
};

// The nest of instructions adds to the elements of another Func.
class AddTo final : public Mutator {
public:
    AddTo(Symbol sum, const SumOfProducts &sums)
        : sum(sum), sums(sums), lets(lets_of(Stmt(sums.adds))) {
        for (const Expr &arg : sums.to->args) element.push_back(substitute(lets, arg));
        for (const Expr &arg : sums.sum->args) of_sum.push_back(substitute(lets, arg));
    }

private:
    Expr visit(const Call &c) override {
        if (c.callee != sum) return Mutator::visit(c);
        return Call::make(c.type, sums.to->func, CallKind::Func, 0, moved(c.args));
    }
    Stmt visit(const Provide &p) override {
        return Provide::make(sums.to->func, {(*this)(p.values[0])}, moved(p.args));
    }
    // A coordinate of the sums that is the same as one of the other Func stays it.
    std::vector<Expr> moved(const std::vector<Expr> &args) const {
        std::vector<Expr> all = element;
        for (Expr &coordinate : all) {
            const auto same =
                std::ranges::find_if(of_sum, [&](const Expr &of) { return equal(of, coordinate); });
            if (same != of_sum.end()) coordinate = args[size_t(same - of_sum.begin())];
        }
        return all;
    }

    const Symbol sum;
    const SumOfProducts &sums;
    const Substitution lets;
    std::vector<Expr> element, of_sum;  // in terms of the loops of the nest that adds
};

// Puts the instructions behind the nest that makes what they add to, and takes the sums out.
class PlaceProducts final : public Mutator {
public:
    PlaceProducts(Symbol sum, const SumOfProducts &sums) : sum(sum), sums(sums) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != sum) return Mutator::visit(p);
        return p.is_producer ? no_op() : (*this)(p.body);
    }
    Stmt visit(const For &loop) override {
        if (&loop != sums.adds) return Mutator::visit(loop);
        const Stmt product = AddTo(sum, sums)(sums.update);
        const Call *before = element_of(sums.before, sums.to->func);
        bool is_itself = before;
        for (size_t d = 0; is_itself && d < before->args.size(); d++)
            is_itself = equal(before->args[d], sums.to->args[d]);
        if (is_itself) return product;
        return Block::make(Mutator::visit(loop), product);
    }
    Stmt visit(const Provide &p) override {
        if (&p != sums.to) return Mutator::visit(p);
        return Provide::make(p.func, {sums.before}, p.args);
    }

    const Symbol sum;
    const SumOfProducts &sums;
};

class AddInPlace final : public Mutator {
    Stmt visit(const Realize &r) override {
        if (r.memory != MemoryType::Tile) return Mutator::visit(r);
        tiles[r.func] = {.storage = &r};
        Stmt s = Mutator::visit(r);
        tiles.erase(r.func);
        const auto &realize = *s.as<Realize>();
        const auto sums = FindSums(realize, tiles).found();
        if (!sums || !are_apart(*sums)) return s;
        return PlaceProducts(r.func, *sums)(realize.body);
    }
    // Returns true if no loop of the nest that adds has to stand around the instructions, because
    // each coordinate of what they add to is one of the sums, or is known outside.
    static bool are_apart(const SumOfProducts &sums) {
        const Substitution lets = lets_of(Stmt(sums.adds));
        const auto is_known = [&](const Expr &coordinate) {
            bool known = true;
            for_each_node(Stmt(sums.adds),
                          [&](const For &loop) { known &= !uses_symbol(coordinate, loop.name); });
            return known || std::ranges::any_of(sums.sum->args, [&](const Expr &of) {
                       return equal(substitute(lets, of), coordinate);
                   });
        };
        return std::ranges::all_of(
            sums.to->args, [&](const Expr &arg) { return is_known(substitute(lets, arg)); });
    }
    Tiles tiles;  // around
};

}  // namespace

Stmt add_in_place(const Stmt &s, const lower::Context &) {
    return is_tensorized(s) ? AddInPlace()(s) : s;
}

}  // namespace tessera::lower
