#include "schedule.h"

namespace tessera::python {
namespace {

bool is_tuple(nb::handle h) { return nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h); }

nb::object values_of(const Tuple &t) {
    nb::list list;
    for (const Expr &e : t.as_vector()) list.append(nb::cast(e));
    return nb::tuple(list);
}

// f[x] = value. After f[x] += e, Python stores what that has returned: a Stage, and all is done.
void define(FuncRef at, nb::handle value) {
    if (nb::isinstance<Stage>(value)) return;
    if (is_tuple(value))
        at = Tuple(to_exprs(value), at.where());
    else if (nb::isinstance<FuncRef>(value))
        at = nb::cast<FuncRef &>(value);
    else
        at = to_expr(value);
}

FuncRef at(const Func &f, nb::handle key) { return f(to_exprs(key), here()); }

// Applies `op=` to a place of a Func, and returns the Stage.
template<typename Op> auto in_place(Op op) {
    return [op](FuncRef &f, nb::handle value) {
        if (is_tuple(value)) return op(f, Tuple(to_exprs(value), f.where()));
        if (nb::isinstance<FuncRef>(value)) return op(f, nb::cast<FuncRef &>(value));
        return op(f, to_expr(value));
    };
}
// The same for one of several values.
template<typename Op> auto in_place_of_element(Op op) {
    return [op](FuncTupleElementRef &f, nb::handle value) { return op(f, to_expr(value)); };
}

void bind_refs(nb::module_ &m) {
    const auto add = [](auto &f, const auto &e) { return f += e; };
    const auto subtract = [](auto &f, const auto &e) { return f -= e; };
    const auto multiply = [](auto &f, const auto &e) { return f *= e; };
    const auto divide = [](auto &f, const auto &e) { return f /= e; };
    nb::class_<FuncTupleElementRef> element(m, "FuncTupleElementRef",
                                            "f[x, y][i]: one of the values of a Func at a point.");
    element.def("__iadd__", in_place_of_element(add))
        .def("__isub__", in_place_of_element(subtract))
        .def("__imul__", in_place_of_element(multiply))
        .def("__itruediv__", in_place_of_element(divide));
    define_operators(element);
    nb::class_<FuncRef> ref(
        m, "FuncRef", "f[x, y]: the value of a Func at a point, or the left side of a definition.");
    ref.def("__iadd__", in_place(add))
        .def("__isub__", in_place(subtract))
        .def("__imul__", in_place(multiply))
        .def("__itruediv__", in_place(divide))
        .def("__len__", &FuncRef::size)
        .def("size", &FuncRef::size)
        .def(
            "__getitem__",
            [](const FuncRef &f, int i) {
                if (i < 0 || size_t(i) >= f.size())
                    throw nb::index_error(str("the Func has ", f.size(), " values").c_str());
                return f[i];
            },
            "index"_a)
        .def(
            "__setitem__",
            [](const FuncRef &f, int i, nb::handle value) {
                if (nb::isinstance<Stage>(value)) return;
                FuncTupleElementRef element = f[i];
                element = to_expr(value);
            },
            "index"_a, "value"_a);
    define_operators(ref);
}

std::vector<Func> to_funcs(nb::args args) {
    std::vector<Func> list;
    for (nb::handle a : args) {
        for (const nb::object &f : items(a)) list.push_back(to_func(f));
    }
    return list;
}

// compute_at(f, x) and its like, which take a LoopLevel, too.
template<typename AtFunc, typename AtLevel> auto at_level(AtFunc at_func, AtLevel level) {
    return [at_func, level](Func &f, nb::handle where, std::optional<LoopVar> v) -> Func & {
        if (nb::isinstance<LoopLevel>(where)) return level(f, nb::cast<LoopLevel &>(where));
        if (!v) throw nb::type_error("a Func and one of its loops are wanted, or a LoopLevel");
        return at_func(f, to_func(where), v->get());
    };
}

void define_places(nb::class_<Func> &c) {
    constexpr auto same = nb::rv_policy::none;
    c.def(
         "compute_root", [](Func &f) -> Func & { return f.compute_root(here()); }, same,
         "Computes all that is needed before what uses it.")
        .def(
            "compute_inline", [](Func &f) -> Func & { return f.compute_inline(here()); }, same)
        .def(
            "compute_at",
            at_level([](Func &f, const Func &g,
                        const VarOrRVar &v) -> Func & { return f.compute_at(g, v, here()); },
                     [](Func &f, const LoopLevel &l) -> Func & { return f.compute_at(l, here()); }),
            "func"_a, "var"_a = nb::none(), same,
            "Computes what each iteration of this loop of another Func needs, within that "
            "iteration.")
        .def(
            "store_root", [](Func &f) -> Func & { return f.store_root(here()); }, same)
        .def("store_at",
             at_level([](Func &f, const Func &g,
                         const VarOrRVar &v) -> Func & { return f.store_at(g, v, here()); },
                      [](Func &f, const LoopLevel &l) -> Func & { return f.store_at(l, here()); }),
             "func"_a, "var"_a = nb::none(), same)
        .def(
            "hoist_storage_root", [](Func &f) -> Func & { return f.hoist_storage_root(here()); },
            same)
        .def("hoist_storage",
             at_level(
                 [](Func &f, const Func &g, const VarOrRVar &v) -> Func & {
                     return f.hoist_storage(g, v, here());
                 },
                 [](Func &f, const LoopLevel &l) -> Func & { return f.hoist_storage(l, here()); }),
             "func"_a, "var"_a = nb::none(), same)
        .def(
            "store_in",
            [](Func &f, MemoryType memory) -> Func & { return f.store_in(memory, here()); },
            "memory"_a, same)
        .def(
            "fold_storage",
            [](Func &f, const Var &v, const ExprLike &extent, bool forward) -> Func & {
                return f.fold_storage(v, extent, forward, here());
            },
            "dim"_a, "extent"_a, "fold_forward"_a = true, same)
        .def(
            "ring_buffer",
            [](Func &f, const ExprLike &extent) -> Func & { return f.ring_buffer(extent, here()); },
            "extent"_a, same)
        .def(
            "async_", [](Func &f) -> Func & { return f.async(here()); }, same,
            "Lets a thread of its own compute it.")
        .def(
            "reorder_storage",
            [](Func &f, nb::args dims) -> Func & {
                std::vector<Var> vars;
                for (nb::handle d : dims) {
                    for (const nb::object &v : items(d)) vars.push_back(to_var(v));
                }
                return f.reorder_storage(vars, here());
            },
            same, "Orders the dimensions in memory, innermost first.")
        .def(
            "align_storage",
            [](Func &f, const Var &v, const ExprLike &n) -> Func & {
                return f.align_storage(v, n, here());
            },
            "dim"_a, "alignment"_a, same)
        .def(
            "bound_storage",
            [](Func &f, const Var &v, const ExprLike &n) -> Func & {
                return f.bound_storage(v, n, here());
            },
            "dim"_a, "bound"_a, same)
        .def(
            "bound",
            [](Func &f, const Var &v, const ExprLike &min, const ExprLike &extent) -> Func & {
                return f.bound(v, min, extent, here());
            },
            "var"_a, "min"_a, "extent"_a, same)
        .def(
            "bound_extent",
            [](Func &f, const Var &v, const ExprLike &extent) -> Func & {
                return f.bound_extent(v, extent, here());
            },
            "var"_a, "extent"_a, same)
        .def(
            "align_bounds",
            [](Func &f, const Var &v, const ExprLike &modulus, const ExprLike &remainder)
                -> Func & { return f.align_bounds(v, modulus, remainder, here()); },
            "var"_a, "modulus"_a, "remainder"_a = 0, same)
        .def(
            "align_extent",
            [](Func &f, const Var &v, const ExprLike &modulus) -> Func & {
                return f.align_extent(v, modulus, here());
            },
            "var"_a, "modulus"_a, same)
        .def(
            "set_estimate",
            [](Func &f, const Var &v, const ExprLike &min, const ExprLike &extent) -> Func & {
                return f.set_estimate(v, min, extent, here());
            },
            "var"_a, "min"_a, "extent"_a, same)
        .def(
            "set_estimates",
            [](Func &f, nb::handle estimates) -> Func & {
                return f.set_estimates(to_region(estimates), here());
            },
            "estimates"_a, same)
        .def(
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
            "buffer"_a)
        .def(
            "copy_to_device",
            [](Func &f, DeviceAPI api) -> Func & { return f.copy_to_device(api, here()); },
            "device_api"_a = DeviceAPI::Default_GPU, same)
        .def(
            "copy_to_host", [](Func &f) -> Func & { return f.copy_to_host(here()); }, same)
        .def(
            "trace_loads", [](Func &f) -> Func & { return f.trace_loads(here()); }, same)
        .def(
            "trace_stores", [](Func &f) -> Func & { return f.trace_stores(here()); }, same)
        .def(
            "trace_realizations", [](Func &f) -> Func & { return f.trace_realizations(here()); },
            same)
        .def(
            "add_trace_tag",
            [](Func &f, const std::string &tag) -> Func & { return f.add_trace_tag(tag, here()); },
            "tag"_a, same)
        .def("no_profiling", [](Func &f) -> Func & { return f.no_profiling(here()); }, same);
}

void define_queries(nb::class_<Func> &c) {
    c.def("name", &Func::name)
        .def("defined", &Func::defined)
        .def("dimensions", &Func::dimensions)
        .def("args", &Func::args)
        .def("value", [](const Func &f) { return f.value(here()); })
        .def("values", [](const Func &f) { return values_of(f.values(here())); })
        .def("type", [](const Func &f) { return f.type(here()); })
        .def("types", [](const Func &f) { return f.types(here()); })
        .def("outputs", [](const Func &f) { return f.outputs(here()); })
        .def(
            "update", [](const Func &f, int i) { return f.update(i, here()); }, "index"_a = 0,
            "Returns the i-th update, to be scheduled.")
        .def("has_update_definition", &Func::has_update_definition)
        .def("num_update_definitions", &Func::num_update_definitions)
        .def(
            "update_args", [](const Func &f, int i) { return f.update_args(i, here()); },
            "index"_a = 0)
        .def(
            "update_value", [](const Func &f, int i) { return f.update_value(i, here()); },
            "index"_a = 0)
        .def(
            "update_values",
            [](const Func &f, int i) { return values_of(f.update_values(i, here())); },
            "index"_a = 0)
        .def(
            "rvars", [](const Func &f, int i) { return f.rvars(i, here()); }, "index"_a = 0)
        .def("is_extern", &Func::is_extern)
        .def("output_buffer", [](const Func &f) { return f.output_buffer(here()); })
        .def("output_buffers", [](const Func &f) { return f.output_buffers(here()); })
        .def("__repr__",
             [](const Func &f) {
                 if (!f.defined()) return str("<Func ", f.name(), ", not defined>");
                 std::vector<std::string> args;
                 for (const Var &v : f.args()) args.push_back(v.name());
                 const int updates = f.num_update_definitions();
                 return str(
                     "<Func ", f.name(), "(", join(args), "): ", join(f.types()),
                     updates ? str(", ", updates, updates == 1 ? " update" : " updates") : "", ">");
             })
        .def("__copy__", [](const Func &f) { return f; })
        .def("__reduce__", [](const Func &) -> nb::object {
            throw nb::type_error("a Func is not sent to other processes: send the function that "
                                 "builds it, or compile_to_static_library()");
        });
}

void bind_stage(nb::module_ &m) {
    nb::class_<Stage> c(m, "Stage", "One definition of a Func, to be scheduled.");
    c.def("name", &Stage::name)
        .def("dump_argument_list", &Stage::dump_argument_list)
        .def(
            "rfactor",
            [](Stage &s, nb::handle preserved, std::optional<Var> v) {
                const Location at = here();
                if (v) return s.rfactor(nb::cast<RVar>(preserved), *v, at);
                std::vector<std::pair<RVar, Var>> pairs;
                for (nb::handle p : preserved)
                    pairs.emplace_back(nb::cast<RVar>(p[0]), to_var(p[1]));
                return s.rfactor(pairs, at);
            },
            "preserved"_a, "var"_a = nb::none(),
            "Returns a new Func that computes an associative update separately for each value of "
            "these variables.")
        .def(
            "copy_input",
            [](Stage &s, nb::handle buffer) { return s.copy_input(to_fetched(buffer), here()); },
            "buffer"_a)
        .def("__repr__", [](const Stage &s) { return str("<Stage ", s.name(), ">"); });
    define_directives(c);
}

void bind_boundary_conditions(nb::module_ &m) {
    nb::module_ b = m.def_submodule(
        "BoundaryConditions",
        "Funcs that are the source inside of its bounds, and something sensible outside.");
    namespace bc = BoundaryConditions;
    const auto source = [](nb::handle f) {
        const Location at = here();
        if (nb::isinstance<ImageParam>(f)) return bc::Source(nb::cast<ImageParam &>(f), at);
        if (nb::isinstance<Func>(f)) return bc::Source(nb::cast<Func &>(f), at);
        return bc::Source(to_buffer(f, "the source"), at);
    };
    const auto region = [](nb::handle bounds) {
        return bounds.is_none() ? Region() : to_region(bounds);
    };
    b.def(
        "constant_exterior",
        [=](nb::handle f, nb::handle value, nb::handle bounds) {
            if (is_tuple(value))
                return bc::constant_exterior(source(f), Tuple(to_exprs(value), here()),
                                             region(bounds));
            return bc::constant_exterior(source(f), to_expr(value), region(bounds));
        },
        "f"_a, "exterior"_a, "bounds"_a = nb::none(), "Has one value everywhere outside.");
    b.def(
        "repeat_edge",
        [=](nb::handle f, nb::handle bounds) { return bc::repeat_edge(source(f), region(bounds)); },
        "f"_a, "bounds"_a = nb::none(), "Has the nearest value inside.");
    b.def(
        "repeat_image",
        [=](nb::handle f, nb::handle bounds) {
            return bc::repeat_image(source(f), region(bounds));
        },
        "f"_a, "bounds"_a = nb::none(), "Has copies side by side.");
    b.def(
        "mirror_image",
        [=](nb::handle f, nb::handle bounds) {
            return bc::mirror_image(source(f), region(bounds));
        },
        "f"_a, "bounds"_a = nb::none(),
        "Has copies side by side, every other one mirrored, with the value at the edge twice.");
    b.def(
        "mirror_interior",
        [=](nb::handle f, nb::handle bounds) {
            return bc::mirror_interior(source(f), region(bounds));
        },
        "f"_a, "bounds"_a = nb::none(), "The same, with the value at the edge once.");
}

}  // namespace

