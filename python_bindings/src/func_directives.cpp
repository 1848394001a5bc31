#include "bindings.h"
#include "docs/func.h"

namespace tessera::python {
namespace {

// ---- The directives, by what they take ----

struct Plain {
    const char *name;
    Func &(Func::*apply)(Location);
    const char *doc;
};
const Plain plain[] = {
    {"compute_root", &Func::compute_root, docs::func::compute_root},
    {"compute_inline", &Func::compute_inline, docs::func::compute_inline},
    {"store_root", &Func::store_root, docs::func::store_root},
    {"hoist_storage_root", &Func::hoist_storage_root, docs::func::hoist_storage_root},
    {"async_", &Func::async, docs::func::async_},
    {"copy_to_host", &Func::copy_to_host, docs::func::copy_to_host},
    {"trace_loads", &Func::trace_loads, docs::func::trace_loads},
    {"trace_stores", &Func::trace_stores, docs::func::trace_stores},
    {"trace_realizations", &Func::trace_realizations, docs::func::trace_realizations},
    {"no_profiling", &Func::no_profiling, docs::func::no_profiling},
};

struct AtLoop {
    const char *name;
    Func &(Func::*at_loop)(const Func &, const VarOrRVar &, Location);
    Func &(Func::*at_level)(const LoopLevel &, Location);
    const char *doc;
};
const AtLoop at_loops[] = {
    {"compute_at", &Func::compute_at, &Func::compute_at, docs::func::compute_at},
    {"store_at", &Func::store_at, &Func::store_at, docs::func::store_at},
    {"hoist_storage", &Func::hoist_storage, &Func::hoist_storage, docs::func::hoist_storage},
};

struct OfOne {
    const char *name;
    Func &(Func::*apply)(const Var &, const Expr &, Location);
    const char *var, *value;
    const char *doc;
};
const OfOne of_one[] = {
    {"bound_extent", &Func::bound_extent, "var", "extent", docs::func::bound_extent},
    {"align_extent", &Func::align_extent, "var", "modulus", docs::func::align_extent},
    {"align_storage", &Func::align_storage, "dim", "alignment", docs::func::align_storage},
    {"bound_storage", &Func::bound_storage, "dim", "bound", docs::func::bound_storage},
};

struct OfTwo {
    const char *name;
    Func &(Func::*apply)(const Var &, const Expr &, const Expr &, Location);
    const char *a, *b;
    const char *doc;
};
const OfTwo of_two[] = {
    {"bound", &Func::bound, "min", "extent", docs::func::bound},
    {"set_estimate", &Func::set_estimate, "min", "extent", docs::func::set_estimate},
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
         "memory_type"_a, same, docs::func::store_in)
        .def(
            "fold_storage",
            [](Func &f, const Var &v, const ExprLike &extent, bool forward) -> Func & {
                return f.fold_storage(v, extent, forward, here());
            },
            "dim"_a, "extent"_a, "fold_forward"_a = true, same, docs::func::fold_storage)
        .def(
            "ring_buffer",
            [](Func &f, const ExprLike &extent) -> Func & { return f.ring_buffer(extent, here()); },
            "extent"_a, same, docs::func::ring_buffer)
        .def(
            "reorder_storage",
            [](Func &f, nb::args dims) -> Func & {
                return f.reorder_storage(to_vars(dims), here());
            },
            "dims"_a, same, docs::func::reorder_storage)
        .def(
            "align_bounds",
            [](Func &f, const Var &v, const ExprLike &modulus, const ExprLike &remainder)
                -> Func & { return f.align_bounds(v, modulus, remainder, here()); },
            "var"_a, "modulus"_a, "remainder"_a = 0, same, docs::func::align_bounds)
        .def(
            "set_estimates",
            [](Func &f, nb::handle estimates) -> Func & {
                return f.set_estimates(to_region(estimates), here());
            },
            "estimates"_a, same, docs::func::set_estimates);
}

void define_copies(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "in_",
         [](Func &f, nb::args consumers) {
             const std::vector<Func> list = to_funcs(consumers);
             return list.empty() ? f.in(here()) : f.in(list, here());
         },
         docs::func::in_)
        .def(
            "clone_in",
            [](Func &f, nb::args consumers) { return f.clone_in(to_funcs(consumers), here()); },
            docs::func::clone_in)
        .def(
            "copy_input",
            [](Func &f, nb::handle buffer) { return f.copy_input(to_fetched(buffer), here()); },
            "buffer"_a, docs::func::copy_input)
        .def(
            "copy_to_device",
            [](Func &f, DeviceAPI api) -> Func & { return f.copy_to_device(api, here()); },
            "device_api"_a = DeviceAPI::Default_GPU, same, docs::func::copy_to_device)
        .def(
            "add_trace_tag",
            [](Func &f, const std::string &tag) -> Func & { return f.add_trace_tag(tag, here()); },
            "trace_tag"_a, same, docs::func::add_trace_tag);
}

// Directives that are refused, with the reason.
void define_later(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "memoize",
         [](Func &f, std::optional<EvictionKey> key) -> Func & {
             return f.memoize(key.value_or(EvictionKey()), here());
         },
         "eviction_key"_a = nb::none(), same, docs::func::memoize)
        .def(
            "debug_to_file",
            [](Func &f, const std::string &path) -> Func & {
                return f.debug_to_file(path, here());
            },
            "path"_a, same, docs::func::debug_to_file)
        .def(
            "change_type",
            [](Func &f, const TypeLike &t, bool promise) -> Func & {
                return f.change_type(t.get(), promise, here());
            },
            "type"_a, "promise"_a = false, same, docs::func::change_type);
}

}  // namespace

void define_func_directives(nb::class_<Func> &c) {
    define_tables(c);
    define_storage(c);
    define_copies(c);
    define_later(c);
}

}  // namespace tessera::python
