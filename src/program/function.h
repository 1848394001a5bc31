#pragma once
#include "base/dialect.h"
#include "program/parameter.h"
#include "program/schedule.h"
#include <map>
#include <memory>
#include <unordered_map>

namespace tessera::program {

class FunctionContents;

// The functions of a program that is a value of its own, by their names: its calls are of these,
// and not of their referents. Those who hold the program hold the functions.
class FunctionTable final : public RefCounted {
public:
    void add(FunctionContents &f);
    // The function of that name; null if there is none.
    FunctionContents *find(Symbol name) const;

private:
    std::unordered_map<Symbol, FunctionContents *> functions;
};

// A handle to a function. A wrapper belongs to what it wraps, so that a handle to it keeps that
// alive, too.
class FunctionRef {
public:
    FunctionRef() = default;
    FunctionRef(std::nullptr_t) {}
    explicit FunctionRef(FunctionContents *f);
    FunctionRef(const Ref<FunctionContents> &f) : FunctionRef(f.get()) {}

    FunctionContents *get() const { return function.get(); }
    FunctionContents *operator->() const { return function.get(); }
    FunctionContents &operator*() const { return *function; }
    explicit operator bool() const { return bool(function); }
    friend bool operator==(const FunctionRef &a, const FunctionRef &b) {
        return a.function == b.function;
    }

private:
    Ref<FunctionContents> owner, function;  // no owner: it is no wrapper
};

struct Definition;
using DefinitionRef = Ref<Definition>;

// A version of a definition for when a condition holds; or an error instead of a definition.
struct Specialization {
    Expr condition;
    DefinitionRef definition;     // values as they are under the condition, and its own schedule
    std::string failure_message;  // of specialize_fail; then definition is null
    Location failure_written;
};

// One stage: func(args) = values, for all points (pure), or for those of a reduction domain.
struct StageDefinition : RefCounted {
    std::vector<Expr> args, values;
    std::vector<ReductionVariable> reduction;  // empty for a pure definition
    Expr predicate;                            // of the reduction domain; undefined: true
    Location written;
};

// A stage as its schedule has it: rfactor, copy_input and specialize compute the same otherwise.
struct Definition : StageDefinition {
    StageSchedule schedule;
    std::vector<Specialization> specializations;  // the first whose condition holds is run

    Definition() = default;
    // Makes the stage before any directive; it has no loops yet.
    explicit Definition(const StageDefinition &d);
    DefinitionRef copy() const;  // deep, but for expressions
    // Returns a copy that shares the specializations.
    DefinitionRef shallow_copy() const;
};

// One argument of an extern stage: a function, a buffer (parameter or embedded), or a scalar.
struct ExternFuncArgument {
    FunctionRef func;
    ParameterRef buffer;
    Expr scalar;
};

// Stages written in C: called as int f(args..., outputs...), buffers as tessera_buffer_t *. Called
// first with buffers without host memory, to learn which regions of its inputs it needs.
struct ExternDefinition {
    std::string function;
    std::vector<ExternFuncArgument> args;
    bool uses_user_context = false;
    Location written;
    NameMangling mangling = NameMangling::Default;
    bool on_device = false;  // the contents of all buffers are there
    // No function at all: the only argument is copied. Lowering makes it so, as the schedule says.
    CopySide copy = CopySide::None;
};

// A Func's definition and schedule. Its callers keep it alive, as a referent.
class FunctionContents final : public ir::Referent {
public:
    Symbol name;
    std::vector<Symbol> args;  // the pure variables, innermost dimension first
    std::vector<Type> types;   // of the values; empty: not defined
    // As they were written, which no directive changes: [0] pure, then updates.
    std::vector<Ref<const StageDefinition>> definitions;
    std::shared_ptr<ExternDefinition> extern_definition;  // then there is one, with no values
    std::vector<ParameterRef> output_buffers;  // one per value: constraints of the output
    // The directives so far have made these of the definitions.
    std::vector<DefinitionRef> stages;
    FuncSchedule schedule;
    // A wrapper (in, clone_in): calls in the named consumers (or all, key: no symbol) become calls
    // of the wrapper. `copy_reachable` (environment.h) makes that so; nobody else looks at it.
    std::map<Symbol, Ref<FunctionContents>> wrappers;
    // For a wrapper, the function that owns it, at the end of a chain of wrappers, and the one it
    // reads (null: a clone). Handles and calls of a wrapper keep the owner alive; a wrapper's own
    // calls of the owner and of its wrappers have no referent.
    FunctionContents *owner = nullptr, *wrapped = nullptr;
    // The table of the program that it is part of, if that is a value of its own (copy_reachable,
    // apply).
    Ref<FunctionTable> table;
    std::vector<Type> required_types;  // of a typed Func; empty: any
    int required_dimensions = -1;
    bool frozen = false;                 // used elsewhere: its definition may no longer change
    Dialect dialect = Dialect::Tessera;  // that it is defined and scheduled in
    Location written;
    uint64_t made = 0;  // of a wrapper: when the directive was given that made it (next_order())
    Version version;    // counts definitions and directives

    int dimensions() const { return int(args.size()); }
    bool has_extern_definition() const { return bool(extern_definition); }
    bool defined() const { return !types.empty(); }
};

// A call of a function of this program: its value `index` at a point.
Expr call(const FunctionRef &f, std::vector<Expr> args, int index = 0);

}  // namespace tessera::program
