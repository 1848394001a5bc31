#include "lang/func.h"
#include "program/rfactor.h"

namespace tessera {

Func Stage::rfactor(const std::vector<std::pair<RVar, Var>> &preserved, Location at) {
    std::vector<program::Preserved> pairs;
    for (const auto &[r, v] : preserved) pairs.push_back({r.symbol(), v.symbol()});
    return Func(program::rfactor(ref, pairs, at));
}
Func Stage::rfactor(const RVar &r, const Var &v, Location at) { return rfactor({{r, v}}, at); }

}  // namespace tessera
