#pragma once
#include "lower/context.h"
#include "lower/nest/region.h"

// Stages written in C: int f(arguments..., outputs...), where a Func or buffer is passed as a
// tessera_buffer_t *. Given buffers without host memory it sets their fields to the regions of its
// inputs that it needs for the outputs' regions; otherwise it computes the outputs.
namespace tessera::lower {

// What linkers call the function of an extern stage. CompileError if it is in a namespace, but to
// be called as C does.
std::string linked_name(const program::FunctionContents &f, const Target &target);

// A call that asks an extern stage what it needs of its inputs.
struct ExternQuery {
    std::vector<Binding> lets;
    ir::Stmt check;  // that it succeeded; inside of the lets
    // Per function and image that it reads, in terms of the lets.
    std::unordered_map<Symbol, Box> inputs;
};

ExternQuery query_extern_stage(const program::FunctionContents &f, const Region &region,
                               const Context &context);

// The call that computes the region.
ir::Stmt call_extern_stage(const program::FunctionContents &f, const Region &region,
                           const Context &context);

}  // namespace tessera::lower
