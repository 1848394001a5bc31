#include "lower/storage/fold_storage.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/checks/errors.h"
#include "lower/nest/extern_stage.h"
#include "lower/storage/fold_indices.h"
#include "lower/storage/folds.h"
#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tessera::lower {

using namespace ir;
namespace {

// The folds of each storage, and what must hold at each production for them.
struct AllFolds {
    std::unordered_map<const Realize *, std::vector<Fold>> folds;
    std::unordered_map<const ProducerConsumer *, std::vector<Fold>> checks;
    std::unordered_map<Symbol, int> storages;  // how many there are of each function
    // Says why a dimension cannot be folded that the user wants to be, by function and dimension.
    std::map<std::pair<Symbol, size_t>, std::string> reasons;
    // Those that the pass "fold scans" will look at.
    std::set<std::pair<const Realize *, size_t>> later;
};

// Keeps the folds that all productions of one storage have in common, as large as any needs them.
void keep_common(std::vector<Fold> &folds, const std::vector<Fold> &more) {
    std::erase_if(folds, [&](Fold &fold) {
        auto other = std::ranges::find(more, fold.dim, &Fold::dim);
        if (other == more.end()) return true;
        const auto a = as_const_int(fold.factor), b = as_const_int(other->factor);
        if (a && b && *b > *a) fold.factor = other->factor;
        return false;
    });
}

void note_reasons(AllFolds &all, const Production &p, const std::vector<Fold> &folds,
                  bool is_of_extern) {
    const Symbol func = p.storage.func;
    for (const StorageFold &wanted : p.storage.storage.folds) {
        const auto d = size_t(wanted.dim);
        if (wanted.is_done || std::ranges::find(folds, d, &Fold::dim) != folds.end()) continue;
        std::string reason =
            is_of_extern ? str("an extern stage computes or reads ", func,
                               ", which is computed in several places; leave fold_storage out")
                         : why_not_folded(p, d);
        all.reasons.try_emplace({func, d}, std::move(reason));
    }
}

// Counts how often functions are stored and computed.
class CountPlaces final : public Visitor {
public:
    explicit CountPlaces(const Stmt &s) { (*this)(s); }
    std::unordered_map<Symbol, int> storages, productions;
    std::unordered_map<const Realize *, int> productions_into;

private:
    void visit(const Realize &r) override {
        storages[r.func]++;
        const Realize *outer = std::exchange(around[r.func], &r);
        (*this)(r.body);
        around[r.func] = outer;
    }
    void visit(const ProducerConsumer &p) override {
        if (p.is_producer) {
            productions[p.func]++;
            productions_into[around[p.func]]++;
        }
        (*this)(p.body);
    }
    void visit(const LetStmt &let) override { (*this)(let.body); }
    void visit(const For &loop) override { (*this)(loop.body); }
    void visit(const Provide &) override {}
    void visit(const Evaluate &) override {}
    void visit(const AssertStmt &) override {}

    std::unordered_map<Symbol, const Realize *> around;
};

bool is_done(const StorageFacts &storage, size_t dim) {
    const StorageFold *fold = fold_of(storage, dim);
    return fold && fold->is_done;
}

AllFolds find_all(const Stmt &s) {
    AllFolds all;
    CountPlaces count(s);
    for_each_production(s, [&](const Production &p) {
        const StorageFacts &storage = p.storage.storage;
        const bool passed_on = storage.is_passed;
        const bool may_fold = !passed_on || count.productions.at(p.storage.func) == 1;
        std::vector<Fold> here = may_fold ? find_folds(p) : std::vector<Fold>();
        // Calls may fail where the storage begins anew: that is for the user to ask for.
        if (passed_on) {
            std::erase_if(here, [&](const Fold &fold) { return !fold_of(storage, fold.dim); });
        }
        std::erase_if(here, [&](const Fold &fold) { return is_done(storage, fold.dim); });
        if (asks_for_fold(storage)) note_reasons(all, p, here, !may_fold);
        for (size_t d = 0; d < p.dimensions(); d++) {
            if (!passed_on && goes_on_from_its_beginning(p, d)) all.later.emplace(&p.storage, d);
        }
        auto [folds, is_new] = all.folds.try_emplace(&p.storage, here);
        if (!is_new) keep_common(folds->second, here);
        std::erase_if(here, [](const Fold &fold) { return !fold.check.defined(); });
        if (!here.empty()) all.checks.emplace(&p.computed, std::move(here));
        count.productions_into.at(&p.storage)--;
    });
    // Nothing is known of the others.
    std::erase_if(all.folds, [&](const auto &of) { return count.productions_into[of.first] > 0; });
    all.storages = std::move(count.storages);
    return all;
}

// Returns the folds of functions that have one storage, which are right wherever the function is
// named.
FoldedFuncs folds_everywhere(const AllFolds &all) {
    FoldedFuncs once;
    for (const auto &[realize, folds] : all.folds) {
        const bool is_only = all.storages.at(realize->func) == 1;
        if (is_only && !folds.empty())
            once[realize->func] = {folds, realize->storage.traced.accesses()};
    }
    return once;
}

// Adds before each call of an extern stage that the part of the folded storage which it is given
// does not go beyond the end of the fold.
class CheckParts final : public Mutator {
public:
    // `stage`: what is being produced around the storage; null if it is nothing.
    CheckParts(Symbol func, const Fold &fold, const ProducerConsumer *stage)
        : func(func), fold(fold), stage(stage) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        const ProducerConsumer *outer = stage;
        if (p.is_producer) stage = &p;
        Stmt s = Mutator::visit(p);
        stage = outer;
        return s;
    }
    Stmt visit(const LetStmt &let) override {
        Stmt s = Mutator::visit(let);
        const Call *first = stage ? first_of_passed_buffer(let.value) : nullptr;
        if (!first || first->callee != func || first->value_index != 0) return s;
        const auto *made = let.value.as<IntrinsicCall>();
        const size_t fields = 4 + 3 * fold.dim;  // host, type, bits, dimensions; then of each
        return Block::make(check(made->args[fields], made->args[fields + 1]), s);
    }
    Stmt check(const Expr &min, const Expr &extent) const {
        const Expr place = min % fold.factor;
        return AssertStmt::make(
            extent <= fold.factor - place,
            error_call_at(fold.written, "bad_extern_fold",
                          {Expr(func.text()), Expr(stage->produced.extern_function),
                           Expr(int32_t(fold.dim)), min, extent, min - place, fold.factor}));
    }