void bind_func(nb::module_ &m) {
    bind_refs(m);
    nb::class_<LoopLevel>(m, "LoopLevel", "A place in the loops of a pipeline.")
        .def(
            "__init__",
            [](LoopLevel *l, nb::handle f, const LoopVar &v, int stage) {
                new (l) LoopLevel(to_func(f), v.get(), stage, here());
            },
            "func"_a, "var"_a, "stage_index"_a = -1)
        .def_static("inlined", &LoopLevel::inlined)
        .def_static("root", &LoopLevel::root);
    bind_stage(m);
    nb::class_<Func> c(m, "Func",
                       "A stage of a pipeline: values over an infinite grid, and the schedule by "
                       "which they are computed.");
    c.def(nb::init<>())
        .def(
            "__init__",
            [](Func *f, nb::handle what) {
                if (nb::isinstance<nb::str>(what))
                    new (f) Func(nb::cast<std::string>(what));
                else if (nb::isinstance<Buffer<>>(what) || (is_array(what) && !as_expr(what)))
                    new (f) Func(to_buffer(what, "Func"), here());
                else if (nb::isinstance<ImageParam>(what))
                    new (f) Func(to_func(what));
                else
                    new (f) Func(to_expr(what), here());
            },
            "what"_a,
            "Makes a Func of this name, or with the values of an expression, a Buffer or an "
            "ImageParam.")
        .def(
            "__init__",
            [](Func *f, nb::handle types, int dimensions, const std::string &name) {
                std::vector<Type> list;
                for (const nb::object &t : items(types)) list.push_back(to_type(t));
                new (f) Func(list, dimensions, name);
            },
            "type"_a, "dimensions"_a, "name"_a = "",
            "Makes a Func that can only be defined with this type, or these, and number of "
            "dimensions.")
        .def("__getitem__", &at, "position"_a)
        .def("__call__",
             [](const Func &f, nb::args position) { return f(to_exprs(position), here()); })
        .def(
            "__setitem__",
            [](const Func &f, nb::handle position, nb::handle value) {
                define(at(f, position), value);
            },
            "position"_a, "value"_a);
    define_directives(c);
    define_places(c);
    define_queries(c);
    define_running(c);
    bind_boundary_conditions(m);
}

}  // namespace tessera::python
