#include "build.h"
#include <algorithm>
#include <base/str.h>
#include <lang/boundary_conditions.h>
#include <lang/inline_reductions.h>
#include <utility>

namespace tessera::fuzz {
namespace {

// Steps of which each uses both values of the one before it twice: a tree of them would be huge.
Expr shared_differences(Expr a, Expr b) {
    for (int i = 0; i < 24; i++) {
        const Expr less = select(a > b, b, b - a);
        a = select(a > b, a - b, a);
        b = i % 2 ? less : min(less + 1, b);
    }
    return a;
}

}  // namespace

Buffer<> make_image(const InputPlan &input, const std::vector<int> &size,
                    const std::vector<int> &min, const std::string &name) {
    std::vector<int> wanted = size;
    Buffer<> image;
    switch (input.layout) {
    case InputLayout::LastInnermost: {
        std::vector<int> order;
        for (int d = 0; d < int(size.size()); d++) order.push_back(d);
        std::rotate(order.begin(), order.end() - 1, order.end());
        image = Buffer<>(input.type, size, order, name);
        break;
    }
    case InputLayout::EveryOther:
        wanted.insert(wanted.begin(), 2);
        image = Buffer<>(input.type, wanted, name).sliced(0, 1);
        break;
    case InputLayout::PaddedRows:
        wanted[0] += 5;
        image = Buffer<>(input.type, wanted, name).cropped(0, 0, size[0]);
        break;
    case InputLayout::Dense: image = Buffer<>(input.type, size, name);
    }
    image.set_min(min);
    return image;
}

namespace {

class Builder {
public:
    Builder(const Plan &plan, bool scheduled) : plan(plan), scheduled(scheduled) {}

    Built run() {
        reset_random_counters();  // the same numbers in every build
        images.resize(plan.inputs.size());
        for (size_t i = 0; i < plan.inputs.size(); i++) make_input(i);
        domains.resize(plan.domains.size());
        for (size_t f = 0; f < plan.funcs.size(); f++) {
            built.funcs.emplace_back(str("f", f));
            define(f);
        }
        if (scheduled) {
            for (const char *name : {"x", "y", "z", "w"}) loops.emplace(name, Var(name));
            for (const Directive &d : plan.directives) apply(d);
        }
        std::vector<Func> outputs;
        for (int f : plan.outputs) outputs.push_back(built.funcs[size_t(f)]);
        built.pipeline = Pipeline(outputs);
        return std::move(built);
    }

private:
    void make_input(size_t i) {
        const InputPlan &input = plan.inputs[i];
        std::string name = str("in", i);
        built.params.emplace_back();
        built.images.emplace_back();
        if (input.is_param) {
            built.params[i] = ImageParam(input.type, int(input.size.size()), name);
            constrain(built.params[i], input.layout);
        } else {
            built.images[i] =
                make_image(input, input.size, std::vector<int>(input.size.size(), 0), name);
            fill_input(built.images[i], int(i), input);
            images[i] = Func(built.images[i]);
        }
    }

    static void constrain(ImageParam &in, InputLayout layout) {
        if (layout == InputLayout::EveryOther) in.dim(0).set_stride(2);
        if (layout != InputLayout::LastInnermost || in.dimensions() < 2) return;
        in.dim(0).set_stride(Expr());
        in.dim(in.dimensions() - 1).set_stride(1);
    }

    Expr input(size_t i, const std::vector<Expr> &args) {
        return plan.inputs[i].is_param ? built.params[i](args) : images[i](args);
    }

    RDom &domain(int id) {
        RDom &r = domains[size_t(id)];
        if (r.defined()) return r;
        const Domain &d = plan.domains[size_t(id)];
        Region box;
        for (auto [min, extent] : d.box) box.emplace_back(min, extent);
        r = RDom(box, str("r", id));
        for (size_t k = 0; k < d.box.size(); k++) {
            loops.emplace(str("r", id, ".", "xyzw"[k]), r[int(k)]);
        }
        for (const Term &w : d.where) r.where(expr(w));
        return r;
    }

    std::vector<Expr> exprs(const std::vector<Term> &terms) {
        std::vector<Expr> all;
        for (const Term &t : terms) all.push_back(expr(t));
        return all;
    }

    // Returns the places of the function that is being defined.
    std::vector<Expr> places(const std::vector<Term> &terms) {
        std::vector<int> relative = std::exchange(base, {0, 0, 0, 0});
        std::vector<Expr> all = exprs(terms);
        base = relative;
        return all;
    }

