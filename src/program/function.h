#pragma once
#include "base/dialect.h"
#include "program/parameter.h"
#include "program/schedule.h"
#include <map>
#include <memory>
#include <unordered_map>

namespace tessera::program {

class FunctionContents;

// Functions that live together and call one another by name alone: a function and what directives
// have made of it, or all functions of a program that is a value of its own. The family owns its
// members, which do not refer to it: whoever needs the function behind a call within it has a
// handle to the caller.
class FunctionFamily final : public RefCounted {
public:
    // `Program`: all calls of members are of other members, whatever their referents.
    enum class Kind : uint8_t { OfFunction, Program };

    explicit FunctionFamily(Kind kind);
    ~FunctionFamily() override;

    // Takes the function in, in place of one of the same name.
    void add(const Ref<FunctionContents> &f);
    // Lets go of the member of that name, which lives on where there are handles to it.
    void remove(Symbol name);
    // Returns the member of that name; null if there is none.
    Ref<FunctionContents> find(Symbol name) const;

    bool is_program() const { return kind == Kind::Program; }
    const auto &all() const { return members; }

private:
    const Kind kind;
    std::unordered_map<Symbol, Ref<FunctionContents>> members;
};

// A handle to a function, which keeps its family alive.
class FunctionRef {
public:
    FunctionRef() = default;
    FunctionRef(std::nullptr_t) {}
    // Makes a handle to a function that has no family yet, with one of its own.
    explicit FunctionRef(const Ref<FunctionContents> &f);
    FunctionRef(const Ref<FunctionFamily> &family, const Ref<FunctionContents> &f);

    FunctionContents *get() const { return function.get(); }
    FunctionContents *operator->() const { return function.get(); }
    FunctionContents &operator*() const { return *function; }
    explicit operator bool() const { return bool(function); }
    friend bool operator==(const FunctionRef &a, const FunctionRef &b) {
        return a.function == b.function;
    }

    // Returns the member of that name of the same family; null if there is none.
    FunctionRef relative(Symbol name) const;
    // Adds a function without a definition to the family.
    FunctionRef make_relative(Symbol name) const;
    bool is_relative_of(const FunctionRef &other) const { return family == other.family; }
    bool is_of_program() const { return family && family->is_program(); }
    const Ref<FunctionFamily> &own_family() const { return family; }
    // Returns a handle for a member of the family to hold: it does not keep the family alive.
    // `relative` of the member's handle leads back.
    FunctionRef without_family() const { return FunctionRef({}, function); }

private:
    Ref<FunctionFamily> family;
    Ref<FunctionContents> function;
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
    FunctionRef func;  // without family: of that of the extern stage
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

// Says how a function has come about.
enum class MadeBy : uint8_t {
    Definition,  // or rfactor, or copy_input
    In,
    CloneIn,
};
// The name of the directive: "in", "clone_in"; empty for a definition.
const char *name_of(MadeBy made_by);

// A Func's definition and schedule. Callers of other families keep it alive, by a CalledFunction.
class FunctionContents final : public RefCounted {
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
    // Wrappers (in, clone_in), members of its family: calls in the named consumers (or all, key: no
    // symbol) become calls of the wrapper of this name. `copy_reachable` (environment.h) makes that
    // so; nobody else looks at it.
    std::map<Symbol, Symbol> wrappers;
    MadeBy made_by = MadeBy::Definition;
    Symbol wrapped;                    // that a wrapper by in() reads
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

// Keeps the function alive that is called.
class CalledFunction final : public ir::Referent {
public:
    explicit CalledFunction(const FunctionRef &function) : function(function) {}

    const FunctionRef function;
};

// Returns the function that a call keeps alive; null for one within a family.
FunctionRef called_function(const ir::Call &call);

// A call of a function of this program: its value `index` at a point.
Expr call(const FunctionRef &f, std::vector<Expr> args, int index = 0);
// The same for a definition of the function's own family, which must not keep itself alive.
Expr call_of_relative(const FunctionContents &f, std::vector<Expr> args, int index = 0);

}  // namespace tessera::program
