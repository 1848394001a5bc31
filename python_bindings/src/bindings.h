#pragma once

// All bindings share this: nanobind's casters, each of which every source has to see, and
// conversions from Python to the language.
#include <functional>
#include <map>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <tessera.h>

namespace nb = nanobind;

namespace tessera::python {

using namespace nb::literals;

// Sets the folder of this package, with a slash at its end: lines there are not the user's.
void set_package(const std::string &folder);
// Lets warnings of what this thread does be Python's while it lives. It may be made and destroyed
// without the GIL.
class PythonHandlers {
public:
    PythonHandlers();

private:
    const ThreadHandlers handlers;
};
// A line of the user's that calls a binding; what it does there warns as Python does while this
// lives. A copy that is a Location alone does not keep it up.
class Here : public Location {
public:
    explicit Here(const Location &at) : Location(at) {}

private:
    const PythonHandlers handlers;
};
// Returns the line of the user's that calls the binding, outside of this package. From there on the
// thread follows the dialect of that file, until another one asks.
Here here();
// Lets here() ask anew for the dialect of the code that was asked for last: that of its module,
// which the variable __tessera_dialect__ says.
void forget_dialect();

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
struct Operand : Converted<Expr> {
    bool is_int = false;  // an integer of Python's, no Expr
};
// A Var, an RVar, or an RDom of one dimension.
struct LoopVar : Converted<VarOrRVar> {};
// A Type, a dtype of NumPy's, or bool, int (32 bits) or float (32 bits).
struct TypeLike : Converted<Type> {};

// An array, or what is none but is no type either: then to_buffer() says so.
struct ArrayLike {
    nb::handle object;
};

// Throws TypeError about an object. Where it is an argument of the call, or an item of one, the
// message will say which: the wrapper of arguments.cpp looks for it.
[[noreturn]] void refuse(nb::handle object, const std::string &why);

// Returns the class of errors about arguments, which is a tessera.Error, a TypeError and a
// ValueError.
nb::object argument_error();
// Becomes one of these in Python. XLA's calls throw it without the GIL.
struct ArgumentRefused final : std::runtime_error {
    using std::runtime_error::runtime_error;
};
[[noreturn]] void refuse_argument(const std::string &why);

// Return none if the object is none and does not convert to one.
std::optional<Expr> as_expr(nb::handle object);
std::optional<Type> as_type(nb::handle object);

// Throw TypeError if an object does not convert.
Expr to_expr(nb::handle object);
Type to_type(nb::handle object);
std::vector<Expr> to_exprs(nb::handle objects);
// The same of what is printed: texts are allowed.
std::vector<Expr> to_message(nb::handle objects);
VarOrRVar to_loop(nb::handle object);
std::vector<VarOrRVar> to_loops(nb::handle objects);
Var to_var(nb::handle object);
Func to_func(nb::handle object);
Fetched to_fetched(nb::handle object);
// Returns (min, extent) of each dimension.
Region to_region(nb::handle objects);
// Returns the items of a list or tuple, or the object alone.
std::vector<nb::object> items(nb::handle object);
// The same for Funcs, Buffers and ImageParams, each alone or in lists.
std::vector<Func> to_funcs(nb::handle objects);
std::vector<Fetched> to_fetched_list(nb::handle objects);
// Returns true for what gives a Func several values: a tuple, a list, or another sequence that is
// no expression by itself.
bool is_tuple(nb::handle object);
// Returns a Python tuple of expressions, or of Vars and RVars.
nb::object to_python(const std::vector<Expr> &values);
nb::object to_python(const std::vector<VarOrRVar> &loops);
// Returns f[position].
FuncRef place_of(const Func &f, nb::handle position);
// Does f[position] = value. After f[position] += e, Python stores what that has returned: a Stage,
// and all is done.
void define(FuncRef at, nb::handle value);
std::string text_of(nb::handle object);
std::vector<Argument> to_arguments(nb::handle objects);
OutputFileType to_file_type(nb::handle object);

// Says what an object is to a function, for errors: a text, or a function that makes one where it
// is wanted.
struct What : std::function<std::string()> {
    using function::function;
    What(const char *text) : function([text] { return std::string(text); }) {}
};
// Returns a Buffer of an array (anything with DLPack, the buffer protocol or an array interface),
// which shares its memory; a Buffer as it is. TypeError if it is none, or is to be written to and
// read-only.
Buffer<> to_buffer(nb::handle object, const What &what, bool reverse_axes = true,
                   const std::string &name = "", bool writable = false);
// Returns the bytes of a number as one of the type; TypeError if it is none.
uint64_t number_bits(Type t, nb::handle value, const What &what);
// Returns the i-th number of this type in memory, as Python's.
nb::object number_at(Type t, const void *memory, int i);
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

// A stream of a GPU, on which an array's owner works.
struct ArrayStream {
    bool known = false;
    void *stream = nullptr;  // null: the default one
};

// The handlers that on_print(), on_trace() and on_error() have set on an object, and a stream, for
// one run, which otherwise prints and warns as Python does. It is made and destroyed with the GIL,
// unless it is of a stream alone.
class RunContext {
public:
    // Those of a JITUserContext that is given come before those of the owner.
    explicit RunContext(nb::handle owner, nb::handle given = {});
    explicit RunContext(const Callable &callable);
    explicit RunContext(const ArrayStream &s);
    // Returns true if anybody has ever set a handler.
    static bool any_handlers();
    JITUserContext *get() { return &context; }
    // Lets the call work on this stream, if one is known.
    void set_stream(const ArrayStream &s);
    struct Context : JITUserContext {
        nb::object print, trace, error;
        void *stream = nullptr;
    };

private:
    Context context;
    const PythonHandlers warnings;
};
// Lets an object have the handlers of another one: a Callable those of its pipeline.
void copy_handlers(nb::handle from, nb::handle to);
// Defines on_print(), on_trace() and on_error() for a class that has attributes of its own.
void define_handlers(nb::object type);

// Set and return the number that a Param is when the pipeline runs.
void set_value(Param<> &p, nb::handle value);
nb::object value_of(const Param<> &p);

// Defines the operators of expressions for the class of an object that converts to one. With
// `has_updates`, + - * / of a Func that has no definition make what pending_update() returns.
void define_operators(nb::object type, bool has_updates = false);
// Returns the right side of f[x] = f[x] + e, where f has no definition and the caller follows
// Halide's rules: storing it at f[x] defines f. Else an object that is not valid.
nb::object pending_update(nb::handle place, const Operand &value,
                          Stage (*apply)(FuncRef &, const Expr &));

// Defines what a Func does as a Pipeline of its own: realize(), compile_jit(), texts and files.
void define_running(nb::class_<Func> &c);
// Defines texts and files for a Func or a Pipeline.
template<typename C> void define_output(nb::class_<C> &c);
// Defines the directives that only a Func has: where it is computed and stored, and which region.
void define_func_directives(nb::class_<Func> &c);
// Defines Func.define_extern(), and what names C functions for a Func or a Pipeline.
void define_extern_stages(nb::class_<Func> &c);
template<typename C> void define_externs(nb::class_<C> &c);

inline Pipeline pipeline_of(const Func &f, const Location &at) { return f.pipeline(at); }
inline Pipeline pipeline_of(const Pipeline &p, const Location &) { return p; }

// Sets the exception that is being handled as Python's error, for functions that Python calls
// without nanobind, and returns null.
PyObject *raise_current() noexcept;

// Defines what finds a schedule for a Func or a Pipeline.
void define_search(nb::class_<Func> &c);
void define_search(nb::class_<Pipeline> &c);

void bind_errors(nb::module_ &m);
void bind_enums(nb::module_ &m);
void bind_types(nb::module_ &m);
void bind_target(nb::module_ &m);
void bind_expr(nb::module_ &m);
void bind_vars(nb::module_ &m);
void bind_rdom(nb::module_ &m);
void bind_math(nb::module_ &m);
void bind_values(nb::module_ &m);
void bind_reductions(nb::module_ &m);
void bind_buffer(nb::module_ &m);
void bind_buffer_memory(nb::module_ &m);
void bind_callable(nb::module_ &m);
void bind_streams(nb::module_ &m);
void bind_xla(nb::module_ &m);
void bind_cache(nb::module_ &m);
void bind_params(nb::module_ &m);
void bind_parameter(nb::module_ &m);
void bind_stage(nb::module_ &m);
void bind_mapping(nb::module_ &m);
void bind_loop_level(nb::module_ &m);
void bind_func_refs(nb::module_ &m);
void bind_func(nb::module_ &m);
void bind_boundary_conditions(nb::module_ &m);
void bind_handlers(nb::module_ &m);
void bind_extern(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_pipeline(nb::module_ &m);
void bind_notebook(nb::module_ &m);

// Returns the lowered or conceptual statement as a text that notebooks show with its structure.
nb::str as_statement(const Pipeline &p, OutputFileType type, const Target &target,
                     const Location &at);
void bind_generator(nb::module_ &m);
void bind_library(nb::module_ &m);
void bind_modules(nb::module_ &m);
// Makes what nanobind says of arguments that do not fit the words of tessera._arguments, for all
// functions that are bound by now.
void explain_arguments(nb::module_ &m);

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
TESSERA_CASTER(tessera::python::ArrayLike, "ArrayLike")
#undef TESSERA_CASTER

// Enumerators convert, and numbers do not, which nanobind would take for the enumerators of these
// values.
template<typename E> struct EnumeratorCaster {
    NB_TYPE_CASTER(E, const_name<E>())
    bool from_python(handle src, uint32_t flags, cleanup_list *cleanup) noexcept {
        int64_t number = 0;
        if (!NB_CALL(enum_from_python)(NB_CTX_C(cleanup), &typeid(E), src.ptr(), &number,
                                       flags & ~uint32_t(cast_flags::convert)))
            return false;
        value = E(number);
        return true;
    }
    static handle from_cpp(E src, rv_policy, cleanup_list *cleanup) noexcept {
        return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(E), int64_t(src));
    }
};
#define TESSERA_ENUM(E)                                                                            \
    template<> struct type_caster<E> : EnumeratorCaster<E> {}
TESSERA_ENUM(tessera::TailStrategy);
TESSERA_ENUM(tessera::Partition);
TESSERA_ENUM(tessera::PrefetchBoundStrategy);
TESSERA_ENUM(tessera::MemoryType);
TESSERA_ENUM(tessera::DeviceAPI);
TESSERA_ENUM(tessera::NameMangling);
TESSERA_ENUM(tessera::LinkageType);
TESSERA_ENUM(tessera::LoopAlignStrategy);
TESSERA_ENUM(tessera::TypeCode);
TESSERA_ENUM(tessera::StmtOutputFormat);
TESSERA_ENUM(tessera::OutputFileType);
TESSERA_ENUM(tessera::Argument::Kind);
TESSERA_ENUM(tessera::Target::OS);
TESSERA_ENUM(tessera::Target::Arch);
TESSERA_ENUM(tessera::Target::Processor);
TESSERA_ENUM(tessera::Target::Feature);
#undef TESSERA_ENUM

}  // namespace nanobind::detail
