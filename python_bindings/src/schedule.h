#pragma once
#include "docs/directives.h"
#include "gpu_schedule.h"

namespace tessera::python {

// The loops that a directive is given by position, or as one list.
inline std::vector<VarOrRVar> all_loops(nb::args loops) {
    return loops.size() == 1 ? to_loops(loops[0]) : to_loops(loops);
}

// Splits by lists of loops, or by loops of two dimensions.
template<typename C> C &tile(C &s, nb::args args, nb::kwargs kwargs) {
    Arguments given("tile", args, kwargs);
    std::vector<VarOrRVar> previous, outers, inners;
    std::vector<Expr> factors;
    const bool lists = given.has("previous") ||
                       (given.first().is_valid() && PySequence_Check(given.first().ptr()) &&
                        !nb::isinstance<RDom>(given.first()));
    // Without names for the outer loops, these keep theirs.
    const size_t all = lists ? 4 : 8;
    const bool named_outers = given.has(lists ? "outers" : "xo") || given.positional() > all ||
                              (given.positional() == all && !is_tail(args[all - 1]));
    if (lists) {
        previous = to_loops(given.take("previous"));
        outers = named_outers ? to_loops(given.take("outers")) : previous;
        inners = to_loops(given.take("inners"));
        factors = to_exprs(given.take("factors"));
    } else {
        previous = {to_loop(given.take("x")), to_loop(given.take("y"))};
        outers = previous;
        if (named_outers) outers = {to_loop(given.take("xo")), to_loop(given.take("yo"))};
        inners = {to_loop(given.take("xi")), to_loop(given.take("yi"))};
        factors = {to_expr(given.take("xfactor")), to_expr(given.take("yfactor"))};
    }
    const nb::object tail =
        given.take_or(given.has("tails") ? "tails" : "tail", nb::cast(TailStrategy::Auto));
    given.end();
    std::vector<TailStrategy> tails;
    for (const nb::object &t : items(tail)) tails.push_back(to_tail(t));
    if (tails.size() == 1) tails.resize(previous.size(), tails[0]);
    return s.tile(previous, outers, inners, factors, tails, here());
}

// Defines the directives that take nothing.
template<typename C> void define_plain_directives(nb::class_<C> &c) {
    struct Plain {
        const char *name;
        C &(C::*apply)(Location);
        const char *doc;
    };
    static const Plain plain[] = {
        {"never_partition_all", &C::never_partition_all, docs::directive::never_partition_all},
        {"always_partition_all", &C::always_partition_all, docs::directive::always_partition_all},
        {"allow_race_conditions", &C::allow_race_conditions,
         docs::directive::allow_race_conditions},
        {"stream_stores", &C::stream_stores, docs::directive::stream_stores},
    };
    for (const Plain &d : plain) {
        c.def(
            d.name, [&d](C &s) -> C & { return (s.*d.apply)(here()); }, nb::rv_policy::none, d.doc);
    }
}

// Defines the directives that are refused, each with its reason.
template<typename C> void define_later_directives(nb::class_<C> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "hexagon",
         [](C &s, std::optional<LoopVar> v) -> C & {
             return s.hexagon(v ? v->get() : VarOrRVar(Var::outermost()), here());
         },
         "var"_a = nb::none(), same, docs::directive::hexagon)
        .def(
            "sme_streaming",
            [](C &s, const LoopVar &v) -> C & { return s.sme_streaming(v, here()); }, "var"_a, same,
            docs::directive::sme_streaming)
        .def(
            "compute_with",
            [](C &s, nb::handle, nb::args, nb::kwargs) -> C & {
                return s.compute_with(LoopLevel(), LoopAlignStrategy::Auto, here());
            },
            "stage"_a, "args"_a, "kwargs"_a, same, docs::directive::compute_with)
        .def(
            "eager_inline",
            [](C &s, nb::args funcs) -> C & { return s.eager_inline(to_funcs(funcs), here()); },
            same, docs::directive::eager_inline);
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
         docs::directive::split)
        .def(
            "fuse",
            [](C &s, const LoopVar &inner, const LoopVar &outer, const LoopVar &fused) -> C & {
                return s.fuse(inner, outer, fused, here());
            },
            "inner"_a, "outer"_a, "fused"_a, same, docs::directive::fuse)
        .def(
            "rename",
            [](C &s, const LoopVar &old, const LoopVar &name) -> C & {
                return s.rename(old, name, here());
            },
            "old"_a, "new"_a, same, docs::directive::rename)
        .def(
            "reorder",
            [](C &s, nb::args loops) -> C & { return s.reorder(all_loops(loops), here()); },
            "vars"_a, same, docs::directive::reorder)
        .def(
            "serial", [](C &s, const LoopVar &v) -> C & { return s.serial(v, here()); }, "var"_a,
            same, docs::directive::serial)
        .def(
            "parallel",
            [](C &s, const LoopVar &v, const Factor &size, TailStrategy tail) -> C & {
                return size ? s.parallel(v, *size, tail, here()) : s.parallel(v, here());
            },
            "var"_a, "task_size"_a = nb::none(), "tail"_a = TailStrategy::Auto, same,
            docs::directive::parallel)
        .def(
            "vectorize",
            [](C &s, const LoopVar &v, const Factor &factor, TailStrategy tail) -> C & {
                return factor ? s.vectorize(v, *factor, tail, here()) : s.vectorize(v, here());
            },
            "var"_a, "factor"_a = nb::none(), "tail"_a = TailStrategy::Auto, same,
            docs::directive::vectorize)
        .def(
            "unroll",
            [](C &s, const LoopVar &v, const Factor &factor, TailStrategy tail) -> C & {
                return factor ? s.unroll(v, *factor, tail, here()) : s.unroll(v, here());
            },
            "var"_a, "factor"_a = nb::none(), "tail"_a = TailStrategy::Auto, same,
            docs::directive::unroll)
        .def("tile", &tile<C>, same, docs::directive::tile)
        .def(
            "partition",
            [](C &s, const LoopVar &v, Partition p) -> C & { return s.partition(v, p, here()); },
            "var"_a, "partition"_a, same, docs::directive::partition)
        .def(
            "never_partition",
            [](C &s, nb::args loops) -> C & { return s.never_partition(all_loops(loops), here()); },
            "vars"_a, same, docs::directive::never_partition)
        .def(
            "always_partition",
            [](C &s, nb::args loops) -> C & {
                return s.always_partition(all_loops(loops), here());
            },
            "vars"_a, same, docs::directive::always_partition)
        .def(
            "atomic",
            [](C &s, bool override_test) -> C & { return s.atomic(override_test, here()); },
            "override_associativity_test"_a = false, same, docs::directive::atomic)
        .def(
            "specialize",
            [](C &s, const ExprLike &condition) { return s.specialize(condition, here()); },
            "condition"_a, docs::directive::specialize)
        .def(
            "specialize_fail",
            [](C &s, const std::string &message) { s.specialize_fail(message, here()); },
            "message"_a, docs::directive::specialize_fail)
        .def(
            "prefetch",
            [](C &s, nb::handle what, const LoopVar &at, const LoopVar &from,
               const ExprLike &offset, PrefetchBoundStrategy strategy) -> C & {
                return s.prefetch(to_fetched(what), at, from, offset, strategy, here());
            },
            "func"_a, "at"_a, "from_"_a, "offset"_a = 1,
            "strategy"_a = PrefetchBoundStrategy::GuardWithIf, same, docs::directive::prefetch)
        .def(
            "stream_loads",
            [](C &s, nb::args what) -> C & {
                return s.stream_loads(to_fetched_list(what), here());
            },
            same, docs::directive::stream_loads)
        .def("unscheduled", [](C &s) { s.unscheduled(here()); }, docs::directive::unscheduled);
    define_plain_directives(c);
    define_gpu_directives(c);
    define_later_directives(c);
}

}  // namespace tessera::python
