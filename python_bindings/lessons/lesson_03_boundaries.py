# %% [markdown]
# # 3. Boundaries
#
# A filter reads the neighbours of each point, and at the edge of an image there are none. Which values are to be read
# there is a part of the algorithm.

# %%
import numpy as np

import tessera as ts

x = ts.Var("x")
row = np.array([1, 2, 3, 4], np.int32)

# %% [markdown]
# Without a rule, the compiler finds out which part of an input is needed, and refuses one that is too small.

# %%
source = ts.ImageParam(ts.Int(32), 1, "source")
ahead = ts.Func("ahead")
ahead[x] = source[x + 1]
source.set(row)
assert ahead.realize([3]).numpy().tolist() == [2, 3, 4]
try:
    ahead.realize([4])
except ts.RunError as error:
    print(error)
    assert "source" in str(error)
else:
    raise AssertionError("source[4] does not exist")

# %% [markdown]
# `BoundaryConditions` has Funcs that are the image inside of its bounds, and something else outside.


# %%
def around(condition: ts.Func) -> list[int]:
    """Returns the values from 3 before the row to 3 after it."""
    shifted = ts.Func("shifted")
    shifted[x] = condition[x - 3]
    values: list[int] = shifted.realize([10]).numpy().tolist()
    return values


bc = ts.BoundaryConditions
print(around(bc.repeat_edge(row)))
assert around(bc.repeat_edge(row)) == [1, 1, 1, 1, 2, 3, 4, 4, 4, 4]
assert around(bc.constant_exterior(row, 0)) == [0, 0, 0, 1, 2, 3, 4, 0, 0, 0]
assert around(bc.repeat_image(row)) == [2, 3, 4, 1, 2, 3, 4, 1, 2, 3]
assert around(bc.mirror_image(row)) == [3, 2, 1, 1, 2, 3, 4, 4, 3, 2]
assert around(bc.mirror_interior(row)) == [4, 3, 2, 1, 2, 3, 4, 3, 2, 1]

# %% [markdown]
# They cost little. The compiler splits a loop over x into the part where all neighbours exist, which has no tests,
# and the few iterations at both ends.

# %%
blur = ts.Func("blur")
clamped = bc.repeat_edge(source)
blur[x] = (clamped[x - 1] + clamped[x] + clamped[x + 1]) / 3
blur.vectorize(x, 8)
long = np.arange(1000, dtype=np.int32) * 3
source.set(long)
assert blur.realize([1000]).numpy().tolist() == [1] + list(range(3, 2995, 3)) + [2996]

# %% [markdown]
# A rule of your own is an expression like any other: `clamp` the coordinate, or `select` by it.

# %%
image = ts.Buffer(row)
fade = ts.Func("fade")
nearest = image[ts.clamp(x, 0, 3)]
fade[x] = ts.select((x >= 0) & (x < 4), nearest, nearest / 2)
assert fade.realize([6]).numpy().tolist() == [1, 2, 3, 4, 2, 2]
