#include "lower/nest/build.h"
#include "algebra/cse.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/checks/errors.h"
#include "lower/defined_part.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/facts.h"
#include "lower/nest/insertion_points.h"
#include "lower/nest/prefetch.h"
#include "lower/storage/production_path.h"
#include "program/scatter.h"
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;
using program::Definition;
using program::FunctionContents;

namespace {

struct Built {
    Stmt stmt;
    Callers callers;
};

// Builds from the inside out and from consumers to producers: what a producer has to compute is
// known when everything that reads it has been built.
class NestBuilder {
public:
    explicit NestBuilder(ProgramContext &context)
        : context(context), insertion_points(context), values(context) {
        find_index_sources();
    }

    LoopNests build();

private:
    void find_index_sources();
    void add_region_symbols(const FunctionContents &f);
    void reserve_region_symbols();
    void refuse_second_place(const FunctionContents &f) const;
    std::vector<StageNestRef> make_nests(const FunctionContents &f, int stage,
                                         const StageRegion &region);
    void make_provisional_nests(const FunctionContents &f);
    Built build_production(const FunctionContents &f, const std::vector<StageRegion> &regions);
    Built build_versions(const Definition &general, const std::vector<StageNestRef> &nests,
                         size_t &end);
    Built build_loops(const StageNestRef &nest);
    Built build_innermost(const StageNestRef &nest);
    Built build_call(const StageNestRef &nest);
    Stmt provide(const StageNest &nest);
    void wrap_insertion_point(Built &b, const InsertionPoint &insertion_point,
                              const std::vector<Symbol> &funcs);
    void wrap_answers(Built &b, const RegionInference &regions);
    void wrap_function(Built &b, const InsertionPoint &insertion_point, RegionInference &regions,
                       Symbol func);
    void wrap_tests_and_lets(Built &b, const StageNest &nest, int depth);
    static void wrap_existence(Built &b, const StageNest &nest);
    void wrap_limits(Built &b, const StageNest &nest) const;
    void wrap_prefetches(Built &b, const StageNestRef &nest, int loop);
    void refuse_idle_prefetches() const;
    Stmt wrap_loop(const StageNest &nest, const StageNest::Loop &loop, Stmt body);
    void note_predicated(const StageNestRef &nest);
    void note_insertion_point(const InsertionPoint &insertion_point,
                              const std::vector<Symbol> &funcs);
    Stmt wrap_lets(const std::vector<Binding> &lets, Stmt body);

    ProgramContext &context;
    InsertionPoints insertion_points;
    ValueBounds values;
    BuiltPipeline built;
    Streams streams;  // of the stage that is being built
    // Functions that extern stages ask about before they are built: their regions have symbols
    // already.
    std::unordered_set<Symbol> reserved;

