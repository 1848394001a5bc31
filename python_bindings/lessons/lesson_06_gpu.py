# %% [markdown]
# # 6. GPUs
#
# The same algorithm runs on a GPU where its schedule says so. Here it runs on the card if there is one, and in an
# interpreter of GPU programs if there is none, which checks them, too: the schedule is the same.

# %%
import numpy as np

import tessera as ts

card = ts.Target("host-cuda")
target = card if ts.host_supports_target_device(card) else ts.Target("host-cuda-interpret")
print(target)

x, y, xi, yi = ts.vars("x y xi yi")
values = np.random.default_rng(3).random((48, 64), dtype=np.float32)
image = ts.Buffer(values)

# %% [markdown]
# `gpu_tile` splits the loops into blocks, and each block into threads: here of 16 by 8. Blocks run in any order, the
# threads of one together.

# %%
squares = ts.Func("squares")
squares[x, y] = image[x, y] * image[x, y]
squares.gpu_tile(x, y, xi, yi, 16, 8)
print(squares.loop_nest())
assert "gpu_block" in squares.loop_nest() and "gpu_thread" in squares.loop_nest()
assert np.allclose(squares.realize([64, 48], target).numpy(), values * values)

# %% [markdown]
# Stages that are computed at the blocks of another are shared by its threads. Here the sums along x of a block, and
# one row above and below it, go into shared memory; the barrier between is the compiler's business.

# %%
edge = ts.BoundaryConditions.repeat_edge(values)
sum_x, out = ts.Func("sum_x"), ts.Func("out")
sum_x[x, y] = edge[x - 1, y] + edge[x, y] + edge[x + 1, y]
out[x, y] = sum_x[x, y - 1] + sum_x[x, y] + sum_x[x, y + 1]
out.gpu_tile(x, y, xi, yi, 16, 8)
sum_x.compute_at(out, x).gpu_threads(x, y).store_in(ts.MemoryType.GPUShared)
print(out.loop_nest())

padded = np.pad(values, 1, mode="edge")
sums = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
expected = sums[:-2] + sums[1:-1] + sums[2:]
assert np.allclose(out.realize([64, 48], target).numpy(), expected, rtol=1e-5)

# %% [markdown]
# Kernels can be read as PTX, the assembly language of such GPUs, without having one.

# %%
ptx = squares.ptx(ts.Target("x86-64-linux-cuda-cuda_capability_80"))
print(ptx[:200])
assert ".entry" in ptx and "mul" in ptx

# %% [markdown]
# A stage that is computed at the root and has no loops over blocks runs on the CPU. Copies between the two are made
# where they are needed.

# %%
doubled, shifted = ts.Func("doubled"), ts.Func("shifted")
doubled[x, y] = image[x, y] * 2
shifted[x, y] = doubled[x, y] + 1
doubled.compute_root().vectorize(x, 8)
shifted.gpu_tile(x, y, xi, yi, 16, 8)
assert np.allclose(shifted.realize([64, 48], target).numpy(), values * 2 + 1)
