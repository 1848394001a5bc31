#include "callable.h"
#include "docs/params.h"
#include <set>
#include <sstream>

// The arguments of compiled functions: what they take, what is given, and how they are described.
namespace tessera::python {

nb::object constant_value(const Expr &e) {
    if (const auto *i = e.as<ir::IntImm>()) return nb::int_(i->value);
    if (const auto *u = e.as<ir::UIntImm>())
        return e.type().is_bool() ? nb::object(nb::bool_(u->value != 0)) : nb::int_(u->value);
    if (const auto *f = e.as<ir::FloatImm>()) return nb::float_(f->value);
    return nb::none();
}

std::string visible_name(const Argument &argument) {
    return argument.name.substr(0, argument.name.find('$'));
}

std::string wanted_text(const Argument &wanted) {
    if (wanted.is_scalar()) return str(wanted.type);
    return str(int(wanted.dimensions),
               wanted.dimensions == 1 ? " dimension of " : " dimensions of ", wanted.type);
}

std::string signature_text(const Callable &c) {
    std::vector<std::string> names;
    for (const Argument &a : c.arguments()) names.push_back(a.name);
    return str("(", join(names), ")");
}

// ---- What is given ----

namespace {

[[noreturn]] void refuse(const std::string &why) { throw nb::type_error(why.c_str()); }

bool is_name(const Argument &argument, nb::handle key) {
    const std::string given = nb::cast<std::string>(key);
    return argument.name == given || visible_name(argument) == given;
}

// Returns the value of a keyword; null if there is none.
PyObject *find(PyObject *keywords, const Argument &argument) {
    if (!keywords) return nullptr;
    if (PyObject *found = PyDict_GetItemString(keywords, argument.name.c_str())) return found;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(keywords, &at, &key, &value)) {
        if (is_name(argument, key)) return value;
    }
    return nullptr;
}

}  // namespace

GivenArguments::GivenArguments(const Callable &callable, PyObject *args, PyObject *keywords)
    : callable(callable), arguments(callable.arguments()), args(args), keywords(keywords),
      by_position(size_t(PyTuple_Size(args))) {
    if (by_position > arguments.size())
        refuse(str("the Callable takes ", arguments.size(), " arguments, ",
                   signature_text(callable), ", not ", by_position));
}

nb::handle GivenArguments::take(size_t i, bool may_ask) {
    const Argument &a = arguments[i];
    PyObject *given = i < by_position ? PyTuple_GetItem(args, Py_ssize_t(i)) : find(keywords, a);
    if (i >= by_position && given) by_name++;
    const bool asks = may_ask && a.is_buffer() && a.is_input();
    if (given && !(asks && given == Py_None)) return given;
    if (asks || (a.is_scalar() && a.argument_estimates.scalar_def.defined())) return {};
    refuse(str(WhichArgument{a, i}, " of ", signature_text(callable), " is missing; wanted ",
               wanted_text(a)));
}

void GivenArguments::end() const {
    if (!keywords || by_name >= size_t(PyDict_Size(keywords))) return;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(keywords, &at, &key, &value)) {
        size_t i = 0;
        while (i < arguments.size() && !is_name(arguments[i], key)) i++;
        if (i == arguments.size())
            refuse(str(text_of(key), " is none of the arguments ", signature_text(callable)));
        if (i < by_position)
            refuse(str(WhichArgument{arguments[i], i}, " of ", signature_text(callable),
                       " is given twice"));
    }
    refuse(str("an argument of ", signature_text(callable), " is given twice"));
}

// ---- Descriptions ----

namespace {

nb::object estimates_of(const Argument &a) {
    if (a.argument_estimates.buffer_estimates.empty()) return nb::none();
    nb::list all;
    for (const Range &r : a.argument_estimates.buffer_estimates)
        all.append(nb::make_tuple(constant_value(r.min), constant_value(r.extent)));
    return all;
}

// Returns the line of an argument in a description.
std::string described(const Argument &a) {
    std::ostringstream line;
    line << "    " << visible_name(a) << ": " << (a.is_output() ? "output, " : "")
         << wanted_text(a);
    const ArgumentEstimates &known = a.argument_estimates;
    const std::pair<const char *, const Expr *> facts[] = {{"default", &known.scalar_def},
                                                           {"at least", &known.scalar_min},
                                                           {"at most", &known.scalar_max},
                                                           {"about", &known.scalar_estimate}};
    for (const auto &[word, fact] : facts) {
        const nb::object value = constant_value(*fact);
        if (!value.is_none()) line << ", " << word << " " << text_of(value);
    }
    std::vector<std::string> extents;
    for (const Range &r : known.buffer_estimates)
        extents.insert(extents.begin(),
                       r.extent.defined() ? text_of(constant_value(r.extent)) : "?");
    if (!extents.empty()) line << ", about (" << join(extents) << ")";
    return line.str();
}

}  // namespace

