#include "bindings.h"

// What is compiled into files and strings.
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
    {"lowered_stmt", OutputFileType::stmt, "Returns the loops that are compiled, as text."},
    {"conceptual_stmt", OutputFileType::conceptual_stmt,
     "Returns which region of what is computed where, as text."},
    {"llvm_assembly", OutputFileType::llvm_assembly, "Returns LLVM's intermediate language."},
    {"assembly", OutputFileType::assembly, "Returns the assembly of the target's machine."},
    {"c_source", OutputFileType::c_source, "Returns the compiled function as C."},
    {"ptx", OutputFileType::device_code, "Returns the kernels of a GPU as PTX."},
};
// Methods that write a file, by the names that they have in C++.
const Text files[] = {
    {"compile_to_object", OutputFileType::object, "Writes an object file."},
    {"compile_to_bitcode", OutputFileType::bitcode, "Writes LLVM's bitcode."},
    {"compile_to_llvm_assembly", OutputFileType::llvm_assembly,
     "Writes LLVM's intermediate language as text."},
    {"compile_to_assembly", OutputFileType::assembly, "Writes assembly."},
    {"compile_to_c", OutputFileType::c_source, "Writes the function as C."},
    {"compile_to_header", OutputFileType::c_header,
     "Writes a header for C and C++ that declares the function."},
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
                const Location at = here();
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
            const Location at = here();
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
        "Returns the bytes of what compile_to() writes into a file of this type.");
}

struct View {
    const char *name;
    std::string (Pipeline::*apply)(Location) const;
    const char *doc;
};
// Methods that return what a pipeline is, without code.
const View views[] = {
    {"loop_nest", &Pipeline::loop_nest, "Returns the loops that the schedule comes to, as text."},
    {"schedule_as_cpp", &Pipeline::schedule_as_cpp, "Returns the schedule as statements of C++."},
    {"schedule_as_python", &Pipeline::schedule_as_python,
     "Returns the schedule as Python that runs where `pipeline` is a Pipeline of the algorithm."},
    {"schedule_as_json", &Pipeline::schedule_as_json,
     "Returns the schedule as JSON, which apply_schedule() takes."},
};

template<typename C> void define_views(nb::class_<C> &c) {
    for (const View &v : views) {
        c.def(
            v.name,
            [&v](C &f) {
                const Location at = here();
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
         "Prints the loops that the schedule comes to.")
        .def(
            "apply_schedule",
            [](C &f, const std::string &json, nb::handle more) {
                const Location at = here();
                const std::vector<Argument> parameters = to_arguments(more);
                nb::gil_scoped_release no_gil;
                pipeline_of(f, at).apply_schedule(json, parameters, at);
            },
            "json"_a, "more"_a = nb::list(),
            "Does what schedule_as_json() wrote of the same algorithm. more: parameters that the "
            "schedule mentions and the algorithm does not.")
        .def(
            "infer_arguments",
            [](C &f) {
                const Location at = here();
                return arguments_of(pipeline_of(f, at), nb::none(), at);
            },
            "Returns the arguments that a compiled function takes, before its outputs.");
}

template<typename C> void define_files(nb::class_<C> &c) {
    for (const Text &t : files) {
        const auto write = [&t](C &f, const Path &path, nb::handle arguments,
                                const std::string &function, const Target &target) {
            const Location at = here();
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
                const Location at = here();
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
        "Writes the loops that are compiled, as text or as a page for a browser.");
    statement(
        "compile_to_conceptual_stmt",
        [](Pipeline &p, const auto &...args) { p.compile_to_conceptual_stmt(args...); },
        "Writes which region of what is computed where, as text or as a page for a browser.");
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
                const Location at = here();
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
        "Writes an object and its header: prefix.o and prefix.h.");
    library(
        "compile_to_static_library",
        [](Pipeline &p, const auto &...args) { p.compile_to_static_library(args...); },
        "Writes a library and its header: prefix.a and prefix.h.");
    c.def(
         "compile_to",
         [](C &f, const nb::dict &outputs, nb::handle arguments, const std::string &function,
            const Target &target) {
             const Location at = here();
             Paths paths;
             for (auto [type, path] : outputs) paths[to_file_type(type)] = text_of(path);
             Pipeline p = pipeline_of(f, at);
             const std::vector<Argument> args = arguments_of(p, arguments, at);
             nb::gil_scoped_release no_gil;
             p.compile_to(paths, args, function, target_for(target), at);
         },
         "outputs"_a, "arguments"_a = nb::none(), "fn_name"_a = "", "target"_a = Target(),
         "Writes a file of each type, at its path.")
        .def(
            "compile_to_multitarget_static_library",
            [](C &f, const Path &prefix, nb::handle arguments, const Targets &targets,
               const std::string &function) {
                const Location at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                p.compile_to_multitarget_static_library(prefix.string(), args, targets, function,
                                                        at);
            },
            "filename_prefix"_a, "arguments"_a, "targets"_a, "fn_name"_a = "",
            "Writes a library with code for each target, the best of which is chosen when it runs.")
        .def(
            "compile_to_multitarget_object_files",
            [](C &f, const Path &prefix, nb::handle arguments, const Targets &targets,
               const std::vector<std::string> &suffixes, const std::string &function) {
                const Location at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                p.compile_to_multitarget_object_files(prefix.string(), args, targets, suffixes,
                                                      function, at);
            },
            "filename_prefix"_a, "arguments"_a, "targets"_a,
            "suffixes"_a = std::vector<std::string>(), "fn_name"_a = "",
            "Writes an object for each target, one that chooses, and a header.")
        .def(
            "compile_to_module",
            [](C &f, nb::handle arguments, const std::string &function, const Target &target) {
                const Location at = here();
                Pipeline p = pipeline_of(f, at);
                const std::vector<Argument> args = arguments_of(p, arguments, at);
                nb::gil_scoped_release no_gil;
                return p.compile_to_module(args, function, target_for(target), at);
            },
            "arguments"_a = nb::none(), "fn_name"_a = "", "target"_a = Target(),
            "Returns the Module of what would be compiled.");
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
