#pragma once
#include "lower/nest/region.h"
#include "lower/program_context.h"

// Stages written in C: int f(arguments..., outputs...), where a Func or buffer is passed as a
// tessera_buffer_t *. Given buffers without host memory it sets their fields to the regions of its
// inputs that it needs for the outputs' regions, which it may enlarge, to whole tiles for example;
// otherwise it computes the outputs.
namespace tessera::lower {

// Returns the linker's name of the function of an extern stage. CompileError if it is in a
// namespace, but to be called as C does.
std::string linked_name(const program::FunctionContents &f, const Target &target);

// Returns true if the function gets bounds queries at all. One without buffers to read gets them
// only by Halide's rules, for what it may enlarge: otherwise it need not know of queries.
bool is_asked(const program::FunctionContents &f);
// Returns true if it may compute more than its consumers need. Not into a buffer of the caller's,
// which is as large as it is; and not where the storage is not made for each of its runs, as large
// as that one wants it.
bool may_enlarge(const program::FunctionContents &f, const ProgramContext &context);

// A call that asks an extern stage what it needs of its inputs.
struct ExternQuery {
    std::vector<Binding> lets;
    ir::Stmt check;  // that it succeeded; inside of the lets
    // Per function and image that it reads, in terms of the lets.
    std::unordered_map<Symbol, Box> inputs;
    Box outputs;  // what it computes, all values together; at least the region
};

ExternQuery query_extern_stage(const program::FunctionContents &f, const StageRegion &region,
                               const ProgramContext &context);

// Checks that the answer leaves the region as it is.
ir::Stmt check_not_enlarged(const program::FunctionContents &f, const StageRegion &region,
                            const Box &answer);

// The first element of the storage over which a buffer is made that an extern stage is passed; null
// for any other expression.
const ir::Call *first_of_passed_buffer(const ir::Expr &e);

// Returns the box that exists of an image, or that is stored of a function.
Box held_of(Symbol buffer, int dimensions);
// Checks that what is held of an input is what a stage wants to read of it, or more.
ir::Stmt check_input_holds(const program::FunctionContents &f, Symbol input, const Box &wanted,
                           const Box &held);

// The call that computes the region. `inputs`: what it wants to read, of the functions whose
// storage is to be folded: rows then lie one after the other only as far as they do not begin anew,
// so that it is given those and no more.
ir::Stmt call_extern_stage(const program::FunctionContents &f, const StageRegion &region,
                           const std::unordered_map<Symbol, Box> &inputs,
                           const ProgramContext &context);

}  // namespace tessera::lower
