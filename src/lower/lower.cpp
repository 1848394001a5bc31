#include "lower/lower.h"
#include "algebra/cse.h"
#include "algebra/simplify.h"
#include "base/large_stack.h"
#include "ir/mutator.h"
#include "ir/verifier.h"
#include "ir/visitor.h"
#include "lower/checks/entry_checks.h"
#include "lower/checks/touched_ranges.h"
#include "lower/cpu/tensorize_cpu.h"
#include "lower/finish/align_accesses.h"
#include "lower/finish/inject_profiling.h"
#include "lower/finish/inject_tracing.h"
#include "lower/finish/lower_atomics.h"
#include "lower/finish/lower_intrinsics.h"
#include "lower/finish/lower_prefetch.h"
#include "lower/finish/lower_undef.h"
#include "lower/finish/order_min_max.h"
#include "lower/finish/outline_bodies.h"
#include "lower/finish/saturate_casts.h"
#include "lower/finish/select_accesses.h"
#include "lower/finish/unpack_buffers.h"
#include "lower/gpu/add_in_place.h"
#include "lower/gpu/align_vectors.h"
#include "lower/gpu/canonical_kernels.h"
#include "lower/gpu/check_block_memory.h"
#include "lower/gpu/check_gpu_loops.h"
#include "lower/gpu/cluster_blocks.h"
#include "lower/gpu/constant_extents.h"
#include "lower/gpu/constants_of_lets.h"
#include "lower/gpu/device_copies.h"
#include "lower/gpu/lane_reductions.h"
#include "lower/gpu/order_blocks.h"
#include "lower/gpu/outline_kernels.h"
#include "lower/gpu/pad_shared.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/gpu/split_grids.h"
#include "lower/gpu/stripe_lanes.h"
#include "lower/gpu/tensor_tiles.h"
#include "lower/gpu/unit_dimensions.h"
#include "lower/gpu/widen_quads.h"
#include "lower/loops/adjacent_gathers.h"
#include "lower/loops/interleave.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_invariants.h"
#include "lower/loops/partition_loops.h"
#include "lower/loops/promote_accumulators.h"
#include "lower/loops/split_sums.h"
#include "lower/loops/trim_no_ops.h"
#include "lower/loops/unroll_loops.h"
#include "lower/loops/vectorize_loops.h"
#include "lower/nest/build.h"
#include "lower/nest/skip_stages.h"
#include "lower/nest/stage.h"
#include "lower/prepare/copy_stages.h"
#include "lower/prepare/drop_needless.h"
#include "lower/prepare/inline_functions.h"
#include "lower/prepare/separate_reductions.h"
#include "lower/prepare/strict_coordinates.h"
#include "lower/prepare/strict_floats.h"
#include "lower/prepare/validate_schedules.h"
#include "lower/prepare/validate_undef.h"
#include "lower/program_context.h"
#include "lower/storage/bound_small_allocations.h"
#include "lower/storage/flatten_storage.h"
#include "lower/storage/fold_scans.h"
#include "lower/storage/fold_storage.h"
#include "lower/storage/fork_async.h"
#include "lower/storage/free_early.h"
#include "lower/storage/hoist_storage.h"
#include "lower/storage/mark_streaming.h"
#include "lower/storage/ring_buffer.h"
#include "lower/storage/sliding_window.h"
#include "lower/storage/trim_conditions.h"
#include "lower/traced_access.h"
#include "program/environment.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using program::FunctionRef;
using program::ParameterRef;

namespace {

Stmt simplify_stmt(const Stmt &s, const Context &) { return algebra::simplify(s); }

// Loops stay, also those of one iteration. An extent that is known by the lets around is a number.
class SimplifyBounds final : public Mutator {
    Stmt visit(const Realize &realize) override {
        Region bounds;
        for (const Range &r : realize.bounds)
            bounds.emplace_back(algebra::simplify(r.min), simplified(r.extent));
        return realize.with<&Realize::bounds, &Realize::body>(bounds, (*this)(realize.body));
    }
    Stmt visit(const LetStmt &let) override {
        return let.with<&LetStmt::body>(scope.within(let, [&] { return (*this)(let.body); }));
    }
    Stmt visit(const For &loop) override {
        return loop.with<&For::extent, &For::body>(simplified(loop.extent), (*this)(loop.body));
    }
    Expr simplified(const Expr &extent) const {
        const Expr simple = algebra::simplify(extent);
        if (is_const(simple)) return simple;
        const Expr known = algebra::simplify(remove_likely(scope.expand(extent)));
        return is_const(known) ? known : simple;
    }
    LetScope scope;  // of lets: where a loop of one iteration ends, a copy fills a box with zeros
};

bool has_tensor_instructions(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::Tensorized; });
    return any;
}

