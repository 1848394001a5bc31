#include "bindings.h"
#include "docs/pipeline.h"

// Binds what compiles pipelines into files and strings.
namespace tessera::python {
namespace {

using Path = std::filesystem::path;

struct Text {
    const char *name;
    OutputFileType type;
    const char *doc;
};
// Methods that return a text.
const Text texts[] = {
    {"lowered_stmt", OutputFileType::stmt, docs::pipeline::lowered_stmt},
    {"conceptual_stmt", OutputFileType::conceptual_stmt, docs::pipeline::conceptual_stmt},
    {"llvm_assembly", OutputFileType::llvm_assembly, docs::pipeline::llvm_assembly},
    {"assembly", OutputFileType::assembly, docs::pipeline::assembly},
    {"c_source", OutputFileType::c_source, docs::pipeline::c_source},
    {"ptx", OutputFileType::device_code, docs::pipeline::ptx},
};
// Methods that write a file, by the names that they have in C++.
const Text files[] = {
    {"compile_to_object", OutputFileType::object, docs::pipeline::compile_to_object},
    {"compile_to_bitcode", OutputFileType::bitcode, docs::pipeline::compile_to_bitcode},
    {"compile_to_llvm_assembly", OutputFileType::llvm_assembly,
     docs::pipeline::compile_to_llvm_assembly},
    {"compile_to_assembly", OutputFileType::assembly, docs::pipeline::compile_to_assembly},
    {"compile_to_c", OutputFileType::c_source, docs::pipeline::compile_to_c},
    {"compile_to_header", OutputFileType::c_header, docs::pipeline::compile_to_header},
};

// Files are for the environment's target, where none is named.
Target target_for(const Target &given) {
    return given == Target() ? get_target_from_environment() : given;
}

// The arguments that are given, or all that the pipeline has.
std::vector<Argument> arguments_of(const Pipeline &p, nb::handle given, const Location &at) {
    if (!given.is_none()) return to_arguments(given);
    nb::gil_scoped_release no_gil;
    return p.infer_arguments(at);
}

template<typename C> void define_texts(nb::class_<C> &c) {
    for (const Text &t : texts) {
        c.def(
            t.name,
            [&t](C &f, const Target &target) -> nb::str {
                const Here at = here();
                Pipeline p = pipeline_of(f, at);
                if (t.type == OutputFileType::stmt || t.type == OutputFileType::conceptual_stmt)
                    return as_statement(p, t.type, target_for(target), at);
                std::string text;
                {
                    nb::gil_scoped_release no_gil;
                    text = p.compile_to_string(t.type, {}, "", target_for(target), at);
                }
                return nb::str(text.data(), text.size());
            },
            "target"_a = Target(), t.doc);
    }
    c.def(
        "compile_to_string",
        [](C &f, OutputFileType type, nb::handle arguments, const std::string &function,
           const Target &target) {
            const Here at = here();
            Pipeline p = pipeline_of(f, at);
            const std::vector<Argument> args = arguments_of(p, arguments, at);
            std::string result;
            {
                nb::gil_scoped_release no_gil;
                result = p.compile_to_string(type, args, function, target_for(target), at);
            }
            return nb::bytes(result.data(), result.size());
        },
        "type"_a, "arguments"_a = nb::none(), "fn_name"_a = "", "target"_a = Target(),
        docs::pipeline::compile_to_string);
}

struct View {
    const char *name;
    std::string (Pipeline::*apply)(Location) const;
    const char *doc;
};
// Methods that return what a pipeline is, without code.
const View views[] = {
    {"loop_nest", &Pipeline::loop_nest, docs::pipeline::loop_nest},
    {"schedule_as_cpp", &Pipeline::schedule_as_cpp, docs::pipeline::schedule_as_cpp},
    {"schedule_as_python", &Pipeline::schedule_as_python, docs::pipeline::schedule_as_python},
    {"schedule_as_json", &Pipeline::schedule_as_json, docs::pipeline::schedule_as_json},
};

template<typename C> void define_views(nb::class_<C> &c) {
    for (const View &v : views) {
        c.def(
            v.name,
            [&v](C &f) {
                const Here at = here();
                const Pipeline p = pipeline_of(f, at);
                nb::gil_scoped_release no_gil;
                return (p.*v.apply)(at);
            },
            v.doc);
    }
    c.def(
         "print_loop_nest",
         [](nb::handle self) {
             nb::module_::import_("builtins").attr("print")(self.attr("loop_nest")(), "end"_a = "");
         },
         docs::pipeline::print_loop_nest)
        .def(
            "apply_schedule",
            [](C &f, const std::string &json, nb::handle more) {
                const Here at = here();
                const std::vector<Argument> parameters = to_arguments(more);
                nb::gil_scoped_release no_gil;
                pipeline_of(f, at).apply_schedule(json, parameters, at);
            },
            "json"_a, "more"_a = nb::list(), docs::pipeline::apply_schedule)
        .def(
            "infer_arguments",
            [](C &f) {
                const Here at = here();
                return arguments_of(pipeline_of(f, at), nb::none(), at);
            },
            docs::pipeline::infer_arguments);
}

template<typename C> void define_files(nb::class_<C> &c) {
    for (const Text &t : files) {
        const auto write = [&t](C &f, const Path &path, nb::handle arguments,
                                const std::string &function, const Target &target) {
            const Here at = here();
            Pipeline p = pipeline_of(f, at);
            const std::vector<Argument> args = arguments_of(p, arguments, at);
            nb::gil_scoped_release no_gil;
            p.compile_to({{t.type, path.string()}}, args, function, target_for(target), at);
        };
        c.def(t.name, write, "filename"_a, "arguments"_a = nb::none(), "fn_name"_a = "",
              "target"_a = Target(), t.doc);
        c.def(
            t.name,
            [write](C &f, const Path &path, nb::handle arguments, const Target &target) {
                write(f, path, arguments, "", target);
            },
            "filename"_a, "arguments"_a, "target"_a, t.doc);
    }
    const auto statement = [&](const char *name, auto write, const char *doc) {
        c.def(
            name,
            [write](C &f, const Path &path, nb::handle arguments, StmtOutputFormat format,
                    const Target &target) {
                const Here at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                write(p, path.string(), args, format, target, at);
            },
            "filename"_a, "arguments"_a = nb::none(), "fmt"_a = StmtOutputFormat::Text,
            "target"_a = Target(), doc);
    };
    statement(
        "compile_to_lowered_stmt",
        [](Pipeline &p, const auto &...args) { p.compile_to_lowered_stmt(args...); },
        docs::pipeline::compile_to_lowered_stmt);
    statement(
        "compile_to_conceptual_stmt",
        [](Pipeline &p, const auto &...args) { p.compile_to_conceptual_stmt(args...); },
        docs::pipeline::compile_to_conceptual_stmt);
}

// ---- Several files at once ----

using Paths = std::map<OutputFileType, std::string>;
using Targets = std::vector<Target>;

template<typename C> void define_libraries(nb::class_<C> &c) {
    const auto library = [&](const char *name, auto write, const char *doc) {
        c.def(
            name,
            [write](C &f, const Path &prefix, nb::handle arguments, const std::string &function,
                    const Target &target) {
                const Here at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                write(p, prefix.string(), args, function, target_for(target), at);
            },
            "filename_prefix"_a, "arguments"_a = nb::none(), "fn_name"_a = "",
            "target"_a = Target(), doc);
    };
    library(
        "compile_to_file", [](Pipeline &p, const auto &...args) { p.compile_to_file(args...); },
        docs::pipeline::compile_to_file);
    library(
        "compile_to_static_library",
        [](Pipeline &p, const auto &...args) { p.compile_to_static_library(args...); },
        docs::pipeline::compile_to_static_library);
    c.def(
         "compile_to",
         [](C &f, const nb::dict &outputs, nb::handle arguments, const std::string &function,
            const Target &target) {
             const Here at = here();
             Paths paths;
             for (auto [type, path] : outputs) paths[to_file_type(type)] = text_of(path);
             Pipeline p = pipeline_of(f, at);
             const std::vector<Argument> args = arguments_of(p, arguments, at);
             nb::gil_scoped_release no_gil;
             p.compile_to(paths, args, function, target_for(target), at);
         },
         "outputs"_a, "arguments"_a = nb::none(), "fn_name"_a = "", "target"_a = Target(),
         docs::pipeline::compile_to)
        .def(
            "compile_to_multitarget_static_library",
            [](C &f, const Path &prefix, nb::handle arguments, const Targets &targets,
               const std::string &function) {
                const Here at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                p.compile_to_multitarget_static_library(prefix.string(), args, targets, function,
                                                        at);
            },
            "filename_prefix"_a, "arguments"_a, "targets"_a, "fn_name"_a = "",
            docs::pipeline::compile_to_multitarget_static_library)
        .def(
            "compile_to_multitarget_object_files",
            [](C &f, const Path &prefix, nb::handle arguments, const Targets &targets,
               const std::vector<std::string> &suffixes, const std::string &function) {
                const Here at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                p.compile_to_multitarget_object_files(prefix.string(), args, targets, suffixes,
                                                      function, at);
            },
            "filename_prefix"_a, "arguments"_a, "targets"_a,
            "suffixes"_a = std::vector<std::string>(), "fn_name"_a = "",
            docs::pipeline::compile_to_multitarget_object_files)
        .def(
            "compile_to_module",
            [](C &f, nb::handle arguments, const std::string &function, const Target &target) {
                const Here at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                return p.compile_to_module(args, function, target_for(target), at);
            },
            "arguments"_a = nb::none(), "fn_name"_a = "", "target"_a = Target(),
            docs::pipeline::compile_to_module);
}

}  // namespace

template<typename C> void define_output(nb::class_<C> &c) {
    define_texts(c);
    define_views(c);
    define_files(c);
    define_libraries(c);
}
template void define_output(nb::class_<Func> &);
template void define_output(nb::class_<Pipeline> &);

}  // namespace tessera::python
