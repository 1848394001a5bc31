#include "lang/not_yet.h"

namespace tessera::detail {

void refuse_hexagon(const Location &at) {
    throw CompileError(at, "hexagon: there is no back end for Hexagon; use vectorize, and ask "
                           "Target::has_feature(Target::HVX) first");
}
void refuse_compute_with(const Location &at) {
    throw CompileError(at, "compute_with: loops of several stages cannot be joined yet; compute "
                           "one stage within a loop of the other by compute_at");
}
void refuse_eager_inline(const Location &at) {
    refuse_later("eager_inline",
                 "definitions are rewritten when they are compiled; inlining them earlier is", at);
}
void refuse_later(const char *directive, const char *what, const Location &at) {
    throw CompileError(at, str(directive, ": ", what, " not supported yet"));
}

}  // namespace tessera::detail
