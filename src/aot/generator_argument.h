#pragma once
#include "lang/buffer.h"
#include "lang/func.h"

namespace tessera {

// A type, or one for each value of a Func of several.
struct ArgumentTypes : std::vector<Type> {
    ArgumentTypes() = default;
    ArgumentTypes(Type t) : std::vector<Type>{t} {}
    ArgumentTypes(std::initializer_list<Type> types) : std::vector<Type>(types) {}
    ArgumentTypes(const std::vector<Type> &types) : std::vector<Type>(types) {}
};

enum class GeneratorArgumentKind : uint8_t { Scalar, Function, Buffer };

// The shape of an input or output of a generator. The parts that its class leaves open are set by
// configure(), or by whoever runs it: name.type=, name.dim=, name.size=.
struct ArgumentShape {
    static constexpr int open = -1;

    std::string name;
    GeneratorArgumentKind kind = GeneratorArgumentKind::Scalar;
    ArgumentTypes types;    // empty: open
    int dimensions = open;  // 0 for a scalar
    bool is_array = false;
    int size = 1;  // of an array; may be open
};

class GeneratorBase;

// An input or output of a generator. A member of a Generator: it belongs to the one that is being
// constructed.
class GeneratorArgument {
public:
    virtual ~GeneratorArgument() = default;
    GeneratorArgument(const GeneratorArgument &) = delete;
    GeneratorArgument &operator=(const GeneratorArgument &) = delete;

    const ArgumentShape &shape() const { return argument_shape; }
    // CompileError if it is known already, or is not one that an argument can have.
    void set_type(Type type) { set_types(type); }
    void set_types(const ArgumentTypes &types);
    void set_dimensions(int dimensions);
    void set_array_size(int size);
    // property: type, dim or size. False if there is no such property.
    bool set_property(const std::string &property, const std::string &text);

protected:
    GeneratorArgument(const ArgumentShape &shape, const char *role);
    [[noreturn]] void refuse(const std::string &why) const;
    // Throw if they are open.
    const ArgumentTypes &types_or_refuse() const;
    int dimensions_or_refuse() const;
    size_t size_or_refuse() const;
    // The name of element i: the argument's own name, unless it is an array.
    std::string element_name(size_t i) const;
    // Adopts what is open, and throws if something else is known.
    void require_shape(const std::vector<Type> &types, int dimensions, const char *what);

    ArgumentShape argument_shape;

private:
    std::string what;  // for messages
};

namespace detail {

// The shape that follows from the C++ type of an input or output.
template<typename T>
struct ArgumentTraits {
    static_assert(std::is_arithmetic_v<T> || std::is_pointer_v<T>,
                  "an argument of a generator is a Buffer<>, a Func, a number or a pointer");
    static constexpr auto kind = GeneratorArgumentKind::Scalar;
    static ArgumentTypes types() { return type_of<T>(); }
    static constexpr int dimensions = 0;
};
template<NarrowFloatType T>
struct ArgumentTraits<T> {
    static constexpr auto kind = GeneratorArgumentKind::Scalar;
    static ArgumentTypes types() { return type_of<T>(); }
    static constexpr int dimensions = 0;
};
// A scalar whose type is known when the generator runs.
template<>
struct ArgumentTraits<Expr> {
    static constexpr auto kind = GeneratorArgumentKind::Scalar;
    static ArgumentTypes types() { return {}; }
    static constexpr int dimensions = 0;
};
template<>
struct ArgumentTraits<Func> {
    static constexpr auto kind = GeneratorArgumentKind::Function;
    static ArgumentTypes types() { return {}; }
    static constexpr int dimensions = ArgumentShape::open;
};
template<typename T, int D>
struct ArgumentTraits<Buffer<T, D>> {
    static constexpr auto kind = GeneratorArgumentKind::Buffer;
    static ArgumentTypes types() {
        if constexpr (Buffer<T, D>::has_static_type)
            return Buffer<T, D>::static_type();
        else
            return {};
    }
    static constexpr int dimensions = D == AnyDims ? ArgumentShape::open : D;
};

// Types and dimensions that are given may say what the C++ type leaves open, or else the same.
ArgumentShape argument_shape(const std::string &name, GeneratorArgumentKind kind,
                             const ArgumentTypes &fixed_types, int fixed_dimensions,
                             const ArgumentTypes &types, int dimensions);
template<typename T>
ArgumentShape shape_of(const std::string &name, const ArgumentTypes &types, int dimensions) {
    using Traits = ArgumentTraits<T>;
    return argument_shape(name, Traits::kind, Traits::types(), Traits::dimensions, types,
                          dimensions);
}
template<typename T>
ArgumentShape array_shape_of(int size, const std::string &name, const ArgumentTypes &types,
                             int dimensions) {
    ArgumentShape shape = shape_of<T>(name, types, dimensions);
    shape.is_array = true;
    shape.size = size;
    return shape;
}

}  // namespace detail

}  // namespace tessera
