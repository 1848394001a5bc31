#pragma once
#include "base/error.h"
#include "base/ref.h"
#include "base/symbol.h"
#include "program/version.h"
#include <ostream>

namespace tessera::program {

// A place in the loop nest of the pipeline: inlined (no place), root (outside of all loops), or
// the body of the loop over `var` in a stage of a Func.
class LoopLevel {
public:
    // Not set: compiling with it is an error.
    LoopLevel() = default;
    static LoopLevel inlined() { return LoopLevel(Kind::Inlined); }
    static LoopLevel root() { return LoopLevel(Kind::Root); }
    // stage -1: whichever stages of the func use what is computed there.
    static LoopLevel at(Symbol func, Symbol var, int stage = -1, Location written = {});

    bool defined() const { return kind != Kind::Undefined; }
    bool means_inlined() const { return kind == Kind::Inlined; }
    bool means_root() const { return kind == Kind::Root; }
    bool is_at() const { return kind == Kind::At; }
    const Symbol &func() const { return of_func; }
    const Symbol &var() const { return of_var; }
    int stage() const { return of_stage; }
    const Location &written() const { return where; }
    // The same place, wherever that was written.
    bool matches(const LoopLevel &other) const;
    friend bool operator==(const LoopLevel &a, const LoopLevel &b) { return a.matches(b); }

private:
    enum class Kind : uint8_t { Undefined, Inlined, Root, At };
    explicit LoopLevel(Kind kind) : kind(kind) {}
    Kind kind = Kind::Undefined;
    Symbol of_func, of_var;
    int of_stage = -1;
    Location where;
};

// A place that may still become another after it was given to a schedule; whoever has it, has the
// same one. A schedule that is copied has it as it is then.
struct LateLevel final : RefCounted {
    LoopLevel level;
    Version version;
};

// "inlined", "root", "f, x", "f.update(0), r".
std::ostream &operator<<(std::ostream &out, const LoopLevel &level);

}  // namespace tessera::program
