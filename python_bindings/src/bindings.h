#pragma once

// All bindings share this: nanobind's casters, each of which every source has to see, and
// conversions from Python to the language.
#include <functional>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <tessera.h>

namespace nb = nanobind;

namespace tessera::python {

using namespace nb::literals;

// Sets the folder of this package, with a slash at its end: lines there are not the user's.
void set_package(const std::string &folder);
// Returns the line of the user's that calls the binding, outside of this package.
Location here();

// Holds an argument that has been converted, or why it was not: casters cannot throw, so that get()
// does.
template<typename T> struct Converted {
    std::optional<T> value;
    std::exception_ptr error;
    const T &get() const {
        if (error) std::rethrow_exception(error);
        return *value;
    }
    operator const T &() const { return get(); }
};
// An argument that is an Expr, or converts to one.
struct ExprLike : Converted<Expr> {};
// The same for an operand of an operator. Where the object is none, Python asks the other operand.
struct Operand : Converted<Expr> {};
// A Var, an RVar, or an RDom of one dimension.
struct LoopVar : Converted<VarOrRVar> {};
// A Type, a dtype of NumPy's, or bool, int (32 bits) or float (32 bits).
struct TypeLike : Converted<Type> {};

// Return none if the object is none and does not convert to one.
std::optional<Expr> as_expr(nb::handle object);
std::optional<Type> as_type(nb::handle object);

// Throw TypeError if an object does not convert.
Expr to_expr(nb::handle object);
Type to_type(nb::handle object);
std::vector<Expr> to_exprs(nb::handle objects);
VarOrRVar to_loop(nb::handle object);
std::vector<VarOrRVar> to_loops(nb::handle objects);
Var to_var(nb::handle object);
Func to_func(nb::handle object);
Fetched to_fetched(nb::handle object);
// Returns (min, extent) of each dimension.
Region to_region(nb::handle objects);
// Returns the items of a list or tuple, or the object alone.
std::vector<nb::object> items(nb::handle object);

// Says what an object is to a function, for errors: a text, or a function that makes one where it
// is wanted.
struct What : std::function<std::string()> {
    using function::function;
    What(const char *text) : function([text] { return std::string(text); }) {}
};
// Returns a Buffer of an array (anything with DLPack or the buffer protocol), which shares its
// memory; a Buffer as it is.
Buffer<> to_buffer(nb::handle object, const What &what, bool reverse_axes = true,
                   const std::string &name = "", bool writable = false);
// Returns the bytes of a number as one of the type; TypeError if it is none.
uint64_t number_bits(Type t, nb::handle value, const What &what);
bool is_array(nb::handle object);
// Returns the class's name, as errors show it.
std::string class_of(nb::handle object);

// The arguments of a call with several forms: by position, then by name.
class Arguments {
public:
    Arguments(const char *function, nb::args args, nb::kwargs kwargs);
    // Take the next argument by position, or else the one of this name. The first throws TypeError
    // if it is missing.
    nb::object take(const char *name);
    nb::object take_or(const char *name, nb::object otherwise);
    size_t positional() const { return args.size(); }
    bool has(const char *name) const { return kwargs.contains(name); }
    nb::handle first() const { return args.size() ? nb::handle(args[0]) : nb::handle(); }
    // Throws TypeError if there is more.
    void end() const;

private:
    const char *function;
    nb::args args;
    nb::kwargs kwargs;
    size_t next = 0, named = 0;
};

// Defines the operators of expressions for the class of an object that converts to one.
void define_operators(nb::object type);

// Defines what a Func does as a Pipeline of its own: realize(), compile_jit(), texts and files.
void define_running(nb::class_<Func> &c);

// Defines what finds a schedule for a Func or a Pipeline.
void define_search(nb::class_<Func> &c);
void define_search(nb::class_<Pipeline> &c);

void bind_errors(nb::module_ &m);
void bind_types(nb::module_ &m);
void bind_expr(nb::module_ &m);
void bind_functions(nb::module_ &m);
void bind_buffer(nb::module_ &m);
void bind_params(nb::module_ &m);
void bind_func(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_pipeline(nb::module_ &m);

}  // namespace tessera::python

namespace nanobind::detail {

#define TESSERA_CASTER(Type, text)                                                                 \
    template<> struct type_caster<Type> {                                                          \
        NB_TYPE_CASTER(Type, const_name(text))                                                     \
        bool from_python(handle src, uint32_t, cleanup_list *) noexcept;                           \
        static handle from_cpp(const Type &, rv_policy, cleanup_list *) noexcept { return {}; }    \
    };
TESSERA_CASTER(tessera::python::Operand, "ExprLike")
TESSERA_CASTER(tessera::python::ExprLike, "ExprLike")
TESSERA_CASTER(tessera::python::LoopVar, "VarOrRVar")
TESSERA_CASTER(tessera::python::TypeLike, "TypeLike")
#undef TESSERA_CASTER

}  // namespace nanobind::detail