    Expr expr(const Term &t) {
        Expr e = untyped(t);
        return e.type() == t.type ? e : cast(t.type, e);
    }

    Expr untyped(const Term &t) {
        static const Var vars[] = {Var("x"), Var("y"), Var("z"), Var("w")};
        switch (t.op) {
        case Op::Number:
            return t.type.is_float() ? ir::make_float_const(t.type, t.number)
                                     : ir::make_const(t.type, int64_t(t.number));
        case Op::Coordinate: {
            int by = base[size_t(t.index)];
            return by == 0 ? Expr(vars[t.index]) : vars[t.index] - by;
        }
        case Op::Reduction: return domain(t.index)[t.part];
        case Op::Call: {
            bool is_itself = size_t(t.index) + 1 == built.funcs.size();
            FuncRef ref = built.funcs[size_t(t.index)](is_itself ? places(t.args) : exprs(t.args));
            if (ref.size() == 1) return ref;
            return ref[t.part];
        }
        case Op::Input: return input(size_t(t.index), exprs(t.args));
        case Op::Parameter: return built.parameter;
        case Op::Cast: return cast(t.type, expr(t.args[0]));
        case Op::SaturatingCast: return saturating_cast(t.type, expr(t.args[0]));
        case Op::Random: return random_uint(t.index);
        case Op::Undef: return undef(t.type);
        default: return operation(t, exprs(t.args));
        }
    }

    Expr operation(const Term &t, const std::vector<Expr> &a) {
        switch (t.op) {
#define CASE(name, text)                                                                           \
    case Op::name: return binary_##name(a[0], a[1]);
            TESSERA_FUZZ_BINARY(CASE)
#undef CASE
#define CASE(name, function)                                                                       \
    case Op::name: return function(a[0]);
            TESSERA_FUZZ_FUNCTION1(CASE)
#undef CASE
#define CASE(name, function)                                                                       \
    case Op::name: return function(a[0], a[1]);
            TESSERA_FUZZ_FUNCTION2(CASE)
#undef CASE
#define CASE(name, function)                                                                       \
    case Op::name: return function(a[0], a[1], a[2]);
            TESSERA_FUZZ_FUNCTION3(CASE)
#undef CASE
#define CASE(name, function)                                                                       \
    case Op::name: return function(domain(t.index), a[0]);
            TESSERA_FUZZ_REDUCTION(CASE)
#undef CASE
        default: throw InternalError("the fuzzer does not know an operation");
        }
    }

#define BINARY(name, op)                                                                           \
    static Expr binary_##name(const Expr &a, const Expr &b) { return a op b; }
    // clang-format off
    BINARY(Add, +) BINARY(Sub, -) BINARY(Mul, *) BINARY(Div, /) BINARY(Mod, %) BINARY(Lt, <)
    BINARY(Le, <=) BINARY(Eq, ==) BINARY(And, &&) BINARY(Or, ||) BINARY(BitAnd, &) BINARY(BitOr, |)
    BINARY(BitXor, ^) BINARY(Shl, <<) BINARY(Shr, >>)
    // clang-format on
#undef BINARY

    // ---- Functions ----

    void define(size_t f) {
        const FuncPlan &func = plan.funcs[f];
        if (func.boundary != Boundary::None) return define_boundary(f);
        if (func.is_extern) return define_extern(f);
        Func &target = built.funcs[f];
        base = {0, 0, 0, 0};
        bool is_output = std::count(plan.outputs.begin(), plan.outputs.end(), int(f)) > 0;
        if (is_output) std::copy(plan.base.begin(), plan.base.end(), base.begin());
        std::vector<Expr> args;
        static const char *names[] = {"x", "y", "z", "w"};
        for (int d = 0; d < func.dims; d++) args.push_back(Var(names[d]));
        assign(target(args), exprs(func.values));
        for (const UpdatePlan &u : func.updates) {
            if (u.domain >= 0) domain(u.domain);
            assign(target(places(u.args)), exprs(u.values));
        }
    }

    void define_extern(size_t f) {
        const FuncPlan &func = plan.funcs[f];
        std::vector<Var> dims;
        for (int d = 0; d < func.dims; d++) dims.emplace_back(std::string(1, "xyzw"[d]));
        std::vector<ExternFuncArgument> args = {func.read_limit};
        for (const ExternSource &s : func.reads) {
            size_t i = size_t(s.index);
            if (!s.is_input) {
                args.emplace_back(built.funcs[i]);
            } else if (plan.inputs[i].is_param) {
                args.emplace_back(built.params[i]);
            } else {
                args.emplace_back(built.images[i]);
            }
        }
        std::vector<Type> types;
        for (const Term &v : func.values) types.push_back(v.type);
        built.funcs[f].define_extern(extern_name(plan, func), args, types, dims);
    }