// Gives what is copied ahead in kernels constant extents. Tensor instructions are asked for by
// loops, of which those of one iteration count as well.
Stmt simplify_kernels(const Stmt &s, const Context &context) {
    if (!context.target.has_gpu_feature()) return s;
    if (has_tensor_instructions(s)) return SimplifyBounds()(s);
    return constant_extents_of_copies_ahead(algebra::simplify(s));
}

Stmt share_subexpressions(const Stmt &s, const Context &) {
    return algebra::common_subexpression_elimination(s);
}

constexpr Pass all_passes[] = {
    // to conceptual
    {"check gpu loops", check_gpu_loops},
    {"trim conditions", trim_conditions},  // before sliding, which is for what is always computed
    {"fold storage", fold_storage},        // before sliding: regions still say all that is read
    {"sliding window", sliding_window},
    {"fold scans", fold_scans},  // after sliding: what an iteration computes is only what is new
    {"simplify kernels", simplify_kernels},
    {"hoist rings", hoist_rings},
    {"ring buffers", add_ring_buffers},
    {"skip stages", skip_stages},  // after sliding: what a stage reads is final
    {"order blocks", order_blocks},
    {"drop unit dimensions", drop_unit_dimensions},
    {"add in place", add_in_place},  // before sums are split: it looks for one nest
    {"split sums", split_sums},
    {"tensorize cpu", tensorize_cpu},  // before sharing, which is for the Tiles of warps
    {"share tiles", share_tiles},
    {"pipeline copies", pipeline_copies},  // after sharing: the threads are there
    {"fork async", fork_async},  // after folding, which decides whether threads take turns
    {"inject tracing", inject_tracing},
    {"lower prefetch", lower_prefetch},  // its strides are flattened storage's
    {"simplify regions", simplify_stmt},
    {"constant extents in kernels", constant_extents_in_kernels},
    {"pad shared", pad_shared},                      // extents are numbers, and vectors still loops
    {"promote accumulators", promote_accumulators},  // while elements have coordinates
    // to flat
    {"flatten storage", flatten_storage},
    {"hoist storage", hoist_storage},
    {"lower undef", lower_undef},
    {"assign mutexes", assign_mutexes},  // before vectorizing: what needs one stays scalar
    {"mark streaming", mark_streaming},  // while the stages' loops are there
    {"lower intrinsics", lower_intrinsics},
    {"unpack buffers", unpack_buffers},
    {"simplify indices", simplify_stmt},  // gives loops constant extents
    // to lowered
    {"vectorize loops", vectorize_loops},  // before unrolling: one body, not many
    {"remove needless atomics", remove_needless_atomics},
    {"unroll loops", unroll_loops},
    {"simplify vectors", simplify_stmt},
    {"widen quads", widen_quads},
    {"interleave", interleave},
    {"cluster blocks", cluster_blocks},  // the loops over threads are one kernel's from here on
    {"reduce lanes", reduce_lanes},
    {"stripe lanes", stripe_lanes},  // while loops over lanes are there
    {"canonical kernels", canonical_kernels},
    {"partition loops", partition_loops},
    {"remove likely", remove_likely},
    {"simplify loops", simplify_stmt},  // what partitioning made certain folds
    {"trim no-ops", trim_no_ops},
    {"bound small allocations", bound_small_allocations},
    {"saturate casts", saturate_casts},    // before what is known of operands gets names
    {"order min and max", order_min_max},  // after what makes more of them
    {"align accesses", align_accesses},    // before parts of indices have names
    {"align vectors", align_vectors},      // before parts of indices have names
    {"merge adjacent gathers", merge_adjacent_gathers},  // before parts of indices have names
    {"hoist loop invariants", hoist_loop_invariants},
    {"take constants out of lets", take_constants_out_of_lets},
    {"free early", free_early},
    {"check block memory", check_block_memory},    // it is as large as it will be
    {"place device copies", place_device_copies},  // after frees: they are no uses
    {"inject profiling", inject_profiling},
    {"split grids", split_grids},  // after copies and profiling, which see one kernel
    {"share subexpressions", share_subexpressions},
    {"simplify", simplify_stmt},
};

