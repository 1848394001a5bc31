#pragma once
#include "base/target.h"
#include "lang/location.h"
#include "lang/mapping.h"
#include "lang/rdom.h"
#include "lang/tensor_instruction.h"
#include "program/apply.h"
#include <vector>

namespace tessera {

// An order of the blocks of a kernel: see gpu_order.
struct GPUOrder {
    Expr rows;  // of a group; undefined: along a Hilbert curve
};
// In groups of so many rows of blocks, column by column in each group.
inline GPUOrder grouped(const Expr &rows) { return {rows}; }
// Along a Hilbert curve: blocks that follow one another are neighbours in a row or a column, at any
// scale. Where there are more rows than columns, or the reverse, squares follow one another.
inline GPUOrder hilbert() { return {}; }

namespace detail {

// CompileError if `api` is that of another kind of device than CUDA's.
void require_cuda(DeviceAPI api, const char *directive, const Location &at);
using program::StageDirective;
// Returns the directives that a tile consists of.
std::vector<StageDirective> tile(const program::StageRef &s, const std::vector<VarOrRVar> &previous,
                                 const std::vector<VarOrRVar> &outers,
                                 const std::vector<VarOrRVar> &inners,
                                 const std::vector<Expr> &factors,
                                 const std::vector<TailStrategy> &tails, Location at);
void set_gpu_kinds(const program::StageRef &s, const std::vector<VarOrRVar> &blocks,
                   const std::vector<VarOrRVar> &threads, LoopKind innermost, DeviceAPI api,
                   const char *directive, Location at);
void gpu_tile(const program::StageRef &s, const std::vector<VarOrRVar> &previous,
              const std::vector<VarOrRVar> &blocks, const std::vector<VarOrRVar> &threads,
              const std::vector<Expr> &sizes, TailStrategy tail, DeviceAPI api, Location at);
void gpu_warpgroups(const program::StageRef &s, const VarOrRVar &v, const Expr &iterations,
                    Location at);
void gpu_single_thread(const program::StageRef &s, DeviceAPI api, Location at);
void tensorize(const program::StageRef &s, const std::vector<VarOrRVar> &loops,
               const TensorInstruction &instruction, Location at);

}  // namespace detail

// Directives that run loops on a GPU. Iterations of a block loop are blocks of a grid, those of a
// thread loop the threads of each block, and those of a lane loop the lanes of a warp. The
// innermost of several such loops is that of x, whatever the order of the arguments. Nothing is
// reordered. At most three loops of blocks, and three of threads and lanes, are nested.
//
// They mean the same as Halide's directives of these names. Where the target has no GPU, lowering
// throws CompileError: ask Target::has_gpu_feature() first.
template<typename Self>
class GPUDirectives {
    using V = const VarOrRVar &;

public:
    Self &gpu_blocks(V x, DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        return blocks({x}, api, at);
    }
    Self &gpu_blocks(V x, V y, DeviceAPI api = DeviceAPI::Default_GPU,
                     Location at = Here::current()) {
        return blocks({x, y}, api, at);
    }
    Self &gpu_blocks(V x, V y, V z, DeviceAPI api = DeviceAPI::Default_GPU,
                     Location at = Here::current()) {
        return blocks({x, y, z}, api, at);
    }
    // Iterations are clusters of the blocks of the loops over blocks directly within, at most 8,
    // which run at once: what is computed at such a loop is in the memory of its blocks, each of
    // which has what it writes, and reads what the others have. For GPUs of capability 9.0 and
    // newer ones.
    Self &gpu_clusters(V x, Location at = Here::current()) { return clusters({x}, at); }
    Self &gpu_clusters(V x, V y, Location at = Here::current()) { return clusters({x, y}, at); }
    Self &gpu_clusters(V x, V y, V z, Location at = Here::current()) {
        return clusters({x, y, z}, at);
    }
    Self &gpu_threads(V x, DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        return threads({x}, api, at);
    }
    Self &gpu_threads(V x, V y, DeviceAPI api = DeviceAPI::Default_GPU,
                      Location at = Here::current()) {
        return threads({x, y}, api, at);
    }
    Self &gpu_threads(V x, V y, V z, DeviceAPI api = DeviceAPI::Default_GPU,
                      Location at = Here::current()) {
        return threads({x, y, z}, api, at);
    }
    Self &gpu_lanes(V x, DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        detail::set_gpu_kinds(self().scheduled(at), {}, {x}, LoopKind::GPULane, api, "gpu_lanes",
                              at);
        return self();
    }
    // Iterations are warps of a block, of 32 threads each, or warpgroups of 128. Their threads
    // share the work within them, such as a stage that works on a Tile.
    Self &gpu_warps(V x, Location at = Here::current()) {
        return on_threads({x}, LoopKind::GPUWarp, "gpu_warps", at);
    }
    Self &gpu_warps(V x, V y, Location at = Here::current()) {
        return on_threads({x, y}, LoopKind::GPUWarp, "gpu_warps", at);
    }
    Self &gpu_warpgroups(V x, Location at = Here::current()) {
        return on_threads({x}, LoopKind::GPUWarpgroup, "gpu_warpgroups", at);
    }
    // Splits a loop into warpgroups, around, and the iterations of each, which keep the name.
    Self &gpu_warpgroups(V x, const Expr &iterations, Location at = Here::current()) {
        detail::gpu_warpgroups(self().scheduled(at), x, iterations, at);
        return self();
    }
    // These loops become instructions of tensor cores: rows, columns and the sum of a product of
    // matrices, f(x, y) += a(.., y) * b(x, ..), in this order or with columns first: what x is, is
    // dense in the result. The result is stored in MemoryType::Tile, the operands in GPUShared.
    Self &tensorize(V columns, V rows, V sum, const TensorInstruction &instruction,
                    Location at = Here::current()) {
        detail::tensorize(self().scheduled(at), {columns, rows, sum}, instruction, at);
        return self();
    }
    // One of these loops.
    Self &tensorize(V loop, const TensorInstruction &instruction, Location at = Here::current()) {
        detail::tensorize(self().scheduled(at), {loop}, instruction, at);
        return self();
    }
    // The loops of each group are fused, and these become the loops of the instruction, with all
    // other loops around: tensorize(map({n, p, q}, {k}, {c, r, s}), TensorInstruction::MMA).
    Self &tensorize(const Mapping &mapping, const TensorInstruction &instruction,
                    Location at = Here::current()) {
        detail::tensorize(self().scheduled(at), mapping, instruction, at);
        return self();
    }
    // The order in which the blocks (or clusters) of two loops are begun: gpu_order(grouped(16)).
    Self &gpu_order(const GPUOrder &order, Location at = Here::current()) {
        program::apply(self().scheduled(at), program::GroupBlocks{order.rows}, at);
        return self();
    }
    // The kernel runs as many blocks as fit the GPU at the same time, `blocks` on each
    // multiprocessor, and each computes several of those of the loops over blocks, one after the
    // other.
    Self &persistent(const Expr &blocks = 1, Location at = Here::current()) {
        program::apply(self().scheduled(at), program::PersistentBlocks{blocks}, at);
        return self();
    }
    // At least `blocks` blocks of the kernel have room on a multiprocessor: the registers of a
    // thread are chosen for so many (CUDA's __launch_bounds__). Without this directive the
    // assembler of the machine chooses, which often takes few.
    Self &gpu_resident_blocks(const Expr &blocks, Location at = Here::current()) {
        program::apply(self().scheduled(at), program::ResidentBlocks{blocks}, at);
        return self();
    }
    // The warps of the kernel have roles. One warp more than the others need has the machine copy
    // what async() and ring_buffer(n) stage for wgmma, of all iterations, as soon as there is room;
    // the others, the consumers, wait for what they use alone, and not for one another. With
    // numbers of registers a warpgroup copies, whose threads have few, and consumers have many:
    // warp_specialize(40, 232).
    Self &warp_specialize(const Expr &producer_registers = 0, const Expr &consumer_registers = 0,
                          Location at = Here::current()) {
        program::apply(self().scheduled(at),
                       program::WarpSpecialize{producer_registers, consumer_registers}, at);
        return self();
    }
    // Two groups of consumers, each of as many warps as the loops over warps say, take the tiles of
    // a block in turns: one computes the epilogue of a tile while the tensor cores work on the
    // other's. For warp_specialize() with persistent().
    Self &ping_pong(Location at = Here::current()) {
        program::apply(self().scheduled(at), program::PingPong{}, at);
        return self();
    }
    // A block of one thread around all loops of the stage: for what is small, and whose data is to
    // stay on the device.
    Self &gpu_single_thread(DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        detail::gpu_single_thread(self().scheduled(at), api, at);
        return self();
    }

