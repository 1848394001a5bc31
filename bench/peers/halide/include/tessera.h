// The language of the apps, as far as Halide has it: their pipelines compile as programs of Halide.
#pragma once

#include <Halide.h>

#include <type_traits>

namespace tessera {

using namespace Halide;

// Halide's, with the directives that it lacks: they do nothing.
class Stage : public Halide::Stage {
public:
    Stage(const Halide::Stage &s) : Halide::Stage(s) {}
    Stage(const Halide::Func &f) : Halide::Stage(f) {}
    void stream_stores() {}
    void gpu_resident_blocks(int) {}
    // Halide refuses to prefetch what the stage writes; its own prefetch, of what it reads, is
    // hidden here.
    void prefetch(const Halide::Func &, const VarOrRVar &, const VarOrRVar &, const Expr &) {}
};

class Func : public Halide::Func {
public:
    using Halide::Func::Func;
    Func(const Halide::Func &f) : Halide::Func(f) {}
    template<typename T,
             typename = std::enable_if_t<std::is_convertible_v<const T &, Halide::Func> &&
                                         !std::is_base_of_v<Halide::Func, T>>>
    Func(const T &input) : Halide::Func(input) {}

    void stream_stores() {}
    void gpu_resident_blocks(int) {}
    void prefetch(const Halide::Func &what, const VarOrRVar &at, const VarOrRVar &from,
                  const Expr &offset) {
        if (what.name() != name()) Halide::Func::prefetch(what, at, from, offset);
    }
    Stage specialize(const Halide::Expr &condition) { return Halide::Func::specialize(condition); }
};

}  // namespace tessera
