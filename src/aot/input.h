#pragma once
#include "aot/generator_argument.h"
#include "aot/input_value.h"
#include "lang/param.h"
#include <functional>
#include <optional>

namespace tessera {

// An input of a pipeline that a generator makes. Its elements exist from generate() on.
class GeneratorInput : public GeneratorArgument {
public:
    // Instead of arguments of the compiled function. CompileError if they do not fit.
    void bind(const InputValues &values);
    // Makes the elements. CompileError if the type or the dimensions are open.
    virtual void make_elements() = 0;
    // The arguments of the compiled function.
    const std::vector<Argument> &arguments() const { return all_arguments; }

protected:
    explicit GeneratorInput(const ArgumentShape &shape);
    // Element i.
    ImageParam make_image(size_t i);
    Func make_func(size_t i);
    Expr make_scalar(size_t i);
    // Estimates of the caller's buffers, or numbers: all of them, or the one of element i.
    void set_all_estimates(const Region &estimates, Location at) const;
    void set_scalar_estimate(const Expr &value, std::optional<size_t> i, Location at) const;
    size_t begin_elements();  // how many there are
    bool is_bound() const { return !bound.empty(); }
    void add_argument(const Argument &a) { all_arguments.push_back(a); }
    // Sets the range and default of a parameter of a number when it is made.
    std::function<void(const program::ParameterRef &)> prepare_scalar;

private:
    std::vector<InputValue> bound;
    std::vector<Argument> all_arguments;
};

// A number.
class ScalarInput : public GeneratorInput {
public:
    operator Expr() const { return element; }
    const std::string &name() const { return shape().name; }
    Type type() const { return types_or_refuse()[0]; }
    template<typename V>
    void set_estimate(const V &value, Location at = Here::current()) {
        detail::set_estimate(*parameter(), Expr(value), at);
    }
    Expr min_value() const { return parameter()->min_value; }
    Expr max_value() const { return parameter()->max_value; }
    void make_elements() override;

protected:
    explicit ScalarInput(const ArgumentShape &shape) : GeneratorInput(shape) {}
    const program::ParameterRef &parameter() const;

private:
    mutable program::ParameterRef own_parameter;  // made when the type is known
    Expr element;
};

template<typename T>
class Input : public ScalarInput {
public:
    explicit Input(const std::string &name) : ScalarInput(detail::shape_of<T>(name, {}, 0)) {}
    Input(const std::string &name, const T &value) : Input(name) {
        Param<T>(parameter()).set(value);
    }
    Input(const std::string &name, const T &value, const T &min, const T &max)
        : Input(name, value) {
        Param<T>(parameter()).set_range(Expr(min), Expr(max));
    }
};

template<>
class Input<Expr> : public ScalarInput {
public:
    explicit Input(const std::string &name, const ArgumentTypes &type = {})
        : ScalarInput(detail::shape_of<Expr>(name, type, 0)) {}
};

// A Func: the caller passes a buffer that covers what is read of it.
template<>
class Input<Func> : public Func, public GeneratorInput {
public:
    explicit Input(const std::string &name, const ArgumentTypes &types = {},
                   int dimensions = ArgumentShape::open)
        : GeneratorInput(detail::shape_of<Func>(name, types, dimensions)) {}
    Input(const std::string &name, int dimensions) : Input(name, {}, dimensions) {}

    // The name of the input, not of the Func that stands for it.
    // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method) What the caller gives, to be read:
    // const, so that it cannot be defined.
    template<ExprLike... Args>
    const FuncRef operator()(const CallArgument &first, const Args &...rest) const {
        return Func::operator()(first, rest...);
    }
    const FuncRef operator()(Location at = Here::current()) const { return Func::operator()(at); }
    const FuncRef operator()(const std::vector<Expr> &args, Location at = Here::current()) const {
        return Func::operator()(args, at);
    }
    const FuncRef operator()(const std::vector<Var> &args, Location at = Here::current()) const {
        return Func::operator()(args, at);
    }
    const std::string &name() const { return shape().name; }
    const std::vector<Type> &types() const { return types_or_refuse(); }
    Type type() const { return types_or_refuse()[0]; }
    int dimensions() const { return dimensions_or_refuse(); }
    // Estimates of the caller's buffers: min and extent of each dimension.
    void set_estimates(const Region &estimates, Location at = Here::current());
    // NOLINTEND(bugprone-derived-method-shadowing-base-method)
    void make_elements() override;
};

// An image, whose size the pipeline may ask for.
template<typename T, int D>
class Input<Buffer<T, D>> : public ImageParam, public GeneratorInput {
public:
    explicit Input(const std::string &name, const ArgumentTypes &types = {},
                   int dimensions = ArgumentShape::open)
        : GeneratorInput(detail::shape_of<Buffer<T, D>>(name, types, dimensions)) {}
    Input(const std::string &name, int dimensions) : Input(name, {}, dimensions) {}

