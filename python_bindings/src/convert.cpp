#include "bindings.h"
#include <cmath>
#include <cstring>
#include <set>

namespace tessera::python {
namespace {

// Returns a name of a file that stays for ever: a Location keeps a pointer to it.
const char *interned(const std::string &file) {
    static auto *files = new std::set<std::string>;
    return files->insert(file).first->c_str();
}

template<typename T> const T *as(nb::handle object) {
    return nb::isinstance<T>(object) ? nb::inst_ptr<T>(object) : nullptr;
}

[[noreturn]] void refuse(const std::string &why) { throw nb::type_error(why.c_str()); }

Expr of_int(nb::handle object) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    if (overflow) throw nb::value_error("an integer of more than 64 bits is no constant");
    if (value == int32_t(value)) return Expr(int32_t(value));
    return Expr(int64_t(value));
}

// Constants are float32, as in Halide: one that loses digits is warned of.
Expr of_float(double value) {
    if (std::isfinite(value) && double(float(value)) != value) {
        const std::string text = str("the constant ", value, " is rounded to a float32; f64(",
                                     value, ") keeps all digits");
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1)) throw nb::python_error();
    }
    return Expr(float(value));
}

// The folder of this package. It is set when that is imported: to ask Python for it in a static
// initializer could let another thread in, which would then wait for the initializer.
std::string &package() {
    static auto *folder = new std::string;
    return *folder;
}

// Returns the name of the file that a code object is of; null for one of this package.
const char *users_file(nb::handle code) {
    // Lines of one function follow one another. The reference keeps the address from being
    // another's.
    static nb::handle last;
    static const char *file;
    if (!code.is(last)) {
        const std::string name = nb::cast<std::string>(code.attr("co_filename"));
        const bool is_own = !package().empty() && name.starts_with(package());
        file = is_own ? nullptr : interned(name);
        if (last.is_valid()) last.dec_ref();
        last = code.inc_ref();
    }
    return file;
}

}  // namespace

void set_package(const std::string &folder) { package() = folder; }

Location here() {
    auto *innermost = PyEval_GetFrame();
    if (!innermost) return {};
    nb::object frame = nb::borrow(reinterpret_cast<PyObject *>(innermost));
    while (!frame.is_none()) {
        auto *f = reinterpret_cast<PyFrameObject *>(frame.ptr());
        const nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(f)));
        if (const char *file = users_file(code)) return {file, uint32_t(PyFrame_GetLineNumber(f))};
        frame = frame.attr("f_back");
    }
    return {};
}

std::string class_of(nb::handle object) {
    return nb::cast<std::string>(object.type().attr("__name__"));
}

namespace {

// Converts an object of a class of the language.
struct Conversion {
    PyObject *type;
    Expr (*convert)(nb::handle);
};
template<typename T> Conversion conversion() {
    return {nb::type<T>().ptr(), [](nb::handle h) { return Expr(*nb::inst_ptr<T>(h)); }};
}

// Classes are found by their address, which is quicker than isinstance().
const Conversion *conversion_of(nb::handle object) {
    static const Conversion known[] = {conversion<Expr>(),
                                       conversion<Var>(),
                                       conversion<FuncRef>(),
                                       conversion<RVar>(),
                                       conversion<Param<>>(),
                                       conversion<RDom>(),
                                       conversion<FuncTupleElementRef>()};
    auto *type = reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
    for (const Conversion &c : known) {
        if (c.type == type) return &c;
    }
    return nullptr;
}

}  // namespace

std::optional<Expr> as_expr(nb::handle object) {
    if (const Conversion *c = conversion_of(object)) return c->convert(object);
    if (PyBool_Check(object.ptr())) return Expr(object.ptr() == Py_True);
    if (PyLong_Check(object.ptr())) return of_int(object);
    if (PyFloat_Check(object.ptr())) return of_float(PyFloat_AsDouble(object.ptr()));
    // Scalars of NumPy's, with the type that they have.
    const bool may_be = nb::hasattr(object, "dtype") && nb::hasattr(object, "item") &&
                        nb::cast<int>(nb::getattr(object, "ndim", nb::int_(1))) == 0;
    if (const std::optional<Type> type = may_be ? as_type(object.attr("dtype")) : std::nullopt) {
        const nb::object number = object.attr("item")();
        if (PyFloat_Check(number.ptr()))
            return ir::cast(*type, Expr(PyFloat_AsDouble(number.ptr())));
        if (PyLong_Check(number.ptr())) return ir::cast(*type, of_int(number));
    }
    return {};
}

std::optional<Type> as_type(nb::handle object) {
    if (const auto *given = as<Type>(object)) return *given;
    if (object.is(&PyBool_Type)) return Bool();
    if (object.is(&PyLong_Type)) return Int(32);
    if (object.is(&PyFloat_Type)) return Float(32);
    // A dtype has a name; so have the classes of NumPy's scalars.
    const char *attribute = PyType_Check(object.ptr()) ? "__name__" : "name";
    if (!nb::hasattr(object, attribute)) return {};
    const nb::object name = object.attr(attribute);
    if (!nb::isinstance<nb::str>(name)) return {};
    const std::string text = nb::cast<std::string>(name);
    static const std::pair<const char *, Type> names[] = {
        {"bool", Bool()},       {"bool_", Bool()},       {"int8", Int(8)},
        {"int16", Int(16)},     {"int32", Int(32)},      {"int64", Int(64)},
        {"uint8", UInt(8)},     {"uint16", UInt(16)},    {"uint32", UInt(32)},
        {"uint64", UInt(64)},   {"float16", Float(16)},  {"float32", Float(32)},
        {"float64", Float(64)}, {"bfloat16", BFloat(16)}};
    for (const auto &[known, type] : names) {
        if (text == known) return type;
    }
    return {};
}

