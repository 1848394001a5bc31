#pragma once
#include "lang/param.h"
#include "program/parameter.h"

namespace tessera {

class ImageParam;

// An argument of a compiled pipeline: a Param or an ImageParam.
struct Argument {
    Argument(program::ParameterRef p) : parameter(std::move(p)) {}
    template<typename T>
    Argument(const Param<T> &p) : parameter(p.parameter()) {}
    Argument(const ImageParam &image);

    const std::string &name() const { return parameter->name.text(); }
    bool is_buffer() const { return parameter->is_buffer; }
    bool is_scalar() const { return !parameter->is_buffer; }
    Type type() const { return parameter->type; }
    int dimensions() const { return parameter->dimensions; }

    program::ParameterRef parameter;
};

}  // namespace tessera
