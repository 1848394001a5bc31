# %% [markdown]
# # 7. Tensor cores
#
# GPUs have instructions that multiply small matrices. `tensorize` makes loops of a product such instructions: the
# algorithm stays the sum that it is. Without a card that has them, an interpreter does what each thread would.

# %%
import numpy as np

import tessera as ts

card = ts.Target("host-cuda")
interpreted = ts.Target("host-cuda-cuda_capability_90-interpret")
target = card if ts.host_supports_target_device(card) else interpreted
print(target)

rows, columns, depth = 32, 16, 32
random = np.random.default_rng(4)
left = random.integers(-4, 4, (rows, depth)).astype(np.float16)
right = random.integers(-4, 4, (depth, columns)).astype(np.float16)

# %% [markdown]
# Operands are of 16 bits, sums of 32. What comes after the product (here: nothing below 0) is a stage of its own, and
# is computed while the sums are in registers.

# %%
x, y, xi, yi, wx, wy = ts.vars("x y xi yi wx wy")
a = ts.ImageParam(ts.Float(16), 2, "a")
b = ts.ImageParam(ts.Float(16), 2, "b")
k = ts.RDom([(0, depth)], "k")
product, out = ts.Func("product"), ts.Func("out")
product[x, y] = ts.f32(0)
product[x, y] += ts.cast(ts.Float(32), a[k, y]) * ts.cast(ts.Float(32), b[x, k])
out[x, y] = ts.max(product[x, y], ts.f32(0))

# %% [markdown]
# The schedule, from the outside in: blocks of 32 by 16 results, of which each warp (32 threads) has 16 by 16.
# `MemoryType.Tile` is the registers in which the instruction leaves its results.

# %%
ko, ki = ts.RVar("ko"), ts.RVar("ki")
out.tile(x, y, xi, yi, 16, 32).gpu_blocks(x, y)
out.tile(xi, yi, wx, wy, xi, yi, 16, 16).gpu_warps(wx, wy)
product.compute_at(out, x).store_in(ts.MemoryType.Tile)
product.tile(x, y, wx, wy, x, y, 16, 16).gpu_warps(wx, wy)
update = product.update()
update.split(k, ko, ki, 16).tile(x, y, wx, wy, x, y, 16, 16).reorder(ki, x, y, wx, wy, ko)
update.gpu_warps(wx, wy).tensorize(x, y, ki, instruction=ts.TensorInstruction.MMA)

# %% [markdown]
# The operands of an iteration go through shared memory: `in_()` is a copy of an input that has a schedule. With
# `async_` and a ring of 2 places, the next one is copied while this one is multiplied.

# %%
for operand in (a, b):
    staged = operand.in_()
    staged.compute_at(product, ko).store_in(ts.MemoryType.GPUShared)
    staged.async_().ring_buffer(2)
print(out.loop_nest())
assert "tensorized" in out.loop_nest()

# %%
a.set(left)
b.set(right)
result = out.realize([columns, rows], target).numpy()
expected = np.maximum(left.astype(np.float32) @ right.astype(np.float32), 0)
assert (result == expected).all()

# %% [markdown]
# The code for a card shows the instruction.

# %%
ptx = out.ptx(ts.Target("x86-64-linux-cuda-cuda_capability_80"))
assert "mma.sync.aligned.m16n8k16" in ptx
print([line.strip() for line in ptx.splitlines() if "mma.sync" in line][0])
