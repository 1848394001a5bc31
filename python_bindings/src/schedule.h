#pragma once
#include "bindings.h"

namespace tessera::python {

// Defines the directives for GPUs, as define_directives() those for loops.
template<typename C> void define_gpu_directives(nb::class_<C> &c) {
    constexpr auto same = nb::rv_policy::none;
    auto over_loops = [&](const char *name, auto apply, const char *doc) {
        c.def(
            name,
            [apply](C &s, nb::args loops) -> C & {
                apply(s, to_loops(loops));
                return s;
            },
            same, doc);
    };
    // The directives take one to three loops.
#define ONE_TO_THREE(directive)                                                                    \
    [](C &s, const std::vector<VarOrRVar> &v) {                                                    \
        const Location at = here();                                                                \
        if (v.size() == 1)                                                                         \
            s.directive(v[0], DeviceAPI::Default_GPU, at);                                         \
        else if (v.size() == 2)                                                                    \
            s.directive(v[0], v[1], DeviceAPI::Default_GPU, at);                                   \
        else if (v.size() == 3)                                                                    \
            s.directive(v[0], v[1], v[2], DeviceAPI::Default_GPU, at);                             \
        else                                                                                       \
            throw nb::type_error(#directive " takes one to three loops");                          \
    }
    over_loops("gpu_blocks", ONE_TO_THREE(gpu_blocks), "Makes the iterations blocks of a kernel.");
    over_loops("gpu_threads", ONE_TO_THREE(gpu_threads),
               "Makes the iterations threads of a block.");
#undef ONE_TO_THREE
    over_loops(
        "gpu_warps",
        [](C &s, const std::vector<VarOrRVar> &v) {
            if (v.size() == 2)
                s.gpu_warps(v[0], v[1], here());
            else if (v.size() == 1)
                s.gpu_warps(v[0], here());
            else
                throw nb::type_error("gpu_warps takes one or two loops");
        },
        "Makes the iterations warps of a block.");
    c.def(
         "gpu_lanes",
         [](C &s, const LoopVar &v) -> C & {
             return s.gpu_lanes(v.get(), DeviceAPI::Default_GPU, here());
         },
         "var"_a, same, "Makes the iterations lanes of a warp.")
        .def(
            "gpu_single_thread",
            [](C &s) -> C & { return s.gpu_single_thread(DeviceAPI::Default_GPU, here()); }, same)
        .def(
            "gpu_resident_blocks",
            [](C &s, const ExprLike &blocks) -> C & {
                return s.gpu_resident_blocks(blocks, here());
            },
            "blocks"_a, same)
        .def(
            "persistent",
            [](C &s, const ExprLike &blocks) -> C & { return s.persistent(blocks, here()); },
            "blocks"_a = 1, same)
        .def(
            "tensorize",
            [](C &s, nb::args loops, TensorInstruction instruction) -> C & {
                const std::vector<VarOrRVar> v = to_loops(loops);
                if (v.size() == 1) return s.tensorize(v[0], instruction, here());
                if (v.size() == 3) return s.tensorize(v[0], v[1], v[2], instruction, here());
                throw nb::type_error("tensorize takes columns, rows and sum, or one of them");
            },
            "loops"_a, "instruction"_a, same,
            "Makes these loops of a product of matrices instructions of tensor cores.")
        .def(
            "gpu_tile",
            [](C &s, nb::args args, nb::kwargs kwargs) -> C & {
                size_t loops = 0;
                while (loops < args.size() && !PyLong_Check(args[loops].ptr()) &&
                       !nb::isinstance<Expr>(args[loops]) &&
                       !nb::isinstance<TailStrategy>(args[loops]))
                    loops++;
                size_t sizes = 0;
                while (loops + sizes < args.size() &&
                       !nb::isinstance<TailStrategy>(args[loops + sizes]))
                    sizes++;
                if (sizes < 1 || sizes > 3 || (loops != 2 * sizes && loops != 3 * sizes))
                    throw nb::type_error("gpu_tile takes loops, blocks and threads, and a size for "
                                         "each of one to three dimensions");
                std::vector<VarOrRVar> v;
                std::vector<Expr> n;
                for (size_t i = 0; i < loops; i++) v.push_back(to_loop(args[i]));
                for (size_t i = 0; i < sizes; i++) n.push_back(to_expr(args[loops + i]));
                TailStrategy tail = loops + sizes < args.size()
                                        ? nb::cast<TailStrategy>(args[loops + sizes])
                                        : TailStrategy::Auto;
                if (kwargs.contains("tail")) tail = nb::cast<TailStrategy>(kwargs["tail"]);
                const DeviceAPI api = DeviceAPI::Default_GPU;
                const Location at = here();
                if (sizes == 1 && loops == 2) return s.gpu_tile(v[0], v[1], n[0], tail, api, at);
                if (sizes == 1) return s.gpu_tile(v[0], v[1], v[2], n[0], tail, api, at);
                if (sizes == 2 && loops == 4)
                    return s.gpu_tile(v[0], v[1], v[2], v[3], n[0], n[1], tail, api, at);
                if (sizes == 2)
                    return s.gpu_tile(v[0], v[1], v[2], v[3], v[4], v[5], n[0], n[1], tail, api,
                                      at);
                if (loops == 6)
                    return s.gpu_tile(v[0], v[1], v[2], v[3], v[4], v[5], n[0], n[1], n[2], tail,
                                      api, at);
                return s.gpu_tile(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], n[0], n[1],
                                  n[2], tail, api, at);
            },
            same,
            "Splits loops into blocks and the threads of a block: gpu_tile(x, y, xi, yi, 32, 8), "
            "or with names for the blocks before xi.");
}

// Defines the directives that a Func and a Stage have in common for the class of either. Each
// returns the object.
template<typename C> void define_directives(nb::class_<C> &c) {
    constexpr auto same = nb::rv_policy::none;
    using Factor = std::optional<ExprLike>;
    c.def(
         "split",
         [](C &s, const LoopVar &old, const LoopVar &outer, const LoopVar &inner,
            const ExprLike &factor,
            TailStrategy tail) -> C & { return s.split(old, outer, inner, factor, tail, here()); },
         "old"_a, "outer"_a, "inner"_a, "factor"_a, "tail"_a = TailStrategy::Auto, same,
         "Splits a loop: old becomes outer * factor + inner.")
        .def(
            "fuse",
            [](C &s, const LoopVar &inner, const LoopVar &outer, const LoopVar &fused) -> C & {
                return s.fuse(inner, outer, fused, here());
            },
            "inner"_a, "outer"_a, "fused"_a, same,
            "Makes one loop of two, in the place of the inner one.")
        .def(
            "rename",
            [](C &s, const LoopVar &old, const LoopVar &name) -> C & {
                return s.rename(old, name, here());
            },
            "old"_a, "new"_a, same)
        .def(
            "reorder",
            [](C &s, nb::args loops) -> C & {
                return s.reorder(loops.size() == 1 ? to_loops(loops[0]) : to_loops(loops), here());
            },
            same, "Orders loops, innermost first, in the places that they have now.")
        .def(
            "serial", [](C &s, const LoopVar &v) -> C & { return s.serial(v, here()); }, "var"_a,
            same)
        .def(
            "parallel",
            [](C &s, const LoopVar &v, const Factor &size, TailStrategy tail) -> C & {
                return size ? s.parallel(v, *size, tail, here()) : s.parallel(v, here());
            },
            "var"_a, "task_size"_a = nb::none(), "tail"_a = TailStrategy::Auto, same,
            "Runs the iterations on all cores, or tasks of so many iterations.")
        .def(
            "vectorize",
            [](C &s, const LoopVar &v, const Factor &factor, TailStrategy tail) -> C & {
                return factor ? s.vectorize(v, *factor, tail, here()) : s.vectorize(v, here());
            },
            "var"_a, "factor"_a = nb::none(), "tail"_a = TailStrategy::Auto, same,
            "Makes vectors of the loop, or of a loop of so many iterations that is split off.")
        .def(
            "unroll",
            [](C &s, const LoopVar &v, const Factor &factor, TailStrategy tail) -> C & {
                return factor ? s.unroll(v, *factor, tail, here()) : s.unroll(v, here());
            },
            "var"_a, "factor"_a = nb::none(), "tail"_a = TailStrategy::Auto, same,
            "Unrolls the loop, or a loop of so many iterations that is split off.")
        .def(
            "tile",
            [](C &s, nb::args args, nb::kwargs kwargs) -> C & {
                Arguments given("tile", args, kwargs);
                std::vector<VarOrRVar> previous, outers, inners;
                std::vector<Expr> factors;
                const bool lists =
                    given.first().is_valid() && PySequence_Check(given.first().ptr());
                // Without names for the outer loops, these keep theirs.
                const size_t named = lists ? 4 : 8;
                const bool all =
                    given.has(lists ? "outers" : "xo") || given.positional() > named ||
                    (given.positional() == named && !nb::isinstance<TailStrategy>(args[named - 1]));
                if (lists) {
                    previous = to_loops(given.take("previous"));
                    outers = all ? to_loops(given.take("outers")) : previous;
                    inners = to_loops(given.take("inners"));
                    factors = to_exprs(given.take("factors"));
                } else {
                    previous = {to_loop(given.take("x")), to_loop(given.take("y"))};
                    outers = previous;
                    if (all) outers = {to_loop(given.take("xo")), to_loop(given.take("yo"))};
                    inners = {to_loop(given.take("xi")), to_loop(given.take("yi"))};
                    factors = {to_expr(given.take("xfactor")), to_expr(given.take("yfactor"))};
                }
                const TailStrategy tail =
                    nb::cast<TailStrategy>(given.take_or("tail", nb::cast(TailStrategy::Auto)));
                given.end();
                return s.tile(previous, outers, inners, factors, tail, here());
            },
            same,
            "Splits loops, and puts all inner ones inside: tile(x, y, xo, yo, xi, yi, xfactor, "
            "yfactor), tile(x, y, xi, yi, xfactor, yfactor), "
            "or tile(previous, outers, inners, factors) with lists.")
        .def(
            "partition",
            [](C &s, const LoopVar &v, Partition p) -> C & { return s.partition(v, p, here()); },
            "var"_a, "partition"_a, same)
        .def(
            "never_partition",
            [](C &s, nb::args loops) -> C & {
                return s.never_partition(loops.size() == 1 ? to_loops(loops[0]) : to_loops(loops),
                                         here());
            },
            same)
        .def(
            "always_partition",
            [](C &s, nb::args loops) -> C & {
                return s.always_partition(loops.size() == 1 ? to_loops(loops[0]) : to_loops(loops),
                                          here());
            },
            same)
        .def(
            "never_partition_all", [](C &s) -> C & { return s.never_partition_all(here()); }, same)
        .def(
            "always_partition_all", [](C &s) -> C & { return s.always_partition_all(here()); },
            same)
        .def(
            "atomic",
            [](C &s, bool override_test) -> C & { return s.atomic(override_test, here()); },
            "override_associativity_test"_a = false, same,
            "Makes the stores of an update atomic, so that its reduction loops may be parallel or "
            "vectors.")
        .def(
            "allow_race_conditions", [](C &s) -> C & { return s.allow_race_conditions(here()); },
            same)
        .def(
            "specialize",
            [](C &s, const ExprLike &condition) { return s.specialize(condition, here()); },
            "condition"_a,
            "Returns a copy of the stage, with a schedule of its own, for when the condition "
            "holds.")
        .def(
            "specialize_fail",
            [](C &s, const std::string &message) { s.specialize_fail(message, here()); },
            "message"_a)
        .def(
            "prefetch",
            [](C &s, nb::handle what, const LoopVar &at, const LoopVar &from,
               const ExprLike &offset, PrefetchBoundStrategy strategy) -> C & {
                return s.prefetch(to_fetched(what), at, from, offset, strategy, here());
            },
            "what"_a, "at"_a, "from_"_a, "offset"_a = 1,
            "strategy"_a = PrefetchBoundStrategy::GuardWithIf, same)
        .def(
            "stream_loads",
            [](C &s, nb::args what) -> C & {
                std::vector<Fetched> list;
                for (nb::handle w : what) list.push_back(to_fetched(w));
                return s.stream_loads(list, here());
            },
            same)
        .def(
            "stream_stores", [](C &s) -> C & { return s.stream_stores(here()); }, same)
        .def(
            "unscheduled", [](C &s) { s.unscheduled(here()); },
            "Says that it is meant to have no schedule.");
    define_gpu_directives(c);
}

}  // namespace tessera::python