    const std::string &name() const { return shape().name; }
    Type type() const { return types_or_refuse()[0]; }
    int dimensions() const { return dimensions_or_refuse(); }
    void make_elements() override {
        begin_elements();
        ImageParam::operator=(make_image(0));
    }
};

namespace detail {

// Several elements of one kind: Func, ImageParam or Expr.
template<typename Element>
class ArrayInput : public GeneratorInput {
public:
    const std::string &name() const { return shape().name; }
    Type type() const { return types_or_refuse()[0]; }
    int dimensions() const { return dimensions_or_refuse(); }
    size_t size() const { return size_or_refuse(); }
    const Element &operator[](size_t i) const {
        if (i >= elements.size()) refuse(str("has no element ", i));
        return elements[i];
    }
    auto begin() const { return elements.begin(); }
    auto end() const { return elements.end(); }
    operator std::vector<Element>() const { return elements; }
    // Estimates of the caller's buffers, for each element: min and extent of each dimension.
    void set_estimates(const Region &estimates, Location at = Here::current())
        requires(!std::is_same_v<Element, Expr>) {
        set_all_estimates(estimates, at);
    }
    // Estimates of the caller's numbers: for each, or for element i.
    template<typename V>
    void set_estimate(const V &value, Location at = Here::current())
        requires(std::is_same_v<Element, Expr>) {
        set_scalar_estimate(Expr(value), {}, at);
    }
    template<typename V>
    void set_estimate(size_t i, const V &value, Location at = Here::current())
        requires(std::is_same_v<Element, Expr>) {
        set_scalar_estimate(Expr(value), i, at);
    }
    void make_elements() override {
        size_t n = begin_elements();
        for (size_t i = 0; i < n; i++) {
            if constexpr (std::is_same_v<Element, Func>)
                elements.push_back(make_func(i));
            else if constexpr (std::is_same_v<Element, ImageParam>)
                elements.push_back(make_image(i));
            else
                elements.push_back(make_scalar(i));
        }
    }

protected:
    explicit ArrayInput(const ArgumentShape &shape) : GeneratorInput(shape) {}

private:
    std::vector<Element> elements;
};

template<typename T>
struct InputElement {
    using type = Expr;
};
template<>
struct InputElement<Func> {
    using type = Func;
};
template<typename T, int D>
struct InputElement<Buffer<T, D>> {
    using type = ImageParam;
};

}  // namespace detail

// Holds as many inputs as name.size= or set_array_size() says.
template<typename T>
class Input<T[]> : public detail::ArrayInput<typename detail::InputElement<T>::type> {
    using Base = detail::ArrayInput<typename detail::InputElement<T>::type>;

public:
    explicit Input(const std::string &name, const ArgumentTypes &types = {},
                   int dimensions = ArgumentShape::open)
        : Input(ArgumentShape::open, name, types, dimensions) {}
    Input(const std::string &name, int dimensions) : Input(name, {}, dimensions) {}
    Input(int size, const std::string &name, const ArgumentTypes &types = {},
          int dimensions = ArgumentShape::open)
        : Base(detail::array_shape_of<T>(size, name, types, dimensions)) {}
};

// An array of numbers: all have the same default, and the same range.
template<typename T>
requires std::is_arithmetic_v<T> class Input<T[]> : public detail::ArrayInput<Expr> {
public:
    explicit Input(const std::string &name) : Input(ArgumentShape::open, name) {}
    Input(const std::string &name, const T &value) : Input(ArgumentShape::open, name, value) {}
    Input(const std::string &name, const T &value, const T &min, const T &max)
        : Input(ArgumentShape::open, name, value, min, max) {}
    Input(int size, const std::string &name)
        : ArrayInput(detail::array_shape_of<T>(size, name, {}, 0)) {}
    Input(int size, const std::string &name, const T &value) : Input(size, name) {
        prepare_scalar = [=](const program::ParameterRef &p) { Param<T>(p).set(value); };
    }
    Input(int size, const std::string &name, const T &value, const T &min, const T &max)
        : Input(size, name) {
        prepare_scalar = [=](const program::ParameterRef &p) {
            Param<T>(p).set_range(Expr(min), Expr(max));
            Param<T>(p).set(value);
        };
    }
};

template<typename T, size_t N>
requires std::is_arithmetic_v<T> class Input<T[N]> : public Input<T[]> {
public:
    explicit Input(const std::string &name) : Input<T[]>(int(N), name) {}
    Input(const std::string &name, const T &value) : Input<T[]>(int(N), name, value) {}
    Input(const std::string &name, const T &value, const T &min, const T &max)
        : Input<T[]>(int(N), name, value, min, max) {}
};

template<typename T, size_t N>
class Input<T[N]> : public Input<T[]> {
public:
    explicit Input(const std::string &name, const ArgumentTypes &types = {},
                   int dimensions = ArgumentShape::open)
        : Input<T[]>(int(N), name, types, dimensions) {}
    Input(const std::string &name, int dimensions) : Input(name, {}, dimensions) {}
};

}  // namespace tessera