    static void assign(FuncRef target, const std::vector<Expr> &values) {
        if (values.size() == 1) {
            target = values[0];
        } else {
            target = Tuple(values);
        }
    }

    void define_boundary(size_t f) {
        const FuncPlan &func = plan.funcs[f];
        Func source;
        Region bounds;
        if (func.source_is_input) {
            const InputPlan &in = plan.inputs[size_t(func.source)];
            source = images[size_t(func.source)];
            for (int size : in.size) bounds.emplace_back(0, size);
        } else {
            source = built.funcs[size_t(func.source)];
            for (int d = 0; d < source.dimensions(); d++) bounds.emplace_back(0, 12);
        }
        Func &target = built.funcs[f];
        Type t = source.type();
        switch (func.boundary) {
        case Boundary::ConstantExterior:
            target = BoundaryConditions::constant_exterior(source, cast(t, 1), bounds);
            break;
        case Boundary::RepeatEdge: target = BoundaryConditions::repeat_edge(source, bounds); break;
        case Boundary::RepeatImage:
            target = BoundaryConditions::repeat_image(source, bounds);
            break;
        case Boundary::MirrorImage:
            target = BoundaryConditions::mirror_image(source, bounds);
            break;
        default: target = BoundaryConditions::mirror_interior(source, bounds);
        }
        // Its own variables, so that the schedule knows their names.
        std::vector<Expr> args;
        static const char *names[] = {"x", "y", "z", "w"};
        for (int d = 0; d < func.dims; d++) args.push_back(Var(names[d]));
        Func named(str("f", f));
        named(args) = target(args);
        target = named;
    }

    // ---- Schedule ----

    VarOrRVar loop(const std::string &name) const { return loops.at(name); }
    Var var(const std::string &name) const { return Var(name); }

    VarOrRVar make_loop(const std::string &name, const VarOrRVar &like) {
        VarOrRVar made(name, like.is_rvar);
        loops.insert_or_assign(name, made);
        return made;
    }

    void apply(const Directive &d) {
        if (size_t(d.func) >= built.funcs.size()) return;  // of a directive that was taken out
        Func &f = built.funcs[size_t(d.func)];
        if (d.verb >= Verb::ComputeRoot) return apply_to_func(f, d);
        if (d.special >= 0) {
            auto &made = specializations[{d.func, d.update}];
            if (size_t(d.special) < made.size()) apply_to_loops(made[size_t(d.special)], d);
        } else if (d.update < 0) {
            apply_to_loops(f, d);
        } else {
            apply_to_loops(f.update(d.update), d);
        }
    }

    template<typename Target>
    void tile(Target &s, const Directive &d) {
        std::vector<VarOrRVar> old, outers, inners;
        size_t n = d.factors.size();
        for (size_t i = 0; i < n; i++) {
            old.push_back(loop(d.names[i]));
            outers.push_back(make_loop(d.names[n + i], old[i]));
            inners.push_back(make_loop(d.names[2 * n + i], old[i]));
        }
        std::vector<Expr> factors(d.factors.begin(), d.factors.end());
        s.tile(old, outers, inners, factors, d.tail);
    }

    template<typename Target>
    void apply_to_loops(Target &&s, const Directive &d) {
        switch (d.verb) {
        case Verb::Split: {
            VarOrRVar old = loop(d.names[0]);
            VarOrRVar outer = make_loop(d.names[1], old), inner = make_loop(d.names[2], old);
            s.split(old, outer, inner, d.factor, d.tail);
            return;
        }
        case Verb::Fuse: {
            VarOrRVar inner = loop(d.names[0]), outer = loop(d.names[1]);
            s.fuse(inner, outer, make_loop(d.names[2], inner));
            return;
        }
        case Verb::Rename: {
            VarOrRVar old = loop(d.names[0]);
            s.rename(old, make_loop(d.names[1], old));
            return;
        }
        case Verb::Reorder: {
            std::vector<VarOrRVar> order;
            for (const std::string &name : d.names) order.push_back(loop(name));
            s.reorder(order);
            return;
        }
        case Verb::Tile: return tile(s, d);
        case Verb::Serial: s.serial(loop(d.names[0])); return;
        case Verb::Parallel: s.parallel(loop(d.names[0])); return;
        case Verb::GPUBlocks: s.gpu_blocks(loop(d.names[0])); return;
        case Verb::GPUThreads: s.gpu_threads(loop(d.names[0])); return;
        case Verb::GPULanes: s.gpu_lanes(loop(d.names[0])); return;
        case Verb::GPUSingleThread: s.gpu_single_thread(); return;
        case Verb::Vectorize: s.vectorize(loop(d.names[0])); return;
        case Verb::Unroll: s.unroll(loop(d.names[0])); return;
        case Verb::Partition: s.partition(loop(d.names[0]), d.partition); return;
        case Verb::Atomic: s.atomic(); return;
        case Verb::AllowRaceConditions: s.allow_race_conditions(); return;
        case Verb::Specialize:
            specializations[{d.func, d.update}].push_back(s.specialize(built.parameter > d.factor));
            return;
        case Verb::SpecializeFail: s.specialize_fail("no specialization"); return;
        case Verb::StreamStores: s.stream_stores(); return;
        case Verb::StreamLoads:
            if (d.other >= 0) {
                s.stream_loads({built.funcs[size_t(d.other)]});
            } else {
                s.stream_loads();
            }
            return;
        case Verb::Prefetch:
            s.prefetch(built.funcs[size_t(d.other)], loop(d.names[0]), loop(d.names[1]), d.offset,
                       d.strategy);
            return;
        default: return;
        }
    }

