#include "bindings.h"

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
    const Location at = here();
    if (nb::isinstance<JITExtern>(h)) return nb::cast<JITExtern &>(h);
    if (nb::isinstance<Func>(h)) return JITExtern(nb::cast<Func &>(h), at);
    if (nb::isinstance<Pipeline>(h)) return JITExtern(nb::cast<Pipeline &>(h), at);
    return JITExtern(ExternCFunction(to_address(h), {}));
}

void define_extern(Func &f, const std::string &function, nb::handle params, nb::handle types,
                   nb::handle dimensions, NameMangling mangling, DeviceAPI device) {
    const Location at = here();
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
    constexpr const char *doc =
        "Lets a C function of this process compute the Func: int function(params..., output "
        "buffers...) returns 0, or an error code. Where the host pointer of an input buffer is "
        "null, it sets the region of that buffer to what the outputs need. dimensions: how many, "
        "or their Vars.";
    // Halide's names of the arguments are others, one for each form.
    const std::pair<const char *, const char *> names[] = {{"types", "dimensions"},
                                                           {"type", "dimensionality"},
                                                           {"types", "dimensionality"},
                                                           {"type", "arguments"},
                                                           {"types", "arguments"}};
    for (const auto &[types, dimensions] : names) {
        c.def("define_extern", &define_extern, "function_name"_a, "params"_a, nb::arg(types),
              nb::arg(dimensions), "mangling"_a = NameMangling::Default,
              "device_api"_a = DeviceAPI::Host, doc);
    }
    c.def("extern_function_name", [](const Func &f) { return f.extern_function_name(here()); });
}

template<typename C> void define_externs(nb::class_<C> &c) {
    c.def(
        "set_jit_externs",
        [](nb::handle self, const nb::dict &externs) {
            const Location at = here();
            std::map<std::string, JITExtern> functions;
            for (auto [name, f] : externs) functions.emplace(text_of(name), to_jit_extern(f));
            pipeline_of(nb::cast<C &>(self), at).set_jit_externs(functions, at);
            // A function of ctypes lives as long as Python refers to it.
            nb::setattr(self, "_jit_externs", externs);
        },
        "externs"_a,
        "Lets calls of C functions of these names call what is given: a function of ctypes, an "
        "address, a Func or a Pipeline.");
}
template void define_externs(nb::class_<Func> &);
template void define_externs(nb::class_<Pipeline> &);

void bind_extern(nb::module_ &m) {
    nb::class_<ExternFuncArgument>(m, "ExternFuncArgument",
                                   "An argument of Func.define_extern(): a Func, an ImageParam, a "
                                   "Buffer or an expression.")
        .def(
            "__init__",
            [](ExternFuncArgument *a, nb::handle what) {
                new (a) ExternFuncArgument(to_argument(what));
            },
            "what"_a)
        .def("is_func", &ExternFuncArgument::is_func)
        .def("is_expr", &ExternFuncArgument::is_expr)
        .def("is_buffer", &ExternFuncArgument::is_buffer)
        .def("is_image_param", &ExternFuncArgument::is_image_param)
        .def("defined", &ExternFuncArgument::defined);
    nb::class_<JITExtern>(m, "JITExtern",
                          "A function that compiled code may call by name: a C function by its "
                          "address or as ctypes has it, or a Func that is compiled as one.")
        .def(
            "__init__",
            [](JITExtern *e, nb::handle function) { new (e) JITExtern(to_jit_extern(function)); },
            "function"_a)
        .def("address",
             [](const JITExtern &e) { return reinterpret_cast<uintptr_t>(e.address()); });
    m.def(
        "user_context_value",
        [] { return ExternFuncArgument(ir::call(Handle(), ir::Intrinsic::user_context, {})); },
        "Returns the user context of the call, as an argument of an extern stage.");
    m.def(
        "extern_call",
        [](const std::string &name, const TypeLike &type, nb::args args, bool pure) {
            const std::vector<Expr> values = to_exprs(args);
            std::vector<Type> types;
            for (const Expr &e : values) types.push_back(e.type());
            return detail::extern_call(name.c_str(), type.get(), values, types, pure, here());
        },
        "name"_a, "type"_a, "args"_a, "pure"_a = false,
        "Returns what a C function of this process returns for these arguments, of a type. A pure "
        "one may be merged, moved and dropped.");
}

}  // namespace tessera::python
