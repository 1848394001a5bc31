#pragma once
#include "base/error.h"
#include "base/ref.h"
#include "base/symbol.h"
#include <ostream>
#include <string>

namespace tessera::program {

// A place in the loop nest of the pipeline: inlined (no place), root (outside of all loops), or
// the body of the loop over `var` in a stage of a Func. A handle: copies share one level, so that
// it can be given to schedules first and set later.
class LoopLevel {
public:
    // Not set: compiling with it is an error.
    LoopLevel() : state(make_ref<State>()) {}
    static LoopLevel inlined();
    static LoopLevel root();
    // stage -1: whichever stages of the func use what is computed there.
    static LoopLevel at(Symbol func, Symbol var, int stage = -1, Location written = {});

    // All copies of this level become the same place as `other` is now.
    void set(const LoopLevel &other, Location written = std::source_location::current());

    bool defined() const { return place().kind != Kind::Undefined; }
    // Which place it is now. In Halide's dialect CompileError before lock(), when it may still
    // become another.
    bool is_inlined(Location written = std::source_location::current()) const;
    bool is_root(Location written = std::source_location::current()) const;
    // The same, for the compiler.
    bool means_inlined() const { return place().kind == Kind::Inlined; }
    bool means_root() const { return place().kind == Kind::Root; }
    bool is_at() const { return place().kind == Kind::At; }
    Symbol func() const { return place().func; }
    Symbol var() const { return place().var; }
    int stage() const { return place().stage; }
    const Location &written() const { return place().written; }
    // The same place (not merely the same handle).
    bool matches(const LoopLevel &other) const;
    friend bool operator==(const LoopLevel &a, const LoopLevel &b) { return a.matches(b); }
    // From now on set() is refused. CompileError if it has not been set yet.
    LoopLevel &lock(Location written = std::source_location::current());
    // As text; CompileError before lock(), when it may still become another.
    std::string to_string(Location written = std::source_location::current()) const;
    // A level of its own with the same place: later set() of this one does not reach it.
    LoopLevel copy() const;

protected:
    // CompileError if it is not at a loop, or not yet known to be.
    void require_loop(const Location &written) const;

private:
    enum class Kind : uint8_t { Undefined, Inlined, Root, At };
    struct Place {
        Kind kind = Kind::Undefined;
        Symbol func, var;
        int stage = -1;
        Location written;
    };
    struct State : RefCounted {
        Place place;
        bool locked = false;
    };
    const Place &place() const { return state->place; }
    void require_locked(const Location &written) const;
    Ref<State> state;
};

// "inlined", "root", "f, x", "f.update(0), r".
std::ostream &operator<<(std::ostream &out, const LoopLevel &level);

}  // namespace tessera::program
