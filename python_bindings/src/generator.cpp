#include "bindings.h"
#include "docs/params.h"
#include "docs/running.h"
#include <iostream>
#include <limits>
#include <memory>
#include <tessera_generator.h>

namespace tessera::python {
namespace {

// ---- Parameters ----

// A parameter, and its value as an object of Python.
struct HeldParam {
    std::shared_ptr<GeneratorParamBase> param;
    std::function<nb::object()> value;
};

template<typename T> HeldParam hold(const std::shared_ptr<GeneratorParam<T>> &param) {
    return {param, [p = param.get()] { return nb::cast(T(p->value())); }};
}

template<typename T> HeldParam number_param(const std::string &name, nb::handle field) {
    const T value = nb::cast<T>(field.attr("default"));
    const nb::object min = field.attr("min"), max = field.attr("max");
    if (min.is_none() && max.is_none())
        return hold(std::make_shared<GeneratorParam<T>>(name, value));
    using Limits = std::numeric_limits<T>;
    return hold(std::make_shared<GeneratorParam<T>>(
        name, value, min.is_none() ? Limits::lowest() : nb::cast<T>(min),
        max.is_none() ? Limits::max() : nb::cast<T>(max)));
}

// The class of the default value says what the parameter is.
HeldParam make_param(const std::string &name, nb::handle field) {
    const nb::object value = field.attr("default"), choices = field.attr("choices");
    if (!choices.is_none()) {
        std::map<std::string, std::string> texts;
        for (nb::handle choice : choices) texts[text_of(choice)] = text_of(choice);
        return hold(std::make_shared<GeneratorParam<std::string>>(name, text_of(value), texts));
    }
    if (PyBool_Check(value.ptr()))
        return hold(std::make_shared<GeneratorParam<bool>>(name, nb::cast<bool>(value)));
    if (PyLong_Check(value.ptr())) return number_param<int64_t>(name, field);
    if (PyFloat_Check(value.ptr())) return number_param<double>(name, field);
    if (PyUnicode_Check(value.ptr()))
        return hold(
            std::make_shared<GeneratorParam<std::string>>(name, nb::cast<std::string>(value)));
    if (nb::isinstance<LoopLevel>(value))
        return hold(
            std::make_shared<GeneratorParam<LoopLevel>>(name, nb::cast<LoopLevel &>(value)));
    if (const std::optional<Type> type = as_type(value))
        return hold(std::make_shared<GeneratorParam<Type>>(name, *type));
    throw nb::type_error(str("GeneratorParam ", name, ": a ", class_of(value),
                             " is no default; a bool, int, float, str, Type, LoopLevel or member "
                             "of an Enum is")
                             .c_str());
}

// ---- Inputs and outputs ----

// Holds what an object of Python declares: InputBuffer and its like of generator.py.
struct Declared {
    Declared(const std::string &name, nb::handle field) : name(name), field(nb::borrow(field)) {
        kind = nb::cast<std::string>(field.attr("kind"));
        for (nb::handle t : field.attr("types")) types.push_back(to_type(t));
        if (!field.attr("dimensions").is_none())
            dimensions = nb::cast<int>(field.attr("dimensions"));
        const nb::object count = field.attr("count");
        is_array = !count.is_none();
        if (is_array && !PyUnicode_Check(count.ptr())) size = nb::cast<int>(count);
    }
    std::string name, kind;
    ArgumentTypes types;
    int dimensions = ArgumentShape::open;
    bool is_array = false;
    int size = ArgumentShape::open;
    nb::object field;
};

struct HeldInput {
    GeneratorInput *input = nullptr;
    std::function<nb::object()> value;  // once generate() is called
};

nb::object object_of(const ImageParam &image) { return nb::cast(image); }
nb::object object_of(const Func &f) { return nb::cast(f); }

// An argument of the function is a Param, which has estimates.
nb::object scalar_of(const GeneratorInput &input, size_t i, const Expr &e) {
    const std::vector<Argument> &arguments = input.arguments();
    return i < arguments.size() ? nb::cast(Param<>(arguments[i].parameter)) : nb::cast(e);
}

template<typename T> HeldInput hold_input(GeneratorBase &g, const Declared &d) {
    if (!d.is_array) {
        auto *one = g.add_input<T>(d.name, d.types, d.dimensions);
        return {one, [one] { return object_of(*one); }};
    }
    auto *all = g.add_input<T[]>(d.size, d.name, d.types, d.dimensions);
    return {all, [all] {
                nb::list list;
                for (const auto &element : *all) list.append(object_of(element));
                return nb::object(list);
            }};
}

HeldInput hold_scalar_input(GeneratorBase &g, const Declared &d) {
    if (!d.is_array) {
        // Has no dimensions, so that the form of Buffers does not fit.
        auto *one = g.add_input<Expr>(d.name, std::vector<Type>(d.types));
        return {one, [one] { return scalar_of(*one, 0, *one); }};
    }
    auto *all = g.add_input<Expr[]>(d.size, d.name, d.types);
    return {all, [all] {
                nb::list list;
                for (size_t i = 0; i < all->size(); i++) list.append(scalar_of(*all, i, (*all)[i]));
                return nb::object(list);
            }};
}

struct HeldOutput {
    GeneratorOutput *output = nullptr;
    std::function<nb::object()> value;
    std::function<void(nb::handle)> assign;  // a Func, or a list of them
};

std::vector<Func> funcs_of(nb::handle objects) {
    std::vector<Func> funcs;
    for (const nb::object &f : items(objects)) funcs.push_back(to_func(f));
    return funcs;
}

template<typename T> HeldOutput hold_output(GeneratorBase &g, const Declared &d) {
    if (!d.is_array) {
        auto *one = g.add_output<T>(d.name, d.types, d.dimensions);
        return {one, [one] { return nb::cast(typename detail::OutputElement<T>::type(*one)); },
                [one](nb::handle f) { *one = to_func(f); }};
    }
    auto *all = g.add_output<T[]>(d.size, d.name, d.types, d.dimensions);
    return {all,
            [all] {
                nb::list list;
                for (const auto &element : *all) list.append(nb::cast(element));
                return nb::object(list);
            },
            [all](nb::handle funcs) { *all = funcs_of(funcs); }};
}

// ---- The generator ----

// Returns the message of an exception of Python's, with the user's line.
std::string message_of(const nb::python_error &e) {
    return nb::cast<std::string>(
        nb::module_::import_("tessera._generator").attr("_message_of")(e.value(), e.traceback()));
}

// A generator whose parameters, inputs, outputs and functions an object of Python has, an instance
// of generator.py's Generator. Made within a GeneratorBase::Construction.
class PythonGenerator final : public GeneratorBase {
public:
    // Makes the generator of an object, which owns this one.
    explicit PythonGenerator(nb::handle of) : object(of) { declare_all(); }
    // Makes a generator that owns a new object of the class.
    struct OfClass {
        nb::handle type;
    };
    explicit PythonGenerator(OfClass of) : owned(of.type.attr("__new__")(of.type)), object(owned) {
        owned.attr("_begin")(nb::cast(this, nb::rv_policy::reference));
        declare_all();
    }
    ~PythonGenerator() override {
        nb::gil_scoped_acquire gil;
        const nb::error_scope kept;  // it may go because something has failed
        // Whoever has kept the object finds no generator there.
        if (owned.is_valid()) nb::setattr(owned, "_core", nb::none());
        params.clear();
        inputs.clear();
        outputs.clear();
        scalars.clear();
        owned.reset();
    }

