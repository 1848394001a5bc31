#include "bindings.h"

namespace tessera::python {
namespace {

// ---- The directives, by what they take ----

struct Plain {
    const char *name;
    Func &(Func::*apply)(Location);
    const char *doc;
};
const Plain plain[] = {
    {"compute_root", &Func::compute_root, "Computes all that is needed before what uses it."},
    {"compute_inline", &Func::compute_inline, "Computes it in each of its uses, which is usual."},
    {"store_root", &Func::store_root, "Allocates storage outside of all loops."},
    {"hoist_storage_root", &Func::hoist_storage_root,
     "Allocates the memory outside of all loops; what it holds lives as before."},
    {"async_", &Func::async,
     "Lets a thread of its own compute it, while others use what is ready."},
    {"copy_to_host", &Func::copy_to_host,
     "Computes this copy of another Func or an image by a copy into the memory of the host."},
    {"trace_loads", &Func::trace_loads, "Traces what is read of it."},
    {"trace_stores", &Func::trace_stores, "Traces what is written to it."},
    {"trace_realizations", &Func::trace_realizations, "Traces where it is allocated and computed."},
    {"no_profiling", &Func::no_profiling, "Leaves it out of profiles."},
};

struct AtLoop {
    const char *name;
    Func &(Func::*at_loop)(const Func &, const VarOrRVar &, Location);
    Func &(Func::*at_level)(const LoopLevel &, Location);
    const char *doc;
};
const AtLoop at_loops[] = {
    {"compute_at", &Func::compute_at, &Func::compute_at,
     "Computes what each iteration of this loop of another Func needs, within that iteration. A "
     "LoopLevel says both."},
    {"store_at", &Func::store_at, &Func::store_at,
     "Allocates storage in each iteration of this loop of another Func."},
    {"hoist_storage", &Func::hoist_storage, &Func::hoist_storage,
     "Allocates the memory in each iteration of this loop; what it holds lives as before."},
};

struct OfOne {
    const char *name;
    Func &(Func::*apply)(const Var &, const Expr &, Location);
    const char *var, *value;
    const char *doc;
};
const OfOne of_one[] = {
    {"bound_extent", &Func::bound_extent, "var", "extent",
     "Computes so many points, from the first one that is needed."},
    {"align_extent", &Func::align_extent, "var", "modulus",
     "Computes more, so that the extent is a multiple of this."},
    {"align_storage", &Func::align_storage, "dim", "alignment",
     "Rounds the extent in memory up to a multiple of so many elements."},
    {"bound_storage", &Func::bound_storage, "dim", "bound",
     "Has this extent in memory; the pipeline fails where more is needed."},
};

struct OfTwo {
    const char *name;
    Func &(Func::*apply)(const Var &, const Expr &, const Expr &, Location);
    const char *a, *b;
    const char *doc;
};
const OfTwo of_two[] = {
    {"bound", &Func::bound, "min", "extent",
     "Computes these points; the pipeline fails where others are needed."},
    {"set_estimate", &Func::set_estimate, "min", "extent",
     "Says which points are usually needed, to an autoscheduler."},
};

void define_tables(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    for (const Plain &d : plain) {
        c.def(d.name, [&d](Func &f) -> Func & { return (f.*d.apply)(here()); }, same, d.doc);
    }
    for (const AtLoop &d : at_loops) {
        c.def(
            d.name,
            [&d](Func &f, nb::handle where, std::optional<LoopVar> v) -> Func & {
                if (nb::isinstance<LoopLevel>(where))
                    return (f.*d.at_level)(nb::cast<LoopLevel &>(where), here());
                if (!v)
                    throw nb::type_error(
                        str(d.name, " takes a Func and one of its loops, or a LoopLevel").c_str());
                return (f.*d.at_loop)(to_func(where), v->get(), here());
            },
            "func"_a, "var"_a = nb::none(), same, d.doc);
    }
    for (const OfOne &d : of_one) {
        c.def(
            d.name,
            [&d](Func &f, const Var &v, const ExprLike &value) -> Func & {
                return (f.*d.apply)(v, value, here());
            },
            nb::arg(d.var), nb::arg(d.value), same, d.doc);
    }
    for (const OfTwo &d : of_two) {
        c.def(
            d.name,
            [&d](Func &f, const Var &v, const ExprLike &a, const ExprLike &b) -> Func & {
                return (f.*d.apply)(v, a, b, here());
            },
            "var"_a, nb::arg(d.a), nb::arg(d.b), same, d.doc);
    }
}

// ---- The others ----

std::vector<Var> to_vars(nb::handle objects) {
    std::vector<Var> vars;
    for (nb::handle o : objects) {
        for (const nb::object &v : items(o)) vars.push_back(to_var(v));
    }
    return vars;
}

void define_storage(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "store_in",
         [](Func &f, MemoryType memory) -> Func & { return f.store_in(memory, here()); },
         "memory_type"_a, same, "Stores it in this kind of memory.")
        .def(
            "fold_storage",
            [](Func &f, const Var &v, const ExprLike &extent, bool forward) -> Func & {
                return f.fold_storage(v, extent, forward, here());
            },
            "dim"_a, "extent"_a, "fold_forward"_a = true, same,
            "Makes storage a ring of this extent, in which a serial loop walks.")
        .def(
            "ring_buffer",
            [](Func &f, const ExprLike &extent) -> Func & { return f.ring_buffer(extent, here()); },
            "extent"_a, same,
            "Has so many copies of the storage, one per iteration of the loop at which it is "
            "hoisted.")
        .def(
            "reorder_storage",
            [](Func &f, nb::args dims) -> Func & {
                return f.reorder_storage(to_vars(dims), here());
            },
            "dims"_a, same, "Orders the dimensions in memory, innermost first.")
        .def(
            "align_bounds",
            [](Func &f, const Var &v, const ExprLike &modulus, const ExprLike &remainder)
                -> Func & { return f.align_bounds(v, modulus, remainder, here()); },
            "var"_a, "modulus"_a, "remainder"_a = 0, same,
            "Computes more, so that min has this remainder and the extent is a multiple.")
        .def(
            "set_estimates",
            [](Func &f, nb::handle estimates) -> Func & {
                return f.set_estimates(to_region(estimates), here());
            },
            "estimates"_a, same, "Sets (min, extent) of each dimension as set_estimate() does.");
}

void define_copies(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "in_",
         [](Func &f, nb::args consumers) {
             const std::vector<Func> list = to_funcs(consumers);
             return list.empty() ? f.in(here()) : f.in(list, here());
         },
         "Returns a Func with the same values, which the consumers, or all, use instead.")
        .def(
            "clone_in",
            [](Func &f, nb::args consumers) { return f.clone_in(to_funcs(consumers), here()); },
            "Returns a copy of the Func, which the consumers use instead.")
        .def(
            "copy_input",
            [](Func &f, nb::handle buffer) { return f.copy_input(to_fetched(buffer), here()); },
            "buffer"_a, "Returns a Func with the buffer's values, which this one reads instead.")
        .def(
            "copy_to_device",
            [](Func &f, DeviceAPI api) -> Func & { return f.copy_to_device(api, here()); },
            "device_api"_a = DeviceAPI::Default_GPU, same,
            "Computes this copy of another Func or an image by a copy into the device's memory.")
        .def(
            "add_trace_tag",
            [](Func &f, const std::string &tag) -> Func & { return f.add_trace_tag(tag, here()); },
            "trace_tag"_a, same, "Has a text for who reads its trace.");
}

// Directives that are refused, with the reason.
void define_later(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "memoize",
         [](Func &f, std::optional<EvictionKey> key) -> Func & {
             return f.memoize(key.value_or(EvictionKey()), here());
         },
         "eviction_key"_a = nb::none(), same, "Is refused: no result is kept between calls.")
        .def(
            "debug_to_file",
            [](Func &f, const std::string &path) -> Func & {
                return f.debug_to_file(path, here());
            },
            "path"_a, same, "Is refused: trace_stores() has all values.")
        .def(
            "change_type",
            [](Func &f, const TypeLike &t, bool promise) -> Func & {
                return f.change_type(t.get(), promise, here());
            },
            "type"_a, "promise"_a = false, same, "Is refused: write a cast into the definition.");
}

}  // namespace

void define_func_directives(nb::class_<Func> &c) {
    define_tables(c);
    define_storage(c);
    define_copies(c);
    define_later(c);
}

}  // namespace tessera::python
