#include "lang/gpu_directives.h"
#include "lang/stage.h"

namespace tessera::detail {

void require_cuda(DeviceAPI api, const char *directive, const Location &at) {
    if (api == DeviceAPI::Default_GPU || api == DeviceAPI::CUDA) return;
    throw CompileError(at,
                       str(directive, ": there is a back end for no other GPUs than CUDA's; use "
                                      "DeviceAPI::CUDA or DeviceAPI::Default_GPU"));
}

static void add_kinds(std::vector<StageDirective> &directives, const std::vector<VarOrRVar> &blocks,
                      const std::vector<VarOrRVar> &threads, LoopKind innermost) {
    for (const VarOrRVar &v : blocks)
        directives.push_back(program::SetLoopKind{v.symbol, LoopKind::GPUBlock});
    for (const VarOrRVar &v : threads)
        directives.push_back(program::SetLoopKind{v.symbol, innermost});
}

void set_gpu_kinds(const program::StageRef &s, const std::vector<VarOrRVar> &blocks,
                   const std::vector<VarOrRVar> &threads, LoopKind innermost, DeviceAPI api,
                   const char *directive, Location at) {
    require_cuda(api, directive, at);
    std::vector<StageDirective> directives;
    add_kinds(directives, blocks, threads, innermost);
    program::apply(s, directives, at);
}

void gpu_tile(const program::StageRef &s, const std::vector<VarOrRVar> &previous,
              const std::vector<VarOrRVar> &blocks, const std::vector<VarOrRVar> &threads,
              const std::vector<Expr> &sizes, TailStrategy tail, DeviceAPI api, Location at) {
    require_cuda(api, "gpu_tile", at);
    std::vector<StageDirective> directives = tile(
        s, previous, blocks, threads, sizes, std::vector<TailStrategy>(previous.size(), tail), at);
    add_kinds(directives, blocks, threads, LoopKind::GPUThread);
    program::apply(s, directives, at);
}

void gpu_warpgroups(const program::StageRef &s, const VarOrRVar &v, const Expr &iterations,
                    Location at) {
    const Var groups(Symbol::fresh(str(v.symbol, ".warpgroup")));
    program::apply(s,
                   {split(v, groups, v, iterations, TailStrategy::Auto, at),
                    program::SetLoopKind{groups.symbol(), LoopKind::GPUWarpgroup}},
                   at);
}

void tensorize(const program::StageRef &s, const std::vector<VarOrRVar> &loops,
               const TensorInstruction &instruction, Location at) {
    std::vector<StageDirective> directives;
    for (const VarOrRVar &v : loops)
        directives.push_back(program::Tensorize{v.symbol, instruction.name()});
    program::apply(s, directives, at);
}

// Loops of one iteration, made from the loop around all others.
void gpu_single_thread(const program::StageRef &s, DeviceAPI api, Location at) {
    require_cuda(api, "gpu_single_thread", at);
    const Var outermost = Var::outermost(), block(Symbol::fresh("block")),
              thread(Symbol::fresh("thread"));
    std::vector<StageDirective> directives{
        split(outermost, outermost, thread, 1, TailStrategy::RoundUp, at),
        split(outermost, outermost, block, 1, TailStrategy::RoundUp, at)};
    add_kinds(directives, {block}, {thread}, LoopKind::GPUThread);
    program::apply(s, directives, at);
}

}  // namespace tessera::detail