    void declare(const std::string &name, nb::handle field) {
        if (field.attr("kind").equal(nb::str("parameter"))) {
            params.emplace(name, make_param(name, field));
            return;
        }
        const Declared d(name, field);
        if (nb::cast<bool>(field.attr("is_output"))) {
            outputs.emplace(name, d.kind == "buffer" ? hold_output<Buffer<>>(*this, d)
                                  : d.kind == "func" ? hold_output<Func>(*this, d)
                                                     : hold_output<Expr>(*this, d));
            return;
        }
        inputs.emplace(name, d.kind == "buffer" ? hold_input<Buffer<>>(*this, d)
                             : d.kind == "func" ? hold_input<Func>(*this, d)
                                                : hold_scalar_input(*this, d));
        if (d.kind == "scalar") scalars.emplace_back(name, d.field);
    }

    nb::object param_value(const std::string &name) const { return params.at(name).value(); }
    nb::object input_value(const std::string &name) const { return inputs.at(name).value(); }
    nb::object output_value(const std::string &name) const { return outputs.at(name).value(); }
    void assign_output(const std::string &name, nb::handle funcs) {
        outputs.at(name).assign(funcs);
    }
    GeneratorArgument &argument(const std::string &name) const {
        if (const auto input = inputs.find(name); input != inputs.end())
            return *input->second.input;
        return *outputs.at(name).output;
    }

