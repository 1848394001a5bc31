#include "base/thread_dialect.h"
#include "bindings.h"
#include "ir/float_bits.h"
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

// The file that a code object is of.
struct File {
    const char *name;  // null for one of this package
    Dialect dialect;
};

// The code object that was asked for last: lines of one function follow one another. The reference
// keeps its address from being another's.
struct LastCode {
    nb::handle code;
    File file;

    void forget() {
        if (code.is_valid()) code.dec_ref();
        code = {};
    }
} last;

// The dialect of a module: tessera.halide sets it where it is used.
Dialect dialect_of(nb::handle frame) {
    const nb::dict globals = nb::borrow<nb::dict>(frame.attr("f_globals"));
    if (!globals.contains("__tessera_dialect__")) return Dialect::Tessera;
    const nb::object name = globals["__tessera_dialect__"];
    return nb::isinstance<nb::str>(name) && nb::cast<std::string>(name) == "halide"
               ? Dialect::Halide
               : Dialect::Tessera;
}

File file_of(nb::handle code, nb::handle frame) {
    if (!code.is(last.code)) {
        const std::string name = nb::cast<std::string>(code.attr("co_filename"));
        const bool is_own = !package().empty() && name.starts_with(package());
        const File file{is_own ? nullptr : interned(name), dialect_of(frame)};
        last.forget();
        last.file = file;
        last.code = code.inc_ref();
    }
    return last.file;
}

}  // namespace

void set_package(const std::string &folder) { package() = folder; }
void forget_dialect() { last.forget(); }

static Location line_of_user() {
    auto *innermost = PyEval_GetFrame();
    if (!innermost) return {};
    nb::object frame = nb::borrow(reinterpret_cast<PyObject *>(innermost));
    while (!frame.is_none()) {
        auto *f = reinterpret_cast<PyFrameObject *>(frame.ptr());
        const nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(f)));
        const File file = file_of(code, frame);
        if (file.name) {
            set_thread_dialect(file.dialect);
            return {file.name, uint32_t(PyFrame_GetLineNumber(f))};
        }
        frame = frame.attr("f_back");
    }
    return {};
}

Here here() { return Here(line_of_user()); }

void refuse(nb::handle object, const std::string &why) {
    const nb::object error = nb::handle(PyExc_TypeError)(nb::str(why.data(), why.size()));
    error.attr("culprit") = object;
    PyErr_SetObject(PyExc_TypeError, error.ptr());
    throw nb::python_error();
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
    static const std::pair<const char *, Type> names[] = {{"bool", Bool()},
                                                          {"bool_", Bool()},
                                                          {"int8", Int(8)},
                                                          {"int16", Int(16)},
                                                          {"int32", Int(32)},
                                                          {"int64", Int(64)},
                                                          {"uint8", UInt(8)},
                                                          {"uint16", UInt(16)},
                                                          {"uint32", UInt(32)},
                                                          {"uint64", UInt(64)},
                                                          {"float16", Float(16)},
                                                          {"float32", Float(32)},
                                                          {"float64", Float(64)},
                                                          {"bfloat16", BFloat(16)},
                                                          {"float8_e4m3fn", Float8E4M3()},
                                                          {"float8_e5m2", Float8E5M2()}};
    for (const auto &[known, type] : names) {
        if (text == known) return type;
    }
    return {};
}

namespace {

std::string no_expression(nb::handle object) {
    return str("a ", class_of(object),
               " is no expression: an Expr, a Var, a Param, f[x, y] or a number is");
}
std::string no_loop(nb::handle object) {
    return str("a ", class_of(object),
               " is no loop: a Var, an RVar or an RDom of one dimension is one");
}

std::optional<VarOrRVar> as_loop(nb::handle object) {
    if (const auto *v = as<Var>(object)) return *v;
    if (const auto *v = as<RVar>(object)) return *v;
    if (const auto *r = as<RDom>(object)) return *r;
    if (const auto *either = as<VarOrRVar>(object)) return *either;
    return {};
}

}  // namespace