    Self &gpu(V bx, V tx, DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        return both({bx}, {tx}, api, at);
    }
    Self &gpu(V bx, V by, V tx, V ty, DeviceAPI api = DeviceAPI::Default_GPU,
              Location at = Here::current()) {
        return both({bx, by}, {tx, ty}, api, at);
    }
    Self &gpu(V bx, V by, V bz, V tx, V ty, V tz, DeviceAPI api = DeviceAPI::Default_GPU,
              Location at = Here::current()) {
        return both({bx, by, bz}, {tx, ty, tz}, api, at);
    }

    // Splits each loop into blocks and the threads of a block, and puts all loops over threads
    // inside of all loops over blocks. The short forms keep the names for the blocks.
    Self &gpu_tile(V x, V bx, V tx, const Expr &nx, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        return tile({x}, {bx}, {tx}, {nx}, tail, api, at);
    }
    Self &gpu_tile(V x, V tx, const Expr &nx, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        return tile({x}, {x}, {tx}, {nx}, tail, api, at);
    }
    Self &gpu_tile(V x, V y, V bx, V by, V tx, V ty, const Expr &nx, const Expr &ny,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU,
                   Location at = Here::current()) {
        return tile({x, y}, {bx, by}, {tx, ty}, {nx, ny}, tail, api, at);
    }
    Self &gpu_tile(V x, V y, V tx, V ty, const Expr &nx, const Expr &ny,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU,
                   Location at = Here::current()) {
        return tile({x, y}, {x, y}, {tx, ty}, {nx, ny}, tail, api, at);
    }
    Self &gpu_tile(V x, V y, V z, V bx, V by, V bz, V tx, V ty, V tz, const Expr &nx,
                   const Expr &ny, const Expr &nz, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current()) {
        return tile({x, y, z}, {bx, by, bz}, {tx, ty, tz}, {nx, ny, nz}, tail, api, at);
    }
    Self &gpu_tile(V x, V y, V z, V tx, V ty, V tz, const Expr &nx, const Expr &ny, const Expr &nz,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU,
                   Location at = Here::current()) {
        return tile({x, y, z}, {x, y, z}, {tx, ty, tz}, {nx, ny, nz}, tail, api, at);
    }

private:
    using Vars = std::vector<VarOrRVar>;

