#pragma once
#include "base/target.h"
#include "lang/loop_level.h"
#include "lang/operators.h"
#include "lang/pipeline.h"
#include <map>
#include <optional>

namespace tessera {

class GeneratorBase;

// A number, choice, type, ... that whoever runs a generator may set, by name=value. A member of a
// Generator: it belongs to the one that is being constructed.
class GeneratorParamBase {
public:
    explicit GeneratorParamBase(const std::string &name);
    virtual ~GeneratorParamBase() = default;
    GeneratorParamBase(const GeneratorParamBase &) = delete;
    GeneratorParamBase &operator=(const GeneratorParamBase &) = delete;

    const std::string &name() const { return param_name; }
    // CompileError if the text is no value of the parameter, or the pipeline has been made.
    virtual void set_from_string(const std::string &text) = 0;
    virtual std::string value_text() const = 0;  // what set_from_string() takes
    virtual std::string type_text() const = 0;   // for people
    // These are C++, for the header of a stub.
    virtual std::string cpp_type() const = 0;
    virtual std::string cpp_value() const = 0;
    // The names of an enum's values; empty for other types.
    virtual std::vector<std::string> enum_names() const { return {}; }
    // The pipeline is complete: what stands for a part of it can be found.
    virtual void resolve(const Pipeline &) {}

protected:
    [[noreturn]] void refuse(const std::string &text, const std::string &why) const;
    bool is_changeable() const;  // the pipeline has not been made
    void require_changeable() const;

private:
    std::string param_name;
    GeneratorBase &owner;
};

namespace detail {

// Texts of values; std::nullopt if the text is none of the type.
std::optional<bool> parse_bool(const std::string &text);
std::optional<int64_t> parse_int(const std::string &text);
std::optional<uint64_t> parse_uint(const std::string &text);
std::optional<double> parse_float(const std::string &text);
std::optional<Type> parse_type(const std::string &text);
std::string float_text(double value, bool is_float32);
// Returns the text as a literal of C++.
std::string quoted(const std::string &text);
std::string cpp_type_value(Type t);

template<typename T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template<typename T>
std::optional<T> parse_number(const std::string &text) {
    if constexpr (std::is_floating_point_v<T>) {
        auto value = parse_float(text);
        return value ? std::optional<T>(T(*value)) : std::nullopt;
    } else if constexpr (std::is_unsigned_v<T>) {
        auto value = parse_uint(text);
        return value && T(*value) == *value ? std::optional<T>(T(*value)) : std::nullopt;
    } else {
        auto value = parse_int(text);
        return value && T(*value) == *value ? std::optional<T>(T(*value)) : std::nullopt;
    }
}

template<typename T>
std::optional<T> parse_value(const std::string &text) {
    if constexpr (std::is_same_v<T, bool>)
        return parse_bool(text);
    else if constexpr (is_number<T>)
        return parse_number<T>(text);
    else if constexpr (std::is_same_v<T, Type>)
        return parse_type(text);
    else if constexpr (std::is_same_v<T, Target>)
        return Target(text);
    else
        return std::optional<T>(text);
}

template<typename T>
std::string text_of_value(const T &value) {
    if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_floating_point_v<T>)
        return float_text(double(value), std::is_same_v<T, float>);
    else if constexpr (is_number<T>)
        return std::to_string(value);
    else
        return str(value);
}

// A number is an expression, a constant: a conversion to one would compete with that to the number.
struct NoExpr {};
template<typename T>
using ParamExpr = std::conditional_t<std::is_arithmetic_v<T>, Expr, NoExpr>;

}  // namespace detail

// T: bool, an integer, a float, std::string, Type, Target, LoopLevel (below), or an enum whose
// values have names. It converts to its value.
template<typename T>
class GeneratorParam : public GeneratorParamBase, public detail::ParamExpr<T> {
    static constexpr bool is_number = detail::is_number<T>;

public:
    GeneratorParam(const std::string &name, const T &value) requires(!std::is_enum_v<T>)
        : GeneratorParamBase(name) {
        set(value);
    }
    // A parameter with values of this range only, both ends included.
    GeneratorParam(const std::string &name, const T &value, const T &min, const T &max)
        requires(is_number)
        : GeneratorParamBase(name), lowest(min), highest(max) {
        set(value);
    }
    // A parameter with these values only, by their names.
    GeneratorParam(const std::string &name, const T &value, const std::map<std::string, T> &values)
        : GeneratorParamBase(name), named(values) {
        set(value);
    }