    // Says whether a prefetch finds nothing to fetch in any version of its stage.
    struct IdlePrefetch {
        Location written;
        bool in_all_versions = true;
    };
    using PrefetchKey = std::tuple<Symbol, int, Symbol, Symbol>;  // function, stage, what, at
    std::map<PrefetchKey, IdlePrefetch> idle_prefetches;
};

void NestBuilder::find_index_sources() {
    auto add = [&](const Expr &index) {
        if (!is_bounded_by_values(index)) return;
        for_each_node(index, [&](const Call &c) { built.index_sources.insert(c.callee); });
    };
    for (const program::FunctionRef &f : context.order) {
        for (const program::DefinitionRef &stage : f->stages) {
            for (const Expr &arg : stage->args) add(arg);
            for (const StageCall &call : calls_of(*stage)) {
                for (const Expr &arg : call.args) add(arg);
            }
        }
    }
}

void NestBuilder::reserve_region_symbols() {
    for (const program::FunctionRef &f : context.order) {
        if (!asks_for_fold(*f) || !context.is_read_by_extern(f->name)) continue;
        add_region_symbols(*f);
        reserved.insert(f->name);
    }
}

// The calls of an extern stage use the symbols of an input that is folded before the place is known
// where it is computed: there may be one such place only.
void NestBuilder::refuse_second_place(const FunctionContents &f) const {
    for (const program::StorageDimension &d : f.schedule.storage) {
        if (!d.fold_factor.defined()) continue;
        throw CompileError(
            d.fold_written,
            str("fold_storage(", d.var, ") of ", f.name, ": an extern stage reads ", f.name,
                ", which is computed in several places, such as the versions of a stage "
                "that is specialized; leave fold_storage out"));
    }
}

void NestBuilder::add_region_symbols(const FunctionContents &f) {
    std::vector<RegionSymbols> &regions = built.region_symbols[f.name];
    regions.clear();
    for (size_t s = 0; s < f.stages.size(); s++) {
        RegionSymbols symbols;
        for (Symbol arg : f.args) {
            symbols.min.push_back(Symbol::fresh(str(f.name, ".", arg, ".min")));
            symbols.max.push_back(Symbol::fresh(str(f.name, ".", arg, ".max")));
        }
        regions.push_back(std::move(symbols));
    }
}

// One for each version of the stage, the general one last.
std::vector<StageNestRef> NestBuilder::make_nests(const FunctionContents &f, int stage,
                                                  const StageRegion &region) {
    const Definition &general = *f.stages[size_t(stage)];
    std::vector<const Definition *> versions = versions_of(general);
    std::vector<Expr> conditions = conditions_of(general);
    std::vector<StageNestRef> nests;
    for (size_t i = 0; i < versions.size(); i++) {
        auto nest = std::make_shared<StageNest>(f, stage, *versions[i], region.min, region.max);
        nest->condition = conditions[i];
        nests.push_back(nest);
    }
    return nests;
}

// A function computed in several places has symbols of its own in each.
void NestBuilder::make_provisional_nests(const FunctionContents &f) {
    if (reserved.erase(f.name) == 0) {
        if (asks_for_fold(f) && context.is_read_by_extern(f.name)) refuse_second_place(f);
        add_region_symbols(f);
    }
    std::vector<std::vector<StageNestRef>> &all = built.stages[f.name];
    all.assign(f.stages.size(), {});
    for (size_t s = 0; s < f.stages.size(); s++) {
        StageRegion region;
        for (size_t d = 0; d < f.args.size(); d++) {
            const RegionSymbols &symbols = built.region_symbols.at(f.name)[s];
            region.min.push_back(Variable::make(Int(32), symbols.min[d]));
            region.max.push_back(Variable::make(Int(32), symbols.max[d]));
        }
        all[s] = make_nests(f, int(s), region);
    }
}

// Has what is undefined in part say so outermost, each element of scatter and gather by itself.
std::vector<Expr> separate_undef(std::vector<Expr> values, size_t count, Lets &lets) {
    for (Expr &value : values) {
        if (!has_undef(value)) continue;
        std::vector<Expr> elements;
        for (size_t n = 0; n < count; n++) {
            Expr element = count == 1 ? value : program::element(value, n);
            elements.push_back(defined_or_undef(element, lets));
        }
        Type type = value.type();
        value = count == 1 ? elements[0] : call(type, Intrinsic::gather, std::move(elements));
    }
    return values;
}

Stmt NestBuilder::provide(const StageNest &nest) {
    const std::vector<Expr> args = nest.args(), values = nest.values();
    const size_t count = program::count_of_elements(args, values);
    Lets lets;
    Stmt s = Provide::make(nest.func.name, separate_undef(values, count, lets), args);
    s = with_lets(lets, s);
    // The calls that stand for several values stay where all of them can be replaced.
    if (count == 1) s = algebra::common_subexpression_elimination(s);
    return s;
}

bool reads(const Expr &e, Symbol func) {
    bool found = false;
    for_each_node(e, [&](const Call &call) { found |= call.callee == func; });
    return found;
}

// Returns true if it depends on the function itself whether the update is done: then that is a part
// of the update.
bool tests_read_itself(const StageNest &nest) {
    return std::ranges::any_of(nest.tests, [&](const StageNest::Test &test) {
        return test.innermost && reads(test.condition, nest.func.name);
    });
}

Stmt NestBuilder::wrap_lets(const std::vector<Binding> &lets, Stmt body) {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        built.lets[let->symbol] = let->value;
        body = LetStmt::make(let->symbol, let->value, body);
    }
    return body;
}

void NestBuilder::wrap_tests_and_lets(Built &b, const StageNest &nest, int depth) {
    for (auto test = nest.tests.rbegin(); test != nest.tests.rend(); ++test) {
        if (test->depth == depth && !test->innermost) {
            b.stmt = IfThenElse::make(test->condition, b.stmt);
        }
    }
    for (auto let = nest.lets.rbegin(); let != nest.lets.rend(); ++let) {
        if (let->depth != depth) continue;
        built.lets[let->symbol] = let->value;
        if (let->last.defined()) built.lasts[let->symbol] = let->last;
        b.stmt = LetStmt::make(let->symbol, let->value, b.stmt);
    }
}