    Location written;  // of its class

private:
    void declare_all() {
        const nb::object at = object.attr("_written");
        if (!at.is_none()) written = nb::cast<Location>(at);
        const nb::object fields = object.attr("_declared")();
        for (nb::handle pair : fields) declare(nb::cast<std::string>(pair[0]), nb::object(pair[1]));
    }
    void configure() override { call("_configure"); }
    void generate() override {
        set_scalar_facts();
        call("_generate");
    }
    void schedule() override { call("_schedule"); }
    bool write_stub(const std::string &) override {
        throw CompileError(str("cpp_stub: ", generator_name(),
                               " is a generator in Python, which "
                               "a header of C++ cannot call"));
    }
    void call(const char *method) {
        nb::gil_scoped_acquire gil;
        try {
            object.attr(method)();
        } catch (const nb::python_error &e) {
            // A caller in Python gets the exception itself.
            if (owned.is_valid()) throw CompileError(message_of(e));
            throw;
        }
    }
    // Defaults and ranges of numbers that the compiled function takes.
    void set_scalar_facts() {
        nb::gil_scoped_acquire gil;
        for (const auto &[name, field] : scalars) {
            for (const Argument &a : inputs.at(name).input->arguments()) {
                const nb::object value = field.attr("default"), min = field.attr("min"),
                                 max = field.attr("max");
                Param<> p(a.parameter);
                if (!min.is_none() || !max.is_none())
                    p.set_range(min.is_none() ? Expr() : cast(p.type(), to_expr(min)),
                                max.is_none() ? Expr() : cast(p.type(), to_expr(max)), written);
                if (value.is_none()) continue;
                const uint64_t bits = number_bits(p.type(), value, [&] { return "input " + name; });
                detail::set_scalar(*a.parameter, p.type(), bits, written);
            }
        }
    }

