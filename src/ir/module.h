#pragma once
#include "ir/nodes.h"
#include <string>
#include <unordered_map>
#include <vector>

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

    bool is_scalar() const { return kind == ArgumentKind::Scalar; }
    bool is_buffer() const { return !is_scalar(); }
    bool is_output() const { return kind == ArgumentKind::OutputBuffer; }
    bool is_input() const { return !is_output(); }
};

// The coordinates [min, max] of one dimension of a buffer that a function touches, in terms of its
// scalars and of the fields of its buffers.
struct TouchedRange {
    Expr min, max;
    std::string unknown;  // why there are no such terms; the ends are undefined
};

// A C function that returns 0 or an error code.
struct LoweredFunction {
    std::string name;
    std::vector<Argument> args;  // without the user context
    Stmt body;
    // Of each buffer, a range per dimension, where lowering was asked for them; no entry: nothing
    // of the buffer is touched.
    std::unordered_map<Symbol, std::vector<TouchedRange>> touched = {};
    SymbolArenaRef symbols = {};  // of the names in it that are no one else's
};

struct Module {
    std::string name;
    std::vector<LoweredFunction> functions;
};

}  // namespace tessera::ir
