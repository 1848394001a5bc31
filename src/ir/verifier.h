#pragma once
#include "ir/module.h"
#include "ir/nodes.h"
#include <string_view>
#include <unordered_set>

namespace tessera::ir {

// The level of the IR that a tree has to be of: with Funcs (Provide, Call, Realize, ...) or flat
// (Store, Load, Allocate).
enum class IRLevel : uint8_t { Any, Funcs, Flat };

struct VerifyOptions {
    IRLevel level = IRLevel::Any;
    // The symbols that may be used without being bound in the tree: arguments, images, outputs.
    // Null: all may.
    const std::unordered_set<Symbol> *free_symbols = nullptr;
    bool vectorized_loops = true;  // false: they must be gone
    bool unrolled_loops = true;    // false: they must be gone
};

// The error that verify() throws.
class BrokenRule final : public InternalError {
public:
    BrokenRule(std::string_view pass, const std::string &rule,
               std::source_location at = std::source_location::current())
        : InternalError(str("after the pass '", pass, "': ", rule), at), rule(rule) {}
    std::string rule;  // which one, and the text of the node
};

// Throws BrokenRule, naming the pass and the text of the node, if the tree breaks a rule of
// ir/nodes.h that `make` cannot see:
// - a symbol is used where it is not bound, with another type than it has, or is bound again below
//   the node that binds it (a shared expression is looked at once in each scope it depends on);
// - a load, store or allocation has another type than its buffer; a call or provide of a Func has
//   other types, or another number of values or arguments, than its realization;
// - an index, condition, semaphore or error code is of the wrong type, an operand is a handle where
//   numbers are meant, or an intrinsic's types do not go together;
// - a node is not of the required level, or a loop should be gone.
// Takes time about linear in the number of distinct nodes; long blocks, chains of lets and deep
// expressions need no deep recursion.
void verify(const Stmt &s, std::string_view pass, const VerifyOptions &options = {});
void verify(const Expr &e, std::string_view pass, const VerifyOptions &options = {});
// With the arguments bound; nothing else is free, unless the options name it.
void verify(const LoweredFunction &f, std::string_view pass, const VerifyOptions &options = {});
// All functions. Those that are invoked are functions of the module of the kind that the place
// wants, and are given arguments of the types of theirs.
void verify(const Module &m, std::string_view pass, const VerifyOptions &options = {});

}  // namespace tessera::ir