constexpr ModulePass all_module_passes[] = {
    {"outline kernels", [](const Module &m, const Target &) { return outline_kernels(m); }},
    {"outline bodies", [](const Module &m, const Target &) { return outline_bodies(m); }},
    {"select accesses", select_accesses},
};

// The first pass of each stage.
template<typename Run>
constexpr size_t place_of(Run run) {
    const auto runs = [&](const Pass &pass) { return pass.runs(run); };
    return size_t(std::ranges::find_if(all_passes, runs) - std::begin(all_passes));
}
constexpr size_t first_to_flat = place_of(flatten_storage),
                 first_to_lowered = place_of(vectorize_loops);

using TracedImages = std::unordered_map<Symbol, program::Trace>;

void add_argument(ProgramContext &context, const ParameterRef &p, const TracedImages &images) {
    ArgumentKind kind = p->is_buffer ? ArgumentKind::InputBuffer : ArgumentKind::Scalar;
    ir::Argument a{p->name, kind, p->type, p->dimensions, p};
    auto found = images.find(p->name);
    if (p->is_buffer) {
        const program::Trace trace = found == images.end() ? program::Trace() : found->second;
        a.traced = traced_of({.loads = trace.loads, .tag = trace.tag}, context.target);
        a.traced.stores = a.traced.realizations = false;
    }
    context.arguments.push_back(std::move(a));
}

// A function that is an image, element by element, is traced as that image.
TracedImages find_traced_images(const program::Environment &env) {
    TracedImages traced;
    for (const FunctionRef &f : env.order) {
        const program::Trace &t = f->schedule.trace;
        if (f->stages.size() != 1 || f->types.size() != 1 || f->has_extern_definition()) continue;
        const auto *image = f->stages[0]->values[0].as<Call>();
        bool is_image = image && image->call_kind == CallKind::Image;
        if (is_image && (t.loads || !t.tag.empty())) traced[image->callee] = t;
    }
    return traced;
}

// One flat buffer per value; that of an only value has the function's own name, unless the program
// has another one for it.
void add_buffers(ProgramContext &context, const FunctionRef &f, const std::string &name) {
    std::vector<Symbol> &buffers = context.buffers[f->name];
    for (size_t k = 0; k < f->types.size(); k++) {
        if (f->types.size() > 1) {
            buffers.push_back(Symbol::fresh(str(name, ".", k)));
        } else {
            buffers.push_back(name == f->name.text() ? f->name : Symbol::fresh(name));
        }
    }
}

// Returns the names of each function's buffers.
std::unordered_map<Symbol, std::string> buffer_names(const program::ProgramCopy &copy) {
    std::unordered_map<Symbol, std::string> names;
    for (const FunctionRef &f : copy.environment.order) names[f->name] = f->name.text();
    const std::vector<std::string> &wanted = copy.program.output_names;
    for (size_t i = 0; i < wanted.size(); i++) names[copy.program.outputs[i]->name] = wanted[i];
    return names;
}

