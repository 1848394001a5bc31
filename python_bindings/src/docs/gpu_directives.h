#pragma once

// Docstrings of the directives for GPUs. The names in their examples are those of
// tests/examples.py.
namespace tessera::python::docs::gpu {

inline constexpr char gpu_blocks[] =
    R"doc(Makes the iterations of one to three loops blocks of a kernel. A DeviceAPI may follow.

>>> f.split(x, xo, xi, 32).gpu_blocks(xo, y).gpu_threads(xi).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_block f.xo:
        gpu_thread f.xi in [0, 31]:
          f(...) = ...
)doc";

inline constexpr char gpu_threads[] =
    R"doc(Makes the iterations of one to three loops threads of a block. A DeviceAPI may follow.

>>> f.gpu_blocks(y).gpu_threads(x).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_thread f.x:
        f(...) = ...
)doc";

inline constexpr char gpu_clusters[] =
    R"doc(Makes the iterations of one to three loops clusters of the blocks within, which run at once.

>>> f.split(x, xo, xi, 32).split(y, yo, yi, 2).reorder(xi, yi, xo, yo)
<Func f(x, y): int32>
>>> f.gpu_clusters(xo, yo).gpu_blocks(yi).gpu_threads(xi).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_cluster f.yo:
      gpu_cluster f.xo:
        gpu_block f.yi in [0, 1]:
          gpu_thread f.xi in [0, 31]:
            f(...) = ...
)doc";

inline constexpr char gpu_warps[] =
    R"doc(Makes the iterations of one or two loops warps of a block.

>>> f.tile(x, y, xi, yi, 32, 4).gpu_blocks(x, y).gpu_warps(yi).gpu_lanes(xi).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_block f.x:
        gpu_warp f.yi in [0, 3]:
          gpu_lane f.xi in [0, 31]:
            f(...) = ...
)doc";

inline constexpr char gpu[] =
    R"doc(Makes the iterations of the first half of the loops blocks, and of the rest threads.

>>> f.split(x, xo, xi, 32).gpu(xo, xi).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      gpu_block f.xo:
        gpu_thread f.xi in [0, 31]:
          f(...) = ...
)doc";

inline constexpr char gpu_tile[] =
    R"doc(Splits one to three loops into blocks and the threads of a block.

The forms are gpu_tile(x, y, xi, yi, 32, 8), and with names for the blocks before xi,
gpu_tile(x, y, xo, yo, xi, yi, 32, 8). A TailStrategy and a DeviceAPI may follow.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_block f.x:
        gpu_thread f.yi in [0, 7]:
          gpu_thread f.xi in [0, 31]:
            f(...) = ...
>>> f.realize([3, 2], "host-cuda-interpret").numpy().tolist()   # without a GPU
[[0, 1, 2], [10, 11, 12]]
)doc";

inline constexpr char gpu_lanes[] =
    R"doc(Makes the iterations lanes of a warp, of which there are at most 32.

>>> f.split(x, xo, xi, 32).gpu_blocks(xo, y).gpu_lanes(xi).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_block f.xo:
        gpu_lane f.xi in [0, 31]:
          f(...) = ...
)doc";

inline constexpr char gpu_warpgroups[] =
    R"doc(Makes the iterations warpgroups of a block, each of which is four warps.

With a number of `iterations`, splits the loop into warpgroups around and so many iterations in
each of them.

>>> f.split(x, xo, xi, 128).gpu_blocks(y).gpu_warpgroups(xo).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.y:
      gpu_warpgroup f.xo:
        for f.xi in [0, 127]:
          f(...) = ...
)doc";

inline constexpr char gpu_order[] =
    R"doc(Begins the blocks, or clusters, of two loops in this order, which grouped() or hilbert() makes.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).gpu_order(ts.grouped(16)).schedule_as_python().splitlines()[-1]
'f.gpu_order(ts.grouped(16))'
)doc";

inline constexpr char gpu_single_thread[] = R"doc(Runs all loops in one thread of the GPU.

>>> f.gpu_single_thread().print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    gpu_block f.block in [0, 0]:
      gpu_thread f.thread in [0, 0]:
        for f.y:
          for f.x:
            f(...) = ...
)doc";

inline constexpr char gpu_resident_blocks[] =
    R"doc(Leaves room for so many blocks on a multiprocessor: registers are limited for it.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).gpu_resident_blocks(4).schedule_as_python().splitlines()[-1]
'f.gpu_resident_blocks(4)'
)doc";

inline constexpr char persistent[] =
    R"doc(Runs only as many blocks as fit the GPU at once, each of which computes several.

`blocks` is the number of blocks on a multiprocessor.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).persistent(2).schedule_as_python().splitlines()[-1]
'f.persistent(2)'
)doc";

inline constexpr char warp_specialize[] =
    R"doc(Gives the warps of a kernel roles: one copies ahead what the others use.

A warp more than the others need has the machine copy what async_() and ring_buffer(n) stage for
wgmma. With numbers of registers a warpgroup does, whose threads have few, and consumers have many.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).warp_specialize(40, 232).schedule_as_python().splitlines()[-1]
'f.warp_specialize(40, 232)'
)doc";

inline constexpr char ping_pong[] =
    R"doc(Has two groups of consumers take the tiles of a block in turns.

Each has as many warps as the loops over warps say: one computes the epilogue of a tile while the
tensor cores work on the other's. For warp_specialize() with persistent().

>>> f.gpu_tile(x, y, xi, yi, 32, 8).persistent().warp_specialize().ping_pong().schedule_as_python().splitlines()[-1]
'f.ping_pong()'
)doc";

inline constexpr char tensorize[] =
    R"doc(Makes these loops of a product of matrices instructions of tensor cores.

The loops are columns, rows and the sum, one of them, or what map() returns; `instruction` is a TensorInstruction.

>>> A, B = ts.ImageParam(ts.Float(16), 2, "A"), ts.ImageParam(ts.Float(16), 2, "B")
>>> k, product = ts.RDom([(0, 64)], "k"), ts.Func("product")
>>> product[x, y] = ts.f32(0)
>>> product[x, y] += ts.f32(A[k, y]) * ts.f32(B[x, k])
>>> ko, ki, update = ts.RVar("ko"), ts.RVar("ki"), product.update()
>>> update.split(k, ko, ki, 16).tile(x, y, xi, yi, 16, 16).reorder(ki, xi, yi, x, y, ko)
<Stage product.update(0)>
>>> update.tensorize(xi, yi, ki, instruction=ts.TensorInstruction.MMA)
<Stage product.update(0)>
)doc";

}  // namespace tessera::python::docs::gpu
