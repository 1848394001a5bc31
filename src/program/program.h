#pragma once
#include "program/function.h"
#include <functional>
#include <map>

namespace tessera::program {

// A condition that the caller of a pipeline must meet, and what to say otherwise.
struct Requirement {
    Expr condition;
    std::vector<Expr> message;  // texts and values, one after the other
    Location at;
};

// The input of the compiler: the functions whose values are wanted, and all that they reach.
struct Program {
    std::string name;
    std::vector<FunctionRef> outputs;
    // The names of the buffers of the outputs; empty: those of the functions.
    std::vector<std::string> output_names;
    std::vector<Requirement> requirements;
    bool trace_pipeline = false;
    Dialect dialect = tessera::dialect();  // whose rules hold for it as a whole
    // The functions of extern stages that are pipelines compiled in this process, by name, with
    // their parameters: such a one is also given the user context, and the buffers that it holds.
    std::map<std::string, std::vector<ParameterRef>> compiled_externs;
    // The user's own, over the lowered statement, after all others.
    std::vector<std::function<ir::Stmt(const ir::Stmt &)>> custom_passes;
};

}  // namespace tessera::program
