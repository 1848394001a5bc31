#include "base/large_stack.h"
#include "bindings.h"
#include "driver/compile.h"
#include "ir/print_html.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lang/image_io.h"
#include "program/environment.h"

// Gives tessera/_notebook.py what it makes the pages of notebooks of.
namespace tessera::python {
namespace {

constexpr size_t longest_definition = 400;

struct StageText {
    std::string left, right;
};
// A function of the pipeline as it is computed, wrappers in place.
struct FuncText {
    std::string name, compute_level;
    std::vector<std::string> args, types, callees, images;
    std::vector<std::pair<std::string, std::string>> aliases;  // of images: (name, image)
    std::vector<StageText> definitions;
    bool is_output = false, is_extern = false;
};

std::string text_of(const std::vector<ir::Expr> &all) {
    std::vector<std::string> texts;
    for (const ir::Expr &e : all) texts.push_back(ir::brief(e, longest_definition));
    return texts.size() == 1 ? texts[0] : str("(", join(texts), ")");
}

// Returns the image that an inlined function is another name of, as one of an ImageParam is; an
// empty text if it is none.
std::string image_behind(const program::FunctionContents &f) {
    if (f.stages.size() != 1 || f.has_extern_definition()) return "";
    const program::Definition &d = *f.stages[0];
    if (!f.schedule.compute_level.means_inlined() || d.values.size() != 1) return "";
    const auto *call = d.values[0].as<ir::Call>();
    if (!call || call->call_kind != CallKind::Image || call->args.size() != f.args.size())
        return "";
    for (size_t i = 0; i < f.args.size(); i++) {
        const auto *arg = call->args[i].as<ir::Variable>();
        if (!arg || arg->name != f.args[i]) return "";
    }
    return call->callee.text();
}

std::vector<std::string> images_of(const program::FunctionContents &f) {
    std::vector<std::string> names;
    const auto add = [&](const ir::Call &call) {
        const std::string name = call.callee.text();
        if (call.call_kind == CallKind::Image && std::ranges::find(names, name) == names.end())
            names.push_back(name);
    };
    for (const program::DefinitionRef &d : f.stages) {
        program::for_each_expr(*d, [&](const ir::Expr &e) {
            ir::for_each_node(e, [&](const ir::Call &c) { add(c); });
        });
    }
    return names;
}

FuncText describe(const program::FunctionRef &function) {
    const program::FunctionContents &f = *function;
    FuncText text;
    text.name = f.name.text();
    text.is_extern = f.has_extern_definition();
    text.compute_level = str(f.schedule.compute_level);
    for (const Symbol &a : f.args) text.args.push_back(a.text());
    for (const Type &t : f.types) text.types.push_back(str(t));
    text.images = images_of(f);
    for (const program::FunctionRef &g : program::direct_callees(function)) {
        const std::string image = image_behind(*g);
        std::vector<std::string> &names = image.empty() ? text.callees : text.images;
        const std::string name = image.empty() ? g->name.text() : image;
        if (!image.empty()) text.aliases.emplace_back(g->name.text(), image);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    for (const program::DefinitionRef &d : f.stages) {
        if (d->values.empty()) continue;
        std::vector<std::string> args;
        for (const ir::Expr &e : d->args) args.push_back(ir::brief(e, longest_definition));
        text.definitions.push_back({str(text.name, "[", join(args), "]"), text_of(d->values)});
    }
    return text;
}

std::vector<FuncText> describe(const program::Program &program) {
    return with_large_stack([&] {
        const program::ProgramCopy copy = program::copy_reachable(program);
        std::vector<FuncText> all;
        for (const program::FunctionRef &f : copy.environment.order) {
            const auto is_it = [&](const program::FunctionRef &o) { return o->name == f->name; };
            const bool is_output = std::ranges::any_of(copy.program.outputs, is_it);
            if (!is_output && !image_behind(*f).empty()) continue;
            all.push_back(describe(f));
            all.back().is_output = is_output;
        }
        return all;
    });
}

nb::list as_list(const std::vector<FuncText> &funcs) {
    nb::list list;
    for (const FuncText &f : funcs) {
        nb::list definitions;
        for (const StageText &d : f.definitions)
            definitions.append(nb::make_tuple(d.left, d.right));
        nb::dict d;
        d["name"] = f.name;
        d["args"] = f.args;
        d["types"] = f.types;
        d["callees"] = f.callees;
        d["images"] = f.images;
        d["aliases"] = f.aliases;
        d["definitions"] = definitions;
        d["level"] = f.compute_level;
        d["is_output"] = f.is_output;
        d["is_extern"] = f.is_extern;
        list.append(d);
    }
    return list;
}

}  // namespace

nb::str as_statement(const Pipeline &p, OutputFileType type, const Target &target,
                     const Location &at) {
    std::string text, html;
    {
        nb::gil_scoped_release no_gil;
        if (type == OutputFileType::stmt) {
            const ir::Module m = p.lowered(p.infer_arguments(at), "", target, at);
            run_on_large_stack([&] { text = ir::to_string(m), html = ir::to_html(m); });
        } else {
            called_at(at, [&] {
                run_on_large_stack([&] {
                    const ir::Module m =
                        driver::conceptual(p.program(at), driver::file_target(target));
                    const ir::Stmt &s = m.functions[0].body;
                    text = ir::to_string(s), html = ir::to_html(s);
                });
            });
        }
    }
    return nb::borrow<nb::str>(
        nb::module_::import_("tessera._notebook").attr("Statement")(text, html));
}

void bind_notebook(nb::module_ &m) {
    m.def(
        "_stages",
        [](const Pipeline &p) {
            const Here at = here();
            std::vector<FuncText> funcs;
            {
                nb::gil_scoped_release no_gil;
                funcs = describe(p.program(at));
            }
            return as_list(funcs);
        },
        "pipeline"_a, "Returns what is shown of each Func, producers first.");
    m.def("_html_style", [] { return std::string(ir::html_style()); });
    m.def(
        "_png",
        [](const Buffer<> &image) {
            const Here at = here();
            std::string bytes;
            {
                nb::gil_scoped_release no_gil;
                bytes = to_png(image, at);
            }
            return nb::bytes(bytes.data(), bytes.size());
        },
        "image"_a, "Returns the bytes of a PNG file of a picture.");
}

}  // namespace tessera::python
