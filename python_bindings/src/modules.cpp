#include "bindings.h"
#include "docs/pipeline.h"

namespace tessera::python {
namespace {

using Paths = std::map<OutputFileType, std::string>;

Paths to_paths(const nb::dict &outputs) {
    Paths paths;
    for (auto [type, path] : outputs) paths[to_file_type(type)] = text_of(path);
    return paths;
}

void bind_module(nb::module_ &m) {
    nb::class_<ir::LoweredFunction>(m, "LoweredFunction", docs::pipeline::lowered_function_class)
        .def_ro("name", &ir::LoweredFunction::name, docs::pipeline::lowered_function_name)
        .def("__repr__",
             [](const ir::LoweredFunction &f) { return str("<LoweredFunction ", f.name, ">"); });
    nb::class_<Module>(m, "Module", docs::pipeline::module_class)
        .def(nb::init<const std::string &, const Target &>(), "name"_a, "target"_a = Target(),
             docs::pipeline::module_init)
        .def("name", &Module::name, docs::pipeline::module_name)
        .def("target", &Module::target, docs::pipeline::module_target)
        .def("functions", &Module::functions, docs::pipeline::module_functions)
        .def(
            "get_function_by_name",
            [](const Module &m, const std::string &name) {
                return m.get_function_by_name(name, here());
            },
            "name"_a, docs::pipeline::get_function_by_name)
        .def(
            "append", [](Module &m, const Module &part) { m.append(part, here()); }, "module"_a,
            docs::pipeline::append_module)
        .def(
            "append", [](Module &m, const ir::LoweredFunction &f) { m.append(f, here()); },
            "function"_a, docs::pipeline::append_function)
        .def("submodules", &Module::submodules, docs::pipeline::submodules)
        .def("resolve_submodules", &Module::resolve_submodules, docs::pipeline::resolve_submodules)
        .def(
            "compile",
            [](const Module &m, const nb::dict &outputs) {
                const Here at = here();
                const Paths paths = to_paths(outputs);
                nb::gil_scoped_release no_gil;
                m.compile(paths, at);
            },
            "outputs"_a, docs::pipeline::module_compile)
        .def(
            "compile_to_buffer",
            [](const Module &m) {
                const Here at = here();
                nb::gil_scoped_release no_gil;
                return Buffer<>(m.compile_to_buffer(at));
            },
            docs::pipeline::compile_to_buffer)
        .def(
            "get_device_code_buffer",
            [](const Module &m) {
                const Here at = here();
                nb::gil_scoped_release no_gil;
                return Buffer<>(m.get_device_code_buffer(at));
            },
            docs::pipeline::get_device_code_buffer)
        .def("__repr__", [](const Module &m) { return str("<Module ", m.name(), ">"); });
}

// Calls a Python function, which makes a module, from any thread.
ModuleFactory to_factory(const nb::callable &make) {
    return [&make](const std::string &function, const Target &target) {
        nb::gil_scoped_acquire gil;
        return nb::cast<Module>(make(function, target));
    };
}

}  // namespace

void bind_modules(nb::module_ &m) {
    bind_module(m);
    m.def(
        "link_modules",
        [](const std::string &name, const std::vector<Module> &modules) {
            return link_modules(name, modules, here());
        },
        "name"_a, "modules"_a, docs::pipeline::link_modules);
    m.def(
        "compile_standalone_runtime",
        [](nb::handle outputs, const Target &given) -> nb::object {
            const Here at = here();
            const Target target = given == Target() ? get_target_from_environment() : given;
            if (!nb::isinstance<nb::dict>(outputs)) {
                const std::string path = text_of(outputs);
                nb::gil_scoped_release no_gil;
                compile_standalone_runtime(path, target, at);
                return nb::none();
            }
            const Paths paths = to_paths(nb::cast<nb::dict>(outputs));
            Paths written;
            {
                nb::gil_scoped_release no_gil;
                written = compile_standalone_runtime(paths, target, at);
            }
            return nb::cast(written);
        },
        "outputs"_a, "target"_a = Target(), docs::pipeline::compile_standalone_runtime);
    m.def(
        "compile_multitarget",
        [](const std::string &function, const nb::dict &outputs, const std::vector<Target> &targets,
           const nb::callable &make, const std::vector<std::string> &suffixes) {
            const Here at = here();
            const Paths paths = to_paths(outputs);
            const ModuleFactory factory = to_factory(make);
            nb::gil_scoped_release no_gil;
            compile_multitarget(function, paths, targets, suffixes, factory, at);
        },
        "fn_name"_a, "outputs"_a, "targets"_a, "module_factory"_a,
        "suffixes"_a = std::vector<std::string>(), docs::pipeline::compile_multitarget);
    m.def(
        "load_plugin", [](const std::string &name) { load_plugin(name, here()); }, "name"_a,
        docs::pipeline::load_plugin);
}

}  // namespace tessera::python