Stmt NestBuilder::wrap_loop(const StageNest &nest, const StageNest::Loop &loop, Stmt body) {
    built.loops[loop.symbol] = {loop.min, loop.min + loop.extent - 1};
    return For::make(loop.symbol, loop.min, loop.extent, loop.kind, loop.partition, std::move(body),
                     origin_of(nest, loop), streams);
}

// Asks for what the iterations `offset` later of loop `from` read, or write of the stage's own
// function, before each of loop `at`.
void NestBuilder::wrap_prefetches(Built &b, const StageNestRef &nest, int loop) {
    for (const auto &[prefetch, at, order] : nest->definition.schedule.prefetches) {
        if (nest->find_loop(prefetch.at) != loop) continue;
        bool touches = b.callers.contains(prefetch.what) || prefetch.what == nest->func.name;
        PrefetchKey key{nest->func.name, nest->stage, prefetch.what, prefetch.at};
        auto known = idle_prefetches.try_emplace(key, IdlePrefetch{at}).first;
        known->second.in_all_versions &= !touches;
        if (!touches) continue;
        int from = nest->find_loop(prefetch.from);
        RegionInference regions({nest.get(), from}, b.callers, built, values, context);
        b.stmt = wrap_prefetch(b.stmt, regions, prefetch, nest, nest->loops[size_t(from)], context);
    }
}

// Returns true if what is tested in the innermost loop depends on one of these functions.
bool tests_read(const StageNest &nest, const std::vector<Symbol> &funcs) {
    bool found = false;
    for (const StageNest::Test &test : nest.tests) {
        if (!test.innermost) continue;
        for_each_node(test.condition, [&](const Call &call) {
            found |= std::find(funcs.begin(), funcs.end(), call.callee) != funcs.end();
        });
    }
    return found;
}

void NestBuilder::note_insertion_point(const InsertionPoint &insertion_point,
                                       const std::vector<Symbol> &funcs) {
    const StageNest *nest = insertion_point.owner;
    if (!funcs.empty()) built.innermost_insertion_points.emplace(nest, insertion_point);
    const bool keeps = std::ranges::any_of(funcs, [&](Symbol f) {
        return insertion_points.computes(f, insertion_point) &&
               is_stored_outside(*context.function(f));
    });
    if (keeps) built.innermost_kept.emplace(nest, insertion_point);
}

void NestBuilder::note_predicated(const StageNestRef &nest) {
    if (!nest->definition.predicate.defined()) return;
    for (const program::ReductionVariable &r : nest->definition.reduction) {
        const Expr symbol = nest->in_symbols(Variable::make(Int(32), r.var));
        if (const auto *v = symbol.as<Variable>()) built.predicated[v->name] = {nest, r.var};
    }
}

Built NestBuilder::build_call(const StageNestRef &nest) {
    const FunctionContents &f = nest->func;
    Built b;
    for (const program::ExternFuncArgument &a : f.extern_definition->args) {
        if (a.func) b.callers.add(a.func->name, {nest});
        if (a.buffer) b.callers.add(a.buffer->name, {nest});
    }
    RegionInference regions({nest.get(), 0}, b.callers, built, values, context);
    std::unordered_map<Symbol, Box> folded;
    for (const program::ExternFuncArgument &a : f.extern_definition->args) {
        if (!a.func || !asks_for_fold(*a.func)) continue;
        folded[a.func->name] = regions.ask_for_piece().inputs.at(a.func->name);
    }
    b.stmt = call_extern_stage(f, regions.piece(), folded, context);
    wrap_answers(b, regions);
    return b;
}

