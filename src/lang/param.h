#pragma once
#include "lang/operators.h"
#include "program/parameter.h"
#include <cstring>
#include <optional>
#include <tuple>

namespace tessera {

namespace detail {
program::ParameterRef new_scalar(Type type, const std::string &name, Location at = {});
void set_scalar(program::Parameter &p, Type given, uint64_t bits, Location at);
uint64_t scalar_bits(const program::Parameter &p, Type wanted, Location at);
void set_limits(program::Parameter &p, const Expr &min, const Expr &max, Location at);
void set_estimate(program::Parameter &p, const Expr &value, Location at);

// Returns true if the value is one of the integer type.
bool is_integer_of(Type t, double value);

// Returns true if the value is one of To. For a float it may be rounded; for a bool, 0 is false.
template<typename To, typename From>
bool can_hold(From value) {
    if constexpr (!std::is_arithmetic_v<To> || !std::is_arithmetic_v<From> ||
                  std::is_floating_point_v<To> || std::is_same_v<To, bool>) {
        return true;
    } else if constexpr (std::is_floating_point_v<From>) {
        return is_integer_of(type_of<To>(), double(value));
    } else {
        return From(To(value)) == value && (To(value) < To(0)) == (value < From(0));
    }
}

template<typename T>
uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}
// The bits of the value as one of the type; none if the type has no such value.
template<typename V>
std::optional<uint64_t> bits_as(Type t, V value) {
    std::optional<uint64_t> bits;
    auto as = [&]<typename To>(To) {
        if (t != type_of<To>()) return;
        if constexpr (std::is_convertible_v<V, To> && !std::is_pointer_v<V>) {
            if (can_hold<To>(value)) bits = bits_of(To(value));
        }
    };
    if (t == type_of<V>()) return bits_of(value);
    std::apply([&](auto... to) { (as(to), ...); },
               std::tuple<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                          uint64_t, float, double>());
    return bits;
}
}  // namespace detail

// A number that the caller gives each time the pipeline runs. Param<> has a type that is known
// only when the program runs.
template<typename T = void>
class Param {
    static constexpr bool typed = !std::is_void_v<T>;
    using Value = std::conditional_t<typed, T, int>;

public:
    static constexpr bool has_static_type = typed;
    static constexpr Type static_type() requires typed { return type_of<T>(); }

    Param() requires typed : parameter_ref(detail::new_scalar(type_of<T>(), "")) {}
    explicit Param(const std::string &name) requires typed
        : parameter_ref(detail::new_scalar(type_of<T>(), name)) {}
    explicit Param(const char *name) requires typed : Param(std::string(name)) {}
    template<typename V>
    requires(typed && std::is_arithmetic_v<V> && std::is_convertible_v<V, Value>)
    explicit Param(V value, Location at = Here::current()) : Param() {
        set(value, at);
    }
    template<typename V>
    requires(typed && std::is_convertible_v<V, Value>)
    Param(const std::string &name, const V &value, Location at = Here::current()) : Param(name) {
        set(value, at);
    }
    template<typename V>
    requires(typed && std::is_convertible_v<V, Value>)
    Param(const V &value, const Expr &min, const Expr &max, Location at = Here::current())
        : Param() {
        set(value, at);
        set_range(min, max, at);
    }
    template<typename V>
    requires(typed && std::is_convertible_v<V, Value>)
    Param(const std::string &name, const V &value, const Expr &min, const Expr &max,
          Location at = Here::current())
        : Param(name, value, at) {
        set_range(min, max, at);
    }
    explicit Param(Type type, const std::string &name = "", Location at = Here::current())
        requires(!typed)
        : parameter_ref(detail::new_scalar(type, name, at)) {}
    explicit Param(program::ParameterRef p) : parameter_ref(std::move(p)) {}
    template<typename T2>
    requires(!typed && !std::is_void_v<T2>)
    Param(const Param<T2> &other) : parameter_ref(other.parameter()) {}
    // Stands for the same parameter. Throws CompileError if it is of another type.
    template<std::same_as<void> Any>
    requires typed Param(const Param<Any> &other, Location at = Here::current())
        : parameter_ref(other.parameter()) {
        if (type() == static_type()) return;
        throw CompileError(at, str("Param ", name(), " is a ", type(), ", which a Param of ",
                                   static_type(), " cannot stand for"));
    }

    const std::string &name() const { return parameter_ref->name.text(); }
    Type type() const { return parameter_ref->type; }
    const program::ParameterRef &parameter() const { return parameter_ref; }

    // CompileError if the type is another.
    Value get() const requires typed { return get<Value>(); }
    template<typename V>
    V get(Location at = Here::current()) const {
        uint64_t bits = detail::scalar_bits(*parameter_ref, type_of<V>(), at);
        V value;
        std::memcpy(&value, &bits, sizeof(V));
        return value;
    }
    // CompileError if the type of the Param cannot hold the value.
    template<typename V>
    void set(const V &value, Location at = Here::current()) {
        if constexpr (typed) {
            if constexpr (std::is_arithmetic_v<V>) {
                if (detail::can_hold<Value>(value)) return set_bits(Value(value), at);
                throw CompileError(
                    at, str("Param ", name(), " is a ", type(), ", which cannot hold ", +value));
            }
            set_bits(Value(value), at);
        } else {
            std::optional<uint64_t> bits = detail::bits_as(type(), value);
            if (!bits) {
                throw CompileError(at, str("Param ", name(), " is a ", type(),
                                           ", which cannot hold the given ", type_of<V>()));
            }
            detail::set_scalar(*parameter_ref, type(), *bits, at);
        }
    }

    // The range of values that the caller may pass: checked whenever the pipeline runs.
    void set_range(const Expr &min, const Expr &max, Location at = Here::current()) {
        detail::set_limits(*parameter_ref, min, max, at);
    }
    void set_min_value(const Expr &min, Location at = Here::current()) {
        detail::set_limits(*parameter_ref, min, Expr(), at);
    }
    void set_max_value(const Expr &max, Location at = Here::current()) {
        detail::set_limits(*parameter_ref, Expr(), max, at);
    }
    Expr min_value() const { return parameter_ref->min_value; }
    Expr max_value() const { return parameter_ref->max_value; }
    // A typical value; it changes nothing that is compiled.
    template<typename V>
    void set_estimate(const V &value, Location at = Here::current()) {
        detail::set_estimate(*parameter_ref, Expr(value), at);
    }
    Expr estimate() const { return parameter_ref->estimate; }

    operator Expr() const { return program::parameter_value(parameter_ref); }

private:
    void set_bits(Value value, const Location &at) {
        detail::set_scalar(*parameter_ref, type(), detail::bits_of(value), at);
    }
    program::ParameterRef parameter_ref;
};

}  // namespace tessera