    void apply_to_func(Func &f, const Directive &d) {
        Func other = d.other >= 0 && size_t(d.other) < built.funcs.size()
                         ? built.funcs[size_t(d.other)]
                         : Func();
        switch (d.verb) {
        case Verb::ComputeRoot: f.compute_root(); return;
        case Verb::ComputeAt: f.compute_at(other, loop(d.names[0])); return;
        case Verb::StoreRoot: f.store_root(); return;
        case Verb::StoreAt: f.store_at(other, loop(d.names[0])); return;
        case Verb::HoistStorage: f.hoist_storage(other, loop(d.names[0])); return;
        case Verb::HoistStorageRoot: f.hoist_storage_root(); return;
        case Verb::FoldStorage: f.fold_storage(var(d.names[0]), d.factor); return;
        case Verb::RingBuffer: f.ring_buffer(d.factor); return;
        case Verb::Async: f.async(); return;
        case Verb::ReorderStorage: {
            std::vector<Var> order;
            for (const std::string &name : d.names) order.push_back(var(name));
            f.reorder_storage(order);
            return;
        }
        case Verb::AlignStorage: f.align_storage(var(d.names[0]), d.factor); return;
        case Verb::BoundStorage: f.bound_storage(var(d.names[0]), d.factor); return;
        case Verb::StoreIn: f.store_in(d.memory); return;
        case Verb::AlignBounds: f.align_bounds(var(d.names[0]), d.factor, d.offset); return;
        case Verb::AlignExtent: f.align_extent(var(d.names[0]), d.factor); return;
        case Verb::Bound: f.bound(var(d.names[0]), d.offset, d.factor); return;
        case Verb::BoundExtent: f.bound_extent(var(d.names[0]), d.factor); return;
        case Verb::In: create(d, d.other < 0 ? f.in() : f.in(other)); return;
        case Verb::CloneIn: create(d, f.clone_in(other)); return;
        case Verb::Rfactor: {
            RVar kept = domain(plan.funcs[size_t(d.func)].updates[size_t(d.update)].domain)[int(
                std::string("xyzw").find(d.names[0].back()))];
            loops.insert_or_assign(d.names[1], Var(d.names[1]));
            create(d, f.update(d.update).rfactor(kept, Var(d.names[1])));
            return;
        }
        case Verb::TraceLoads: f.trace_loads(); return;
        case Verb::TraceStores: f.trace_stores(); return;
        case Verb::TraceRealizations: f.trace_realizations(); return;
        case Verb::NoProfiling: f.no_profiling(); return;
        default: return;
        }
    }

    void create(const Directive &d, Func made) {
        built.funcs.resize(std::max(built.funcs.size(), size_t(d.creates) + 1));
        built.funcs[size_t(d.creates)] = made;
    }

    const Plan &plan;
    bool scheduled;
    Built built;
    std::vector<int> base = {0, 0, 0, 0};  // of coordinates in what is being defined
    std::vector<Func> images;              // of inputs that are Buffers: calls of one are the same
    std::vector<RDom> domains;
    std::map<std::string, VarOrRVar> loops;
    std::map<std::pair<int, int>, std::vector<Stage>> specializations;  // by function and update
};

}  // namespace

Built build(const Plan &plan, bool scheduled) { return Builder(plan, scheduled).run(); }

}  // namespace tessera::fuzz