Expr to_expr(nb::handle object) {
    if (std::optional<Expr> e = as_expr(object)) return *e;
    refuse(object, no_expression(object));
}
Type to_type(nb::handle object) {
    if (std::optional<Type> t = as_type(object)) return *t;
    refuse(object, str("a ", class_of(object), " is no type: UInt(8), np.uint8, int or float is"));
}
namespace {

// Calls f with each item of a list, a tuple or what is like one, or with the object alone.
template<typename F> void for_each_item(nb::handle object, F f) {
    const bool is_list = PyList_Check(object.ptr());
    if (!is_list && !PyTuple_Check(object.ptr())) {
        if (!is_tuple(object)) return f(object);
        for (nb::handle item : object) f(item);
        return;
    }
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
    for_each_item(objects, [&](nb::handle item) {
        std::optional<Expr> e = as_expr(item);
        if (!e) refuse(item, no_expression(item));
        result.push_back(std::move(*e));
    });
    return result;
}
VarOrRVar to_loop(nb::handle object) {
    if (const auto loop = as_loop(object)) return *loop;
    refuse(object, no_loop(object));
}
bool is_tuple(nb::handle h) {
    if (nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h)) return true;
    if (PyAnySet_Check(h.ptr())) return true;
    // A sequence of another class, which has expressions.
    if (conversion_of(h) || nb::isinstance<nb::str>(h) || !PySequence_Check(h.ptr())) return false;
    return !is_array(h) && nb::hasattr(h, "__len__") && nb::hasattr(h, "__iter__");
}
std::vector<Expr> to_message(nb::handle objects) {
    std::vector<Expr> result;
    for (const nb::object &item : items(objects)) {
        result.push_back(nb::isinstance<nb::str>(item) ? Expr(nb::cast<std::string>(item))
                                                       : to_expr(item));
    }
    return result;
}
nb::object to_python(const std::vector<Expr> &values) {
    nb::list list;
    for (const Expr &e : values) list.append(nb::cast(e));
    return nb::tuple(list);
}
nb::object to_python(const std::vector<VarOrRVar> &loops) {
    nb::list list;
    for (const VarOrRVar &v : loops)
        list.append(v.is_rvar ? nb::cast(RVar(v.symbol)) : nb::cast(Var(v.symbol)));
    return nb::tuple(list);
}
std::string text_of(nb::handle object) { return nb::cast<std::string>(object.attr("__str__")()); }