Built NestBuilder::build_innermost(const StageNestRef &nest) {
    if (nest->func.has_extern_definition()) return build_call(nest);
    note_predicated(nest);
    Built b{provide(*nest), {}};
    std::vector<Symbol> seen;
    for (const StageCall &call : nest->calls) {
        bool itself = call.callee == nest->func.name;
        if (itself || std::find(seen.begin(), seen.end(), call.callee) != seen.end()) continue;
        seen.push_back(call.callee);
        b.callers.add(call.callee, {nest});
    }
    std::vector<Symbol> own;  // not those that only a reduction reads which is computed here
    for (Symbol f : insertion_points.inlined_reductions()) {
        if (std::find(seen.begin(), seen.end(), f) != seen.end()) own.push_back(f);
    }
    InsertionPoint insertion_point{nest.get(), -1};
    bool tested_first = !tests_read(*nest, own);
    const bool atomic = nest->definition.schedule.atomic, tested_within = tests_read_itself(*nest);
    auto make_atomic = [&] {
        if (atomic) b.stmt = Atomic::make(nest->func.name, {}, b.stmt);
    };
    if (!tested_within) make_atomic();
    if (tested_first) wrap_insertion_point(b, insertion_point, own);
    for (auto test = nest->tests.rbegin(); test != nest->tests.rend(); ++test) {
        if (test->innermost) b.stmt = IfThenElse::make(test->condition, b.stmt);
    }
    if (tested_within) make_atomic();
    if (!tested_first) {
        built.innermost_insertion_points.emplace(nest.get(), insertion_point);
        wrap_insertion_point(b, insertion_point, own);
    }
    return b;
}

Built NestBuilder::build_loops(const StageNestRef &nest) {
    const Streams around = std::exchange(streams, streams_of(*nest, streams, context));
    Built b = build_innermost(nest);
    int depth = int(nest->loops.size());
    for (int i = 0; i < depth; i++) {
        const StageNest::Loop &loop = nest->loops[size_t(i)];
        InsertionPoint insertion_point{nest.get(), i};
        const std::vector<Symbol> funcs =
            insertion_points.at(nest->func.name, nest->stage, loop.var);
        note_insertion_point(insertion_point, funcs);
        wrap_insertion_point(b, insertion_point, funcs);
        if (loop.in_call) continue;
        if (i == nest->loops_in_call()) wrap_existence(b, *nest);
        wrap_prefetches(b, nest, i);
        wrap_tests_and_lets(b, *nest, i);
        b.stmt = wrap_loop(*nest, loop, b.stmt);
    }
    wrap_tests_and_lets(b, *nest, depth);
    wrap_limits(b, *nest);
    streams = around;
    return b;
}

// Calls of an extern stage that compute nothing are left out, with what is computed for them.
void NestBuilder::wrap_existence(Built &b, const StageNest &nest) {
    const Expr exists = nest.piece_exists();
    if (exists.defined() && !is_one(exists)) b.stmt = IfThenElse::make(exists, b.stmt);
}

// Checks that fused loops have no more iterations than an int32 counts. The values that loops over
// pure variables compute fit its storage, and need no check unless that may be large.
void NestBuilder::wrap_limits(Built &b, const StageNest &nest) const {
    const bool storage_is_small = !context.target.has_feature(Target::LargeBuffers);
    for (const StageNest::FusedLoop &loop : nest.fused_loops) {
        if (!loop.of_reduction && storage_is_small) continue;
        const Expr most = IntImm::make(Int(64), INT32_MAX), none = make_zero(Int(64));
        const Expr fits = simplify(loop.iterations <= most);
        if (is_one(fits)) continue;
        const Expr name(str("loop ", loop.var, " of ", nest.func.name));
        const Expr error = error_call("coordinates_too_large", {name, loop.iterations, none, most});
        b.stmt = Block::make(AssertStmt::make(fits, error), b.stmt);
    }
}

// The specializations of a definition, the first whose condition holds, else the definition itself.
// `nests`: those of the stage, of which the ones from `end` on have been built.
Built NestBuilder::build_versions(const Definition &general, const std::vector<StageNestRef> &nests,
                                  size_t &end) {
    const StageNest &nest = *nests[end - 1];
    Built b;
    if (may_run_itself(general)) b = build_loops(nests[--end]);
    const auto &specializations = general.specializations;
    for (auto s = specializations.rbegin(); s != specializations.rend(); ++s) {
        if (!s->definition) {
            std::string stage = nest.func.name.text();
            if (nest.stage > 0) stage += str(".update(", nest.stage - 1, ")");
            b.stmt = AssertStmt::make(const_false(),
                                      error_call_at(s->failure_written, "specialize_fail",
                                                    {Expr(stage), Expr(s->failure_message)}));
            continue;
        }
        Built special = build_versions(*s->definition, nests, end);
        b.stmt = IfThenElse::make(s->condition, special.stmt, b.stmt);
        b.callers.merge(std::move(special.callers));
    }
    return b;
}