    Self &self() { return static_cast<Self &>(*this); }
    Self &blocks(const Vars &vars, DeviceAPI api, Location at) {
        detail::set_gpu_kinds(self().scheduled(at), vars, {}, LoopKind::GPUThread, api,
                              "gpu_blocks", at);
        return self();
    }
    Self &clusters(const Vars &vars, Location at) {
        return on_threads(vars, LoopKind::GPUCluster, "gpu_clusters", at);
    }
    Self &threads(const Vars &vars, DeviceAPI api, Location at) {
        detail::set_gpu_kinds(self().scheduled(at), {}, vars, LoopKind::GPUThread, api,
                              "gpu_threads", at);
        return self();
    }
    Self &on_threads(const Vars &vars, LoopKind kind, const char *directive, Location at) {
        detail::set_gpu_kinds(self().scheduled(at), {}, vars, kind, DeviceAPI::Default_GPU,
                              directive, at);
        return self();
    }
    Self &both(const Vars &blocks, const Vars &threads, DeviceAPI api, Location at) {
        detail::set_gpu_kinds(self().scheduled(at), blocks, threads, LoopKind::GPUThread, api,
                              "gpu", at);
        return self();
    }
    Self &tile(const Vars &previous, const Vars &blocks, const Vars &threads,
               const std::vector<Expr> &sizes, TailStrategy tail, DeviceAPI api, Location at) {
        detail::gpu_tile(self().scheduled(at), previous, blocks, threads, sizes, tail, api, at);
        return self();
    }
};

}  // namespace tessera