std::vector<VarOrRVar> to_loops(nb::handle objects) {
    std::vector<VarOrRVar> result;
    for (const nb::object &item : items(objects)) {
        const std::optional<VarOrRVar> loop = as_loop(item);
        if (!loop) refuse(item, no_loop(item));
        result.push_back(*loop);
    }
    return result;
}
Var to_var(nb::handle object) {
    if (const auto *v = as<Var>(object)) return *v;
    refuse(object, str("a ", class_of(object), " is no Var"));
}
Func to_func(nb::handle object) {
    if (const auto *f = as<Func>(object)) return *f;
    if (const auto *image = as<ImageParam>(object)) return *image;
    if (const auto *b = as<Buffer<>>(object)) return Func(*b, here());
    refuse(object, str("a ", class_of(object), " is no Func, ImageParam or Buffer"));
}
Fetched to_fetched(nb::handle object) {
    if (const auto *f = as<Func>(object)) return Fetched(*f);
    if (const auto *image = as<ImageParam>(object)) return Fetched(*image, here());
    if (const auto *b = as<Buffer<>>(object)) return Fetched(*b, here());
    refuse(object, str("a ", class_of(object), " is no Func, ImageParam or Buffer"));
}
std::vector<Func> to_funcs(nb::handle objects) {
    std::vector<Func> list;
    for (const nb::object &o : items(objects)) {
        for (const nb::object &f : items(o)) list.push_back(to_func(f));
    }
    return list;
}
std::vector<Fetched> to_fetched_list(nb::handle objects) {
    std::vector<Fetched> list;
    for (const nb::object &o : items(objects)) {
        for (const nb::object &f : items(o)) list.push_back(to_fetched(f));
    }
    return list;
}
std::vector<Argument> to_arguments(nb::handle objects) {
    std::vector<Argument> list;
    for (const nb::object &o : items(objects)) {
        if (const auto *a = as<Argument>(o))
            list.push_back(*a);
        else if (const auto *image = as<ImageParam>(o))
            list.emplace_back(*image);
        else if (const auto *p = as<Param<>>(o))
            list.emplace_back(*p);
        else if (const auto *b = as<Buffer<>>(o))
            list.emplace_back(*b);
        else if (nb::hasattr(o, "_to_argument"))
            list.push_back(nb::cast<Argument>(o.attr("_to_argument")()));
        else
            refuse(o, str("a ", class_of(o),
                          " is no argument of a pipeline: a Param or an ImageParam is"));
    }
    return list;
}
OutputFileType to_file_type(nb::handle object) {
    if (nb::isinstance<OutputFileType>(object)) return nb::cast<OutputFileType>(object);
    refuse(object,
           str("a ", class_of(object), " is no OutputFileType, such as OutputFileType.object"));
}
Region to_region(nb::handle objects) {
    Region region;
    for (const nb::object &pair : items(objects)) {
        if (const auto *range = as<Range>(pair)) {
            region.push_back(*range);
            continue;
        }
        const std::vector<nb::object> two = items(pair);
        if (two.size() != 2) refuse(pair, "bounds are pairs: (min, extent) of each dimension");
        if (two[0].is_none() && two[1].is_none())
            region.emplace_back(Expr(), Expr());
        else
            region.emplace_back(to_expr(two[0]), to_expr(two[1]));
    }
    return region;
}

namespace {

template<typename T> T at(const void *memory, int i) {
    T value;
    std::memcpy(static_cast<void *>(&value),
                static_cast<const char *>(memory) + size_t(i) * sizeof(T), sizeof(T));
    return value;
}

}  // namespace

nb::object number_at(Type t, const void *memory, int i) {
    if (t.is_float()) {
        uint64_t bits = 0;
        std::memcpy(&bits, static_cast<const char *>(memory) + size_t(i) * size_t(t.bytes()),
                    size_t(t.bytes()));
        return nb::float_(ir::float_of_bits(t, bits));
    }
    if (t.is_bool()) return nb::bool_(at<uint8_t>(memory, i) != 0);
    if (t.is_uint() && t.bits() == 8) return nb::int_(at<uint8_t>(memory, i));
    if (t.is_uint() && t.bits() == 16) return nb::int_(at<uint16_t>(memory, i));
    if (t.is_uint() && t.bits() == 32) return nb::int_(at<uint32_t>(memory, i));
    if (t.bits() == 8) return nb::int_(at<int8_t>(memory, i));
    if (t.bits() == 16) return nb::int_(at<int16_t>(memory, i));
    if (t.bits() == 32) return nb::int_(at<int32_t>(memory, i));
    return t.is_int() ? nb::int_(at<int64_t>(memory, i)) : nb::int_(at<uint64_t>(memory, i));
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

// Returns true if there is a value, or an error that get() throws: tessera._arguments says what is
// wrong with an object that is nothing of the kind.
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
    value.is_int = PyLong_Check(src.ptr()) && !PyBool_Check(src.ptr());
    return keep(value, [&] { return as_expr(src); });
}
bool type_caster<ExprLike>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return as_expr(src); });
}
bool type_caster<LoopVar>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return as_loop(src); });
}
bool type_caster<TypeLike>::from_python(handle src, uint32_t, cleanup_list *) noexcept {
    return keep(value, [&] { return as_type(src); });
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