    nb::object owned;
    nb::handle object;
    std::map<std::string, HeldParam> params;
    std::map<std::string, HeldInput> inputs;
    std::map<std::string, HeldOutput> outputs;
    std::vector<std::pair<std::string, nb::object>> scalars;
};

// Returns what an input is given: Funcs, images, arrays or numbers, one or a list of them. Throws
// TypeError.
InputValues to_input_values(nb::handle given, const std::string &input) {
    const auto value = [&](nb::handle one) -> InputValue {
        if (nb::isinstance<Func>(one)) return nb::cast<Func &>(one);
        if (nb::isinstance<ImageParam>(one)) return nb::cast<ImageParam &>(one);
        if (nb::isinstance<Buffer<>>(one) || is_array(one))
            return InputValue(to_buffer(one, [&] { return "input " + input; }), here());
        return to_expr(one);
    };
    if (!is_tuple(given)) return value(given);
    std::vector<InputValue> values;
    for (nb::handle one : given) values.push_back(value(one));
    return values;
}

// Returns the value of a parameter, which tessera._generator has made a text of or left a
// LoopLevel.
ParamValue to_param_value(nb::handle value) {
    if (nb::isinstance<LoopLevel>(value)) return nb::cast<LoopLevel &>(value);
    return text_of(value);
}

void bind_inputs(GeneratorBase &g, nb::handle values) {
    called_at(here(), [&] {
        g.configure_now();
        std::vector<InputValues> all;
        size_t i = 0;
        for (nb::handle given : values) {
            const auto &inputs = g.generator_inputs();
            all.push_back(to_input_values(given, i < inputs.size() ? inputs[i]->shape().name : ""));
            i++;
        }
        g.bind_inputs(all);
    });
}

void set_params(GeneratorBase &g, nb::handle params) {
    for (nb::handle pair : params.attr("items")())
        to_param_value(nb::object(pair[1])).set(g, nb::cast<std::string>(pair[0]));
}

// ---- The registry ----

nb::object module_of_generators() { return nb::module_::import_("tessera._generator"); }

// Makes the generator that a script has registered under this name.
std::unique_ptr<GeneratorBase> make_registered(const std::string &name,
                                               const GeneratorContext &context) {
    nb::gil_scoped_acquire gil;
    try {
        const nb::object entry = module_of_generators().attr("_registered")[nb::str(name.c_str())];
        const GeneratorBase::Construction construction(name, context);
        auto made =
            std::make_unique<PythonGenerator>(PythonGenerator::OfClass{nb::object(entry[0])});
        set_params(*made, entry[1]);
        return made;
    } catch (const nb::python_error &e) {
        throw CompileError(message_of(e));
    }
}

// Another one of that name is replaced: a cell of a notebook may run again.
void register_generator(const std::string &name) {
    GeneratorRegistry::remove(name);
    GeneratorRegistry::add(name, name, [name](const GeneratorContext &context) {
        return make_registered(name, context);
    });
}

int run_main(const std::vector<std::string> &arguments) {
    nb::gil_scoped_release no_gil;
    return run_generator_command(arguments, std::cout, std::cerr);
}

GeneratorContext context_of(const Target &target, const AutoschedulerParams &scheduler) {
    return GeneratorContext(target.has_unknowns() ? get_target_from_environment() : target,
                            scheduler);
}

// Defines what any generator does, in Python or C++, for those who call it.
void bind_generator_base(nb::module_ &m) {
    nb::class_<GeneratorBase>(m, "_GeneratorBase")
        .def("name", [](const GeneratorBase &g) { return g.generator_name(); })
        .def("target", &GeneratorBase::get_target)
        .def("set_params",
             [](GeneratorBase &g, nb::handle params) {
                 called_at(here(), [&] { set_params(g, params); });
             })
        .def("configure_now",
             [](GeneratorBase &g) { called_at(here(), [&] { g.configure_now(); }); })
        .def("input_names",
             [](const GeneratorBase &g) {
                 std::vector<std::string> names;
                 for (const GeneratorInput *i : g.generator_inputs())
                     names.push_back(i->shape().name);
                 return names;
             })
        .def("bind_inputs", &bind_inputs)
        .def("bind_input",
             [](GeneratorBase &g, const std::string &name, nb::handle value) {
                 called_at(here(), [&] {
                     g.configure_now();
                     g.find_input(name).bind(to_input_values(value, name));
                 });
             })
        .def("output_funcs",
             [](GeneratorBase &g, const std::string &name) {
                 return called_at(here(), [&] {
                     g.get_pipeline();
                     return g.find_output(name).funcs();
                 });
             })
        .def("pipeline",
             [](GeneratorBase &g) {
                 const Here at = here();
                 nb::gil_scoped_release no_gil;
                 return called_at(at, [&] { return g.get_scheduled_pipeline(); });
             })
        .def("funcs",
             [](GeneratorBase &g) {
                 called_at(here(), [&] { g.get_pipeline(); });
                 nb::list all;
                 for (const GeneratorOutput *o : g.generator_outputs()) {
                     nb::list funcs;
                     for (const Func &f : o->funcs()) funcs.append(nb::cast(f));
                     all.append(o->shape().is_array ? nb::object(funcs) : nb::object(funcs[0]));
                 }
                 return all;
             })
        .def("arguments", &GeneratorBase::pipeline_arguments)
        .def("compile_to_callable", [](GeneratorBase &g) {
            const Here at = here();
            nb::gil_scoped_release no_gil;
            return called_at(at, [&] {
                return g.get_scheduled_pipeline().compile_to_callable(g.pipeline_arguments(),
                                                                      g.get_target(), at);
            });
        });
}

void bind_arguments(nb::module_ &m) {
    nb::class_<GeneratorArgument>(m, "GeneratorArgument", docs::generator::class_)
        .def(
            "name", [](const GeneratorArgument &a) { return a.shape().name; },
            docs::generator::name)
        .def(
            "set_type",
            [](GeneratorArgument &a, nb::handle types) {
                ArgumentTypes all;
                for (const nb::object &t : items(types)) all.push_back(to_type(t));
                called_at(here(), [&] { a.set_types(all); });
            },
            "type"_a, docs::generator::set_type)
        .def(
            "set_dimensions",
            [](GeneratorArgument &a, int dimensions) {
                called_at(here(), [&] { a.set_dimensions(dimensions); });
            },
            "dimensions"_a, docs::generator::set_dimensions)
        .def(
            "set_count",
            [](GeneratorArgument &a, int count) {
                called_at(here(), [&] { a.set_array_size(count); });
            },
            "count"_a, docs::generator::set_count)
        .def(
            "types",
            [](const GeneratorArgument &a) -> std::vector<Type> { return a.shape().types; },
            docs::generator::types)
        .def(
            "dimensions",
            [](const GeneratorArgument &a) -> std::optional<int> {
                const int known = a.shape().dimensions;
                return known == ArgumentShape::open ? std::nullopt : std::optional(known);
            },
            docs::generator::dimensions);
}

void bind_output(nb::module_ &m) {
    nb::class_<OutputBuffer, Func>(m, "_OutputBuffer",
                                   "The Func of an output, whose buffer the caller passes.")
        .def(
            "dim", [](const OutputBuffer &o, int i) { return o.dim(i, here()); }, "dimension"_a,
            docs::output::dim)
        .def(
            "left", [](const OutputBuffer &o) { return o.left(here()); }, docs::output::left)
        .def(
            "right", [](const OutputBuffer &o) { return o.right(here()); }, docs::output::right)
        .def(
            "top", [](const OutputBuffer &o) { return o.top(here()); }, docs::output::top)
        .def(
            "bottom", [](const OutputBuffer &o) { return o.bottom(here()); }, docs::output::bottom)
        .def(
            "width", [](const OutputBuffer &o) { return o.width(here()); }, docs::output::width)
        .def(
            "height", [](const OutputBuffer &o) { return o.height(here()); }, docs::output::height)
        .def(
            "channels", [](const OutputBuffer &o) { return o.channels(here()); },
            docs::output::channels)
        .def(
            "set_host_alignment",
            [](OutputBuffer &o, int bytes) -> OutputBuffer & {
                return o.set_host_alignment(bytes, here());
            },
            "bytes"_a, nb::rv_policy::none, docs::output::set_host_alignment);
}

}  // namespace

void bind_generator(nb::module_ &m) {
    nb::class_<Location>(m, "_Location");
    m.def("_here", [] { return Location(here()); });
    bind_arguments(m);
    bind_output(m);
    bind_generator_base(m);
    nb::class_<PythonGenerator, GeneratorBase>(m, "_Generator")
        .def("param", &PythonGenerator::param_value)
        .def("input", &PythonGenerator::input_value)
        .def("output", &PythonGenerator::output_value)
        .def("assign", &PythonGenerator::assign_output)
        .def("argument", &PythonGenerator::argument, nb::rv_policy::reference_internal)
        .def("add", [](PythonGenerator &g, const std::string &name,
                       nb::handle field) { called_at(here(), [&] { g.declare(name, field); }); })
        .def("autoscheduler",
             [](const PythonGenerator &g) { return g.context().autoscheduler_params(); })
        .def("using_autoscheduler", &PythonGenerator::using_autoscheduler)
        .def("add_requirement",
             [](PythonGenerator &g, const ExprLike &condition, nb::args message) {
                 std::vector<Expr> parts;
                 for (nb::handle m : message)
                     parts.push_back(PyUnicode_Check(m.ptr()) ? Expr(nb::cast<std::string>(m))
                                                              : to_expr(m));
                 g.add_requirement(WrittenExpr(condition.get(), here()), parts);
             });
    m.def(
        "_make_generator",
        [](nb::handle object, const std::string &name, const Target &target,
           const AutoschedulerParams &scheduler) {
            return called_at(here(), [&] {
                const GeneratorBase::Construction construction(name, context_of(target, scheduler));
                return new PythonGenerator(object);
            });
        },
        nb::rv_policy::take_ownership);
    m.def(
        "_make_registered",
        [](const std::string &name, const Target &target, const AutoschedulerParams &scheduler) {
            return called_at(here(), [&] {
                return GeneratorRegistry::create(name, context_of(target, scheduler)).release();
            });
        },
        nb::rv_policy::take_ownership);
    m.def("_register_generator", &register_generator);
    m.def("_generator_main", &run_main);
    m.def("_create_callable", [](const std::string &name, const Target &target,
                                 const AutoschedulerParams &scheduler, const nb::dict &params) {
        const Here at = here();
        std::map<std::string, std::string> texts;
        for (auto [key, value] : params) texts[text_of(key)] = text_of(value);
        nb::gil_scoped_release no_gil;
        return called_at(at, [&] {
            return create_callable_from_generator(GeneratorContext(target, scheduler), name, texts);
        });
    });
}

}  // namespace tessera::python
