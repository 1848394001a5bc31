#pragma once
#include "lang/func.h"

// C functions in expressions. After
//     extern "C" float wobble(float x, int n) { ... }
//     TesseraExtern_2(float, wobble, float, int)
// `wobble(Expr, Expr)` is a call of it. The Pure forms may be merged, moved and dropped.
namespace tessera {

namespace detail {
// The functions that the macros below have named, with their addresses.
std::map<std::string, void *> registered_externs();
// Returns what counts the functions that were named.
const program::Version &version_of_externs();
bool register_extern(const char *name, void *address);
Expr extern_call(const char *name, Type type, std::vector<Expr> args,
                 const std::vector<Type> &types, bool pure, Location at);
template<typename... Args>
std::vector<Type> types_of() {
    return {type_of<Args>()...};
}
// The first argument of a call, and its line. If all others are numbers it accepts none, so that a
// call with numbers alone is one of the C function itself.
template<bool others_are_numbers>
struct FirstArgument : WrittenExpr {
    template<ExprLike T>
    requires(!others_are_numbers || !std::is_arithmetic_v<std::remove_cvref_t<T>>)
    FirstArgument(T &&e, Location at = Here::current()) : WrittenExpr(static_cast<T &&>(e), at) {}
};
template<typename T>
constexpr Type extern_type() {
    if constexpr (std::is_void_v<T>) {
        return Int(32);
    } else {
        return type_of<T>();
    }
}
}  // namespace detail

// The types of a C function.
class ExternSignature {
public:
    ExternSignature() = default;
    ExternSignature(const Type &result, bool is_void, const std::vector<Type> &args)
        : result(result), is_void(is_void), args(args) {}
    template<typename R, typename... Args>
    explicit ExternSignature(R (*)(Args...))
        : result(detail::extern_type<R>()), is_void(std::is_void_v<R>),
          args(detail::types_of<Args...>()) {}

    const Type &ret_type() const { return result; }
    bool is_void_return() const { return is_void; }
    const std::vector<Type> &arg_types() const { return args; }

private:
    Type result;
    bool is_void = false;
    std::vector<Type> args;
};

// A C function with its types.
class ExternCFunction {
public:
    ExternCFunction() = default;
    ExternCFunction(void *address, const ExternSignature &signature)
        : function(address), types(signature) {}
    template<typename R, typename... Args>
    explicit ExternCFunction(R (*f)(Args...))
        : ExternCFunction(reinterpret_cast<void *>(f), ExternSignature(f)) {}

    void *address() const { return function; }
    const ExternSignature &signature() const { return types; }

private:
    void *function = nullptr;
    ExternSignature types;
};

// A function that code compiled in this process may call by name: a C function, or a Func that is
// compiled as one.
class JITExtern {
public:
    explicit JITExtern(const Func &f, Location at = Here::current());
    // A pipeline of one output.
    explicit JITExtern(const Pipeline &p, Location at = Here::current());
    explicit JITExtern(const ExternCFunction &function) : function_address(function.address()) {}
    template<typename R, typename... Args>
    explicit JITExtern(R (*function)(Args...))
        : function_address(reinterpret_cast<void *>(function)) {}

    void *address() const { return function_address; }
    const program::FunctionRef &func() const { return function; }

private:
    void *function_address = nullptr;
    program::FunctionRef function;
};

}  // namespace tessera

#define TESSERA_EXTERN(is_pure, return_type, name, ...)                                            \
    [[maybe_unused]] static const bool name##_is_registered =                                      \
        ::tessera::detail::register_extern(#name, reinterpret_cast<void *>(&::name));              \
    template<::tessera::ExprLike... Rest>                                                          \
    inline ::tessera::Expr name(                                                                   \
        const ::tessera::detail::FirstArgument<(std::is_arithmetic_v<Rest> && ...)> &first,        \
        const Rest &...rest) {                                                                     \
        return ::tessera::detail::extern_call(                                                     \
            #name, ::tessera::detail::extern_type<return_type>(),                                  \
            {first, ::tessera::Expr(rest)...}, ::tessera::detail::types_of<__VA_ARGS__>(),         \
            is_pure, first.at);                                                                    \
    }

#define TesseraExtern_1(rt, name, ...) TESSERA_EXTERN(false, rt, name, __VA_ARGS__)
#define TesseraPureExtern_1(rt, name, ...) TESSERA_EXTERN(true, rt, name, __VA_ARGS__)
#define TesseraExtern_2 TesseraExtern_1
#define TesseraPureExtern_2 TesseraPureExtern_1
#define TesseraExtern_3 TesseraExtern_1
#define TesseraPureExtern_3 TesseraPureExtern_1
#define TesseraExtern_4 TesseraExtern_1
#define TesseraPureExtern_4 TesseraPureExtern_1
#define TesseraExtern_5 TesseraExtern_1
#define TesseraPureExtern_5 TesseraPureExtern_1
#define TesseraExtern_6 TesseraExtern_1
#define TesseraPureExtern_6 TesseraPureExtern_1
#define TesseraExtern_7 TesseraExtern_1
#define TesseraPureExtern_7 TesseraPureExtern_1
#define TesseraExtern_8 TesseraExtern_1
#define TesseraPureExtern_8 TesseraPureExtern_1
#define TesseraExtern_9 TesseraExtern_1
#define TesseraPureExtern_9 TesseraPureExtern_1
#define TesseraExtern_10 TesseraExtern_1
#define TesseraPureExtern_10 TesseraPureExtern_1