Built NestBuilder::build_production(const FunctionContents &f,
                                    const std::vector<StageRegion> &regions) {
    Built all;
    std::vector<Stmt> in_order;
    for (size_t s = 0; s < f.stages.size(); s++) {
        built.stages.at(f.name)[s] = make_nests(f, int(s), regions[s]);
        const std::vector<StageNestRef> nests = built.stages.at(f.name)[s];
        size_t end = nests.size();
        Built b = build_versions(*f.stages[s], nests, end);
        in_order.push_back(b.stmt);
        all.callers.merge(std::move(b.callers));
    }
    all.stmt = Block::make(std::move(in_order));
    all.stmt =
        ProducerConsumer::make(f.name, true, all.stmt, produced_of(f, regions.back(), context));
    return all;
}

void NestBuilder::wrap_function(Built &b, const InsertionPoint &insertion_point,
                                RegionInference &regions, Symbol func) {
    const FunctionContents &f = *context.function(func);
    bool is_output = context.is_output(func);
    if (insertion_points.computes(func, insertion_point) &&
        (is_output || b.callers.contains(func))) {
        make_provisional_nests(f);
        std::vector<StageRegion> computed = regions.bind_computed(func);
        Built production = build_production(f, computed);
        built.regions[func].push_back(std::move(computed));
        if (b.stmt.defined()) {
            b.stmt = Block::make(production.stmt, ProducerConsumer::make(func, false, b.stmt));
        } else {
            b.stmt = production.stmt;
        }
        b.callers.merge(std::move(production.callers));
    }
    if (is_output || !b.callers.contains(func)) return;
    if (insertion_points.stores(func, insertion_point)) {
        ir::Region bounds;
        for (const algebra::Interval &i : regions.touched(func)) {
            bounds.push_back({i.min, simplify(i.max - i.min + 1)});
        }
        b.stmt = Realize::make(func, f.types, f.schedule.memory, bounds, {}, b.stmt,
                               storage_facts(f, context));
    }
    if (insertion_points.hoists(func, insertion_point))
        b.stmt = HoistedStorage::make(func, b.stmt, hoist_facts(f));
}

void NestBuilder::refuse_idle_prefetches() const {
    for (const auto &[key, prefetch] : idle_prefetches) {
        if (!prefetch.in_all_versions) continue;
        const auto &[func, stage, what, at] = key;
        throw CompileError(prefetch.written,
                           str("prefetch of ", func, ": nothing in its loop ", at, " reads ", what,
                               " from memory; prefetch what is read there, or ", func, " itself"));
    }
}

void NestBuilder::wrap_answers(Built &b, const RegionInference &regions) {
    for (auto a = regions.asserts.rbegin(); a != regions.asserts.rend(); ++a) {
        b.stmt = Block::make(*a, b.stmt);
    }
    b.stmt = wrap_lets(regions.lets, b.stmt);
}

// Puts the functions that are computed or stored here around what is there: consumers first, so
// that producers end up outside.
void NestBuilder::wrap_insertion_point(Built &b, const InsertionPoint &insertion_point,
                                       const std::vector<Symbol> &funcs) {
    const bool asks = insertion_point.is_call_of_piece() && is_asked(insertion_point.owner->func);
    if (funcs.empty() && !asks) return;
    RegionInference regions(insertion_point, b.callers, built, values, context);
    if (asks) regions.ask_for_piece();
    for (auto func = funcs.rbegin(); func != funcs.rend(); ++func) {
        wrap_function(b, insertion_point, regions, *func);
    }
    regions.check_answers(
        [&](Symbol input) { return insertion_points.stores(input, insertion_point); });
    wrap_answers(b, regions);
    built.sliding.merge(regions.sliding);
}

LoopNests NestBuilder::build() {
    reserve_region_symbols();
    Built b;
    InsertionPoint root;
    RegionInference regions(root, b.callers, built, values, context);
    for (auto func = context.order.rbegin(); func != context.order.rend(); ++func) {
        wrap_function(b, root, regions, (*func)->name);
    }
    refuse_idle_prefetches();
    LoopNests nests;
    for (const ir::Argument &a : context.arguments) {
        if (a.kind != ArgumentKind::InputBuffer) continue;
        Box box = regions.required(a.name, a.dimensions);
        if (b.callers.contains(a.name)) nests.buffers[a.name] = box;
    }
    for (Symbol output : context.outputs) nests.buffers[output] = regions.touched(output);
    nests.body = b.stmt;
    nests.lets = std::move(regions.lets);
    nests.asserts = std::move(regions.asserts);
    return nests;
}

}  // namespace

LoopNests build_nests(ProgramContext &context) { return NestBuilder(context).build(); }

}  // namespace tessera::lower
