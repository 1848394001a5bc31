#pragma once
#include "base/target.h"
#include "codegen/c/names.h"
#include "codegen/c/prelude.h"
#include "codegen/llvm/coordinates.h"
#include "ir/module.h"
#include <array>
#include <functional>
#include <map>

// Walks flat IR and writes C. One class, its functions in a file per subject:
//   function.cpp  functions, scopes, errors and clean-up    interface.cpp  what callers see
//   expr.cpp      dispatch, arithmetic, comparison, let     cast.cpp       casts
//   intrinsics.cpp  the table of intrinsics                 vectors.cpp    shuffles, reductions
//   memory.cpp    loads, stores, buffers' fields            storage.cpp    allocations, structs
//   control.cpp   loops, branches                           parallel.cpp   closures, tasks
//   atomic.cpp    atomic updates                            text.cpp       strings
// A node means the same here as in codegen/llvm.
namespace tessera::codegen::c {

using namespace tessera::ir;

enum class Form : uint8_t {
    Constant,  // a number
    Name,      // a variable, or an element of one: costs nothing to write again
    Closed,    // needs no parentheses as an operand
    Open
};

// A C expression without effects, which reads nothing that may change. The expression of a vector
// is that of its lane `i`, for a loop over the lanes.
struct Value {
    std::string text;
    Form form = Form::Open;
    std::string whole = {};  // of a vector in a variable: its name

    std::string operand() const { return form == Form::Open ? "(" + text + ")" : text; }
    bool is_cheap() const { return form == Form::Constant || form == Form::Name; }
};

// Names the places of a buffer's elements.
struct BufferNames {
    std::string base;        // a uint8_t *; "": to be read from the descriptor
    std::string descriptor;  // the tessera_buffer_t *, if there is one
    bool is_freed = false;   // it is freed by free() or at the end, so base is set to NULL
    int place = -1;          // the growing place that it occupies
};

// A block on the heap, for one buffer after another: the variables of its address and its size.
struct GrowingPlace {
    std::string pointer, bytes;
    bool in_use = false;
};

// Cleanup code for when a statement is left, in whatever way.
struct Cleanup {
    std::function<void()> emit;
    std::string label;  // gone to on failure; chosen when first needed
};

// The state of the C function that is being written.
struct FunctionState {
    std::string name;
    std::string slots;  // declarations of variables that live as long as the function runs
    std::string lines;
    int indent = 1;
    LocalNames names;
    std::unordered_map<std::string, std::string> types;  // of C variables
    std::unordered_map<Symbol, Value> variables;
    std::unordered_map<Symbol, BufferNames> buffers;
    std::vector<Cleanup> cleanups;
    std::vector<GrowingPlace> places;
    std::string task_parent = "NULL";
    bool has_error = false;
    bool hoisted_base_pointers = false;  // below a loop before which they were read
};

class Printer {
public:
    explicit Printer(const Target &target) : target(target) {}
    std::string print(const ir::Module &module);

private:
    // interface.cpp
    std::string prototype(const LoweredFunction &f);
    void bind_arguments(const LoweredFunction &f);
    void define_argv(const LoweredFunction &f);
    void define_metadata(const LoweredFunction &f);
    std::string described(const Argument &a);
    std::string embed(const Argument &a);

    // function.cpp
    void define(const LoweredFunction &f);
    void check_names(const ir::Module &module);
    std::string new_name(const std::string &wanted);  // at file scope
    std::string function_text(const std::string &head, const FunctionState &state);
    void line(const std::string &text);
    void open(const std::string &head);  // and begins a block
    void close();
    void block(const std::string &head, const std::function<void()> &body);
    std::string captured(const std::function<void()> &body);  // lines of a block, not yet written
    void statement(const std::function<void()> &body);
    std::string declare(Symbol s, const std::string &type, const std::string &value);
    std::string variable(const std::string &type, const std::string &word);
    std::string slot(const std::string &type, const std::string &word, const std::string &array);
    void fail(const std::string &code);
    void fail_unless_zero(const std::string &call);
    std::string unwind_label(size_t depth);
    void jump_out(size_t depth);
    void with_cleanup(const std::function<void()> &undo, const std::function<void()> &body);
    void run_function_body(const Stmt &body);