    const T &value() const { return current; }
    operator const T &() const { return current; }
    void set(const T &value) {
        require_changeable();
        if constexpr (is_number) {
            if ((lowest && value < *lowest) || (highest && value > *highest)) {
                refuse(detail::text_of_value(value), "it is " + type_text());
            }
        }
        current = value;
        if constexpr (std::is_arithmetic_v<T>) Expr::operator=(Expr(current));
        if (!named.empty()) value_text();
    }
    void set_from_string(const std::string &text) override {
        if (!named.empty()) {
            auto found = named.find(text);
            if (found == named.end()) refuse(text, "it is " + type_text());
            return set(found->second);
        }
        if constexpr (!std::is_enum_v<T>) {
            auto value = detail::parse_value<T>(text);
            if (!value) refuse(text, "it is " + type_text());
            set(*value);
        }
    }
    std::string value_text() const override {
        if constexpr (std::equality_comparable<T>) {
            for (const auto &[name, value] : named) {
                if (value == current) return name;
            }
        }
        if (!named.empty()) refuse("its value", "it is " + type_text());
        if constexpr (std::is_enum_v<T>)
            return "";
        else
            return detail::text_of_value(current);
    }
    std::string type_text() const override {
        if (!named.empty()) {
            std::vector<std::string> names;
            for (const auto &[name, value] : named) names.push_back(name);
            return "one of " + join(names);
        }
        std::string text = cpp_type();
        if constexpr (std::is_arithmetic_v<T>) {
            text = to_string(type_of<T>());
            if (lowest) text += " from " + detail::text_of_value(*lowest);
            if (highest) text += " to " + detail::text_of_value(*highest);
        } else if constexpr (!std::is_enum_v<T>) {
            if constexpr (std::is_same_v<T, Type>)
                text = "a type, such as uint8 or float32";
            else if constexpr (std::is_same_v<T, Target>)
                text = "a target";
            else
                text = "a text";
        }
        return text;
    }
    std::vector<std::string> enum_names() const override {
        std::vector<std::string> names;
        if constexpr (std::is_enum_v<T>) {
            for (const auto &[name, value] : named) names.push_back(name);
        }
        return names;
    }
    std::string cpp_type() const override {
        if constexpr (std::is_same_v<T, bool>)
            return "bool";
        else if constexpr (std::is_same_v<T, float>)
            return "float";
        else if constexpr (std::is_same_v<T, double>)
            return "double";
        else if constexpr (is_number)
            return to_string(type_of<T>()) + "_t";
        else if constexpr (std::is_same_v<T, Type>)
            return "tessera::Type";
        else
            return "std::string";
    }
    std::string cpp_value() const override {
        if constexpr (std::is_arithmetic_v<T>)
            return value_text();
        else if constexpr (std::is_same_v<T, Type>)
            return detail::cpp_type_value(current);
        else
            return detail::quoted(value_text());
    }

private:
    T current{};
    std::optional<T> lowest, highest;
    std::map<std::string, T> named;
};

// "root", "inlined" or "func.loop": a place in the pipeline that the generator makes. The level may
// be given to schedules at once; a Func is looked for when the pipeline is complete. Other than
// parameters of other types it may be set when the pipeline has been made.
template<>
class GeneratorParam<LoopLevel> : public GeneratorParamBase {
public:
    GeneratorParam(const std::string &name, const LoopLevel &value)
        : GeneratorParamBase(name), level(value.copy()) {}

    LoopLevel value() const { return level; }
    operator LoopLevel() const { return level; }
    void set(const LoopLevel &value);
    void set_from_string(const std::string &text) override;
    std::string value_text() const override;
    std::string type_text() const override { return "a loop level: root, inlined or func.loop"; }
    std::string cpp_type() const override { return "tessera::LoopLevel"; }
    std::string cpp_value() const override;
    void resolve(const Pipeline &pipeline) override;

private:
    LoopLevel level;
    std::string func, loop;  // to be found
};

namespace detail {

template<typename T>
constexpr bool is_generator_param = false;
template<typename T>
constexpr bool is_generator_param<GeneratorParam<T>> = true;

// Returns what stands for an operand beside one of type Other: the value of a parameter. A double
// beside an expression would have to be written as one, and a parameter is one already.
template<typename Other, typename T>
const auto &plain(const T &operand) {
    constexpr bool beside_expr = !std::is_arithmetic_v<Other> && !is_generator_param<Other> &&
                                 std::convertible_to<Other, Expr>;
    if constexpr (!is_generator_param<T>) {
        return operand;  // NOLINT(bugprone-return-const-ref-from-parameter): used at once
    } else if constexpr (std::same_as<T, GeneratorParam<double>> && beside_expr) {
        return static_cast<const Expr &>(operand);
    } else {
        return operand.value();
    }
}

}  // namespace detail

// Operators on GeneratorParams are those on their values.
#define TESSERA_PARAM_OPERATOR(op)                                                                 \
    template<typename A, typename B>                                                               \
    requires(detail::is_generator_param<A> || detail::is_generator_param<B>)                       \
    auto operator op(const A &a, const B &b)                                                       \
        ->decltype(detail::plain<B>(a) op detail::plain<A>(b)) {                                   \
        return detail::plain<B>(a) op detail::plain<A>(b);                                         \
    }
TESSERA_PARAM_OPERATOR(+)
TESSERA_PARAM_OPERATOR(-)
TESSERA_PARAM_OPERATOR(*)
TESSERA_PARAM_OPERATOR(/)
TESSERA_PARAM_OPERATOR(%)
TESSERA_PARAM_OPERATOR(==)
TESSERA_PARAM_OPERATOR(!=)
TESSERA_PARAM_OPERATOR(<)
TESSERA_PARAM_OPERATOR(<=)
TESSERA_PARAM_OPERATOR(>)
TESSERA_PARAM_OPERATOR(>=)
TESSERA_PARAM_OPERATOR(&&)
TESSERA_PARAM_OPERATOR(||)
#undef TESSERA_PARAM_OPERATOR
#define TESSERA_PARAM_FUNCTION(f)                                                                  \
    template<typename A, typename B>                                                               \
    requires(detail::is_generator_param<A> || detail::is_generator_param<B>)                       \
    auto f(const A &a, const B &b) -> decltype(f(detail::plain<B>(a), detail::plain<A>(b))) {      \
        return f(detail::plain<B>(a), detail::plain<A>(b));                                        \
    }
TESSERA_PARAM_FUNCTION(min)
TESSERA_PARAM_FUNCTION(max)
#undef TESSERA_PARAM_FUNCTION
template<typename T>
auto operator-(const GeneratorParam<T> &p) -> decltype(-p.value()) {
    return -p.value();
}
template<typename T>
auto operator~(const GeneratorParam<T> &p) -> decltype(~p.value()) {
    return ~p.value();
}
template<typename T>
auto operator!(const GeneratorParam<T> &p) -> decltype(!p.value()) {
    return !p.value();
}

}  // namespace tessera