// Returns what the user said of the buffer of an output: its constraints, and the estimates of the
// function, unless the buffer has its own.
Ref<Referent> described_output(const program::FunctionContents &f, size_t k) {
    ParameterRef given = k < f.output_buffers.size() ? f.output_buffers[k] : ParameterRef();
    if (f.schedule.estimates.empty()) return given;
    Symbol name = given ? given->name : Symbol::fresh(f.name.text());
    ParameterRef described = program::make_buffer_parameter(name, f.types[k], f.dimensions());
    if (given) {
        described->constraints = given->constraints;
        described->host_alignment = given->host_alignment;
    }
    for (const program::EstimateDirective &e : f.schedule.estimates) {
        size_t d = size_t(std::ranges::find(f.args, e.var) - f.args.begin());
        if (d >= described->constraints.size()) continue;
        program::DimensionConstraint &c = described->constraints[d];
        if (!c.min_estimate.defined()) c.min_estimate = e.min;
        if (!c.extent_estimate.defined()) c.extent_estimate = e.extent;
    }
    return described;
}

// Returns true if some elements of value k are left as the caller of the pipeline has them.
bool keeps_old_values(const program::FunctionContents &f, size_t k) {
    if (f.has_extern_definition()) return true;
    const auto is_undefined = [k](const program::Definition *version) {
        bool any = false;
        ir::for_each_node(version->values[k],
                          [&](const ir::IntrinsicCall &c) { any |= c.op == Intrinsic::undef; });
        return any;
    };
    return std::ranges::any_of(versions_of(*f.stages[0]), is_undefined);
}

void add_output(ProgramContext &context, const FunctionRef &f) {
    context.outputs.push_back(f->name);
    for (size_t k = 0; k < f->types.size(); k++) {
        Ref<Referent> buffer = described_output(*f, k);
        context.arguments.push_back({context.buffer_of(f->name, int(k)), ArgumentKind::OutputBuffer,
                                     f->types[k], f->dimensions(), buffer, f->name, int(k),
                                     traced_of(f->schedule.trace, context.target)});
        if (keeps_old_values(*f, k))
            context.kept_outputs.insert(context.buffer_of(f->name, int(k)));
    }
}

ProgramContext make_context(const program::ProgramCopy &copy,
                            const std::vector<ParameterRef> &parameters, const TracedImages &images,
                            const Target &target, const LowerOptions &options) {
    ProgramContext context;
    context.target = target;
    context.dialect = copy.program.dialect;
    if (copy.program.trace_pipeline) context.target.set_feature(Target::TracePipeline);
    context.order = copy.environment.order;
    context.functions = copy.environment.functions;
    context.trace = options.trace;
    context.verify = options.verify;
    context.permit_failed_unroll = options.permit_failed_unroll;
    for (const ParameterRef &p : parameters) add_argument(context, p, images);
    auto names = buffer_names(copy);
    for (const FunctionRef &f : context.order) add_buffers(context, f, names[f->name]);
    for (const FunctionRef &f : copy.program.outputs) add_output(context, f);
    return context;
}

// The size of an output's buffer, which the user may have set, is that of the argument.
class OutputProperties final : public Mutator {
public:
    explicit OutputProperties(const ProgramContext &context) {
        for (const ir::Argument &a : context.arguments) {
            const auto *p = dynamic_cast<const program::Parameter *>(a.referent.get());
            if (p && a.kind == ArgumentKind::OutputBuffer) arguments[p->name] = a.name;
        }
    }

private:
    Expr visit(const BufferProperty &p) override {
        auto found = arguments.find(p.buffer);
        if (found == arguments.end()) return Expr(&p);
        return BufferProperty::make(found->second, p.field, p.dim);
    }
    std::unordered_map<Symbol, Symbol> arguments;
};

// Notes what a statement may still hold after this pass and those before it.
void note_progress(VerifyOptions &rules, const Pass &pass) {
    if (pass.runs(flatten_storage)) rules.level = IRLevel::Any;
    if (pass.runs(hoist_storage)) rules.level = IRLevel::Flat;
    if (pass.runs(vectorize_loops)) rules.vectorized_loops = false;
    if (pass.runs(unroll_loops)) rules.unrolled_loops = false;
}

void after_pass(std::string_view name, const LoweredFunction &f, const Context &context,
                VerifyOptions rules) {
    if (context.trace) context.trace(name, f.body);
    if (!context.verify) return;
    std::unordered_set<Symbol> free_symbols;
    for (const ir::Argument &a : f.args) {
        free_symbols.insert(a.name);
        if (a.func.defined()) free_symbols.insert(a.func);
    }
    // Extern stages and prefetches read the buffers of functions.
    for_each_node(f.body, [&](const Realize &r) {
        for (int k = 0; k < int(r.types.size()); k++) free_symbols.insert(buffer_of(r, k));
    });
    rules.free_symbols = &free_symbols;
    verify(f.body, name, rules);
}