    // expr.cpp
    Value value(const Expr &e);
    Value coordinate(const Expr &e);
    Value bound_value(Symbol let, const Expr &e);
    Value value_as(bool coordinate, const Expr &e);
    Value dispatch(const Expr &e);
    Value kept(const Value &v, Type t);         // in a variable, unless it is cheap
    std::string whole(const Value &v, Type t);  // the name of a variable that holds the vector
    void assign(const std::string &name, const Value &v, Type t);
    Value named(const std::string &name, Type t);
    Value bind(Symbol name, const Value &v, Type t);
    std::string for_lanes(int lanes) const;
#define EMIT(T) Value emit(const T &node);
    TESSERA_EXPR_NODES(EMIT)
#undef EMIT
    Value add(const Value &a, const Value &b, Type t);
    Value sub(const Value &a, const Value &b, Type t);
    Value mul(const Value &a, const Value &b, Type t);
    Value divide(const Value &a, const Value &b, Type t);
    Value modulo(const Value &a, const Value &b, Type t);
    Value minimum(const Value &a, const Value &b, Type t);
    Value maximum(const Value &a, const Value &b, Type t);
    Value select(const Value &condition, const Value &a, const Value &b, Type t);
    Value compare(const char *op, const Value &a, const Value &b, Type t);
    Value integer_op(const char *op, const Value &a, const Value &b, Type t);
    Value prefixed(const char *op, const Value &v);
    Value infix(const Value &a, const char *op, const Value &b);
    Value call(const std::string &function, std::initializer_list<Value> args);
    Value int_constant(Type t, int64_t value);
    Value zero(Type t);
    // Conversions of a value of 16 bits to a float and back.
    Value in_float32(const Value &v, Type t);
    Value from_float32(const Value &v, Type t);
    Value float_infix(const Value &a, const char *op, const Value &b, Type t);
    void declare_extern(const ExternCall &node);
    Value call_of_c(const ExternCall &node);

    // cast.cpp
    Value cast(const Value &v, Type from, Type to);
    Value saturating_cast(const Value &v, Type from, Type to);
    Value reinterpret(const Value &v, Type from, Type to);
    Value c_cast(const std::string &type, const Value &v);

    // intrinsics.cpp
    using EmitIntrinsic = Value (Printer::*)(const IntrinsicCall &);
    static EmitIntrinsic emitter_of(Intrinsic op);
    Value arg(const IntrinsicCall &c, size_t i) { return value(c.args[i]); }
    Value arg_as(const IntrinsicCall &c, size_t i, Type t);
#define EMIT(name, arity, pure) Value emit_##name(const IntrinsicCall &c);
    TESSERA_INTRINSICS(EMIT)
#undef EMIT
    Value helper_call(const IntrinsicCall &c, const char *name);
    Value bit_operation(const IntrinsicCall &c, const char *op);
    Value shift_call(const IntrinsicCall &c, const char *of_unsigned, const char *of_signed);
    Value mul_shift(const IntrinsicCall &c, const char *of_unsigned, const char *of_signed);
    Value float_function(const std::string &name, const Value &v, Type t);
    Value float_call(const IntrinsicCall &c, const char *name);
    Value halving(const IntrinsicCall &c, const char *name, bool is_sum);
    Value classified(const IntrinsicCall &c, const char *macro);
    [[noreturn]] void refuse(const IntrinsicCall &c);

    // vectors.cpp
    Value element(const std::string &vector, int lane);
    Value repeated(const Value &v, Type t, int times);
    Value c_cast_index(const Value &lane, Type t);
    Value reduce_pair(ReduceOp op, const Value &a, const Value &b, Type t);

