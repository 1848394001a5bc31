#pragma once
#include "ir/nodes.h"
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::ir {

// Lists who runs a function, and with what besides its arguments.
// clang-format off
#define TESSERA_FUNCTION_KINDS(X)                                                                  \
    X(Pipeline, "func")    /* programs call it */                                                  \
    X(LoopBody, "body")    /* an iteration of a parallel loop, whose variable comes first */       \
    X(Task, "task")        /* a statement of a Fork */                                             \
    X(Part, "part")        /* a statement that is a function to keep functions short */            \
    X(Kernel, "kernel")    /* the blocks of a grid, on a GPU: lower/gpu/outline_kernels.h */
// clang-format on
enum class FunctionKind : uint8_t {
#define ENUMERATOR(name, text) name,
    TESSERA_FUNCTION_KINDS(ENUMERATOR)
#undef ENUMERATOR
};
std::string_view name_of(FunctionKind k);

// Storage: the elements of a buffer that is somebody else's, by the address of the first.
enum class ArgumentKind : uint8_t { Scalar, InputBuffer, OutputBuffer, Storage };

// An argument of a compiled function: a scalar passed by value, or a pointer to a tessera_buffer_t.
// The body refers to a scalar by Variable(type, name); to a buffer by Variable(Handle(), name) for
// the struct, BufferProperty for its fields, and Load and Store for its elements. A function that
// is not a pipeline takes the struct and the elements as two arguments of the same name: a scalar
// handle, and storage.
struct Argument {
    Symbol name;
    ArgumentKind kind = ArgumentKind::Scalar;
    Type type;                    // of the scalar, or of the buffer's elements
    int dimensions = 0;           // of the buffer
    Ref<Referent> referent = {};  // the parameter, image or buffer that the caller passes
    // An output has here the function whose values it holds, and which of them.
    Symbol func = {};
    int value_index = 0;
    Traced traced = {};  // of a buffer

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

// The argument of this name, or the one that holds value k of a function; null if there is none.
const Argument *find_argument(std::span<const Argument> arguments, Symbol name);
const Argument *find_output(std::span<const Argument> arguments, Symbol func, int k = 0);

// A C function that returns 0 or an error code.
struct LoweredFunction {
    std::string name;            // no other function of the module has it
    std::vector<Argument> args;  // without the user context
    Stmt body;
    // For each buffer a range per dimension, if lowering was requested to find them; no entry:
    // nothing of the buffer is touched.
    std::unordered_map<Symbol, std::vector<TouchedRange>> touched = {};
    SymbolArenaRef symbols = {};  // of the names in it that are no one else's
    FunctionKind kind = FunctionKind::Pipeline;

    bool is_pipeline() const { return kind == FunctionKind::Pipeline; }
};

// Behind each pipeline stand the functions that it invokes, an outer one before those within it.
struct Module {
    std::string name;
    std::vector<LoweredFunction> functions;

    // InternalError if there is none.
    const LoweredFunction &function(std::string_view name) const;
    // A pipeline of the module, and the functions that it invokes.
    std::span<const LoweredFunction> with_invoked(const LoweredFunction &pipeline) const;
};

}  // namespace tessera::ir