std::string description(const Callable &c) {
    std::string text = str(c.name(), ", compiled for ", c.target(), ".\n");
    for (const Argument &a : c.arguments()) text += "\n" + described(a);
    return text;
}

nb::object signature_object(const Callable &c) {
    const nb::module_ inspect = nb::module_::import_("inspect");
    const nb::object parameter = inspect.attr("Parameter");
    nb::list parameters;
    bool has_default = false;
    std::set<std::string> names;  // outputs of one Func have the same
    for (const Argument &a : c.arguments()) {
        const nb::str name(visible_name(a).c_str());
        const bool is_new = names.insert(visible_name(a)).second;
        if (!is_new || !nb::cast<bool>(name.attr("isidentifier")())) return nb::none();
        const nb::object value = constant_value(a.argument_estimates.scalar_def);
        // After an argument with a default, Python wants one for each.
        has_default |= !value.is_none();
        nb::dict fact;
        if (has_default) fact["default"] = value;
        parameters.append(parameter(name, parameter.attr("POSITIONAL_OR_KEYWORD"), **fact));
    }
    return inspect.attr("Signature")(parameters);
}

void bind_argument(nb::module_ &m) {
    nb::class_<ArgumentEstimates>(m, "ArgumentEstimates", docs::estimates::class_)
        .def(nb::init<>(), docs::estimates::init)
        .def_rw("scalar_def", &ArgumentEstimates::scalar_def, docs::estimates::scalar_def)
        .def_rw("scalar_min", &ArgumentEstimates::scalar_min, docs::estimates::scalar_min)
        .def_rw("scalar_max", &ArgumentEstimates::scalar_max, docs::estimates::scalar_max)
        .def_rw("scalar_estimate", &ArgumentEstimates::scalar_estimate,
                docs::estimates::scalar_estimate)
        .def_rw("buffer_estimates", &ArgumentEstimates::buffer_estimates,
                docs::estimates::buffer_estimates);
    nb::class_<Argument>(m, "Argument", docs::argument::class_)
        .def(
            "__init__",
            [](Argument *a, const std::string &name, Argument::Kind kind, const TypeLike &type,
               int dimensions, const ArgumentEstimates &estimates) {
                new (a) Argument(name, kind, type.get(), dimensions, estimates);
            },
            "name"_a, "kind"_a, "type"_a, "dimensions"_a = 0,
            "argument_estimates"_a = ArgumentEstimates(), docs::argument::init)
        .def(
            "__init__",
            [](Argument *a, nb::handle of) {
                const std::vector<Argument> list = to_arguments(nb::make_tuple(of));
                new (a) Argument(list[0]);
            },
            "of"_a, docs::argument::of)
        .def("is_buffer", &Argument::is_buffer, docs::argument::is_buffer)
        .def("is_scalar", &Argument::is_scalar, docs::argument::is_scalar)
        .def("is_input", &Argument::is_input, docs::argument::is_input)
        .def("is_output", &Argument::is_output, docs::argument::is_output)
        .def_ro("name", &Argument::name, docs::argument::name)
        .def_ro("kind", &Argument::kind, docs::argument::kind)
        .def_ro("type", &Argument::type, docs::argument::type)
        .def_ro("dimensions", &Argument::dimensions, docs::argument::dimensions)
        .def_rw("argument_estimates", &Argument::argument_estimates,
                docs::argument::argument_estimates)
        .def_prop_ro(
            "default",
            [](const Argument &a) { return constant_value(a.argument_estimates.scalar_def); },
            docs::argument::default_)
        .def_prop_ro(
            "min",
            [](const Argument &a) { return constant_value(a.argument_estimates.scalar_min); },
            docs::argument::min)
        .def_prop_ro(
            "max",
            [](const Argument &a) { return constant_value(a.argument_estimates.scalar_max); },
            docs::argument::max)
        .def_prop_ro(
            "estimate",
            [](const Argument &a) { return constant_value(a.argument_estimates.scalar_estimate); },
            docs::argument::estimate)
        .def_prop_ro("estimates", &estimates_of, docs::argument::estimates)
        .def("__repr__", [](const Argument &a) {
            return str("<Argument ", a.name, ": ",
                       a.is_buffer() ? str(int(a.dimensions), " dimensions of ") : "", a.type,
                       a.is_output() ? ", output>" : ">");
        });
}

}  // namespace tessera::python
