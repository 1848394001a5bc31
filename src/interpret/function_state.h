#pragma once
#include "interpret/buffers.h"
#include "interpret/point_table.h"
#include "interpret/tape.h"
#include "program/function.h"
#include <map>
#include <memory>

namespace tessera::interpret {

// The ways not to be a value: none, memory that nobody wrote (or what depends on it), and `undef`.
enum Poison : uint8_t { Defined = 0, Unwritten = 1, Undefined = 2 };

// One definition made ready to run: where its variables are, and the instructions.
struct StageState {
    const program::Definition *definition = nullptr;
    size_t writes = 1;  // points that one run writes: more than one by scatter
    std::map<Symbol, Value> variables;
    std::vector<Value *> arguments;   // the pure variables, one per dimension
    std::vector<Value *> reduction;   // the variables of the domain
    std::vector<bool> free;           // per dimension: runs over all of it
    std::unique_ptr<Tape> tape;       // for each write its arguments, then its values
    std::unique_ptr<Tape> predicate;  // null: always true
    std::unique_ptr<Tape> bounds;     // min and extent of each variable of the domain

    StageState(const program::FunctionContents &f, const program::Definition &d);
};

// The state of a function while the outputs are computed.
struct FunctionState {
    program::FunctionRef contents;
    bool is_inline = false;  // by its schedule
    std::vector<std::unique_ptr<StageState>> stages;
    // Per dimension: every stage touches only points of its own coordinate. Then other coordinates
    // do not matter.
    std::vector<bool> sliced;
    // Per dimension: some stage runs over all of it, and others mix its points. Then the region
    // that the stages run over has to be known.
    std::vector<bool> mixed;
    std::vector<int32_t> low, high;  // of the region; empty (low > high) at first
    PointTable values, slices_done;
    const std::vector<tessera_buffer_t *> *output = nullptr;  // its buffers, if it is an output
    bool extern_done = false;
    std::vector<std::unique_ptr<OwnedBuffer>> extern_values;

    explicit FunctionState(const program::FunctionRef &function);
    bool has_updates() const { return contents->stages.size() > 1; }
    bool in_region(const int32_t *point) const;
    void grow_region(const int32_t *point);
    void forget_values();
};

// Copies of a stage's arguments and values, one for each operand of its scatter and gather calls.
struct StageWrite {
    std::vector<Expr> args, values;
};
std::vector<StageWrite> writes_of(const program::Definition &definition);

}  // namespace tessera::interpret
