#pragma once
#include "ir/module.h"
#include "program/version.h"
#include "runtime/tessera_runtime.h"
#include <memory>
#include <vector>

namespace tessera::program {

using ir::Expr;

// The constraints of a pipeline on one dimension of a buffer; undefined where there is none.
struct DimensionConstraint {
    Expr min, extent, stride;
    Expr min_estimate, extent_estimate;
};

// Something that the caller passes to a pipeline: a scalar (Param), a buffer (ImageParam, the
// buffer of an output), or a Buffer that the program itself holds (`embedded`).
// Expressions refer to it by its symbol, and keep it alive as their referent.
class Parameter final : public ir::Referent {
public:
    bool is_scalar_argument() const override { return !is_buffer; }

    Symbol name;
    Type type;  // of the scalar, or of an element
    bool is_buffer = false;
    bool embedded = false;  // the program's own Buffer; no argument of a compiled function

    // The members for a buffer.
    int dimensions = 0;
    std::vector<DimensionConstraint> constraints;  // one per dimension
    int host_alignment = 0;                        // in bytes; 0: that of one element

    // The members for a scalar; undefined where the user has set none.
    Expr min_value, max_value, estimate;

    // The argument that the JIT passes: the bits of the scalar, or the buffer and whoever owns it.
    uint64_t scalar_bits = 0;
    bool scalar_is_set = false;
    tessera_buffer_t *buffer = nullptr;
    std::shared_ptr<void> buffer_owner;

    Version version;  // counts changes of what is compiled into code: not those of the argument
};

using ParameterRef = Ref<Parameter>;

ParameterRef make_scalar_parameter(Symbol name, Type type);
// Its innermost dimension is dense, unless the user says otherwise.
ParameterRef make_buffer_parameter(Symbol name, Type type, int dimensions);

// The parameter that the argument stands for; null for an output that nobody has constrained.
const Parameter *parameter_of(const ir::Argument &a);

// The value of the scalar parameter.
Expr parameter_value(const ParameterRef &p);

}  // namespace tessera::program
