#pragma once
#include "ir/nodes.h"

namespace tessera::ir {

enum class ArgumentKind : uint8_t { Scalar, InputBuffer, OutputBuffer };

// An argument of a compiled function: a scalar passed by value, or a pointer to a tessera_buffer_t.
// The body refers to a scalar by Variable(type, name); to a buffer by Variable(Handle(), name) for
// the struct, BufferProperty for its fields, and Load and Store for its elements.
struct Argument {
    Symbol name;
    ArgumentKind kind = ArgumentKind::Scalar;
    Type type;                     // of the scalar, or of the buffer's elements
    int dimensions = 0;            // of the buffer
    Ref<const Referent> referent;  // the parameter, image or buffer that the caller passes
};

// A C function that returns 0 or an error code.
struct LoweredFunction {
    std::string name;
    std::vector<Argument> args;  // without the user context
    Stmt body;
};

struct Module {
    std::string name;
    std::vector<LoweredFunction> functions;
};

}  // namespace tessera::ir
