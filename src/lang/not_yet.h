#pragma once
#include "lang/location.h"
#include "lang/rdom.h"
#include <utility>
#include <vector>

// Directives that programs of this language's kind may name and that nothing interprets yet: each
// is declared with the parameters that it will have, and throws CompileError with the reason.
namespace tessera {

class Func;
class Stage;
class LoopLevel;
class Pipeline;

// Says how two loops that run together are laid over each other.
enum class LoopAlignStrategy : uint8_t { AlignStart, AlignEnd, NoAlign, Auto };

// The key of a memoized result, beside the parameters that it depends on.
class EvictionKey {
public:
    explicit EvictionKey(const Expr &key = Expr()) : key(key) {}

private:
    Expr key;
};

namespace detail {

[[noreturn]] void refuse_hexagon(const Location &at);
[[noreturn]] void refuse_compute_with(const Location &at);
[[noreturn]] void refuse_eager_inline(const Location &at);
[[noreturn]] void refuse_later(const char *directive, const char *what, const Location &at);

}  // namespace detail

template<typename Self>
class LaterDirectives {
public:
    Self &hexagon(const VarOrRVar & = Var::outermost(), Location at = Here::current()) {
        detail::refuse_hexagon(at);
    }
    Self &sme_streaming(const VarOrRVar &, Location at = Here::current()) {
        detail::refuse_later("sme_streaming", "code for SME is", at);
    }
    // The loops of this stage and of another run as one.
    Self &compute_with(const Stage &, const VarOrRVar &,
                       LoopAlignStrategy = LoopAlignStrategy::Auto, Location at = Here::current()) {
        detail::refuse_compute_with(at);
    }
    Self &compute_with(const Stage &, const VarOrRVar &,
                       const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &,
                       Location at = Here::current()) {
        detail::refuse_compute_with(at);
    }
    Self &compute_with(const LoopLevel &, LoopAlignStrategy = LoopAlignStrategy::Auto,
                       Location at = Here::current()) {
        detail::refuse_compute_with(at);
    }
    Self &compute_with(const LoopLevel &,
                       const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &,
                       Location at = Here::current()) {
        detail::refuse_compute_with(at);
    }
    // These Funcs are written into the definition at once.
    Self &eager_inline(const std::vector<Func> &, Location at = Here::current()) {
        detail::refuse_eager_inline(at);
    }
    Self &eager_inline(const Func &, Location at = Here::current()) {
        detail::refuse_eager_inline(at);
    }
};

// Directives of a whole Func.
template<typename Self>
class LaterFuncDirectives {
public:
    Self &memoize(const EvictionKey & = EvictionKey(), Location at = Here::current()) {
        detail::refuse_later("memoize", "keeping results from one call to the next is", at);
    }
    Self &debug_to_file(const std::string &, Location at = Here::current()) {
        detail::refuse_later("debug_to_file", "writing intermediate values to files is", at);
    }
    Self &change_type(const Type &, bool = false, Location at = Here::current()) {
        detail::refuse_later("change_type", "changing the type of a definition is", at);
    }
};

}  // namespace tessera
