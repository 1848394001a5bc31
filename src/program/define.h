#pragma once
#include "program/function.h"

// Giving functions their definitions. Everything that makes no sense is refused here, with the
// place where it was written: CompileError.
namespace tessera::program {

FunctionRef make_function(Symbol name);

// f(args) = values: the first, pure definition. The function then has its loops, its storage and
// its output buffers. Functions that are called may not be changed from now on.
void define_pure(const FunctionRef &f, const std::vector<Symbol> &args,
                 const std::vector<Expr> &values, const Location &at);

// f(args) = values, changing values that are there. An argument that is the variable of its
// dimension runs over all of that dimension; reduction variables, all of one domain, run over it,
// in order. Calls of f itself have those pure variables in the same places.
// `over`: the domain, if it matters though no expression may use its variables.
void define_update(const FunctionRef &f, std::vector<Expr> args, std::vector<Expr> values,
                   const Location &at, const ReductionDomainRef &over = {});

void define_extern(FunctionContents &f, const std::vector<Symbol> &args,
                   const std::vector<Type> &types, ExternDefinition definition);

// Gives a defined function the schedule that it has before any directive.
void begin_schedule(FunctionContents &f);

// The reduction domain that the expressions use, if any. Throws if there are several.
ReductionDomainRef domain_of(const std::vector<Expr> &exprs, const Location &at);

// "f", "f.update(1)".
std::string stage_name(const FunctionContents &f, int stage);

// The last entry of every stage's loops: around all others, with one iteration.
Symbol outermost_loop();

// Calls of random_float() and its kin without a seed are distinguished by the order in which they
// are made, and by the definitions they are in. Begins both counts again.
void reset_random_counters();
Expr random_call(Type type, const Expr &seed, const Location &at);

}  // namespace tessera::program
