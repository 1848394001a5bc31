#pragma once
#include "lang/rdom.h"
#include "program/loop_level.h"

namespace tessera {

class Func;
class Stage;

// A place in the loop nest of a pipeline: see program/loop_level.h.
class LoopLevel : public program::LoopLevel {
public:
    LoopLevel() = default;
    LoopLevel(const program::LoopLevel &level) : program::LoopLevel(level) {}
    // stage -1: whichever stages of f use what is computed there.
    LoopLevel(const Func &f, const VarOrRVar &v, int stage = -1, Location at = Here::current());
    LoopLevel(const Stage &stage, const VarOrRVar &v, Location at = Here::current());

    using program::LoopLevel::set;
    void set(const LoopLevel &other, Location at = Here::current()) {
        program::LoopLevel::set(other, at);
    }

    // Of a level that is at a loop; CompileError of another, and in Halide's dialect before lock().
    // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method): public names of both, one of
    // handles.
    std::string func(Location at = Here::current()) const;
    VarOrRVar var(Location at = Here::current()) const;
    // NOLINTEND(bugprone-derived-method-shadowing-base-method)

    static LoopLevel inlined() { return program::LoopLevel::inlined(); }
    static LoopLevel root() { return program::LoopLevel::root(); }
};

}  // namespace tessera
