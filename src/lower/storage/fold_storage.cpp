#include "lower/storage/fold_storage.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/checks/errors.h"
#include "lower/nest/extern_stage.h"
#include "lower/storage/folds.h"
#include "lower/traced_access.h"
#include <algorithm>
#include <map>

namespace tessera::lower {

using namespace ir;
using program::FunctionContents;

namespace {

using FoldsOfFuncs = std::unordered_map<Symbol, std::vector<Fold>>;

// Indices of folded dimensions, modulo their factors.
class FoldIndices : public Mutator {
public:
    FoldIndices(const lower::Context &lowering, FoldsOfFuncs folds)
        : lowering(lowering), folds(std::move(folds)) {}

protected:
    using Mutator::visit;
    Expr visit(const Call &call) override {
        Expr mutated = Mutator::visit(call);
        auto found = folds.find(call.callee);
        if (found == folds.end()) return mutated;
        const Call &c = *mutated.as<Call>();
        return c.with<&Call::args>(folded(c.callee, c.args, found->second));
    }
    Stmt visit(const Provide &provide) override {
        Stmt mutated = Mutator::visit(provide);
        auto found = folds.find(provide.func);
        if (found == folds.end()) return mutated;
        const Provide &p = *mutated.as<Provide>();
        return p.with<&Provide::args>(folded(p.func, p.args, found->second));
    }

    const lower::Context &lowering;
    const FoldsOfFuncs folds;

private:
    std::vector<Expr> folded(Symbol func, std::vector<Expr> args,
                             const std::vector<Fold> &of_func) const {
        const bool traced = are_accesses_traced(lowering, func);
        for (const Fold &fold : of_func) {
            Expr &arg = args[fold.dim];
            const Expr index = arg % fold.factor;
            arg = traced ? stored_at(arg, index) : index;
        }
        return args;
    }
};

// The folds of each storage, and what must hold at each production for them.
struct AllFolds {
    std::unordered_map<const Realize *, std::vector<Fold>> folds;
    std::unordered_map<const ProducerConsumer *, std::vector<Fold>> checks;
    // Why a dimension cannot be folded that the user wants to be, by function and dimension.
    std::map<std::pair<Symbol, size_t>, std::string> reasons;
};

// Those that all productions of one storage have in common, as large as any needs them.
void keep_common(std::vector<Fold> &folds, const std::vector<Fold> &more) {
    std::erase_if(folds, [&](Fold &fold) {
        auto other = std::ranges::find(more, fold.dim, &Fold::dim);
        if (other == more.end()) return true;
        const auto a = as_const_int(fold.factor), b = as_const_int(other->factor);
        if (a && b && *b > *a) fold.factor = other->factor;
        return false;
    });
}

// Whether functions in C are given parts of the storage.
bool is_passed_on(const FunctionContents &f, const lower::Context &lowering) {
    return f.has_extern_definition() || lowering.is_read_by_extern(f.name);
}

void note_reasons(AllFolds &all, const Production &p, const std::vector<Fold> &folds,
                  bool is_of_extern) {
    for (size_t d = 0; d < p.func.args.size(); d++) {
        if (std::ranges::find(folds, d, &Fold::dim) != folds.end()) continue;
        std::string reason =
            is_of_extern ? str("an extern stage computes or reads ", p.func.name,
                               ", which is computed in several places; leave fold_storage out")
                         : why_not_folded(p, d);
        all.reasons.try_emplace({p.func.name, d}, std::move(reason));
    }
}

AllFolds find_all(const Stmt &s, const lower::Context &lowering) {
    AllFolds all;
    for_each_production(s, lowering, [&](const Production &p) {
        const bool passed_on = is_passed_on(p.func, lowering);
        const bool may_fold = !passed_on || lowering.regions.at(p.func.name).size() == 1;
        std::vector<Fold> here = may_fold ? find_folds(p) : std::vector<Fold>();
        // Calls may fail where the storage begins anew: that is for the user to ask for.
        if (passed_on) {
            std::erase_if(here, [&](const Fold &fold) { return !asks_for_fold(p.func, fold.dim); });
        }
        if (asks_for_fold(p.func)) note_reasons(all, p, here, !may_fold);
        auto [folds, is_new] = all.folds.try_emplace(&p.storage, here);
        if (!is_new) keep_common(folds->second, here);
        std::erase_if(here, [](const Fold &fold) { return !fold.check.defined(); });
        if (!here.empty()) all.checks.emplace(&p.computed, std::move(here));
    });
    return all;
}

// Those of the functions that have one storage, which are right wherever the function is named.
FoldsOfFuncs folds_everywhere(const AllFolds &all) {
    FoldsOfFuncs once;
    std::unordered_set<Symbol> again;
    for (const auto &[realize, folds] : all.folds) {
        if (!once.try_emplace(realize->func, folds).second) again.insert(realize->func);
    }
    std::erase_if(once,
                  [&](const auto &of) { return of.second.empty() || again.contains(of.first); });
    return once;
}

// Adds before each call of an extern stage that the part of the folded storage which it is given
// does not go beyond the end of the fold.
class CheckParts final : public Mutator {
public:
    // `stage`: what is being produced around the storage; null if it is nothing.
    CheckParts(const FunctionContents &f, const Fold &fold, const lower::Context &lowering,
               const FunctionContents *stage)
        : f(f), fold(fold), lowering(lowering), stage(stage) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        const FunctionContents *outer = stage;
        if (p.is_producer) stage = lowering.function(p.func);
        Stmt s = Mutator::visit(p);
        stage = outer;
        return s;
    }
    Stmt visit(const LetStmt &let) override {
        Stmt s = Mutator::visit(let);
        const Call *first = stage ? first_of_passed_buffer(let.value) : nullptr;
        if (!first || first->callee != f.name || first->value_index != 0) return s;
        const auto *made = let.value.as<IntrinsicCall>();
        const size_t fields = 4 + 3 * fold.dim;  // host, type, bits, dimensions; then of each
        return Block::make(check(made->args[fields], made->args[fields + 1]), s);
    }
    Stmt check(const Expr &min, const Expr &extent) const {
        const Expr place = min % fold.factor;
        auto written = std::ranges::find(f.schedule.storage, f.args[fold.dim],
                                         &program::StorageDimension::var);
        return AssertStmt::make(
            extent <= fold.factor - place,
            error_call_at(written->fold_written, "bad_extern_fold",
                          {Expr(f.name.text()), Expr(stage->extern_definition->function),
                           Expr(int32_t(fold.dim)), min, extent, min - place, fold.factor}));
    }

