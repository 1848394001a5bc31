#include "lang/loop_level.h"
#include "lang/func.h"

namespace tessera {

LoopLevel::LoopLevel(const Func &f, const VarOrRVar &v, int stage, Location at)
    : program::LoopLevel(program::LoopLevel::at(f.function()->name, v.symbol, stage, at)) {}
LoopLevel::LoopLevel(const Stage &stage, const VarOrRVar &v, Location at)
    : program::LoopLevel(program::LoopLevel::at(stage.scheduled(at).function->name, v.symbol,
                                                stage.scheduled(at).stage, at)) {}

std::string LoopLevel::func(Location at) const {
    require_loop(at);
    return program::LoopLevel::func().text();
}
VarOrRVar LoopLevel::var(Location at) const {
    require_loop(at);
    return Var(program::LoopLevel::var());
}

}  // namespace tessera
