#include "halide_parameter.h"

namespace Halide {

using tessera::CompileError;
using tessera::program::ParameterRef;

Parameter::Parameter(const Type &type, bool is_buffer, int dimensions, const std::string &name) {
    if (!is_buffer && dimensions != 0)
        throw CompileError(tessera::str("the parameter ", name, " is a number and has dimensions"));
    contents = is_buffer ? tessera::ImageParam(type, dimensions, name).parameter()
                         : tessera::Param<>(type, name).parameter();
}

const ParameterRef &Parameter::ref() const {
    if (contents) return contents;
    throw CompileError("this Parameter is undefined: it was made without a type");
}

const ParameterRef &Parameter::of_a_number() const {
    if (!get().is_buffer) return contents;
    throw CompileError("the parameter " + name() + " is a buffer, and not a number");
}

const ParameterRef &Parameter::of_a_buffer() const {
    if (get().is_buffer) return contents;
    throw CompileError("the parameter " + name() + " is a number, and not a buffer");
}

int Parameter::host_alignment() const {
    int bytes = of_a_buffer()->host_alignment;
    return bytes == 0 ? type().bytes() : bytes;
}

tessera::program::DimensionConstraint &Parameter::dimension(int i) const {
    auto &all = of_a_buffer()->constraints;
    if (i >= 0 && size_t(i) < all.size()) return all[i];
    throw CompileError(tessera::str("the parameter ", name(), " has ", all.size(),
                                    " dimensions; there is none of number ", i));
}

}  // namespace Halide
