#include "bindings.h"
#include "docs/func.h"
#include "docs/pipeline.h"
#include "docs/running.h"

// C functions: as stages, in expressions, and by the names that a pipeline calls.
namespace tessera::python {
namespace {

ExternFuncArgument to_argument(nb::handle h) {
    if (nb::isinstance<ExternFuncArgument>(h)) return nb::cast<ExternFuncArgument &>(h);
    if (nb::isinstance<Func>(h)) return nb::cast<Func &>(h);
    if (nb::isinstance<ImageParam>(h)) return {nb::cast<ImageParam &>(h), here()};
    if (std::optional<Expr> e = as_expr(h)) return *e;
    if (nb::isinstance<Buffer<>>(h) || is_array(h)) return {to_buffer(h, "the argument"), here()};
    throw nb::type_error(str("a ", class_of(h),
                             " is no argument of an extern stage: a Func, an "
                             "ImageParam, a Buffer or an expression is")
                             .c_str());
}

// The address of a C function: a number, or a function of ctypes or cffi.
void *to_address(nb::handle h) {
    if (PyLong_Check(h.ptr())) return reinterpret_cast<void *>(nb::cast<uintptr_t>(h));
    if (!PyCallable_Check(h.ptr())) {
        throw nb::type_error(str("a ", class_of(h),
                                 " is no function: an address, a function of "
                                 "ctypes, a Func or a Pipeline is")
                                 .c_str());
    }
    const nb::module_ ctypes = nb::module_::import_("ctypes");
    const nb::object address = ctypes.attr("cast")(h, ctypes.attr("c_void_p")).attr("value");
    return reinterpret_cast<void *>(nb::cast<uintptr_t>(address));
}

JITExtern to_jit_extern(nb::handle h) {
    const Here at = here();
    if (nb::isinstance<JITExtern>(h)) return nb::cast<JITExtern &>(h);
    if (nb::isinstance<Func>(h)) return JITExtern(nb::cast<Func &>(h), at);
    if (nb::isinstance<Pipeline>(h)) return JITExtern(nb::cast<Pipeline &>(h), at);
    return JITExtern(ExternCFunction(to_address(h), {}));
}

void define_extern(Func &f, const std::string &function, nb::handle params, nb::handle types,
                   nb::handle dimensions, NameMangling mangling, DeviceAPI device) {
    const Here at = here();
    std::vector<ExternFuncArgument> args;
    for (const nb::object &p : items(params)) args.push_back(to_argument(p));
    std::vector<Type> list;
    for (const nb::object &t : items(types)) list.push_back(to_type(t));
    if (PyLong_Check(dimensions.ptr()))
        return f.define_extern(function, args, list, nb::cast<int>(dimensions), mangling, device,
                               at);
    std::vector<Var> vars;
    for (const nb::object &v : items(dimensions)) vars.push_back(to_var(v));
    f.define_extern(function, args, list, vars, mangling, device, at);
}

}  // namespace

void define_extern_stages(nb::class_<Func> &c) {
    // Halide's names of the arguments are others, one for each form.
    const std::pair<const char *, const char *> names[] = {{"types", "dimensions"},
                                                           {"type", "dimensionality"},
                                                           {"types", "dimensionality"},
                                                           {"type", "arguments"},
                                                           {"types", "arguments"}};
    for (const auto &[types, dimensions] : names) {
        c.def("define_extern", &define_extern, "function_name"_a, "params"_a, nb::arg(types),
              nb::arg(dimensions), "mangling"_a = NameMangling::Default,
              "device_api"_a = DeviceAPI::Host, docs::func::define_extern);
    }
    c.def(
        "extern_function_name", [](const Func &f) { return f.extern_function_name(here()); },
        docs::func::extern_function_name);
}

template<typename C> void define_externs(nb::class_<C> &c) {
    c.def(
        "set_jit_externs",
        [](nb::handle self, const nb::dict &externs) {
            const Here at = here();
            std::map<std::string, JITExtern> functions;
            for (auto [name, f] : externs) functions.emplace(text_of(name), to_jit_extern(f));
            pipeline_of(nb::cast<C &>(self), at).set_jit_externs(functions, at);
            // A function of ctypes lives as long as Python refers to it.
            nb::setattr(self, "_jit_externs", externs);
        },
        "externs"_a, docs::pipeline::set_jit_externs);
}
template void define_externs(nb::class_<Func> &);
template void define_externs(nb::class_<Pipeline> &);

void bind_extern(nb::module_ &m) {
    nb::class_<ExternFuncArgument>(m, "ExternFuncArgument", docs::extern_c::argument_class)
        .def(
            "__init__",
            [](ExternFuncArgument *a, nb::handle what) {
                new (a) ExternFuncArgument(to_argument(what));
            },
            "what"_a, docs::extern_c::argument_init)
        .def("is_func", &ExternFuncArgument::is_func, docs::extern_c::is_func)
        .def("is_expr", &ExternFuncArgument::is_expr, docs::extern_c::is_expr)
        .def("is_buffer", &ExternFuncArgument::is_buffer, docs::extern_c::is_buffer)
        .def("is_image_param", &ExternFuncArgument::is_image_param, docs::extern_c::is_image_param)
        .def("defined", &ExternFuncArgument::defined, docs::extern_c::defined);
    nb::class_<JITExtern>(m, "JITExtern", docs::extern_c::jit_extern)
        .def(
            "__init__",
            [](JITExtern *e, nb::handle function) { new (e) JITExtern(to_jit_extern(function)); },
            "function"_a, docs::extern_c::jit_extern_init)
        .def(
            "address", [](const JITExtern &e) { return reinterpret_cast<uintptr_t>(e.address()); },
            docs::extern_c::address);
    m.def(
        "user_context_value",
        [] { return ExternFuncArgument(ir::call(Handle(), ir::Intrinsic::user_context, {})); },
        docs::extern_c::user_context_value);
    m.def(
        "extern_call",
        [](const std::string &name, const TypeLike &type, nb::args args, bool pure) {
            const std::vector<Expr> values = to_exprs(args);
            std::vector<Type> types;
            for (const Expr &e : values) types.push_back(e.type());
            return detail::extern_call(name.c_str(), type.get(), values, types, pure, here());
        },
        "name"_a, "type"_a, "args"_a, "pure"_a = false, docs::extern_c::extern_call);
}

}  // namespace tessera::python