// Verifies after the user's passes in any build.
void run_custom_passes(Lowering &l) {
    Context checked = l.context;
    checked.verify = true;
    for (size_t i = 0; i < l.program.custom_passes.size(); i++) {
        std::string name = str("custom lowering pass ", i);
        l.function.body = l.program.custom_passes[i](l.function.body);
        if (!l.function.body.defined())
            throw CompileError(str("the ", name, " returned no statement"));
        try {
            after_pass(name, l.function, checked, l.rules);
        } catch (const BrokenRule &e) {
            throw CompileError(str("the ", name, " made a statement that is not valid: ", e.rule));
        }
    }
}

Lowering nests_here(const program::Program &program, const Target &target,
                    const LowerOptions &options) {
    const auto symbols = std::make_shared<SymbolArena>();
    const SymbolScope scope(symbols);
    const algebra::SimplifierScope remembers;
    program::ProgramCopy copy = copy_reachable(program);
    if (program.dialect == Dialect::Halide)
        drop_needless_directives(copy.environment, copy.program.outputs);
    // Before inlining, which changes the order in which they are met.
    std::vector<ParameterRef> parameters = find_parameters(copy.program, copy.environment);
    const TracedImages traced_images = find_traced_images(copy.environment);
    make_copy_stages(copy.environment, target);
    inline_functions(copy.environment, copy.program.outputs);
    validate_undef(copy.environment);
    if (target.has_feature(Target::StrictFloat)) make_floats_strict(copy.environment);
    make_coordinates_strict(copy.environment);
    separate_reductions(copy.environment, copy.program.outputs);
    ProgramContext context = make_context(copy, parameters, traced_images, target, options);
    validate_schedules(context);
    const LoopNests built = build_nests(context);
    Lowering l{symbols, program, context, {program.name, context.arguments, {}}, {}};
    l.rules.level = IRLevel::Funcs;
    if (options.touched_ranges) l.function.touched = find_touched_ranges(built, context);
    l.function.body = OutputProperties(context)(add_entry_checks(built, copy.program, context));
    after_pass("loop nests", l.function, l.context, l.rules);
    return l;
}

// These passes, one after the other.
Lowering run_passes(Lowering l, std::span<const Pass> passes) {
    const SymbolScope scope(l.symbols);
    for (const Pass &pass : passes) {
        l.function.body = pass(l.function, l.context);
        note_progress(l.rules, pass);
        after_pass(pass.name, l.function, l.context, l.rules);
    }
    return l;
}

}  // namespace

std::span<const Pass> passes() { return all_passes; }
std::span<const ModulePass> module_passes() { return all_module_passes; }

Lowering nests(const program::Program &program, const Target &target, const LowerOptions &options) {
    return with_large_stack([&] { return nests_here(program, target, options); });
}

Lowering conceptual(Lowering nests) {
    return with_large_stack(
        [&] { return run_passes(std::move(nests), std::span(all_passes).first(first_to_flat)); });
}

Lowering flat(Lowering conceptual) {
    return with_large_stack([&] {
        return run_passes(
            std::move(conceptual),
            std::span(all_passes).subspan(first_to_flat, first_to_lowered - first_to_flat));
    });
}

Lowering lowered(Lowering flat) {
    return with_large_stack([&] {
        Lowering l = run_passes(std::move(flat), std::span(all_passes).subspan(first_to_lowered));
        const SymbolScope scope(l.symbols);
        run_custom_passes(l);
        return l;
    });
}

Module Lowering::module() && {
    function.symbols = symbols;
    return {program.name, {std::move(function)}};
}

Module lower(const program::Program &program, const Target &target, const LowerOptions &options) {
    return with_large_stack([&]() -> Module {
        return lowered(flat(conceptual(nests(program, target, options)))).module();
    });
}

}  // namespace tessera::lower