    Symbol func;
    const Fold &fold;
    const ProducerConsumer *stage;  // what is being produced
};

class FoldAll final : public FoldIndices {
public:
    explicit FoldAll(const AllFolds &all) : FoldIndices(folds_everywhere(all)), all(all) {}

private:
    using FoldIndices::visit;
    Stmt visit(const Realize &realize) override {
        Stmt mutated = Mutator::visit(realize);
        const Realize &r = *mutated.as<Realize>();
        auto found = all.folds.find(&realize);
        const std::vector<Fold> none, &here = found == all.folds.end() ? none : found->second;
        check_requests(realize, here);
        if (here.empty()) return mutated;
        Stmt body = r.body;
        StorageFacts storage = r.storage;
        if (!folded_funcs.contains(r.func)) {
            body = FoldIndices({{r.func, {here, storage.traced.accesses()}}})(body);
        }
        ir::Region bounds = r.bounds;
        for (const Fold &fold : here) {
            if (storage.is_passed) body = CheckParts(r.func, fold, stage)(body);
            bounds[fold.dim] = {0, fold.factor};
        }
        storage.folds = with_folds_done(here, r.storage);
        return r.with<&Realize::bounds, &Realize::body, &Realize::storage>(bounds, body, storage);
    }

    // In each iteration of the loop, before anything is computed.
    Stmt visit(const ProducerConsumer &p) override {
        const ProducerConsumer *outer = stage;
        if (p.is_producer) stage = &p;
        Stmt s = Mutator::visit(p);
        stage = outer;
        auto found = all.checks.find(&p);
        if (found == all.checks.end()) return s;
        for (const Fold &fold : found->second) s = Block::make(check_of(p.func, fold), s);
        return s;
    }

    static Stmt check_of(Symbol func, const Fold &fold) {
        return AssertStmt::make(fold.check,
                                error_call_at(fold.written, "fold_factor_too_small",
                                              {Expr(func.text()), Expr(fold.var.text()),
                                               fold.factor, Expr(fold.loop.text()), fold.needed}));
    }

    // The user's fold must have been done.
    void check_requests(const Realize &r, const std::vector<Fold> &done) const {
        for (const StorageFold &wanted : r.storage.folds) {
            const auto d = size_t(wanted.dim);
            if (wanted.is_done || std::ranges::find(done, d, &Fold::dim) != done.end()) continue;
            if (all.later.contains({&r, d})) continue;
            auto reason = all.reasons.find({r.func, d});
            throw CompileError(
                wanted.written,
                str("fold_storage(", wanted.var, ") of ", r.func, ": ",
                    reason != all.reasons.end()
                        ? reason->second
                        : str("it is stored where it is computed, all that is needed at once; "
                              "store it outside of a loop over ",
                              wanted.var, " (store_root, store_at) and compute it inside")));
        }
    }

    const AllFolds &all;
    const ProducerConsumer *stage = nullptr;  // what is being produced
};

}  // namespace

Stmt fold_storage(const Stmt &s, const lower::Context &) {
    const AllFolds all = find_all(s);
    return FoldAll(all)(s);
}

}  // namespace tessera::lower
