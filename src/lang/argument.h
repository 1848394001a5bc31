#pragma once
#include "lang/param.h"
#include "lang/rdom.h"
#include "program/parameter.h"

namespace tessera {

class ImageParam;
class OutputImageParam;
template<typename T, int Dims>
class Buffer;

namespace detail {
// Returns the number of these bytes as a constant; an undefined Expr for a pointer.
Expr constant_of_bits(Type type, uint64_t bits);
}  // namespace detail

// The properties of an argument beside its type: undefined where there are none.
struct ArgumentEstimates {
    Expr scalar_def, scalar_min, scalar_max, scalar_estimate;
    Region buffer_estimates;
};

// An argument of a compiled pipeline: a Param or an ImageParam, or a description of one, which
// stands for the parameter of that name that the pipeline has; if it has none, the argument is
// taken and not used.
struct Argument {
    enum Kind {
        InputScalar = tessera_argument_kind_input_scalar,
        InputBuffer = tessera_argument_kind_input_buffer,
        OutputBuffer = tessera_argument_kind_output_buffer
    };

    Argument() = default;
    Argument(const std::string &name, Kind kind, const Type &type, int dimensions,
             const ArgumentEstimates &estimates = {});
    Argument(program::ParameterRef p);
    template<typename T>
    Argument(const Param<T> &p) : Argument(p.parameter()) {}
    Argument(const ImageParam &image);
    // A buffer like this one.
    template<typename T, int D>
    Argument(const Buffer<T, D> &b) : Argument(b.name(), InputBuffer, b.type(), b.dimensions()) {}

    bool is_buffer() const { return kind != InputScalar; }
    bool is_scalar() const { return kind == InputScalar; }
    bool is_input() const { return kind != OutputBuffer; }
    bool is_output() const { return kind == OutputBuffer; }

    std::string name;
    Kind kind = InputScalar;
    uint8_t dimensions = 0;
    Type type;
    ArgumentEstimates argument_estimates;
    program::ParameterRef parameter;
};

}  // namespace tessera
