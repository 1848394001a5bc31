#pragma once
#include "lang/image_param.h"
#include <variant>

namespace tessera {

template<typename T>
class Input;

// The value for one element of an input when a generator is called from C++: a Func, an image
// (ImageParam, Buffer), or a number.
class InputValue {
public:
    InputValue() = default;  // nothing, which no input takes
    InputValue(const Func &f) : value(f) {}
    InputValue(const ImageParam &image) : value(image) {}
    template<typename T, int D>
    InputValue(const Buffer<T, D> &buffer, Location at = Here::current())
        : InputValue(Buffer<>(buffer), at) {}
    InputValue(const Buffer<> &buffer, Location at = Here::current());
    InputValue(const Expr &e) : value(e) {}
    template<typename T>
    requires std::is_arithmetic_v<T> InputValue(const T &number) : value(Expr(number)) {}
    template<typename T>
    InputValue(const Param<T> &p) : value(Expr(p)) {}

    const Func *func() const { return std::get_if<Func>(&value); }
    const ImageParam *image() const { return std::get_if<ImageParam>(&value); }
    const Expr *scalar() const { return std::get_if<Expr>(&value); }

private:
    std::variant<Func, ImageParam, Expr> value;
};

// The value for an input: one value, or those of an array.
struct InputValues : std::vector<InputValue> {
    InputValues(const std::vector<InputValue> &values) : std::vector<InputValue>(values) {}
    template<std::convertible_to<InputValue> V>
    InputValues(const V &value) : std::vector<InputValue>{InputValue(value)} {}
    template<typename T>
    requires std::convertible_to<T, InputValue> InputValues(const std::vector<T> &values)
        : std::vector<InputValue>(values.begin(), values.end()) {}
};

}  // namespace tessera