    // memory.cpp
    const BufferNames &storage(Symbol buffer);
    std::string base_pointer(Symbol buffer);
    std::string address(Symbol buffer, Type element, const Value &index);
    Value load_lanes(const Load &node);
    Value load_scalar(const Load &node);
    void store_lanes(const Store &node);
    Value without_last_bit(const Value &v, Type t);
    std::string descriptor_of(Symbol buffer);
    std::string as_descriptor(const Value &v);
    std::string buffer_field(const std::string &descriptor, BufferField field,
                             const std::string &dim);

    // storage.cpp
    void allocate_on_stack(const Allocate &node, int64_t bytes);
    void allocate_on_heap(const Allocate &node);
    void allocate_in_place(const Allocate &node);
    int free_place();
    std::string allocation_bytes(const Allocate &node);
    void request_memory(const Allocate &node, const std::string &pointer, const std::string &bytes);

    // control.cpp
    void run(const Stmt &s) { dispatch(s); }
    void dispatch(const Stmt &s);
#define EMIT(T) void emit(const T &node);
    TESSERA_STMT_NODES(EMIT)
#undef EMIT
    void serial_loop(const For &loop);
    void hoist_base_pointers(const Stmt &body);
    void hoist_base_pointer(Symbol buffer);
    Value choose(const Value &condition, Type t, const std::function<Value()> &then_value,
                 const std::function<Value()> &else_value);
    Value all_lanes(const Value &condition, Type t);
    void evaluate(const Expr &e);

    // parallel.cpp
    struct Closure;
    Closure closure_of(const Invoke &node, Symbol index = {});
    void bind(const Closure &closure);
    std::string define_invoked(const Closure &closure);
    std::string filled(const Closure &closure);
    void parallel_loop(const For &loop);

    // atomic.cpp
    void locked_update(const Atomic &node);
    void atomic_store(const Store &node);
    void exchange(const Store &node, const std::string &index, const std::string &mask);

    // text.cpp
    Value stringify(const std::vector<Expr> &parts);
    std::string appended(const std::string &at, const std::string &end, const Value &v, Type t,
                         bool is_text);

    Target target;
    const ir::Module *lowered = nullptr;  // what is being written
    Prelude prelude;
    std::string constants, prototypes, functions;
    std::map<std::string, std::string> externs;  // prototypes of C functions, by name
    std::unordered_set<std::string> pipelines;   // the names of the module's functions
    std::unordered_set<std::string> taken;       // of all functions and types at file scope
    bool uses_atomics = false, is_strict = false;

    FunctionState *f = nullptr;
    Coordinates coordinates;     // of the function that is being written
    bool in_coordinate = false;  // what is written is part of one: its sums do not overflow

    // Values of shared nodes, valid within the statement and block that is being written, by
    // in_coordinate.
    using Memo = std::array<std::unordered_map<const ExprNode *, Value>, 2>;
    Memo memo;
    std::vector<Expr> memo_log;  // keeps the nodes alive
    uint64_t impure_calls = 0;

    // Loads of this buffer give this value: the old element, in a compare-exchange loop.
    Symbol atomic_buffer;
    Value atomic_old;
    std::vector<std::pair<Symbol, Expr>> atomic_lets;
    bool in_atomic = false;
    friend struct MemoScope;
    friend struct FreshMemo;
};

// Values made before it are not seen within, and those made within are forgotten at its end.
struct FreshMemo {
    explicit FreshMemo(Printer &p) : printer(p) { exchange(); }
    ~FreshMemo() { exchange(); }
    void exchange() {
        std::swap(printer.memo, memo);
        std::swap(printer.memo_log, log);
    }
    Printer &printer;
    Printer::Memo memo;
    std::vector<Expr> log;
};

// Values made within it are forgotten at its end.
struct MemoScope {
    explicit MemoScope(Printer &p) : printer(p), mark(p.memo_log.size()) {}
    ~MemoScope() {
        while (printer.memo_log.size() > mark) {
            for (auto &values : printer.memo) values.erase(printer.memo_log.back().get());
            printer.memo_log.pop_back();
        }
    }
    Printer &printer;
    size_t mark;
};

}  // namespace tessera::codegen::c
