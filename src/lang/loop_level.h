#pragma once
#include "lang/rdom.h"
#include "program/loop_level.h"
#include <memory>
#include <ostream>
#include <string>

namespace tessera {

class Func;
class Stage;

// A place in the loop nest of a pipeline: inlined (no place), root (outside of all loops), or the
// body of the loop over a variable in a stage of a Func. A handle: copies share one level, so that
// it can be given to schedules first and set later.
class LoopLevel {
public:
    // Not set: compiling with it is an error.
    LoopLevel() : LoopLevel(program::LoopLevel()) {}
    LoopLevel(const program::LoopLevel &level);
    // stage -1: whichever stages of f use what is computed there.
    LoopLevel(const Func &f, const VarOrRVar &v, int stage = -1, Location at = Here::current());
    LoopLevel(const Stage &stage, const VarOrRVar &v, Location at = Here::current());
    static LoopLevel inlined() { return program::LoopLevel::inlined(); }
    static LoopLevel root() { return program::LoopLevel::root(); }

    // All copies of this level become the same place as `other` is now. CompileError after lock().
    void set(const LoopLevel &other, Location at = Here::current());
    // From now on set() is refused. CompileError if it has not been set yet.
    LoopLevel &lock(Location at = Here::current());

    bool defined() const { return now().defined(); }
    bool is_at() const { return now().is_at(); }
    int stage() const { return now().stage(); }
    // These say which place it is now. In Halide's dialect CompileError before lock(), when it may
    // still become another.
    bool is_inlined(Location at = Here::current()) const;
    bool is_root(Location at = Here::current()) const;
    // The Func of a level that is at a loop; CompileError of another, and in Halide's dialect
    // before lock().
    std::string func(Location at = Here::current()) const;
    VarOrRVar var(Location at = Here::current()) const;
    // Returns the place as text; CompileError before lock(), when it may still become another.
    std::string to_string(Location at = Here::current()) const;
    // The same place (not merely the same handle).
    bool matches(const LoopLevel &other) const { return now().matches(other.now()); }
    friend bool operator==(const LoopLevel &a, const LoopLevel &b) { return a.now() == b.now(); }
    // A level of its own with the same place: later set() of this one does not reach it.
    LoopLevel copy() const { return LoopLevel(now()); }

    // For the compiler: the place as it is, and where it is once it is set.
    const program::LoopLevel &now() const { return late->level; }
    // Null if it is locked.
    Ref<program::LateLevel> later() const;

private:
    void require_locked(const Location &at) const;
    void require_loop(const Location &at) const;
    Ref<program::LateLevel> late;
    std::shared_ptr<bool> locked;  // of all copies
};

std::ostream &operator<<(std::ostream &out, const LoopLevel &level);

}  // namespace tessera