Expr to_expr(nb::handle object) {
    if (std::optional<Expr> e = as_expr(object)) return *e;
    refuse(str("a ", class_of(object),
               " is no expression: an Expr, a Var, a Param, f[x, y] or a number is"));
}
Type to_type(nb::handle object) {
    if (std::optional<Type> t = as_type(object)) return *t;
    refuse(str("a ", class_of(object), " is no type: UInt(8), np.uint8, int or float is"));
}
namespace {

// Calls f with each item of a list or tuple, or with the object alone.
template<typename F> void for_each_item(nb::handle object, F f) {
    const bool is_list = PyList_Check(object.ptr());
    if (!is_list && !PyTuple_Check(object.ptr())) return f(object);
    // A list may change while its items are looked at.
    for (Py_ssize_t i = 0; i < (is_list ? PyList_Size : PyTuple_Size)(object.ptr()); i++)
        f((is_list ? PyList_GetItem : PyTuple_GetItem)(object.ptr(), i));
}
size_t number_of_items(nb::handle object) {
    if (PyTuple_Check(object.ptr())) return size_t(PyTuple_Size(object.ptr()));
    return PyList_Check(object.ptr()) ? size_t(PyList_Size(object.ptr())) : 1;
}

}  // namespace

std::vector<nb::object> items(nb::handle object) {
    std::vector<nb::object> result;
    result.reserve(number_of_items(object));
    for_each_item(object, [&](nb::handle item) { result.push_back(nb::borrow(item)); });
    return result;
}
std::vector<Expr> to_exprs(nb::handle objects) {
    std::vector<Expr> result;
    if (const auto *r = as<RDom>(objects); r && r->dimensions() > 1) {
        for (int i = 0; i < r->dimensions(); i++) result.push_back((*r)[i]);
        return result;
    }
    result.reserve(number_of_items(objects));
    for_each_item(objects, [&](nb::handle item) { result.push_back(to_expr(item)); });
    return result;
}
VarOrRVar to_loop(nb::handle object) {
    if (const auto *v = as<Var>(object)) return *v;
    if (const auto *v = as<RVar>(object)) return *v;
    if (const auto *r = as<RDom>(object)) return *r;
    refuse(str("a ", class_of(object),
               " is no loop: a Var, an RVar or an RDom of one dimension is one"));
}
std::vector<VarOrRVar> to_loops(nb::handle objects) {
    std::vector<VarOrRVar> result;
    for (const nb::object &item : items(objects)) result.push_back(to_loop(item));
    return result;
}
Var to_var(nb::handle object) {
    if (const auto *v = as<Var>(object)) return *v;
    refuse(str("a ", class_of(object), " is no Var"));
}
Func to_func(nb::handle object) {
    if (const auto *f = as<Func>(object)) return *f;
    if (const auto *image = as<ImageParam>(object)) return *image;
    if (const auto *b = as<Buffer<>>(object)) return Func(*b, here());
    refuse(str("a ", class_of(object), " is no Func, ImageParam or Buffer"));
}
Fetched to_fetched(nb::handle object) {
    if (const auto *f = as<Func>(object)) return Fetched(*f);
    if (const auto *image = as<ImageParam>(object)) return Fetched(*image, here());
    if (const auto *b = as<Buffer<>>(object)) return Fetched(*b, here());
    refuse(str("a ", class_of(object), " is no Func, ImageParam or Buffer"));
}
Region to_region(nb::handle objects) {
    Region region;
    for (nb::handle pair : objects) {
        const std::vector<nb::object> two = items(pair);
        if (two.size() != 2) refuse("bounds are pairs: (min, extent) of each dimension");
        if (two[0].is_none() && two[1].is_none())
            region.emplace_back(Expr(), Expr());
        else
            region.emplace_back(to_expr(two[0]), to_expr(two[1]));
    }
    return region;
}

Arguments::Arguments(const char *function, nb::args args, nb::kwargs kwargs)
    : function(function), args(std::move(args)), kwargs(std::move(kwargs)) {}

nb::object Arguments::take(const char *name) {
    nb::object found = take_or(name, nb::object());
    if (!found.is_valid()) refuse(str(function, ": the argument ", name, " is missing"));
    return found;
}
nb::object Arguments::take_or(const char *name, nb::object otherwise) {
    if (next < args.size()) return nb::borrow(args[next++]);
    if (!kwargs.contains(name)) return otherwise;
    named++;
    return nb::borrow(kwargs[name]);
}
void Arguments::end() const {
    if (next < args.size())
        refuse(str(function, " takes ", next, " arguments here, not ", args.size()));
    if (named < kwargs.size())
        refuse(str(function, ": an argument is given twice, or has a name that is not known"));
}

}  // namespace tessera::python

namespace nanobind::detail {

using namespace tessera::python;

// Returns true if there is a value, or an error that get() throws.
template<typename To, typename Convert> static bool keep(To &to, Convert convert) noexcept {
    try {
        to.value = convert();
        return bool(to.value);
    } catch (...) {
        to.error = std::current_exception();
        return true;
    }
}

bool type_caster<Operand>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return as_expr(src); });
}
bool type_caster<ExprLike>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return std::optional(to_expr(src)); });
}
bool type_caster<LoopVar>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return std::optional(to_loop(src)); });
}
bool type_caster<TypeLike>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return std::optional(to_type(src)); });
}
bool type_caster<ArrayLike>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    try {
        value.object = src;
        return is_array(src) || !as_type(src);
    } catch (...) {
        PyErr_Clear();
        return false;
    }
}

}  // namespace nanobind::detail