    const FunctionContents &f;
    const Fold &fold;
    const lower::Context &lowering;
    const FunctionContents *stage;  // what is being produced
};

class FoldAll final : public FoldIndices {
public:
    FoldAll(const lower::Context &lowering, const AllFolds &all)
        : FoldIndices(lowering, folds_everywhere(all)), all(all) {}

private:
    using FoldIndices::visit;
    Stmt visit(const Realize &realize) override {
        Stmt mutated = Mutator::visit(realize);
        const Realize &r = *mutated.as<Realize>();
        const FunctionContents *f = lowering.function(r.func);
        if (!f) return mutated;
        auto found = all.folds.find(&realize);
        const std::vector<Fold> none, &here = found == all.folds.end() ? none : found->second;
        check_requests(*f, here);
        if (here.empty()) return mutated;
        Stmt body = r.body;
        if (!folds.contains(r.func)) body = FoldIndices(lowering, {{r.func, here}})(body);
        ir::Region bounds = r.bounds;
        for (const Fold &fold : here) {
            if (is_passed_on(*f, lowering)) body = CheckParts(*f, fold, lowering, stage)(body);
            bounds[fold.dim] = {0, fold.factor};
        }
        return r.with<&Realize::bounds, &Realize::body>(bounds, body);
    }

    // In each iteration of the loop, before anything is computed.
    Stmt visit(const ProducerConsumer &p) override {
        const FunctionContents *outer = stage;
        if (p.is_producer) stage = lowering.function(p.func);
        Stmt s = Mutator::visit(p);
        stage = outer;
        auto found = all.checks.find(&p);
        if (found == all.checks.end()) return s;
        for (const Fold &fold : found->second) {
            s = Block::make(check_of(*lowering.function(p.func), fold), s);
        }
        return s;
    }

    static Stmt check_of(const FunctionContents &f, const Fold &fold) {
        const Symbol var = f.args[fold.dim];
        auto written = std::ranges::find(f.schedule.storage, var, &program::StorageDimension::var);
        return AssertStmt::make(fold.check,
                                error_call_at(written->fold_written, "fold_factor_too_small",
                                              {Expr(f.name.text()), Expr(var.text()), fold.factor,
                                               Expr(fold.loop.text()), fold.needed}));
    }

    // What the user asked for must have been done.
    void check_requests(const FunctionContents &f, const std::vector<Fold> &done) const {
        for (const auto &[directive, at] : f.schedule.directives) {
            const auto *wanted = std::get_if<program::FoldStorage>(&directive);
            if (!wanted) continue;
            const size_t d = size_t(std::ranges::find(f.args, wanted->var) - f.args.begin());
            if (std::ranges::find(done, d, &Fold::dim) != done.end()) continue;
            auto reason = all.reasons.find({f.name, d});
            throw CompileError(
                at, str("fold_storage(", wanted->var, ") of ", f.name, ": ",
                        reason != all.reasons.end()
                            ? reason->second
                            : str("it is stored where it is computed, all that is needed at once; "
                                  "store it outside of a loop over ",
                                  wanted->var, " (store_root, store_at) and compute it inside")));
        }
    }

    const AllFolds &all;
    const FunctionContents *stage = nullptr;  // what is being produced
};

}  // namespace

Stmt fold_storage(const Stmt &s, const lower::Context &context) {
    const AllFolds all = find_all(s, context);
    return FoldAll(context, all)(s);
}

}  // namespace tessera::lower
