#include "lang/gpu_directives.h"
#include "lang/all_or_none.h"
#include "lang/stage.h"

namespace tessera::detail {

void require_cuda(DeviceAPI api, const char *directive, const Location &at) {
    if (api == DeviceAPI::Default_GPU || api == DeviceAPI::CUDA) return;
    throw CompileError(at,
                       str(directive, ": there is a back end for no other GPUs than CUDA's; use "
                                      "DeviceAPI::CUDA or DeviceAPI::Default_GPU"));
}

void set_gpu_kinds(const program::StageRef &s, const std::vector<VarOrRVar> &blocks,
                   const std::vector<VarOrRVar> &threads, LoopKind innermost, DeviceAPI api,
                   const char *directive, Location at) {
    require_cuda(api, directive, at);
    all_or_none(s, [&] {
        for (const VarOrRVar &v : blocks) set_kind(s, v, LoopKind::GPUBlock, at);
        for (const VarOrRVar &v : threads) set_kind(s, v, innermost, at);
    });
}

void gpu_tile(const program::StageRef &s, const std::vector<VarOrRVar> &previous,
              const std::vector<VarOrRVar> &blocks, const std::vector<VarOrRVar> &threads,
              const std::vector<Expr> &sizes, TailStrategy tail, DeviceAPI api, Location at) {
    require_cuda(api, "gpu_tile", at);
    all_or_none(s, [&] {
        tile(s, previous, blocks, threads, sizes, std::vector<TailStrategy>(previous.size(), tail),
             at);
        set_gpu_kinds(s, blocks, threads, LoopKind::GPUThread, api, "gpu_tile", at);
    });
}

void gpu_warpgroups(const program::StageRef &s, const VarOrRVar &v, const Expr &iterations,
                    Location at) {
    const Var groups(Symbol::fresh(str(v.symbol, ".warpgroup")));
    all_or_none(s, [&] {
        split(s, v, groups, v, iterations, TailStrategy::Auto, at);
        set_kind(s, groups, LoopKind::GPUWarpgroup, at);
    });
}

// Loops of one iteration, made from the loop around all others.
void gpu_single_thread(const program::StageRef &s, DeviceAPI api, Location at) {
    require_cuda(api, "gpu_single_thread", at);
    const Var outermost = Var::outermost(), block(Symbol::fresh("block")),
              thread(Symbol::fresh("thread"));
    all_or_none(s, [&] {
        split(s, outermost, outermost, thread, 1, TailStrategy::RoundUp, at);
        split(s, outermost, outermost, block, 1, TailStrategy::RoundUp, at);
        set_gpu_kinds(s, {block}, {thread}, LoopKind::GPUThread, api, "gpu_single_thread", at);
    });
}

}  // namespace tessera::detail
